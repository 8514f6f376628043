//! A session becomes a text and the same session again. Other texts are not opened.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use optimist_apiserver::apply::Path;
use optimist_apiserver::server::Release;
use optimist_client::{Declares, OnConflict, Preset, Strategy as WriteMethod, Subresource, Write};
use optimist_lesson::{Lesson, Walkthrough};
use optimist_links::{Learning, MAX_LINK_LENGTH, Session, ShareError, Size};
use optimist_simulation::{
    Action, ActorId, ByHand, HistoryTree, NGINX, Operation, Preconditions, Start, WatchAction,
    World,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::session::{a_bit_of_everything, both_want_to_write, edit, packed, reopened, seen};

/// An action, its actor, and its node in the tree.
#[derive(Clone, Debug)]
enum RandomOperation {
    Go(usize),
    Act(ActorId, Action),
    Nobody(Operation),
    Replicas(ActorId, u8),
    Label(ActorId, Option<u8>),
    Ports(ActorId, u8),
    Discard(ActorId),
    Choose(ActorId, Write),
    Switch(ActorId, WriteMethod),
}

fn actors() -> impl Strategy<Value = ActorId> {
    proptest::sample::select(ActorId::ALL.to_vec())
}

fn writes() -> impl Strategy<Value = Write> {
    let on_conflict = prop_oneof![
        Just(OnConflict::GiveUp),
        (1..4u8).prop_map(OnConflict::ReadAgain),
        (1..4u8).prop_map(OnConflict::Resend),
    ];
    let subresource = prop_oneof![
        4 => Just(None),
        1 => Just(Some(Subresource::Status)),
        1 => Just(Some(Subresource::Scale)),
    ];
    let body = prop_oneof![
        5 => Just(None),
        1 => Just(Some(r#"{"metadata":{"labels":{"by":"hand"}}}"#.to_owned())),
        1 => Just(Some("no json".to_owned())),
    ];
    let manager = prop_oneof![3 => Just(None), 1 => Just(Some("other".to_owned()))];
    (
        prop::sample::select(WriteMethod::ALL.to_vec()),
        subresource,
        any::<[bool; 5]>(),
        manager,
        on_conflict,
        body,
    )
        .prop_map(
            |(strategy, subresource, on, manager, on_conflict, body)| Write {
                subresource,
                send_resource_version: on[0],
                test_values: on[1],
                force: on[2],
                dry_run: on[3],
                declares: if on[4] {
                    Declares::Manifest
                } else {
                    Declares::Edits
                },
                manager,
                on_conflict,
                body,
                ..Write::usual(strategy)
            },
        )
}

fn operations() -> impl Strategy<Value = RandomOperation> {
    let action = prop_oneof![
        6 => Just(Action::Get),
        2 => Just(Action::GetScale),
        6 => writes().prop_map(Action::Send),
        1 => Just(Action::Create),
        1 => any::<[bool; 2]>().prop_map(|[uid, resource_version]| {
            Action::Delete(Preconditions { uid, resource_version })
        }),
        1 => (1..4u8).prop_map(|attempts| {
            let preconditions = Preconditions { uid: false, resource_version: true };
            Action::DeleteRetrying(preconditions, OnConflict::ReadAgain(attempts))
        }),
        1 => Just(Action::Request(ByHand {
            method: "GET".to_owned(),
            target: "/apis/apps/v1/deployments".to_owned(),
            content_type: String::new(),
            body: String::new(),
        })),
    ];
    let nobodys = prop_oneof![
        (0..90u32).prop_map(Operation::Wait),
        any::<bool>().prop_map(|restart| Operation::Compact { restart }),
        Just(Operation::Watch(WatchAction::Open(String::new()))),
        Just(Operation::Watch(WatchAction::Open("100".to_owned()))),
        Just(Operation::Watch(WatchAction::Resume)),
        Just(Operation::Watch(WatchAction::Drop)),
        Just(Operation::Watch(WatchAction::List)),
    ];
    prop_oneof![
        3 => (0..30usize).prop_map(RandomOperation::Go),
        12 => (actors(), action).prop_map(|(actor, action)| RandomOperation::Act(actor, action)),
        3 => nobodys.prop_map(RandomOperation::Nobody),
        4 => (actors(), 0..9u8).prop_map(|(actor, n)| RandomOperation::Replicas(actor, n)),
        2 => (actors(), any::<Option<u8>>()).prop_map(|(actor, n)| RandomOperation::Label(actor, n)),
        2 => (actors(), 0..4u8).prop_map(|(actor, n)| RandomOperation::Ports(actor, n)),
        1 => actors().prop_map(RandomOperation::Discard),
        2 => (actors(), writes()).prop_map(|(actor, write)| RandomOperation::Choose(actor, write)),
        2 => (actors(), prop::sample::select(WriteMethod::ALL.to_vec()))
            .prop_map(|(actor, way)| RandomOperation::Switch(actor, way)),
    ]
}

fn perform(tree: &mut HistoryTree, operation: RandomOperation) {
    match operation {
        RandomOperation::Go(node) => {
            tree.go(node % tree.len());
        }
        RandomOperation::Act(actor, action) => {
            tree.act(Operation::Act(actor, action));
        }
        RandomOperation::Nobody(operation) => {
            tree.act(operation);
        }
        RandomOperation::Replicas(actor, n) => edit(tree, actor, |object| {
            object["spec"]["replicas"] = n.into();
        }),
        RandomOperation::Label(actor, n) => edit(tree, actor, |object| {
            if let Some(labels) = object["metadata"]["labels"].as_object_mut() {
                match n {
                    Some(n) => labels.insert("a/b~c".to_owned(), n.to_string().into()),
                    None => labels.remove("app"),
                };
            }
        }),
        RandomOperation::Ports(actor, n) => edit(tree, actor, |object| {
            let ports = (0..n).map(|n| json!({"containerPort": 80 + n, "protocol": "TCP"}));
            // A Scale has no containers.
            if let Some(container) = object.pointer_mut("/spec/template/spec/containers/0") {
                container["ports"] = ports.collect();
            }
        }),
        RandomOperation::Discard(actor) => tree.world_mut().copy_mut(actor).discard(),
        RandomOperation::Choose(actor, write) => tree.world_mut().actor_mut(actor).set_write(write),
        RandomOperation::Switch(actor, way) => tree.world_mut().actor_mut(actor).choose(way),
    }
}

#[test]
fn the_release_of_the_server_is_carried_unless_it_is_the_default() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}";
    let begun = |release| {
        let start = Start {
            release,
            ..Start::with(manifest)
        };
        let mut tree = HistoryTree::new(World::from_start(Arc::new(start)).unwrap().0);
        tree.act(Operation::Act(ActorId::A, Action::Get));
        tree
    };
    for release in Release::ALL {
        let tree = begun(release);
        assert_eq!(tree.world().server().release(), release);
        let again = reopened(&tree);
        assert_eq!(again.world().server().release(), release);
    }
    // Texts that were made before there were releases say nothing of them.
    let usual = Session::from_tree(&begun(Release::default()));
    assert!(!packed_json(&usual).contains("v1.36"));
    let older = usual.at_release(Release::V1_36_2);
    assert_eq!(older, Session::from_tree(&begun(Release::V1_36_2)));
    let unknown = packed(&json!({"m": manifest, "r": "v9.0.0"}));
    let refused = Session::parse(&unknown).unwrap_err();
    assert!(
        refused.to_string().contains("a release that is not known"),
        "{refused}"
    );
}

fn packed_json(session: &Session) -> String {
    let text = session.to_text();
    let deflated = URL_SAFE_NO_PAD.decode(&text[1..]).unwrap();
    let inflated = miniz_oxide::inflate::decompress_to_vec_zlib(&deflated).unwrap();
    String::from_utf8(inflated).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_session_is_the_same_after_it_was_a_text(
        operations in proptest::collection::vec(operations(), 0..30)
    ) {
        let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
        let mut kept = (tree.clone(), Session::from_tree(&tree));
        for (i, operation) in operations.into_iter().enumerate() {
            perform(&mut tree, operation);
            if i % 3 == 0 {
                let renewed = kept.1.renewed(&kept.0, &tree);
                prop_assert_eq!(&renewed, &Session::from_tree(&tree));
                kept = (tree.clone(), renewed);
            }
        }
        let again = reopened(&tree);
        prop_assert_eq!(seen(&again), seen(&tree));
        let shared = Session::from_tree(&tree);
        prop_assert_eq!(Session::from_tree(&again).to_text(), shared.to_text());
        // What was opened says of each step what its history says, so nobody has to read it there.
        let opened = Session::parse(&shared.to_text()).unwrap();
        prop_assert_eq!(opened.renewed(&again, &again), Session::from_tree(&again));
    }

    #[test]
    fn whatever_is_no_session_is_told_and_never_panics(text in "1?[A-Za-z0-9_-]{0,200}") {
        if let Ok(session) = Session::parse(&text) {
            let _ = session.replay().finish();
        }
    }

    #[test]
    fn a_damaged_session_never_panics(at in 1..400usize, with in "[A-Za-z0-9_-]") {
        let mut text = Session::from_tree(&both_want_to_write()).to_text();
        let at = at % text.len();
        text.replace_range(at..=at, &with);
        if let Ok(session) = Session::parse(&text) {
            let _ = session.replay().finish();
        }
        text.truncate(at);
        prop_assert!(Session::parse(&text).is_err());
    }

    /// Text that inflates to JSON but is not a session.
    #[test]
    fn foreign_json_never_panics(
        nodes in proptest::collection::vec(
            (prop::sample::select(vec!["g", "c", "d", "r", "x"]), "[ABCD]?", 0..5u64, "[a-z/]{0,6}"),
            0..6
        ),
        current in 0..9u64,
    ) {
        let nodes: Vec<Value> = nodes
            .into_iter()
            .map(|(word, who, parent, pointer)| {
                let typed = json!([[pointer, {"x": [1]}], [pointer]]);
                json!([word, who, parent, {"e": typed, "A": {"e": [["Deployment", "x", typed]], "w": 7}}])
            })
            .collect();
        let text = packed(&json!({"n": nodes, "i": current}));
        if let Ok(session) = Session::parse(&text) {
            let _ = session.replay().finish();
        }
    }
}

#[test]
fn what_is_declared_unchanged_is_in_the_link() {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    let a = ActorId::A;
    tree.act(Operation::Act(a, Action::Get));
    let resource = tree.world().resource().clone();
    let declare = |tree: &mut HistoryTree, pointer: &str| {
        let copy = tree.world_mut().copy_mut(a);
        let read = copy.read().unwrap().clone();
        copy.declare(Path::at(&read, pointer, &resource.root).unwrap());
    };
    declare(&mut tree, "/spec/template/spec/containers/0/image");
    declare(&mut tree, "/spec/replicas");
    let apply = Write::usual(WriteMethod::Apply);
    let before = tree.current();
    tree.act(Operation::Act(a, Action::Send(apply)));
    let sent = |tree: &HistoryTree| tree.step(tree.current()).unwrap().exchange.clone().unwrap();
    let again = Session::parse(&Session::from_tree(&tree).to_text()).unwrap();
    let mut again = again.replay().finish().unwrap();
    assert_eq!(sent(&again).sent, sent(&tree).sent);
    assert!(sent(&tree).sent["spec"].get("replicas").is_some());
    again.go(before);
    tree.go(before);
    assert_eq!(again.world().copy(a), tree.world().copy(a));
    // What is chosen otherwise there by now is no part of what was sent.
    tree.world_mut().copy_mut(a).discard();
    let other = Session::parse(&Session::from_tree(&tree).to_text()).unwrap();
    let mut other = other.replay().finish().unwrap();
    assert_eq!(other.world().copy(a).declared(), []);
    other.forward();
    tree.forward();
    assert_eq!(sent(&other).sent, sent(&tree).sent);
}

/// Links of earlier versions, and the sessions that they must open. Never change one: every
/// existing link must stay valid.
const GOLDEN: [(&str, usize, usize, &str); 2] = [
    (
        "1pY5LCoUwDEX3csd5CO8zyewVdyEORIsUahSroJTu3YggOjaj5OZwuBEW_CU48Icg4KJAC8IfJLP3FHXjuEP6yO3g-7WzMikhrZPl1VwiJbIw2DobNXR1FUC_Uielkg6rOa3mifV9WiMCGDPS3vh-GyizAQ",
        4,
        3,
        "PUT replicas 3→5 · if 100",
    ),
    (
        "1tZTPb5swFMf_FfTOTtOsXRf5VmXSLpu00y7AwYEX5hUeCDvdJsT_3mdIiHHSSpUaBAK_X59n-4s70CBXawEVSFCN_oWt0TXJ6HmV0JOmXEabmna6-KGahCq0KldWyagjVaGMDFqrqTB9Qgc7P1seLRaLhLqEoijxyiYgh3FjllwfxOh3mNHzFZuy_l8h2cl5RLqAoZ4zOviYQYWmf4s8zHNBpdpiaby8sZfGS0xg9PTu1R-IpsFsRmu5us7UUOpuKm-wxMzWbQColM1-fz9Hvw4_4I8NuECLVVMqi2Ht87V4dapvEyfmiXph6qMxq8kqTbyDzhX7gBntwsZMu3GK0JUq_BC5ulnd33y6ENnUrT1HXsAGbf7kPJe2vg3D-rkh9YeeLw33ZVBHQnyDAAIZxx3U_L9ALwBSEUPB9kcQtC9L0fGX7ABdmCdolxloFQRHLN2aL48SA3Gf8tX3XLUDw4y9gzx-NOVzQKmuQnkIKOYqlC8B5c9VKGuPsgNp2z2KAafmuM2E27wPZ5Xdm2W9Ndg-Y_4NWcnK8pkJ4u5MEgKs09-Y4_gbGLxPY2MHWXbwF-TD7TTKuZeh750qDaZD26w3bjybrROXjmE69dl1POUh7U_T5JZeAA",
        18,
        7,
        "GET",
    ),
];

#[test]
fn links_of_earlier_versions_still_open() {
    for ((text, steps, position, headline), today) in GOLDEN
        .into_iter()
        .zip([both_want_to_write(), a_bit_of_everything()])
    {
        let session = Session::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(session.steps(), steps);
        let tree = session.replay().finish().unwrap();
        assert_eq!(tree.position(), position);
        assert_eq!(
            tree.step(tree.current()).unwrap().headline().to_string(),
            headline
        );
        assert_eq!(seen(&tree), seen(&today));
    }
}

#[test]
fn a_link_carries_a_retry_in_which_another_one_writes() {
    let (a, b) = (ActorId::A, ActorId::B);
    let retried = Write {
        on_conflict: OnConflict::ReadAgain(3),
        ..Write::default()
    };
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    let edit = |tree: &mut HistoryTree, actor, replicas: i64| {
        let copy = tree.world_mut().copy_mut(actor);
        let mut edited = Value::clone(copy.edited().unwrap());
        edited["spec"]["replicas"] = replicas.into();
        copy.edit(edited);
    };
    let send = |write: &Write| Action::Send(write.clone());
    for (actor, replicas, write) in [(b, 2, Write::default()), (a, 5, retried.clone())] {
        tree.act_once(Operation::Act(actor, Action::Get)).unwrap();
        edit(&mut tree, actor, replicas);
        tree.world_mut().actor_mut(actor).set_write(write);
    }
    tree.act_once(Operation::Act(b, send(&Write::default())))
        .unwrap();
    tree.act_once(Operation::Act(a, send(&retried))).unwrap();
    edit(&mut tree, b, 7);
    tree.act_once(Operation::Act(b, send(&Write::default())))
        .unwrap();
    let text = Session::from_tree(&tree).to_text();
    let mut again = Session::parse(&text).unwrap().replay().finish().unwrap();
    assert_eq!(again.world().next_attempt(a), Some(Action::Get));
    for tree in [&mut tree, &mut again] {
        tree.retry(a).unwrap();
        assert_eq!(tree.world().next_attempt(a), None);
    }
    assert_eq!(seen(&again), seen(&tree));
}

/// An older link has an HPA that reads the object. What comes next is what it did then.
#[test]
fn an_autoscaler_that_read_the_object_reads_it_again() {
    let a = ActorId::A;
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    let write = Preset::Autoscaler.write(tree.world().resource()).unwrap();
    for (read, number) in [(Action::Get, 8), (Action::GetScale, 9)] {
        let actors = [
            (a, read.clone(), "replicas"),
            (ActorId::B, Action::Get, "minReadySeconds"),
        ];
        for (actor, read, field) in actors {
            tree.act_once(Operation::Act(actor, read)).unwrap();
            let copy = tree.world_mut().copy_mut(actor);
            let mut edited = Value::clone(copy.edited().unwrap());
            edited["spec"][field] = number.into();
            copy.edit(edited);
        }
        let update = Action::Send(Write::default());
        tree.act_once(Operation::Act(ActorId::B, update)).unwrap();
        tree.act_once(Operation::Act(a, Action::Send(write.clone())))
            .unwrap();
        let text = Session::from_tree(&tree).to_text();
        let replayed = Session::parse(&text).unwrap().replay().finish().unwrap();
        for tree in [&tree, &replayed] {
            assert_eq!(tree.world().next_attempt(a), Some(read.clone()));
        }
        tree.retry(a).unwrap();
        assert_eq!(tree.world().next_attempt(a), None);
    }
}

#[test]
fn names_stay_and_what_was_deleted_is_not_carried() {
    let mut tree = both_want_to_write();
    tree.act(Operation::Act(ActorId::B, Action::Get));
    let gone = tree.current();
    tree.go(3);
    tree.act(Operation::Act(
        ActorId::A,
        Action::Delete(Preconditions::default()),
    ));
    let end = tree.current();
    tree.set_name(end, "deleted instead");
    assert!(tree.delete(gone));
    let session = Session::from_tree(&tree);
    assert_eq!(session.steps(), 5);
    let again = Session::parse(&session.to_text())
        .unwrap()
        .replay()
        .finish()
        .unwrap();
    assert_eq!(again.name(again.current()), Some("deleted instead"));
    assert_eq!(again.position(), tree.position());
    assert_eq!(again.world().stored(), tree.world().stored());
}

#[test]
fn typical_sessions_fit_into_a_link() {
    let both = both_want_to_write();
    let short = Session::from_tree(&both).to_text().len();
    let mut long = both_want_to_write();
    for round in 0..100u32 {
        for actor in ActorId::EDITORS {
            long.act(Operation::Act(actor, Action::Get));
            edit(&mut long, actor, |object| {
                object["spec"]["replicas"] = (round % 7).into();
            });
            long.act(Operation::Act(actor, Action::Send(Write::default())));
        }
    }
    let long = Session::from_tree(&long).to_text().len();
    println!("4 steps: {short} characters; 404 steps: {long} characters");
    assert!(short < 300, "{short}");
    assert!(long < MAX_LINK_LENGTH / 4, "{long}");
}

#[test]
fn a_way_through_a_lesson_is_kept_with_its_tree() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../lessons/01-the-lost-update.yaml"
    ));
    let lesson = Arc::new(Lesson::parse(&text.unwrap()).unwrap());
    let (mut walk, mut tree) = Walkthrough::open(Arc::clone(&lesson)).unwrap();
    for _ in 0..3 {
        walk.forward(&mut tree).unwrap();
    }
    walk.predict(1, &mut tree).unwrap();
    // A look aside: it is no part of the script, and is kept.
    tree.act(Operation::Act(ActorId::A, Action::Get));
    let learning = Learning {
        name: "01-the-lost-update".to_owned(),
        text: None,
        at: walk.at(),
        pages: walk.records(),
    };
    let mut session = Session::of_lesson(&tree, learning);
    session.page = "learn".to_owned();
    let session = Session::parse(&session.to_text()).unwrap();
    let learning = session.learning.clone().unwrap();
    let again = session.replay().finish().unwrap();
    assert_eq!(seen(&again), seen(&tree));
    let mut restored = Walkthrough::restore(lesson, learning.at, &learning.pages, &again).unwrap();
    assert_eq!(
        (restored.at(), restored.chosen(), restored.right()),
        (3, Some(1), Some(1))
    );
    assert!(restored.has_left_script(&again));
    let mut again = again;
    restored.resume(&mut again);
    assert!(!restored.has_left_script(&again));
    restored.forward(&mut again).unwrap();
    assert_eq!(restored.at(), 4);
}

