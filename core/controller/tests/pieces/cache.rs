use std::sync::Arc;
use std::time::Duration;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use optimist_client::{ListMode, ReflectorProgress};
use optimist_controller::{Cache, Notification};

use crate::server::{cache, config_maps, delete, forget_history, synced, write, write_elsewhere};

/// A notification in a line.
fn line(notification: &Notification) -> String {
    let value = |object: &serde_json::Value| object["data"]["value"].as_str().unwrap().to_owned();
    match notification {
        Notification::Added { object, initial } => {
            let initial = if *initial { " (initial)" } else { "" };
            format!("add {}={}{initial}", object.name(), value(object))
        }
        Notification::Updated { old, new } => {
            format!("update {}={} {}", new.name(), value(old), value(new))
        }
        Notification::Deleted {
            object,
            final_state_unknown,
        } => {
            let tombstone = if *final_state_unknown {
                " (tombstone)"
            } else {
                ""
            };
            format!("delete {}={}{tombstone}", object.name(), value(object))
        }
    }
}

fn lines(notifications: &[Notification]) -> Vec<String> {
    notifications.iter().map(line).collect()
}

fn delivered(cache: &mut Cache, server: &mut ApiServer) -> Vec<String> {
    std::iter::from_fn(|| cache.deliver(server))
        .map(|notification| line(&notification))
        .collect()
}

#[test]
fn the_event_of_a_write_is_told_also_if_the_cached_object_is_already_its_answer() {
    let mut server = ApiServer::default();
    write(&mut server, "a", "1");
    let mut cache = synced(&mut server);
    write(&mut server, "a", "2");
    let (_, stored) = server
        .store()
        .get("/registry/configmaps/default/a")
        .unwrap();
    cache.change_in_place(Arc::clone(stored));
    let told = cache.deliver(&mut server);
    assert!(
        matches!(&told, Some(Notification::Updated { new, .. }) if new == stored_in(&cache)),
        "{told:?}"
    );
    assert_eq!(cache.deliver(&mut server), None);
}

fn stored_in(cache: &Cache) -> &Arc<serde_json::Value> {
    cache.get("default/a").unwrap()
}

#[test]
fn each_event_changes_the_cache_and_becomes_one_notification_in_order() {
    let mut server = ApiServer::default();
    let mut cache = synced(&mut server);
    write(&mut server, "a", "1");
    write(&mut server, "a", "2");
    write(&mut server, "a", "3");
    delete(&mut server, "a");
    assert_eq!(cache.behind(&server), 4);
    assert_eq!(cache.get("default/a"), None);
    let next = |cache: &mut Cache, server: &mut ApiServer| {
        cache
            .deliver(server)
            .map(|notification| line(&notification))
    };
    assert_eq!(next(&mut cache, &mut server).as_deref(), Some("add a=1"));
    assert_eq!(cache.get("default/a").unwrap()["data"]["value"], "1");
    assert_eq!(cache.behind(&server), 3);
    assert_eq!(
        delivered(&mut cache, &mut server),
        ["update a=1 2", "update a=2 3", "delete a=3"]
    );
    assert_eq!(cache.behind(&server), 0);
    assert_eq!(cache.version(), server.store().revision().to_string());
}

#[test]
fn a_first_list_adds_every_object() {
    for begin in [ListMode::List, ListMode::WatchList] {
        let mut server = ApiServer::default();
        write(&mut server, "a", "1");
        write(&mut server, "b", "1");
        let mut cache = Cache::new(config_maps(&server), "default", begin);
        assert!(!cache.has_synced());
        let told = cache.sync(&mut server);
        assert_eq!(lines(&told), ["add a=1 (initial)", "add b=1 (initial)"]);
        assert!(cache.has_synced() && cache.is_watching());
        assert_eq!(cache.sync(&mut server), [], "it is in sync");
    }
}

#[test]
fn after_a_dropped_watch_the_missed_events_come_one_by_one() {
    let mut server = ApiServer::default();
    let mut cache = synced(&mut server);
    cache.drop_watch();
    write(&mut server, "a", "1");
    write(&mut server, "a", "2");
    assert_eq!(cache.deliver(&mut server), None, "no watch is open");
    assert_eq!(cache.behind(&server), 2);
    assert_eq!(cache.sync(&mut server), []);
    assert_eq!(
        delivered(&mut cache, &mut server),
        ["add a=1", "update a=1 2"]
    );
}

