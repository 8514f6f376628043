//! Settings of the view: cards, tabs and dialogs.

use optimist_client::{Preset, Write};
use optimist_sessions::StorageArea;
use optimist_simulation::ActorId;
use optimist_state::{
    CARDS, Dialog, EditMsg, Lane, ManifestMsg, Page as WayIn, RequestMsg, SessionMsg, Theme,
    ViewMsg, session_fragment,
};

use crate::page::{Memory, Page};

#[test]
fn the_theme_and_the_keys_are_remembered() {
    let mut page = Page::open();
    assert_eq!(page.state.view.theme, Theme::System);
    assert!(page.state.view.letter_keys);
    page.send(ViewMsg::Theme(Theme::Dark));
    page.send(ViewMsg::LetterKeys(false));
    let mut page = page.reload("");
    assert_eq!(page.state.view.theme, Theme::Dark);
    assert!(!page.state.view.letter_keys);
    page.send(ViewMsg::Theme(Theme::System));
    page.send(ViewMsg::LetterKeys(true));
    for key in ["optimist.theme", "optimist.letter-keys"] {
        assert!(page.keys(StorageArea::Browser, key).is_empty(), "{key}");
    }
}

#[test]
fn the_height_of_the_cards_is_remembered_within_its_limits() {
    let mut page = Page::open();
    assert_eq!(page.state.view.cards, None);
    page.send(ViewMsg::Cards(Some(50)));
    let mut page = page.reload("");
    assert_eq!(page.state.view.cards, Some(50));
    page.send(ViewMsg::Cards(Some(99)));
    assert_eq!(page.state.view.cards, Some(*CARDS.end()));
    page.send(ViewMsg::Cards(Some(0)));
    assert_eq!(page.state.view.cards, Some(*CARDS.start()));
    page.send(ViewMsg::Cards(None));
    assert!(page.keys(StorageArea::Browser, "optimist.cards").is_empty());
}

/// Edits `replicas` in both editors and sends both, so that the second one is refused.
fn conflict(page: &mut Page) {
    page.write(ActorId::A, "/spec/replicas", "4");
    assert!(page.state.shows_only_the_first_steps());
    conflict_of_two(page);
}

fn conflict_of_two(page: &mut Page) {
    for editor in [ActorId::A, ActorId::B] {
        page.send(RequestMsg::Get(editor));
        page.type_over(editor, "/spec/replicas", "7");
    }
    page.send(RequestMsg::Send(ActorId::A));
    page.type_over(ActorId::B, "/spec/replicas", "8");
    page.send(RequestMsg::Send(ActorId::B));
}

#[test]
fn all_controls_come_with_the_first_conflict_and_stay() {
    let mut page = Page::open();
    conflict(&mut page);
    assert!(!page.state.shows_only_the_first_steps());
    page.send(SessionMsg::Go(0));
    assert!(!page.state.shows_only_the_first_steps());
    assert!(!page.reload("").state.shows_only_the_first_steps());
}

#[test]
fn all_controls_can_be_asked_for_and_a_link_shows_them() {
    let mut page = Page::open();
    assert!(page.state.shows_only_the_first_steps());
    page.send(ViewMsg::ShowAllControls);
    assert!(!page.state.shows_only_the_first_steps());
    assert!(!page.reload("").state.shows_only_the_first_steps());

    for fragment in ["#/learn", "#/play?s=whatever"] {
        let page = Page::open_at(fragment, Memory::default());
        assert!(!page.state.shows_only_the_first_steps(), "{fragment}");
    }
}

#[test]
fn what_was_loaded_is_said_until_the_next_request() {
    let mut page = Page::open();
    page.send(ManifestMsg::Text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n".to_owned(),
    ));
    page.send(ManifestMsg::Load);
    assert!(page.state.manifest.loaded.is_some());
    page.send(RequestMsg::Get(ActorId::A));
    assert!(page.state.manifest.loaded.is_none());
}

#[test]
fn opening_a_card_gives_it_the_keyboard_and_its_lane() {
    let mut page = Page::open();
    page.send(ViewMsg::Open(Lane::Editor(ActorId::C)));
    assert_eq!(page.state.view.focus, ActorId::C);
    assert_eq!(page.state.view.right, ActorId::C);
    page.send(ViewMsg::Open(Lane::Server));
    assert_eq!(page.state.view.lane, Lane::Server);
    assert_eq!(page.state.view.focus, ActorId::C);
}

