//! Properties of watches: a watch delivers exactly the changes, and a reflector's store always
//! equals a past state of the server and finally the present state.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use crate::{ListMode, Reflector, ReflectorProgress};
use http::{Method, Request};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, EventType};
use proptest::prelude::*;
use serde_json::{Value, json};

const COLLECTION: &str = "/api/v1/namespaces/default/configmaps";
const ELSEWHERE: &str = "/api/v1/namespaces/kube-system/configmaps";

/// One thing that happens to the server, or to the reflector.
#[derive(Clone, Copy, Debug)]
enum Happening {
    /// An object of this name gets a new value; it is selected or not.
    Write(u8, bool),
    /// An object of this name goes.
    Delete(u8),
    /// Something else is written.
    WriteElsewhere,
    /// Time passes.
    Wait(u16),
    /// Compaction so many revisions ago.
    Compact(u8),
    Restart,
    /// The events that the server sent arrive.
    Receive,
    /// The reflector takes a step, or reads this number of events.
    Step(u8),
    Disconnect,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        6 => (0..4u8, any::<bool>()).prop_map(|(name, selected)| Happening::Write(name, selected)),
        3 => (0..4u8).prop_map(Happening::Delete),
        1 => Just(Happening::WriteElsewhere),
        1 => (1..90u16).prop_map(Happening::Wait),
        2 => (0..4u8).prop_map(Happening::Compact),
        1 => Just(Happening::Restart),
        2 => Just(Happening::Receive),
        6 => (0..4u8).prop_map(Happening::Step),
        2 => Just(Happening::Disconnect),
    ]
}

/// The objects by name: version and value.
type State = BTreeMap<String, (u64, String)>;

/// A server, and everything that it has ever had.
struct World {
    server: ApiServer,
    /// The state of the collection at each version, oldest first.
    states: Vec<(u64, State)>,
    selecting: bool,
    writes: u32,
}

impl World {
    fn new(cached: bool, selecting: bool) -> Self {
        static SERVER: OnceLock<ApiServer> = OnceLock::new();
        let prepared = SERVER.get_or_init(|| {
            let mut server = ApiServer::default();
            let namespace = json!({"metadata": {"name": "kube-system"}});
            assert!(send(
                &mut server,
                Method::POST,
                "/api/v1/namespaces",
                &namespace
            ));
            server
        });
        let mut server = prepared.clone();
        if !cached {
            server.restart_with_watch_cache(false);
        }
        let states = vec![(0, State::new())];
        Self {
            server,
            states,
            selecting,
            writes: 0,
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Write(name, selected) => self.write(COLLECTION, name, selected),
            Happening::WriteElsewhere => self.write(ELSEWHERE, 0, true),
            Happening::Delete(name) => {
                let path = format!("{COLLECTION}/{}", self::name(name));
                send(&mut self.server, Method::DELETE, &path, &Value::Null);
            }
            Happening::Wait(seconds) => {
                let time = Duration::from_secs(seconds.into());
                self.server.environment_mut().advance(time);
            }
            Happening::Compact(ago) => {
                let revision = self.server.store().revision() - u64::from(ago);
                let _ = self.server.compact(revision);
            }
            Happening::Restart => self.server.restart(),
            Happening::Receive | Happening::Step(_) | Happening::Disconnect => {}
        }
        let revision = self.server.store().revision();
        if self.states.last().is_some_and(|(last, _)| *last < revision) {
            let state = self.now();
            self.states.push((revision, state));
        }
    }

    fn write(&mut self, collection: &str, name: u8, selected: bool) {
        self.writes += 1;
        let name = self::name(name);
        let object = json!({
            "metadata": {"name": name, "labels": {"selected": selected.to_string()}},
            "data": {"n": self.writes.to_string()},
        });
        if !send(&mut self.server, Method::POST, collection, &object) {
            let path = format!("{collection}/{name}");
            assert!(send(&mut self.server, Method::PUT, &path, &object));
        }
    }

    /// Returns the objects of the collection that are selected now, straight from the store.
    fn now(&self) -> State {
        let objects = self.server.store().range("/registry/configmaps/default/");
        objects
            .filter(|(_, _, object)| !self.selecting || is_selected(object))
            .map(|(_, revision, object)| (object.name().to_owned(), (revision, value(object))))
            .collect()
    }

    fn at(&self, revision: u64) -> &State {
        let states = self.states.iter().rev();
        let mut then = states.skip_while(|(at, _)| *at > revision);
        &then.next().expect("a state at every version").1
    }

    fn selector(&self) -> &'static str {
        if self.selecting { "selected=true" } else { "" }
    }
}

fn name(name: u8) -> String {
    format!("object-{name}")
}

fn is_selected(object: &Value) -> bool {
    object.pointer("/metadata/labels/selected") == Some(&json!("true"))
}