#[test]
fn what_cannot_be_opened_says_why() {
    let told = |text: &str| Session::parse(text).unwrap_err();
    assert_eq!(told("3abc"), ShareError::Newer);
    for text in [
        "",
        "hello",
        "1",
        "1!!!",
        "1AAAA",
        "2",
        "2!!!",
        "2AAAA",
        &packed(&json!([1])),
    ] {
        assert!(matches!(told(text), ShareError::Damaged(_)), "{text}");
    }
    // A link that lost its end has no wrong character, whatever is left of its last group.
    let whole = packed(&json!({"m": "kind: ConfigMap", "n": []}));
    for end in 1..9 {
        let error = told(&whole[..whole.len() - end]).to_string();
        assert!(error.contains("its end is missing"), "{end}: {error}");
    }
    let broken = packed(&json!({"m": "kind: Nothing", "n": []}));
    let error = Session::parse(&broken).unwrap().replay().finish();
    assert!(matches!(error, Err(ShareError::Start(_))));
    let unread = packed(&json!({"n": [[{"s": "u"}, "A"]], "i": 1}));
    let error = Session::parse(&unread).unwrap().replay().finish();
    assert!(matches!(error, Err(ShareError::Damaged(_))));
}

#[test]
fn a_link_with_a_changed_character_does_not_open_and_one_without_a_checksum_opens_as_before() {
    let tree = a_bit_of_everything();
    let text = Session::from_tree(&tree).to_text();
    let session = Session::parse(&text).unwrap();
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut opened = Vec::new();
    for at in 1..text.len() {
        for other in alphabet
            .chars()
            .filter(|other| !text[at..].starts_with(*other))
        {
            let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            // A few bits of the first two bytes say nothing of the content.
            if Session::parse(&changed).is_ok_and(|opened| opened != session) {
                opened.push(changed);
            }
        }
    }
    assert!(opened.is_empty(), "{} open: {}", opened.len(), opened[0]);
    // A link of the first version has no checksum.
    let zlib = URL_SAFE_NO_PAD.decode(&text[1..]).unwrap();
    let old = format!("1{}", URL_SAFE_NO_PAD.encode(&zlib[2..zlib.len() - 4]));
    assert_eq!(Session::parse(&old).as_ref(), Ok(&session));
}

