//! Links with random changes: each link that opens is a valid session. It never panics, and sharing
//! it gives a link that opens the same session and stays the same.
//!
//! Hundreds of links in every test run; `OPTIMIST_MUTATIONS=1000000` looks at so many, and
//! `OPTIMIST_SEED` begins elsewhere.

use std::panic::{AssertUnwindSafe, catch_unwind};

use optimist_apiserver::environment::Environment;
use optimist_links::Session;
use serde_json::{Value, json};

use crate::session::{a_bit_of_everything, both_want_to_write, packed, seen};

fn setting(name: &str, usual: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.and_then(|set| set.parse().ok()).unwrap_or(usual)
}

/// A number below another one.
fn below(chance: &mut Environment, end: usize) -> usize {
    (chance.draw() % end.max(1) as u64) as usize
}

/// Returns the JSON that is packed in a session's text.
fn unpacked(text: &str) -> Value {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let deflated = URL_SAFE_NO_PAD.decode(&text[1..]).unwrap();
    let inflate = match text.starts_with('1') {
        true => miniz_oxide::inflate::decompress_to_vec,
        false => miniz_oxide::inflate::decompress_to_vec_zlib,
    };
    let json = inflate(&deflated).unwrap();
    serde_json::from_slice(&json).unwrap()
}

/// The places of all values in a value, as JSON pointers.
fn places(value: &Value, here: String, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(value, format!("{here}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                places(value, format!("{here}/{i}"), found);
            }
        }
        _ => {}
    }
    found.push(here);
}

fn odd(chance: &mut Environment) -> Value {
    let all = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(3),
        json!(1.5),
        json!(9_007_199_254_740_993_u64),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(u64::MAX - 20),
        json!(u32::MAX),
        json!(1e300),
        json!(""),
        json!("A"),
        json!("C"),
        json!("g"),
        json!("c"),
        json!("d"),
        json!("100"),
        json!("18446744073709551615"),
        json!("/spec/replicas"),
        json!("/metadata"),
        json!("/spec/template/spec/containers/0"),
        json!("ConfigMap"),
        json!("\u{0}\u{202e}~1"),
        json!([]),
        json!({}),
        json!({"w": u32::MAX}),
        json!([["/metadata/name"], ["", 1]]),
        json!({"e": [["Deployment", "nginx-deployment", [["/spec/replicas", 7], ["/spec"]]]]}),
    ];
    all[below(chance, all.len())].clone()
}

/// Changes a value in one place: another value, nothing, twice, or that of another place.
fn changed(value: &mut Value, chance: &mut Environment) {
    let mut all = Vec::new();
    places(value, String::new(), &mut all);
    let place = all[below(chance, all.len())].clone();
    let other = all[below(chance, all.len())].clone();
    let other = value.pointer(&other).cloned().unwrap_or_default();
    let Some((around, key)) = place.rsplit_once('/') else {
        return;
    };
    let key = key.replace("~1", "/").replace("~0", "~");
    let way = below(chance, 6);
    let new = if way < 3 { odd(chance) } else { other };
    match value.pointer_mut(around) {
        Some(Value::Array(items)) => {
            let at = key.parse::<usize>().unwrap_or(0).min(items.len() - 1);
            match way {
                5 => drop(items.remove(at)),
                4 => items.insert(at, items[at].clone()),
                _ => items[at] = new,
            }
        }
        Some(Value::Object(map)) if way == 5 => drop(map.remove(&key)),
        Some(Value::Object(map)) => drop(map.insert(key, new)),
        _ => {}
    }
}

/// A link that differs from a good one by chance: in its JSON, in the bytes of that, or in its own
/// characters.
fn mutated(text: &str, chance: &mut Environment) -> String {
    let mut json = unpacked(text);
    match below(chance, 8) {
        0 => {
            let mut text = text.to_owned().into_bytes();
            for _ in 0..=below(chance, 2) {
                let at = below(chance, text.len());
                text[at] = b"AQgw-_19"[below(chance, 8)];
            }
            String::from_utf8_lossy(&text).into_owned()
        }
        1 => {
            let mut bytes = json.to_string().into_bytes();
            let at = below(chance, bytes.len());
            const OTHERS: &[u8] = b"0123456789\",:[]{}ABCgcd-e";
            bytes[at] = OTHERS[below(chance, OTHERS.len())];
            match serde_json::from_slice(&bytes) {
                Ok(json) => packed(&json),
                Err(_) => packed(&Value::String(String::from_utf8_lossy(&bytes).into_owned())),
            }
        }
        _ => {
            for _ in 0..=below(chance, 4) {
                changed(&mut json, chance);
            }
            packed(&json)
        }
    }
}

