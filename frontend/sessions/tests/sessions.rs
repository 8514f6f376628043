//! Sessions that a tab keeps, sets aside, offers and takes, on storages that are maps with any
//! content.

use optimist_sessions::{
    OPENING, OWN, OfferStatus, SessionSnapshot, Sessions, StorageArea, StorageContents,
    StorageEffect, TAB,
};
use proptest::prelude::*;

/// Storages that do what they are told, with room for so many characters in the browser's.
#[derive(Clone, Debug, Default)]
struct Browser {
    found: StorageContents,
    room: Option<usize>,
}

impl Browser {
    fn fits(&self, place: StorageArea, key: &str, value: &str) -> bool {
        let others = self.found.browser.iter().filter(|(known, _)| *known != key);
        let others: usize = others.map(|(_, value)| value.len()).sum();
        place == StorageArea::Tab || self.room.is_none_or(|room| others + value.len() <= room)
    }

    /// Carries effects out, as the page does. Whether all of it, or what came instead, was done.
    fn perform(&mut self, sessions: &mut Sessions, effects: Vec<StorageEffect>) {
        let mut left: Vec<StorageEffect> = effects.into_iter().rev().collect();
        while let Some(effect) = left.pop() {
            match &effect {
                StorageEffect::Remove { place, key } => {
                    self.storage(*place).remove(key);
                }
                StorageEffect::Write { place, key, value } if self.fits(*place, key, value) => {
                    self.storage(*place).insert(key.clone(), value.clone());
                }
                StorageEffect::Write { .. } => {
                    left.extend(sessions.failed(&effect).into_iter().rev())
                }
            }
        }
    }

    fn storage(&mut self, place: StorageArea) -> &mut std::collections::BTreeMap<String, String> {
        match place {
            StorageArea::Tab => &mut self.found.tab,
            StorageArea::Browser => &mut self.found.browser,
        }
    }

    fn open(&mut self, salt: u64) -> Sessions {
        let (mut sessions, effects) = Sessions::read(&self.found, 1000.0, salt);
        self.perform(&mut sessions, effects);
        sessions
    }

    /// A tab as it opens, with the session that it had.
    fn reload(&mut self, salt: u64) -> (Sessions, Option<String>) {
        let mut sessions = self.open(salt);
        let text = sessions.open_waiting().map(|(entry, effects)| {
            self.perform(&mut sessions, effects);
            entry.text
        });
        if let Some((_, effects)) = sessions.opened() {
            self.perform(&mut sessions, effects);
        }
        (sessions, text)
    }

    fn save(&mut self, sessions: &mut Sessions, text: &str, now: f64) {
        let present = self.found.browser.get(&sessions.live_key()).cloned();
        let effects = sessions.save(&shown(text), now, present.as_deref());
        self.perform(sessions, effects);
    }

    fn archive(&mut self, sessions: &mut Sessions, text: &str, now: f64) {
        let (_, effects) = sessions.archive(&shown(text), true, now);
        self.perform(sessions, effects);
    }

    fn take(&mut self, sessions: &mut Sessions, id: &str) -> String {
        let (entry, effects) = sessions.open(id).unwrap();
        self.perform(sessions, effects);
        let (_, effects) = sessions.opened().unwrap();
        self.perform(sessions, effects);
        entry.text
    }

    /// Every session that is kept anywhere.
    fn texts(&self) -> Vec<String> {
        let mut copy = self.clone();
        copy.found.tab.remove(OWN);
        copy.found.tab.remove(TAB);
        let sessions = copy.open(99);
        let mut texts: Vec<_> = sessions.saved().iter().map(|it| it.text.clone()).collect();
        texts.sort();
        texts
    }

    fn new_tab(&mut self) {
        self.found.tab.clear();
    }
}

fn shown(text: &str) -> SessionSnapshot {
    SessionSnapshot {
        name: format!("session {text}"),
        text: text.to_owned(),
        own: true,
        ..SessionSnapshot::default()
    }
}

fn last_away(sessions: &Sessions) -> Option<&str> {
    sessions.last_away().map(|entry| &*entry.text)
}