#[test]
fn a_hostile_text_is_refused_before_it_fills_the_memory() {
    // A little text that inflates to a lot.
    let bomb = vec![b' '; 64 << 20];
    let deflated = miniz_oxide::deflate::compress_to_vec(&bomb, 9);
    let text = format!("1{}", URL_SAFE_NO_PAD.encode(deflated));
    assert_eq!(Session::parse(&text), Err(ShareError::TooLarge));
    // Many steps, each of which makes the object larger.
    let large: String = "x".repeat(30_000);
    let body = json!({"metadata": {"annotations": {"a": large}}}).to_string();
    let step = json!([{"r": ["PATCH", "/apis/apps/v1/namespaces/default/deployments/nginx-deployment",
        "application/merge-patch+json", body]}, "A"]);
    let text = packed(&json!({"n": vec![step; 10_000]}));
    let error = Session::parse(&text).and_then(|session| session.replay().finish().map(drop));
    assert_eq!(error, Err(ShareError::TooLarge));
    // More steps than the maximum.
    let text = packed(&json!({"n": vec![json!(["g", "A"]); 30_000]}));
    assert_eq!(Session::parse(&text), Err(ShareError::TooLarge));
}

#[test]
fn a_link_has_no_methods_but_those_that_the_server_knows() {
    for (method, target, opens) in [
        ("GET", "/api/v1/pods", true),
        ("x;reboot", "/api/v1/pods", false),
        ("$(reboot)", "/api/v1/pods", false),
        ("get", "/api/v1/pods", false),
        ("PATCH", "evil.example:80", false),
    ] {
        let request = json!({"r": [method, target, "", ""]});
        let session = Session::parse(&packed(&json!({"n": [[request, "A"]], "i": 1})));
        let opened = session.is_ok_and(|session| session.replay().finish().is_ok());
        assert_eq!(opened, opens, "{method} {target}");
    }
}

