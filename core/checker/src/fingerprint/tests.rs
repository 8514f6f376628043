use optimist_apiserver::environment::Environment;
use optimist_client::{Call, OnOwned, Preset, Tool, ToolPlan, WantedChange, Way};
use optimist_controller::Client;
use optimist_controller::program::{Kind, Program};
use optimist_ledger::{Ledger, ObjectRef};
use optimist_system::Event;
use serde_json::json;

use super::*;

/// A server with a ConfigMap, to which one client has written these values in turn.
fn server(seed: u64, first_revision: u64, values: &[&str]) -> ApiServer {
    let mut server = ApiServer::new(Environment::new(seed), first_revision);
    let resource = Arc::clone(server.resources().by_kind("v1", "ConfigMap").unwrap());
    let mut client = Client::new("editor");
    for (index, value) in values.iter().enumerate() {
        let object = Arc::new(json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "default"}, "data": {"value": value}}));
        let call = match index {
            0 => Call::Create {
                namespace: "default".to_owned(),
                object,
            },
            _ => Call::Update {
                base: Arc::clone(&object),
                object,
                subresource: None,
            },
        };
        client.send(&mut server, &resource, &call).unwrap();
    }
    server
}

/// An editor of the same name, who reads the ConfigMap and updates its value.
fn editor(value: &str) -> Program {
    Program::edit(Kind::new("v1", "ConfigMap"), "/data/value", value.into())
}

/// A server, and editors who set these values.
fn with_editors(server: ApiServer, values: [&str; 3]) -> System {
    let system = System::new(server, Ledger::default());
    let values = values.iter();
    values.fold(system, |system, value| {
        system.with_run(editor(value), "default/a")
    })
}

/// The fingerprint after these editors, of three, have performed a step each.
fn after(server: ApiServer, steps: &[ProcessId]) -> Fingerprint {
    let start = with_editors(server, ["other", "first", "mine"]);
    let mut state = start.clone();
    for step in steps {
        state.perform(Event::Step(*step)).unwrap();
    }
    Digests::for_search(&start).fingerprint(&state)
}

#[test]
fn numbers_of_versions_times_and_uids_do_not_count() {
    let one = after(server(1, 1001, &["first"]), &[2]);
    let mut late = server(2, 5, &["first", "other", "first"]);
    late.environment_mut()
        .advance(std::time::Duration::from_secs(77));
    assert_eq!(one, after(late, &[2]));
    assert_ne!(
        one,
        after(server(1, 1001, &["other"]), &[2]),
        "values count"
    );
}

#[test]
fn whether_a_copy_has_the_stored_version_counts_although_the_contents_are_the_same() {
    let start = || server(1, 1001, &["first"]);
    let fresh = after(start(), &[0, 0, 1, 1, 2]);
    let stale = after(start(), &[2, 0, 0, 1, 1]);
    assert_ne!(fresh, stale);
    assert_eq!(fresh, after(start(), &[0, 0, 1, 1, 2]));
}

/// The fingerprint after an editor has set this value.
fn set(value: &str) -> Fingerprint {
    let values = ["2024-05-06T07:08:09Z", "2025-05-06T07:08:09Z", value];
    let start = with_editors(server(1, 1001, &["first"]), values);
    let mut state = start.clone();
    state.perform(Event::Step(2)).unwrap();
    state.perform(Event::Step(2)).unwrap();
    Digests::for_search(&start).fingerprint(&state)
}

#[test]
fn what_a_user_wrote_counts_as_it_is_whatever_it_looks_like() {
    for [a, b] in [
        ["2024-05-06T07:08:09Z", "2025-05-06T07:08:09Z"],
        [
            "0a0a0a0a-1111-2222-3333-444444444444",
            "0b0b0b0b-1111-2222-3333-444444444444",
        ],
    ] {
        assert_ne!(set(a), set(b), "{a}");
        assert_eq!(set(a), set(a));
    }
    let member = |member: &str, value: serde_json::Value| {
        let object = json!({"kind": "ConfigMap", "data": {member: value}});
        let mut texts = Texts::default();
        let words = Digester::object(&object, &Given::default(), &mut texts);
        StateRanks::default().number(&words, &mut texts)
    };
    for (name, a, b) in [
        ("resourceVersion", json!("a"), json!("b")),
        ("generation", json!(1), json!(2)),
        ("observedGeneration", json!(8), json!(9)),
    ] {
        assert_ne!(member(name, a), member(name, b), "{name}");
    }
}