#[test]
fn b_over_a_and_c_over_b_leads_back_to_b_and_then_to_a() {
    let mut browser = Browser::default();
    let mut tab = browser.open(1);
    browser.save(&mut tab, "A", 1.0);
    browser.archive(&mut tab, "A", 2.0);
    browser.save(&mut tab, "B", 3.0);
    browser.archive(&mut tab, "B", 4.0);
    browser.save(&mut tab, "C", 5.0);
    assert_eq!(last_away(&tab), Some("B"));
    let (mut tab, own) = browser.reload(2);
    assert_eq!(own.as_deref(), Some("C"));
    assert_eq!(last_away(&tab), Some("B"));
    let (_, effects) = tab.archive(&shown("C"), false, 6.0);
    browser.perform(&mut tab, effects);
    let b = tab.last_away().unwrap().clone();
    assert_eq!((&*b.name, b.date), ("session B", 4.0), "named and dated");
    assert_eq!(browser.take(&mut tab, &b.id), "B");
    assert_eq!(last_away(&tab), Some("A"));
    assert_eq!(browser.texts(), ["A", "B", "C"]);
}

#[test]
fn a_reload_brings_back_the_session_and_what_was_being_typed() {
    let mut browser = Browser::default();
    let mut tab = browser.open(1);
    let mut typed = shown("A");
    typed.drafts.insert("B".to_owned(), "spec: [".to_owned());
    tab.type_manifest("kind: Con");
    let effects = tab.save(&typed, 1.0, None);
    browser.perform(&mut tab, effects);
    let mut tab = browser.open(2);
    assert_eq!(tab.manifest(), "kind: Con");
    let (entry, _) = tab.open_waiting().unwrap();
    assert_eq!((entry.text.as_str(), &entry.drafts), ("A", &typed.drafts));
}

#[test]
fn what_cannot_be_opened_is_kept_while_the_tab_goes_on() {
    let mut browser = Browser::default();
    let mut tab = browser.open(1);
    browser.save(&mut tab, "too large", 1.0);
    let mut tab = browser.open(2);
    let (_, effects) = tab.open_waiting().unwrap();
    browser.perform(&mut tab, effects);
    let (was_kept, effects) = tab.not_opened(2.0);
    browser.perform(&mut tab, effects);
    assert!(was_kept);
    browser.save(&mut tab, "new", 3.0);
    assert_eq!(browser.texts(), ["new", "too large"]);
    assert_eq!(tab.saved()[0].standing, OfferStatus::Unopened);
    assert_eq!(tab.offered().count(), 0);
}

#[test]
fn what_stopped_the_page_while_it_was_opened_is_only_offered() {
    let mut browser = Browser::default();
    let mut tab = browser.open(1);
    browser.save(&mut tab, "A", 1.0);
    let mut tab = browser.open(2);
    let (_, effects) = tab.open_waiting().unwrap();
    browser.perform(&mut tab, effects);
    assert!(browser.found.tab.contains_key(OPENING));
    let mut tab = browser.open(3);
    assert!(!browser.found.tab.contains_key(OPENING));
    assert!(!tab.is_waiting());
    assert_eq!(tab.offered().count(), 1);
    browser.save(&mut tab, "new", 4.0);
    assert_eq!(browser.texts(), ["A", "new"]);
}

#[test]
fn an_offer_stays_while_the_new_tab_works_until_it_is_taken_or_refused() {
    let mut browser = Browser::default();
    let mut tab = browser.open(1);
    browser.save(&mut tab, "A", 1.0);
    browser.new_tab();
    let mut tab = browser.open(2);
    browser.save(&mut tab, "one Get", 2.0);
    assert_eq!(tab.offered().count(), 1);
    let (mut tab, _) = browser.reload(3);
    assert_eq!(tab.offered().map(|it| &*it.text).collect::<Vec<_>>(), ["A"]);
    let effects = tab.refuse();
    browser.perform(&mut tab, effects);
    assert_eq!(tab.offered().count(), 0);
    assert_eq!(
        browser.texts(),
        ["A", "one Get"],
        "refused and still in the list"
    );
    browser.new_tab();
    let tab = browser.open(4);
    let offered: Vec<_> = tab.offered().map(|it| &*it.text).collect();
    assert_eq!(offered, ["one Get"]);
}