/// A body by hand that hardly compresses.
fn noise(seed: &mut u64, length: usize) -> String {
    let byte = |seed: &mut u64| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (*seed >> 33) as u8
    };
    let bytes: Vec<u8> = (0..length / 4 * 3).map(|_| byte(seed)).collect();
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Takes steps until one does not fit; how many did. What fits can be opened again.
fn fill(body: &mut dyn FnMut() -> String) -> usize {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    let mut size = Size::default();
    for step in 0..100 {
        let before = tree.clone();
        let by_hand = ByHand {
            method: "POST".to_owned(),
            target: "/api/v1/nothing".to_owned(),
            content_type: "application/json".to_owned(),
            body: body(),
        };
        tree.act(Operation::Act(ActorId::A, Action::Request(by_hand)));
        if !size.fits(&tree) {
            assert_eq!(reopened(&before).len(), before.len(), "what fits opens");
            assert!(
                !Size::default().fits(&tree),
                "weighed at once it is as large"
            );
            assert!(Size::default().fits(&before));
            assert!(
                size.fits(&before),
                "the step that was refused leaves nothing"
            );
            let text = Session::from_tree(&tree).to_text();
            let again = Session::parse(&text).and_then(|session| session.replay().finish());
            if let Ok(again) = again {
                assert!(step > 1 && again.len() == tree.len(), "close to the limit");
            }
            return step;
        }
    }
    panic!("everything fits");
}

