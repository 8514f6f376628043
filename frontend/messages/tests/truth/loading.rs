//! Sentences about a file that is loaded: about its content, and about the parts that were taken
//! from it.

use optimist_messages::{self as messages, label};
use optimist_simulation::World;
use optimist_state::{ManifestMsg, State};
use serde_json::{Value, json};

use super::diagnose::page::Page;
use super::hearing::{ConditionOf, Conditions, Hearing};

/// A file, and the server after it was loaded.
pub struct File {
    documents: Vec<Value>,
    text: String,
    world: World,
    /// `true` if it was loaded.
    loaded: bool,
}

impl File {
    /// Returns how many objects of the file the server has.
    fn stored(&self) -> usize {
        self.world
            .subjects()
            .filter(|one| self.world.server().store().get(one.key()).is_some())
            .count()
    }

    fn version(&self) -> Option<u64> {
        self.world.stored().map(|(version, _)| version)
    }
}

pub const LOADING: &[(&str, ConditionOf<File>)] = &[
    ("loaded_as", |said, it| {
        Some(it.loaded && it.stored() == 1 && it.version() == said.number("version"))
    }),
    ("loaded_one_more", |said, it| {
        Some(it.loaded && it.stored() == 2 && it.version() == said.number("version"))
    }),
    ("loaded_more", |said, it| {
        let count = said.number("count")? as usize;
        Some(
            it.loaded
                && count > 1
                && it.stored() == count + 1
                && it.version() == said.number("version"),
        )
    }),
    ("dropped_fields", |_, it| {
        // What only the server writes is in the file, and the stored object has another one.
        const SERVERS: [&str; 4] = [
            "uid",
            "resourceVersion",
            "managedFields",
            "creationTimestamp",
        ];
        let of = |name: &str| {
            it.documents
                .iter()
                .any(|one| one["metadata"].get(name).is_some())
        };
        Some(it.loaded && (SERVERS.iter().any(|name| of(name)) || it.text.contains("status")))
    }),
    ("load_syntax", |said, it| {
        let line = said.number("line")? as usize;
        // What is missing at the end is missing behind the last line.
        Some(!it.loaded && (1..=it.text.lines().count() + 1).contains(&line))
    }),
    ("load_kind", |said, it| {
        let kind = said.text("kind");
        let others = said.text("others");
        let named = it
            .documents
            .iter()
            .any(|one| kind.contains(one["kind"].as_str().unwrap_or("?")));
        Some(!it.loaded && named && !others.split(", ").any(|other| other == kind))
    }),
    ("load_kind_short", |_, it| {
        let alone = |one: &Value| World::load(&one.to_string()).is_err();
        Some(it.documents.iter().any(alone))
    }),
    ("load_nothing", |_, it| {
        let alone = |one: &Value| World::load(&one.to_string()).is_err();
        Some(!it.loaded && it.documents.iter().all(alone))
    }),
];

fn config(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}})
}

/// The files, as texts and as what is in them.
fn files() -> Vec<(String, Vec<Value>)> {
    let mut printed = config("printed");
    printed["metadata"]["uid"] = "00000000-0000-4000-8000-00000000000a".into();
    printed["metadata"]["resourceVersion"] = "12".into();
    let unknown =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}});
    let list = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "Not A Name"}});
    let all = [
        vec![config("a")],
        vec![config("a"), config("b")],
        vec![config("a"), config("b"), config("c"), unknown.clone()],
        vec![printed],
        vec![unknown.clone()],
        vec![unknown.clone(), list.clone()],
        vec![list],
        vec![config("a"), unknown],
    ];
    let text = |documents: &Vec<Value>| {
        let texts: Vec<String> = documents.iter().map(Value::to_string).collect();
        texts.join("\n---\n")
    };
    let mut files: Vec<(String, Vec<Value>)> = all.into_iter().map(|it| (text(&it), it)).collect();
    files.push(("apiVersion: v1\nkind: [\n".to_owned(), Vec::new()));
    files.push((
        "{\"apiVersion\": \"v1\",\n \"kind\": }".to_owned(),
        Vec::new(),
    ));
    files
}

fn said(state: &State) -> Vec<String> {
    let mut texts: Vec<String> = state
        .manifest
        .problem
        .iter()
        .map(messages::load_error)
        .collect();
    if let Some(loaded) = &state.manifest.loaded {
        texts.push(match loaded.others {
            0 => label::loaded_as(&loaded.version),
            1 => label::loaded_one_more(&loaded.version),
            more => label::loaded_more(&loaded.version, &more),
        });
        texts.extend(loaded.left_out.iter().map(messages::left_out));
        texts.extend((!loaded.dropped.is_empty()).then(label::dropped_fields));
    }
    texts
}

/// Loads each file, and hears what is said.
pub fn each(hearing: &mut Hearing) {
    let conditions: Conditions<File> = LOADING.iter().copied().collect();
    for (text, documents) in files() {
        let mut page = Page::open();
        page.send(ManifestMsg::Text(text.clone()));
        page.send(ManifestMsg::Load);
        page.finish_work();
        let about = File {
            documents,
            world: page.state.world().clone(),
            loaded: page.state.manifest.loaded.is_some(),
            text,
        };
        for one in said(&page.state) {
            hearing.hear(&one, &conditions, &about, &|| format!("   {}", about.text));
        }
    }
}