/// A tool that writes a value of the ConfigMap.
fn tool(server: &ApiServer, preset: Preset, value: &str) -> Procedure {
    let (_, stored) = server
        .store()
        .get("/registry/configmaps/default/a")
        .unwrap();
    let resource = server.resources().by_kind("v1", "ConfigMap").unwrap();
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "default"}, "data": {"value": value}});
    Procedure::from(Tool::from(ToolPlan {
        object: ObjectRef::new(resource, stored),
        way: Way::Client(preset, OnOwned::Usual),
        change: Arc::new(WantedChange::manifest(manifest)),
        first: None,
    }))
}

/// A system of two tools that write values of the ConfigMap.
fn tools(values: [&str; 2]) -> System {
    let server = server(1, 1001, &["first"]);
    let tools = values.map(|value| tool(&server, Preset::KubectlApply, value));
    let system = System::new(server, Ledger::default());
    tools
        .into_iter()
        .fold(system, |system, tool| system.with(tool))
}

/// A tool beside two editors, of whom one changes the value and the other one changes it back, and the
/// fingerprint after these steps of all.
fn after_tool(server: ApiServer, preset: Preset, steps: &[Event]) -> Fingerprint {
    let tool = tool(&server, preset, "mine");
    let start = System::new(server, Ledger::default())
        .with_run(editor("other"), "default/a")
        .with_run(editor("first"), "default/a")
        .with(tool);
    let mut state = start.clone();
    for step in steps {
        state.perform(*step).unwrap();
    }
    Digests::for_search(&start).fingerprint(&state)
}

#[test]
fn whether_a_tool_has_the_stored_version_counts_and_the_numbers_of_versions_do_not() {
    use Event::{Request, Step};
    let [change, change_back] = [0, 1].map(|editor| [Step(editor); 2]);
    for preset in Preset::all() {
        if matches!(
            preset,
            Preset::KubectlScale | Preset::Autoscaler | Preset::KubectlLabel
        ) {
            continue;
        }
        let read = [Request(2)];
        let fresh = [&change[..], &change_back, &read].concat();
        let stale = [&read[..], &change, &change_back].concat();
        let of = |seed, first, steps: &[Event]| {
            after_tool(server(seed, first, &["first"]), preset, steps)
        };
        let sends_version = matches!(preset, Preset::KubectlReplace | Preset::Update);
        if sends_version || preset == Preset::CreateOrUpdate {
            assert_ne!(of(1, 1001, &fresh), of(1, 1001, &stale), "{preset:?}");
        }
        assert_eq!(of(1, 1001, &fresh), of(2, 5, &fresh), "{preset:?}");
        assert_eq!(of(1, 1001, &stale), of(2, 5, &stale), "{preset:?}");
    }
}

#[test]
fn tools_that_do_the_same_from_here_on_are_the_same_and_others_are_not() {
    let start = tools(["second", "third"]);
    let mut digests = Digests::for_search(&start);
    let mut after = |start: &System, steps: &[ProcessId]| {
        let mut state = start.clone();
        for step in steps {
            state.perform(Event::Request(*step)).unwrap();
        }
        digests.fingerprint(&state)
    };
    let fresh = after(&start, &[]);
    assert_eq!(fresh, after(&tools(["second", "third"]), &[]), "made twice");
    assert_ne!(
        fresh,
        after(&tools(["second", "fourth"]), &[]),
        "the change"
    );
    assert_ne!(fresh, after(&start, &[0]), "whether it has read");
    assert_ne!(after(&start, &[0]), after(&start, &[1]), "who has read");
    assert_eq!(
        after(&start, &[0, 1]),
        after(&start, &[1, 0]),
        "both have read"
    );
    assert_ne!(
        after(&start, &[0, 1, 0]),
        after(&start, &[0, 0, 1]),
        "whether the other read it before or after"
    );
}