#[test]
fn a_step_after_which_the_session_could_not_be_opened_does_not_fit() {
    // Texts that hardly compress: the text would be too long.
    let mut seed = 1;
    let steps = fill(&mut || noise(&mut seed, 1 << 20));
    assert!((5..9).contains(&steps), "{steps}");
    // One text again and again: what is in the text would be too large.
    let steps = fill(&mut || "x".repeat(2 << 20));
    assert!((6..8).contains(&steps), "{steps}");
    // Many small values: they would fill the memory.
    let zeros = vec!["0"; 400_000].join(",");
    let steps = fill(&mut || format!("[{zeros}]"));
    assert!((5..8).contains(&steps), "{steps}");
}

#[test]
fn a_link_says_what_a_write_to_the_status_left_to_be_sent() {
    // Made when such a write took the other edits away: its link does not carry them on.
    let status = json!([{"s": "u", "to": "status"}, "A", null,
        {"e": [["/spec/replicas", 7], ["/status", {"replicas": 3}]]}]);
    let text = packed(&json!({"n": [["g", "A"], status], "i": 2}));
    let tree = Session::parse(&text).unwrap().replay().finish().unwrap();
    assert!(!tree.world().copy(ActorId::A).is_edited());
    // Made now, it says what is left.
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    tree.act(Operation::Act(ActorId::A, Action::Get));
    edit(&mut tree, ActorId::A, |object| {
        object["spec"]["replicas"] = json!(7);
        object["status"] = json!({"replicas": 3});
    });
    let write = Write {
        subresource: Some(Subresource::Status),
        ..Write::default()
    };
    tree.act(Operation::Act(ActorId::A, Action::Send(write)));
    let left = tree.world().copy(ActorId::A).edits();
    assert_eq!(left.len(), 1);
    assert_eq!(reopened(&tree).world().copy(ActorId::A).edits(), left);
    assert_eq!(seen(&reopened(&tree)), seen(&tree));
}
