//! For any lag, lost watches, compactions and restarts, a cache is always a past state of the
//! server, its handlers know what it knows, and at last it equals the server.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use optimist_client::ListMode;
use optimist_controller::{Cache, Notification};
use proptest::prelude::*;

use crate::server::{config_maps, delete, forget_history, write};

#[derive(Clone, Copy, Debug)]
enum Happening {
    Write(u8),
    Delete(u8),
    Deliver,
    Step,
    Sync,
    DropWatch,
    ForgetHistory,
    Restart,
    RestartFromAnOlderServer,
    Wait(u16),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        6 => (0..3u8).prop_map(Happening::Write),
        3 => (0..3u8).prop_map(Happening::Delete),
        6 => Just(Happening::Deliver),
        2 => Just(Happening::Step),
        2 => Just(Happening::Sync),
        2 => Just(Happening::DropWatch),
        1 => Just(Happening::ForgetHistory),
        1 => Just(Happening::Restart),
        1 => Just(Happening::RestartFromAnOlderServer),
        1 => (1..400u16).prop_map(Happening::Wait),
    ]
}

fn prepared() -> ApiServer {
    static SERVER: OnceLock<ApiServer> = OnceLock::new();
    SERVER.get_or_init(ApiServer::default).clone()
}

/// Names and versions.
type SystemState = BTreeMap<String, String>;

fn stored(server: &ApiServer) -> SystemState {
    let objects = server.store().range("/registry/configmaps/default/");
    objects
        .map(|(_, revision, object)| (object.name().to_owned(), revision.to_string()))
        .collect()
}

fn cached(cache: &Cache) -> SystemState {
    let objects = cache.objects().iter();
    objects
        .map(|(_, object)| {
            (
                object.name().to_owned(),
                object.resource_version().to_owned(),
            )
        })
        .collect()
}

/// The state that handlers know from their notifications.
#[derive(Default)]
struct Told(SystemState);

impl Told {
    fn hear(&mut self, notification: &Notification) -> Result<(), TestCaseError> {
        let object = notification.object();
        let (name, version) = (
            object.name().to_owned(),
            object.resource_version().to_owned(),
        );
        let before = match notification {
            Notification::Added { .. } => {
                prop_assert_eq!(self.0.insert(name, version), None);
                return Ok(());
            }
            Notification::Updated { old, .. } => {
                prop_assert_eq!(old.name(), object.name());
                let known = self.0.insert(name, version);
                (known, Some(old.resource_version().to_owned()))
            }
            Notification::Deleted { .. } => {
                prop_assert!(self.0.remove(&name).is_some());
                return Ok(());
            }
        };
        prop_assert_eq!(before.0, before.1);
        Ok(())
    }
}

fn happen(
    happening: Happening,
    cache: &mut Cache,
    server: &mut ApiServer,
    older: &mut ApiServer,
) -> Vec<Notification> {
    match happening {
        Happening::Write(name) => {
            let revision = server.store().revision().to_string();
            write(server, &format!("object-{name}"), &revision);
        }
        Happening::Delete(name) => {
            delete(server, &format!("object-{name}"));
        }
        Happening::Deliver => return cache.deliver(server).into_iter().collect(),
        Happening::Step => return cache.step(server).notifications,
        Happening::Sync => return cache.sync(server),
        Happening::DropWatch => cache.drop_watch(),
        Happening::ForgetHistory => {
            if server.store().compacted() < server.store().revision() {
                forget_history(server);
            }
            *older = server.clone();
        }
        Happening::Restart => cache.restart(),
        Happening::RestartFromAnOlderServer => {
            cache.restart();
            return cache.sync(older);
        }
        Happening::Wait(seconds) => {
            let time = Duration::from_secs(seconds.into());
            server.environment_mut().advance(time);
        }
    }
    Vec::new()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_cache_is_a_past_state_of_the_server_and_ends_equal_to_it(
        happenings in proptest::collection::vec(happening(), 0..40),
        watch_list in any::<bool>(),
    ) {
        let mut server = prepared();
        let mut older = server.clone();
        let mut states = vec![stored(&server)];
        let begin = if watch_list { ListMode::WatchList } else { ListMode::List };
        let mut cache = Cache::new(config_maps(&server), "default", begin);
        let mut told = Told::default();
        for happening in happenings {
            if matches!(happening, Happening::Restart | Happening::RestartFromAnOlderServer) {
                told = Told::default();
            }
            let notifications = happen(happening, &mut cache, &mut server, &mut older);
            for notification in &notifications {
                told.hear(notification)?;
            }
            states.push(stored(&server));
            let known = cached(&cache);
            prop_assert!(states.contains(&known) || !cache.has_synced(), "{:?}", known);
            prop_assert_eq!(&told.0, &known);
            if cache.has_synced() && cache.behind(&server) == 0 {
                prop_assert_eq!(known, stored(&server));
            }
        }
        // Open the watch, read its end or its 410, list, and read what is left.
        for _ in 0..4 {
            for notification in cache.sync(&mut server) {
                told.hear(&notification)?;
            }
            while let Some(notification) = cache.deliver(&mut server) {
                told.hear(&notification)?;
            }
        }
        prop_assert_eq!(cached(&cache), stored(&server));
        prop_assert_eq!(told.0, stored(&server));
        prop_assert_eq!(cache.behind(&server), 0);
    }
}