/// Returns the links to change: sessions, and one with everything else that a session can have.
fn links() -> [String; 3] {
    let [short, long] = [both_want_to_write(), a_bit_of_everything()]
        .map(|tree| Session::from_tree(&tree).to_text());
    let mut json = unpacked(&long);
    let object = json.as_object_mut().unwrap();
    let ann =
        json!({"n": "Ann", "m": "ann", "w": {"s": "a", "f": true}, "k": [{"s": "j", "t": true}]});
    let more = json!({
        "v": 500, "c": "someone", "t": {"A": ann}, "b": [[4, "first"], [17, "second"]],
        "p": "learn", "x": {"edits": "both"},
        "l": {"n": "01-the-lost-update", "t": null, "i": 0, "p": [[0, 1, 2, 1], [3, null, null, 0]]},
    });
    object.extend(more.as_object().unwrap().clone());
    let typed = json!([[
        "Deployment",
        "nginx-deployment",
        [["/spec/replicas", 9], ["/spec/selector"]]
    ]]);
    for node in json["n"].as_array_mut().unwrap() {
        if node.get(3).is_none() {
            let (what, who, parent) = (node[0].clone(), node[1].clone(), node.get(2).cloned());
            *node = json!([what, who, parent, {"A": {"e": typed}}]);
        }
    }
    [short, long, packed(&json)]
}

/// Returns the problem of an opened link; `None` if it does not open.
fn held(link: &str) -> Option<Result<(), String>> {
    let session = Session::parse(link).ok()?;
    let again = Session::parse(&session.to_text());
    if again.as_ref() != Ok(&session) {
        let why = format!("as a text it is another session:\n  {session:?}\n  {again:?}");
        return Some(Err(why));
    }
    let tree = session.replay().finish().ok()?;
    let shared = Session::from_tree(&tree).to_text();
    let again = Session::parse(&shared).and_then(|session| session.replay().finish());
    let again = match again {
        Ok(again) => again,
        Err(error) => return Some(Err(format!("what was shared does not open: {error}"))),
    };
    let shared_again = Session::from_tree(&again).to_text();
    if shared_again != shared {
        let (one, other) = (unpacked(&shared), unpacked(&shared_again));
        return Some(Err(format!("another link:\n  {one}\n  {other}")));
    }
    for (one, other) in seen(&tree).iter().zip(seen(&again)) {
        if *one != other {
            return Some(Err(format!("another history:\n  {one}\n  {other}")));
        }
    }
    Some(Ok(()))
}

#[test]
fn whatever_opens_is_shared_as_what_it_is() {
    let count = setting("OPTIMIST_MUTATIONS", 400);
    let begin = setting("OPTIMIST_SEED", 1);
    let links = links();
    let (mut opened, mut wrong) = (0u64, Vec::new());
    for seed in begin..begin + count {
        let mut chance = Environment::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let link = &links[below(&mut chance, links.len())];
        let link = mutated(link, &mut chance);
        match catch_unwind(AssertUnwindSafe(|| held(&link))) {
            Ok(None) => continue,
            Ok(Some(Ok(()))) => {}
            Ok(Some(Err(why))) => wrong.push(format!("seed {seed}: {why}")),
            Err(_) => wrong.push(format!("seed {seed}: it panics: {link}")),
        }
        opened += 1;
    }
    println!("{opened} of {count} opened");
    assert!(opened * 5 > count, "only {opened} of {count} opened");
    let some: Vec<_> = wrong.iter().take(10).collect();
    assert!(wrong.is_empty(), "{} of {opened}: {some:#?}", wrong.len());
}