#[test]
fn an_added_tool_has_its_name_until_it_writes_otherwise() {
    let mut page = Page::open();
    let tools = [
        (ActorId::C, Preset::Helm4, "Helm"),
        (ActorId::D, Preset::KubectlApply, "kubectl apply"),
        (ActorId::E, Preset::KubectlEdit, "kubectl edit"),
        (ActorId::F, Preset::Autoscaler, "HPA"),
    ];
    for (actor, tool, _) in tools {
        page.send(ViewMsg::Open(Lane::Editor(actor)));
        page.send(EditMsg::Tool(actor, tool));
    }
    for (actor, _, name) in tools {
        assert_eq!(page.state.name(actor), name);
    }
    page.send(RequestMsg::Get(ActorId::F));
    assert!(page.state.world().copy(ActorId::F).is_scale());
    let link = session_fragment(WayIn::Play, &page.state.shared().to_text());
    assert_eq!(page.reload(&link).state.name(ActorId::E), "kubectl edit");

    let mut page = Page::open();
    page.send(EditMsg::Tool(ActorId::C, Preset::Helm4));
    let forced = Write {
        force: true,
        ..page.state.world().actor(ActorId::C).write()
    };
    page.send(EditMsg::Write(ActorId::C, forced));
    assert_eq!(
        page.state.name(ActorId::C),
        "Helm",
        "it has --force-conflicts"
    );
    page.send(EditMsg::Write(ActorId::C, Write::default()));
    assert_eq!(page.state.name(ActorId::C), "Editor C");
    page.send(EditMsg::Deleter(ActorId::C));
    page.send(EditMsg::Write(ActorId::C, Write::default()));
    assert_eq!(page.state.name(ActorId::C), "Deleter");

    page.send(EditMsg::Editor(ActorId::C));
    assert_eq!(&*page.state.world().actor(ActorId::C).manager, "editor-c");
}

#[test]
fn up_to_six_actors_have_a_lane_and_those_without_a_card_have_a_narrow_one() {
    let mut page = Page::open();
    for expected in [ActorId::C, ActorId::D, ActorId::E, ActorId::F] {
        let next = page.state.next_actor();
        assert_eq!(next, Some(expected));
        page.send(ViewMsg::Open(Lane::Editor(expected)));
    }
    assert_eq!(page.state.next_actor(), None);
    assert_eq!(page.state.right_actors().count(), 5);
    assert!(
        page.state.narrow_lanes().is_empty(),
        "nobody has read the object"
    );

    for actor in ActorId::ALL {
        page.send(RequestMsg::Get(actor));
    }
    let narrow = [ActorId::B, ActorId::C, ActorId::D, ActorId::E];
    assert_eq!(page.state.narrow_lanes(), narrow.map(Lane::Editor));
    assert_eq!(page.state.lane_tabs().len(), 7);
    page.send(ViewMsg::Open(Lane::Editor(ActorId::D)));
    let narrow = [ActorId::B, ActorId::C, ActorId::E, ActorId::F];
    assert_eq!(page.state.narrow_lanes(), narrow.map(Lane::Editor));

    let link = session_fragment(WayIn::Play, &page.state.shared().to_text());
    let page = page.reload(&link);
    assert_eq!(page.state.right_actors().last(), Some(ActorId::F));
    assert_eq!(page.state.view.right, ActorId::F, "the last step is F's");
    for actor in ActorId::ALL {
        assert!(page.state.world().copy(actor).read().is_some(), "{actor:?}");
    }
}

#[test]
fn a_dialog_opens_without_the_problem_of_the_last_time() {
    let mut page = Page::open();
    page.send(ViewMsg::Dialog(Some(Dialog::Load)));
    page.send(ManifestMsg::Text("kind: [".to_owned()));
    page.send(ManifestMsg::Load);
    assert!(page.state.manifest.problem.is_some());
    page.send(ViewMsg::Dialog(None));
    page.send(ViewMsg::Dialog(Some(Dialog::Load)));
    assert!(page.state.manifest.problem.is_none());
    assert_eq!(page.state.manifest.text, "kind: [");
}

#[test]
fn a_shared_session_keeps_all_its_controls_after_a_reload() {
    let mut page = Page::open();
    page.write(ActorId::A, "/spec/replicas", "5");
    let link = session_fragment(WayIn::Play, &page.state.shared().to_text());
    let page = Page::open_at(&link, Memory::default());
    assert!(!page.state.shows_only_the_first_steps());
    let mut page = page.reload("#/play");
    assert!(!page.state.shows_only_the_first_steps());
    // Another tab has not seen a conflict yet.
    let controls = "optimist.all-controls";
    assert!(page.keys(StorageArea::Browser, controls).is_empty());
    conflict_of_two(&mut page);
    assert_eq!(page.keys(StorageArea::Browser, controls), [controls]);
}