#[test]
fn a_relist_after_410_finds_missed_deletions_as_tombstones_and_tells_of_every_object() {
    let mut server = ApiServer::default();
    for name in ["changed", "gone", "same"] {
        write(&mut server, name, "1");
    }
    let mut cache = synced(&mut server);
    cache.drop_watch();
    write(&mut server, "changed", "2");
    write(&mut server, "changed", "3");
    write(&mut server, "gone", "2");
    delete(&mut server, "gone");
    write(&mut server, "new", "1");
    forget_history(&mut server);

    let opened = cache.step(&mut server);
    assert!(matches!(
        opened.progress,
        ReflectorProgress::Watching { .. }
    ));
    let expired = cache.step(&mut server);
    assert!(matches!(
        expired.progress,
        ReflectorProgress::Lost { code: 410, .. }
    ));
    let relisted = cache.step(&mut server);
    assert_eq!(
        lines(&relisted.notifications),
        [
            // The object of a tombstone can be older than its last state, which had the value 2.
            "delete gone=1 (tombstone)",
            // What happened in between is not told.
            "update changed=1 3",
            "add new=1",
            "update same=1 1",
        ]
    );
}

#[test]
fn an_object_that_was_deleted_and_created_again_in_between_is_one_update_with_another_uid() {
    let mut server = ApiServer::default();
    write(&mut server, "a", "1");
    let mut cache = synced(&mut server);
    cache.drop_watch();
    delete(&mut server, "a");
    write(&mut server, "a", "2");
    forget_history(&mut server);
    assert_eq!(cache.sync(&mut server), []);
    assert_eq!(cache.deliver(&mut server), None, "410 instead of an event");
    let told = cache.sync(&mut server);
    assert_eq!(lines(&told), ["update a=1 2"]);
    let Notification::Updated { old, new } = &told[0] else {
        panic!("an update");
    };
    assert_ne!(old.uid(), new.uid());
}

#[test]
fn a_resync_tells_of_every_object_again_without_a_request() {
    let mut server = ApiServer::default();
    write(&mut server, "a", "1");
    let cache = synced(&mut server);
    write(&mut server, "a", "2");
    assert_eq!(
        lines(&cache.resync()),
        ["update a=1 1"],
        "from the cache, not from the server"
    );
}

#[test]
fn a_restarted_cache_can_be_filled_from_a_server_that_is_behind() {
    // kubernetes#59848: the view goes back.
    let mut server = ApiServer::default();
    write(&mut server, "a", "1");
    let mut behind = server.clone();
    delete(&mut server, "a");
    let mut cache = synced(&mut server);
    assert!(cache.objects().is_empty());
    cache.restart();
    assert!(!cache.has_synced());
    assert_eq!(lines(&cache.sync(&mut behind)), ["add a=1 (initial)"]);
    assert_eq!(cache.behind(&server), 1);
    assert_eq!(delivered(&mut cache, &mut server), ["delete a=1"]);
}

#[test]
fn bookmarks_move_the_version_and_tell_nothing() {
    let mut server = ApiServer::default();
    let mut cache = synced(&mut server);
    let before = cache.version().to_owned();
    // A change of another namespace moves the revision.
    write_elsewhere(&mut server);
    server.environment_mut().advance(Duration::from_secs(61));
    assert_eq!(cache.behind(&server), 0);
    assert_eq!(cache.deliver(&mut server), None);
    assert_ne!(cache.version(), before);
    assert_eq!(cache.version(), server.store().revision().to_string());
}

#[test]
fn a_watch_that_ended_is_opened_again_where_it_ended() {
    let mut server = ApiServer::default();
    let mut cache = synced(&mut server);
    server.environment_mut().advance(Duration::from_secs(3600));
    write(&mut server, "a", "1");
    assert_eq!(delivered(&mut cache, &mut server), ["add a=1"]);
}

#[test]
fn a_cache_that_has_not_synced_has_reached_no_version() {
    let mut server = ApiServer::default();
    let mut cache = cache(&server);
    assert!(!cache.has_reached("1"));
    write(&mut server, "a", "1");
    cache.sync(&mut server);
    let newest = server.store().revision();
    assert!(
        cache.has_reached(&newest.to_string()),
        "{}",
        cache.version()
    );
    assert!(!cache.has_reached(&(newest + 1).to_string()));
    assert!(
        cache.has_reached("malformed"),
        "such a version counts as reached"
    );
}