#[test]
fn a_link_that_is_opened_in_the_tab_puts_its_own_session_off() {
    let mut browser = Browser::default();
    let mut tab = browser.open(1);
    browser.save(&mut tab, "A", 1.0);
    let mut tab = browser.open(2);
    let effects = tab.archive_waiting(2.0);
    browser.perform(&mut tab, effects);
    let mut link = shown("link");
    link.own = false;
    let effects = tab.save(&link, 3.0, None);
    browser.perform(&mut tab, effects);
    assert_eq!(last_away(&tab), Some("A"));
    assert_eq!(
        browser.texts(),
        ["A"],
        "a link that is only looked at is no session of its own"
    );
    let (tab, own) = browser.reload(3);
    assert_eq!(own.as_deref(), Some("link"));
    assert!(!tab.is_own());
    assert_eq!(last_away(&tab), Some("A"));
    assert_eq!(browser.texts(), ["A"]);
}

#[test]
fn two_tabs_with_one_session_become_two_sessions() {
    let mut browser = Browser::default();
    let mut first = browser.open(1);
    browser.save(&mut first, "A", 1.0);
    // A tab that is duplicated has the storage of the first one.
    let (mut second, own) = browser.reload(2);
    assert_eq!(own.as_deref(), Some("A"));
    browser.save(&mut first, "A and more", 3.0);
    browser.save(&mut second, "A and other", 4.0);
    assert_eq!(browser.texts(), ["A and more", "A and other"]);
}

#[test]
fn a_full_storage_takes_what_was_refused_away_and_nothing_else() {
    let mut browser = Browser::default();
    let mut tab = browser.open(1);
    browser.save(&mut tab, "refused", 1.0);
    browser.new_tab();
    let mut tab = browser.open(2);
    let effects = tab.refuse();
    browser.perform(&mut tab, effects);
    browser.save(&mut tab, "A", 2.0);
    browser.room = Some(browser.found.browser.values().map(String::len).sum());
    browser.archive(&mut tab, "A", 3.0);
    browser.save(&mut tab, "B", 4.0);
    assert_eq!(browser.texts(), ["A", "B"]);
    browser.archive(&mut tab, "B", 5.0);
    browser.save(&mut tab, &"C".repeat(200), 6.0);
    assert_eq!(browser.texts(), ["A", "B"]);
    assert_eq!(
        browser.reload(3).1,
        Some("C".repeat(200)),
        "the tab still has it"
    );
}

#[test]
fn what_earlier_versions_kept_is_still_there() {
    let mut browser = Browser::default();
    browser.found.tab.insert(OWN.to_owned(), "C".to_owned());
    browser
        .found
        .tab
        .insert("optimist.own-session".to_owned(), "A".to_owned());
    browser
        .found
        .browser
        .insert("optimist.last-session".to_owned(), "B".to_owned());
    let (tab, own) = browser.reload(1);
    assert_eq!(own.as_deref(), Some("C"));
    assert_eq!(last_away(&tab), Some("A"));
    assert_eq!(browser.texts(), ["A", "B", "C"]);
    assert!(!browser.found.browser.contains_key("optimist.last-session"));
}

#[test]
fn what_cannot_be_read_is_named_and_left_as_it_is() {
    let mut browser = Browser::default();
    let later = r#"{"v":2,"text":"1abc"}"#;
    for (key, value) in [("optimist.kept.x", "nonsense"), ("optimist.kept.y", later)] {
        browser
            .found
            .browser
            .insert(key.to_owned(), value.to_owned());
    }
    browser.found.tab.insert(TAB.to_owned(), "[".to_owned());
    let before = browser.found.browser.clone();
    let tab = browser.open(1);
    assert_eq!(tab.unreadable().len(), 3);
    assert_eq!(browser.found.browser, before);
}

/// Something that a tab does.
#[derive(Clone, Debug)]
enum TabAction {
    Save(u8),
    SetAside(bool),
    Take(u8),
    CannotOpen(u8),
    Reload,
    NewTab,
    PutOff,
    Refuse,
    Crash,
}

fn actions() -> impl Strategy<Value = TabAction> {
    prop_oneof![
        4 => any::<u8>().prop_map(TabAction::Save),
        3 => any::<bool>().prop_map(TabAction::SetAside),
        2 => any::<u8>().prop_map(TabAction::Take),
        1 => any::<u8>().prop_map(TabAction::CannotOpen),
        1 => Just(TabAction::Reload),
        1 => Just(TabAction::NewTab),
        1 => Just(TabAction::PutOff),
        1 => Just(TabAction::Refuse),
        1 => Just(TabAction::Crash),
    ]
}