fn value(object: &Value) -> String {
    object["data"]["n"].as_str().unwrap_or_default().to_owned()
}

fn version(object: &Value) -> u64 {
    object.resource_version().parse().expect("a version")
}

fn send(server: &mut ApiServer, method: Method, path: &str, body: &Value) -> bool {
    let body = match body {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    };
    let request = Request::builder().method(method).uri(path);
    server
        .handle(request.body(body).unwrap())
        .status()
        .is_success()
}

fn known(reflector: &Reflector) -> State {
    let objects = reflector.store().iter();
    objects
        .map(|(_, object)| (object.name().to_owned(), (version(object), value(object))))
        .collect()
}

/// The number of random histories; more of them with `PROPTEST_CASES`.
fn histories(cases: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if asked { usual.cases } else { cases },
        failure_persistence: None,
        ..usual
    }
}

proptest! {
    #![proptest_config(histories(2_500))]

    /// Disconnected, lagged and compacted at random, a reflector always knows exactly what the
    /// server had at the version that it says, goes only forward, and at last knows what is there.
    #[test]
    fn a_reflector_ends_with_exactly_what_the_server_has(
        happenings in proptest::collection::vec(happening(), 0..32),
        cached in any::<bool>(),
        watch_list in any::<bool>(),
        page_size in 0..3usize,
    ) {
        let mut world = World::new(cached, false);
        let begin = if watch_list { ListMode::WatchList } else { ListMode::List };
        let mut reflector = Reflector::new(COLLECTION, begin)
            .paging(page_size);
        let mut seen = 0;
        for happening in happenings {
            match happening {
                Happening::Receive => reflector.receive(&world.server),
                Happening::Step(most) => {
                    reflector.step(&mut world.server, most.into());
                }
                Happening::Disconnect => reflector.disconnect(),
                other => world.happen(other),
            }
            if let Ok(version) = reflector.resource_version().parse() {
                prop_assert!(version >= seen, "back from {} to {}", seen, version);
                seen = version;
                prop_assert_eq!(&known(&reflector), world.at(seen));
            }
        }
        let mut steps = 0;
        while reflector.step(&mut world.server, 3) != ReflectorProgress::Received(0) {
            steps += 1;
            prop_assert!(steps < 200, "it never gets there");
        }
        prop_assert_eq!(known(&reflector), world.now());
    }
}

proptest! {
    #![proptest_config(histories(1_000))]

    /// A watch from a version yields exactly the changes after it, each from the view of a client
    /// that sees only the selected objects.
    #[test]
    fn a_watch_yields_exactly_the_changes_after_its_version(
        before in proptest::collection::vec(happening(), 0..20),
        after in proptest::collection::vec(happening(), 0..10),
        cached in any::<bool>(),
        selecting in any::<bool>(),
        back in 0..12u64,
    ) {
        let mut world = World::new(cached, selecting);
        before.into_iter().for_each(|happening| world.happen(happening));
        let from = world.server.store().revision() - back;
        let uri = format!(
            "{COLLECTION}?watch=true&resourceVersion={from}&labelSelector={}",
            world.selector()
        );
        let request = Request::get(uri).body(Vec::new()).unwrap();
        let mut watch = world.server.watch(&request).expect("a watch");
        let mut events = watch.poll(&world.server);
        let refused = events.first().is_some_and(|event| event.event_type == EventType::Error);
        prop_assert_eq!(refused, !watch.is_open());
        if refused {
            let gone = world.server.store().compacted().max(match cached {
                true => world.server.store().revision(),
                false => 0,
            });
            prop_assert!(from < gone, "{} is not too old", from);
            return Ok(());
        }
        for happening in after {
            // A restart ends the watch, and so does its time.
            if !matches!(happening, Happening::Restart | Happening::Wait(_)) {
                world.happen(happening);
            }
        }
        let later = watch.poll(&world.server);
        events.extend(later);
        prop_assert_eq!(watch.poll(&world.server), vec![]);
        let mut expected = Vec::new();
        let later = world.states.iter().filter(|(revision, _)| *revision > from);
        let mut last = world.at(from);
        for (revision, state) in later {
            for name in last.keys().chain(state.keys().filter(|name| !last.contains_key(*name))) {
                match (last.get(name), state.get(name)) {
                    (Some(old), None) => {
                        expected.push((EventType::Deleted, *revision, old.1.clone()));
                    }
                    (None, Some(new)) => expected.push((EventType::Added, new.0, new.1.clone())),
                    (Some(old), Some(new)) if old != new => {
                        expected.push((EventType::Modified, new.0, new.1.clone()));
                    }
                    _ => {}
                }
            }
            last = state;
        }
        let got: Vec<_> = events
            .iter()
            .map(|event| (event.event_type, version(&event.object), value(&event.object)))
            .collect();
        prop_assert_eq!(got, expected);
    }
}
