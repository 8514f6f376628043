//! Manifests and lessons with random changes: each opens or gives an error. What opens can be
//! saved, exported and opened again.
//!
//! Hundreds in every test run; `OPTIMIST_MUTATIONS=1000000` looks at so many, and `OPTIMIST_SEED`
//! begins elsewhere.

use std::path::Path;
use std::sync::Arc;

use optimist_client::Write;
use optimist_exports::{mermaid, report, script};
use optimist_lesson::{Lesson, check_lesson};
use optimist_links::Session;
use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};

/// The number of changed texts of each kind.
fn times() -> u64 {
    setting("OPTIMIST_MUTATIONS", 200)
}

fn setting(name: &str, usual: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.and_then(|set| set.parse().ok()).unwrap_or(usual)
}

/// Numbers that look like chance, the same for the same seed (xorshift64*, Vigna 2016).
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap_or(0) % most.max(1)
    }

    fn one<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const WORDS: [&str; 38] = [
    "\0",
    "\n",
    "\r",
    "\t",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "- ",
    "&a ",
    "*a",
    "<<: *a",
    "~",
    "null",
    "-1",
    "1e999",
    "99999999999999999999",
    "true",
    "\u{202e}",
    "\u{feff}",
    "é",
    "/",
    "~1",
    "---\n",
    "# ",
    "$(canary)",
    "\"n\":",
    "{\"s\":\"a\"}",
    "[\"g\",\"A\"]",
    "metadata:",
    "name: ",
    "x",
    "0",
    "\\u0000",
];

/// A text with a few changes.
fn changed(text: &str, chance: &mut Chance) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=chance.below(2) {
        let at = chance.below(chars.len() + 1);
        let end = (at + chance.below(12)).min(chars.len());
        let span: Vec<char> = match chance.below(4) {
            0 => Vec::new(),
            1 => chance.one(&WORDS).chars().collect(),
            // What stands elsewhere.
            2 => {
                let from = chance.below(chars.len());
                chars[from..(from + chance.below(40)).min(chars.len())].to_vec()
            }
            _ => chars[at..end].iter().rev().copied().collect(),
        };
        let keeps = chance.below(2) == 0;
        chars.splice(at..if keeps { at } else { end }, span);
    }
    chars.into_iter().collect()
}

/// Checks that an opened session can be exported, and becomes a link that opens.
fn check(tree: &HistoryTree, what: &str) {
    script(tree);
    report(tree);
    mermaid(tree);
    let again = Session::parse(&Session::from_tree(tree).to_text());
    let again = again.map(|session| session.replay().finish());
    assert!(matches!(again, Ok(Ok(_))), "it does not open again: {what}");
}

fn act(tree: &mut HistoryTree, action: Action) {
    tree.act(Operation::Act(ActorId::A, action));
}

#[test]
fn a_changed_manifest_loads_or_says_why_not() {
    let seeds = [
        NGINX,
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  labels: &a {b: c}\n  annotations: *a\ndata:\n  \
         k: |\n    several\n    lines\n---\n# another\napiVersion: v1\nkind: Service\nmetadata: {name: y}\n\
         spec: {ports: [{port: 80}]}\n",
        concat!(
            include_str!("../../../tests/conformance/crds/backups.demo.example.com.json"),
            "\n---\napiVersion: demo.example.com/v1\nkind: Backup\nmetadata: {name: x}\nspec: {tags: [a]}\n"
        ),
    ];
    let mut chance = Chance(setting("OPTIMIST_SEED", 0x6d61_6e69));
    let mut loaded = 0;
    for i in 0..times() {
        let text = changed(seeds[chance.below(seeds.len())], &mut chance);
        let Ok((world, _)) = World::load(&text) else {
            continue;
        };
        loaded += 1;
        let mut tree = HistoryTree::new(world);
        act(&mut tree, Action::Get);
        act(&mut tree, Action::Send(Write::default()));
        check(&tree, &format!("{i}: {text}"));
    }
    assert!(loaded * 20 > times(), "only {loaded} load");
}

#[test]
fn a_changed_lesson_is_one_or_has_a_mistake_that_is_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lessons");
    let files = std::fs::read_dir(folder).unwrap();
    let mut lessons: Vec<String> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    lessons.sort();
    let mut chance = Chance(setting("OPTIMIST_SEED", 0x6c65_7373));
    let mut parsed = 0;
    for _ in 0..times() {
        let text = changed(&lessons[chance.below(lessons.len())], &mut chance);
        match Lesson::parse(&text) {
            Ok(lesson) => {
                parsed += 1;
                check_lesson(&Arc::new(lesson));
            }
            Err(error) => assert!(error.to_string().starts_with("line "), "{error}"),
        }
    }
    assert!(parsed * 20 > times(), "only {parsed} are lessons");
}