fn values() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[ -~]{0,20}",
        Just(r#"{"v":1,"text":"1x","name":7,"date":"x","drafts":[1]}"#.to_owned()),
        Just(r#"{"v":1,"text":"1x","date":1e300,"standing":"odd"}"#.to_owned()),
        Just(r#"{"live":7,"away":[1,"x"],"seen":"x","drafts":{"A":1}}"#.to_owned()),
        Just(r#"{"live":"x","away":["x","x"],"seen":[],"manifest":["a"]}"#.to_owned()),
    ]
}

fn keys() -> impl Strategy<Value = String> {
    let known = [
        OWN,
        TAB,
        OPENING,
        "optimist.kept.",
        "optimist.kept.x",
        "optimist.kept.y",
        "optimist.last-session",
        "optimist.own-session",
        "optimist.other",
    ];
    prop::sample::select(known.to_vec()).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever people do, in whatever order, every session that was left is still there.
    #[test]
    fn nothing_that_was_made_is_ever_lost(actions in proptest::collection::vec(actions(), 0..40)) {
        let mut browser = Browser::default();
        let mut tab = browser.open(1);
        let (mut made, mut shown_now, mut now) = (Vec::new(), None::<String>, 1.0);
        for (i, action) in actions.into_iter().enumerate() {
            now += 1.0;
            let salt = i as u64 + 2;
            let pick = |tab: &Sessions, n: u8| {
                let kept = tab.saved();
                let at = usize::from(n) % kept.len().max(1);
                kept.get(at).map(|entry| entry.id.clone())
            };
            match action {
                TabAction::Save(n) => {
                    // A session that goes on replaces what it was before.
                    made.retain(|text| Some(text) != shown_now.as_ref());
                    let text = format!("{i}-{n}");
                    browser.save(&mut tab, &text, now);
                    made.push(text.clone());
                    shown_now = Some(text);
                }
                TabAction::SetAside(back) => if let Some(text) = shown_now.take() {
                    let (_, effects) = tab.archive(&shown(&text), back, now);
                    browser.perform(&mut tab, effects);
                },
                TabAction::Take(n) => if let (None, Some(id)) = (&shown_now, pick(&tab, n)) {
                    shown_now = Some(browser.take(&mut tab, &id));
                },
                TabAction::CannotOpen(n) => if let Some((_, effects)) = pick(&tab, n).and_then(|id| tab.open(&id)) {
                    browser.perform(&mut tab, effects);
                    let (_, effects) = tab.not_opened(now);
                    browser.perform(&mut tab, effects);
                },
                TabAction::Reload => (tab, shown_now) = browser.reload(salt),
                TabAction::NewTab => {
                    browser.new_tab();
                    tab = browser.open(salt);
                    shown_now = None;
                }
                TabAction::PutOff => {
                    tab = browser.open(salt);
                    let effects = tab.archive_waiting(now);
                    browser.perform(&mut tab, effects);
                    shown_now = None;
                }
                TabAction::Refuse => {
                    let effects = tab.refuse();
                    browser.perform(&mut tab, effects);
                }
                TabAction::Crash => {
                    tab = browser.open(salt);
                    if let Some((_, effects)) = tab.open_waiting() {
                        browser.perform(&mut tab, effects);
                    }
                    tab = browser.open(salt + 1000);
                    shown_now = None;
                }
            }
            made.sort();
            prop_assert_eq!(&browser.texts(), &made, "after {}", i);
        }
    }

    /// Whatever is in the storages, a tab opens, and removes nothing that it cannot read.
    #[test]
    fn whatever_is_in_the_storages_a_tab_opens(
        tab in proptest::collection::btree_map(keys(), values(), 0..5),
        browser in proptest::collection::btree_map(keys(), values(), 0..5),
    ) {
        let mut browser = Browser { found: StorageContents { tab, browser }, room: None };
        let before = browser.found.clone();
        let (mut sessions, _) = browser.reload(1);
        for (place, key) in sessions.unreadable().to_vec() {
            if key != TAB {
                let (was, is) = match place {
                    StorageArea::Tab => (&before.tab, &browser.found.tab),
                    StorageArea::Browser => (&before.browser, &browser.found.browser),
                };
                prop_assert_eq!(was.get(&key), is.get(&key));
            }
        }
        let kept: Vec<_> = sessions.saved().iter().map(|entry| entry.text.clone()).collect();
        browser.archive(&mut sessions, "more", 5.0);
        let texts = browser.texts();
        prop_assert!(kept.iter().all(|text| texts.contains(text)));
    }
}
