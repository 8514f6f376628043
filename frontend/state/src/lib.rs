//! The state of the page: the open parts, the selections and the typed texts, and their changes by
//! messages.
//!
//! The code is pure. [`State::update`] takes a message, may ask the browser through [`Platform`],
//! and returns [`BrowserEffect`]s on the storages, the address and the keyboard. [`run`] performs them by
//! functions that the page passes in. So everything here is tested without a browser.
//!
//! The state has a slice for each subject, with a message type of its own:
//!
//! | slice | message | about |
//! |---|---|---|
//! | [`SessionState`] | [`SessionMsg`] | the tree of histories on the stage, and where in it we are |
//! | [`EditingState`] | [`EditMsg`] | what is being typed into the working copies |
//! | [`RequestState`] | [`RequestMsg`] | what an editor asks the server |
//! | [`ManifestState`] | [`ManifestMsg`] | a manifest to begin with |
//! | [`ViewState`] | [`ViewMsg`] | which card, tab and dialog is open |
//! | [`Learn`] | [`LearnMsg`] | lessons |
//! | [`ExploreTransfer`] | [`TransferMsg`] | what Play and Explore say to each other |
//! | [`DiagnoseState`] | [`DiagnoseMsg`] | what was brought from a cluster |
//! | [`ShareState`] | [`ShareMsg`] | sessions as texts |
//! | [`Persistence`] | [`PersistenceMsg`] | sessions that the browser keeps |
//!
//! The frontend uses it; it uses the crates in `core` and `optimist-sessions`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod address;
mod cards;
mod case_report;
mod controllers;
mod diagnose;
mod editing;
mod effect;
mod explore;
mod jobs;
mod learn;
mod manifest;
mod orders;
mod persistence;
mod requests;
mod saved_page;
mod session;
mod share;
mod view;
mod without_browser;
mod without_values;

use std::rc::Rc;

use optimist_simulation::{ActorId, Exchange, HistoryTree, NGINX, World};

pub use address::{Address, Destination, LessonAddress, Page, lesson_fragment, session_fragment};
pub use cards::{CardObjects, aligned_rows, rows_of_changes};
pub use case_report::{CaseReport, ReportRequest, WriteReport};
pub use controllers::{ControllerMsg, ControllerPart, ControllerView};
pub use diagnose::{
    AuditReplay, AuditRequest, AuditRun, BranchRequest, BranchSource, BranchStart, BranchStep,
    BringProblem, CASE, CASE_PLACE, CaseExample, CaseKeeping, CasePreview, CaseReading,
    CaseSection, ChangeRun, DiagnoseMsg, DiagnoseState, FoundObject, InputItem, LiveEditMsg,
    LiveEditor, LiveEvent, LiveOutcome, LiveRequest, LiveServer, MAX_ITEMS, NextOutcome, NextRun,
    NextWritesRequest, ObjectsRequest, ObservedHistory, OwnerFilter, PreviewFilter, ReadItem,
    RecordedSource, SelectedStep, SettledConflict, StepMove, StepObject, TablePart, TableRequest,
    WRITERS, case_fragment, case_of, pruning,
};
pub use editing::{EditMsg, Editing, EditingState, FIELD, RawYaml, Typing};
use effect::Effects;
pub use effect::{BrowserEffect, Platform, SLICE, run, slice};
pub use explore::{
    BarPart, EditSource, ExplorableEdits, ExploreModel, ExploreMsg, ExploreRequest, ExploreRow,
    ExploreSetup, ExploreTransfer, MapFocus, MixedWay, OtherChoice, RowState, SearchTurn,
    StopReason, ThirdActorChoice, TransferMsg, WritersInBetween, bar_parts,
};
pub use jobs::{
    JobId, JobMsg, JobPart, JobQueue, JobReport, JobRequest, JobResult, Jobs, WorkerMsg,
};
pub use learn::{
    Course, CourseProgress, Learn, LearnMsg, LearnProblem, LessonProgress, PROGRESS,
    SwitchesRequest,
};
pub use manifest::{Loaded, ManifestMsg, ManifestState};
pub use orders::{
    OrderProperty, OrdersFinding, OrdersSearch, OwnProperty, thirds_beside_controller,
};
pub use persistence::{Persistence, PersistenceMsg, UnreadableData};
pub use requests::{RequestDraft, RequestMsg, RequestState};
pub use saved_page::{
    MAX_SAVED, NeededFile, SavedContent, SavedNote, escaped, file_name, needed_files, saved_file,
    saved_page,
};
use session::SessionChange;
pub use session::{SessionMsg, SessionState};
pub use share::{Redacted, ReplayState, SessionLoad, ShareMsg, ShareState, Withheld};
pub use view::{
    CARDS, CARDS_AT_FIRST, Dialog, Folds, InspectorTab, Lane, ObjectView, ServerTab, Theme,
    ViewMsg, ViewState,
};
pub use without_browser::diagnosed;
pub use without_values::{CaseLeftOut, LeaveOutRequest, LinkedCase, SharedCase, ValuesLeftOut};

/// Everything that the page shows.
#[derive(Clone, Debug)]
pub struct State {
    /// The way in that is open.
    pub page: Page,
    /// A fragment that leads nowhere.
    pub unknown_address: Option<String>,
    /// The session on the stage.
    pub session: SessionState,
    /// The edits that the user types into the working copies.
    pub editing: EditingState,
    /// The settings of the next requests.
    pub requests: RequestState,
    /// A manifest to begin with.
    pub manifest: ManifestState,
    /// The view of the page.
    pub view: ViewState,
    /// The view of the controller's card.
    pub controller: ControllerView,
    /// Lessons.
    pub learn: Learn,
    /// The data that Play and Explore pass to each other.
    pub explore: ExploreTransfer,
    /// The case of Diagnose.
    pub diagnose: Rc<DiagnoseState>,
    /// The last branch of a recorded history that was opened in Play.
    branch: Option<BranchStep>,
    /// Sessions as texts.
    pub share: ShareState,
    /// Sessions that the browser keeps.
    pub persistence: Persistence,
    /// The long work that goes on elsewhere.
    pub jobs: Jobs,
}

/// A message: an event on the page that changes the state.
#[derive(Clone, Debug)]
pub enum Msg {
    /// The address has this fragment.
    Address(String),
    /// Says nothing more of the address, or of a step that was not taken.
    DismissNotice,
    /// A job reports.
    Job(JobId, JobReport),
    /// About the session on the stage.
    Session(SessionMsg),
    /// About the working copies.
    Edit(EditMsg),
    /// About requests.
    Request(RequestMsg),
    /// About a manifest.
    Manifest(ManifestMsg),
    /// About the view.
    View(ViewMsg),
    /// About the controller.
    Controller(ControllerMsg),
    /// About lessons.
    Learn(LearnMsg),
    /// Between Play and Explore.
    Transfer(TransferMsg),
    /// A message about the case of Diagnose.
    Diagnose(DiagnoseMsg),
    /// About sessions as texts.
    Share(ShareMsg),
    /// About sessions that the browser keeps.
    Persistence(PersistenceMsg),
}

macro_rules! slices {
    ($($slice:ident($msg:ident)),*) => {
        $(impl From<$msg> for Msg {
            fn from(msg: $msg) -> Self {
                Msg::$slice(msg)
            }
        })*
    };
}

slices!(
    Session(SessionMsg),
    Edit(EditMsg),
    Request(RequestMsg),
    Manifest(ManifestMsg),
    View(ViewMsg),
    Controller(ControllerMsg),
    Learn(LearnMsg),
    Transfer(TransferMsg),
    Diagnose(DiagnoseMsg),
    Share(ShareMsg),
    Persistence(PersistenceMsg)
);

impl State {
    /// Opens the page at a fragment, and returns the effects of that. `salt` is a number that
    /// differs between tabs.
    pub fn open(fragment: &str, salt: u64, platform: &dyn Platform) -> (Self, Vec<BrowserEffect>) {
        let mut fx = Effects::new(platform);
        let world = World::load(NGINX)
            .expect("the nginx Deployment is part of this program and loads")
            .0;
        let mut opened = Self {
            page: Address::parse(fragment).page().unwrap_or(Page::Play),
            unknown_address: None,
            session: SessionState::new(world),
            editing: EditingState::default(),
            requests: RequestState::default(),
            manifest: ManifestState::default(),
            view: ViewState::open(&fx),
            controller: ControllerView::default(),
            learn: Learn::default(),
            explore: ExploreTransfer::default(),
            diagnose: Rc::default(),
            branch: None,
            share: ShareState::default(),
            persistence: Persistence::default(),
            jobs: Jobs::default(),
        };
        opened.find_kept(salt, &mut fx);
        opened.find_branch(&fx);
        opened.go_to(fragment, &mut fx);
        opened.send_case_jobs(&mut fx);
        (opened, fx.into_list())
    }

    /// Applies a message, and returns its effects in order.
    pub fn update(&mut self, msg: Msg, platform: &dyn Platform) -> Vec<BrowserEffect> {
        let mut fx = Effects::new(platform);
        let before = Rc::clone(&self.session.tree);
        self.apply(msg, &mut fx);
        let tree = &self.session.tree;
        let exchange = tree
            .step(tree.current())
            .and_then(|step| step.exchange.as_ref());
        if exchange.is_some_and(Exchange::is_conflict) {
            self.view.show_all_controls(&mut fx);
        }
        self.note_lesson(&before, &mut fx);
        self.send_case_jobs(&mut fx);
        self.stop_unwanted_jobs(&mut fx);
        fx.into_list()
    }

    fn apply(&mut self, msg: Msg, fx: &mut Effects<'_>) {
        match msg {
            Msg::Address(fragment) => self.go_to(&fragment, fx),
            Msg::DismissNotice => {
                self.unknown_address = None;
                self.session.full = false;
            }
            Msg::Job(id, report) => self.take_report(id, report, fx),
            Msg::Session(msg) => self.update_session(msg),
            Msg::Edit(msg) => self.editing.update(msg, &mut self.session, &mut self.view),
            Msg::Request(msg) => self.update_requests(msg, fx),
            Msg::Manifest(msg) => self.update_manifest(msg, fx),
            Msg::View(msg) => self.update_view(msg, fx),
            Msg::Controller(msg) => self.update_controller(msg, fx),
            Msg::Learn(msg) => self.update_learn(msg, fx),
            Msg::Transfer(msg) => self.update_explore(msg, fx),
            Msg::Diagnose(msg) => self.update_diagnose(msg, fx),
            Msg::Share(msg) => self.update_share(msg, fx),
            Msg::Persistence(msg) => self.update_persistence(msg, fx),
        }
    }

    /// Goes where the address says. Apart from [`apply`](Self::apply), because opening needs it.
    fn go_to(&mut self, fragment: &str, fx: &mut Effects<'_>) {
        let address = Address::parse(fragment);
        self.unknown_address = None;
        if let Some(page) = address.page() {
            self.page = page;
            self.explore.opened |= page == Page::Explore;
            self.session.playing = false;
            self.set_stage();
            match page {
                Page::Diagnose => self.open_diagnose(fx),
                Page::Explore if address.session.is_none() => self.open_explore(fx),
                _ => {}
            }
        }
        match address.destination {
            Destination::Learn(lesson) => self.want_lesson(lesson, address.session.is_some(), fx),
            Destination::Unknown => self.unknown_address = Some(fragment.to_owned()),
            Destination::Page(_) | Destination::Place => {}
        }
        match address.session {
            Some(text) => {
                self.view.show_all_controls_here(fx);
                self.archive_waiting(fx);
                // Before anything is done: a reload is not to try again what brought a page down.
                fx.push(BrowserEffect::ReplaceAddress(address.place.to_owned()));
                fx.then(ShareMsg::Open(text.to_owned()));
            }
            None => self.restore(fx),
        }
    }

    fn update_session(&mut self, msg: SessionMsg) {
        if matches!(msg, SessionMsg::OpenBranch(_)) {
            self.view.dialog = None;
        }
        let change = self.session.update(msg);
        self.follow(change);
    }

    fn update_view(&mut self, msg: ViewMsg, fx: &mut Effects<'_>) {
        match msg {
            ViewMsg::Dialog(Some(Dialog::Sessions)) => return self.list_sessions(fx),
            ViewMsg::Dialog(_) => {
                self.share.opening.problem = None;
                self.forget_shared();
                self.manifest.problem = None;
            }
            _ => {}
        }
        let shares = matches!(msg, ViewMsg::Dialog(Some(Dialog::Share)));
        self.view.update(msg, fx);
        // What looks private stays here until people say otherwise.
        if shares {
            self.withhold(Withheld::Private, fx);
        }
    }

    /// Updates the other slices of the state after a change of the session.
    fn follow(&mut self, change: SessionChange) {
        match change {
            SessionChange::Nothing => return,
            SessionChange::Branched => {
                self.editing.in_place = None;
                self.view.inspector_tab = InspectorTab::Wire;
                return;
            }
            SessionChange::Stepped => {
                self.view.leave_preview();
                // Who goes on has read what was loaded.
                self.manifest.loaded = None;
            }
            SessionChange::Moved | SessionChange::Subject => self.editing.in_place = None,
        }
        self.editing.write_raw_again(&self.session);
        // The right lane is for whoever did the step that led here.
        if let Some(actor) = self.acted().filter(|_| change != SessionChange::Subject) {
            self.view.show(actor);
        }
    }

    /// Shows another tree.
    fn enter(&mut self, tree: Rc<HistoryTree>) {
        self.session.enter(tree);
        self.editing.enter();
        let tree = &self.session.tree;
        let controllers = tree.world().controllers().map(|(id, _)| id);
        let last_actor = tree.acted().chain(controllers).fold(ActorId::C, Ord::max);
        self.view.enter(right_lane(tree), last_actor);
        if let Some(actor) = self.acted() {
            self.view.turn_to(actor);
        }
    }

    /// Returns the actor of the last step.
    fn acted(&self) -> Option<ActorId> {
        let tree = &self.session.tree;
        tree.step(tree.current())?.actor()
    }

    /// The world at the current step.
    pub fn world(&self) -> &World {
        self.session.world()
    }

    /// The columns, from left to right.
    pub fn lanes(&self) -> [Lane; 3] {
        [
            Lane::Editor(ActorId::A),
            Lane::Server,
            Lane::Editor(self.view.right),
        ]
    }

    /// The actors that can have the right lane.
    pub fn right_actors(&self) -> impl Iterator<Item = ActorId> + use<> {
        let last = self.view.last_actor;
        let actors = ActorId::ALL.into_iter();
        actors.filter(move |actor| *actor != ActorId::A && *actor <= last)
    }

    /// The actor that can be added: C, and when it takes part, the one after the last. `None` if all take part.
    pub fn next_actor(&self) -> Option<ActorId> {
        let tree = &self.session.tree;
        let last = self.view.last_actor;
        let takes_part = self.view.right == last
            || self.world().controller(last).is_some()
            || tree.acted().any(|actor| actor == last);
        if last == ActorId::C && !takes_part {
            return Some(last);
        }
        ActorId::ALL.into_iter().find(|actor| *actor > last)
    }

    /// The lanes that have no card although their actors take part: a controller, and who has read the object.
    pub fn narrow_lanes(&self) -> Vec<Lane> {
        let others = self
            .right_actors()
            .filter(|actor| *actor != self.view.right);
        let is_there = |actor: &ActorId| {
            self.world().controller(*actor).is_some() || self.world().copy(*actor).read().is_some()
        };
        others.filter(is_there).map(Lane::Editor).collect()
    }

    /// The lanes that a window with room for one card can open, in the order of the actors, whichever has the
    /// right lane.
    pub fn lane_tabs(&self) -> Vec<Lane> {
        let [first, server, right] = self.lanes();
        let mut beside = self.narrow_lanes();
        beside.push(right);
        beside.sort();
        [first, server].into_iter().chain(beside).collect()
    }

    /// Returns the name of an actor.
    pub fn name(&self, actor: ActorId) -> &str {
        &self.world().actor(actor).name
    }

    /// Returns whether the last discard of an editor can be undone.
    pub fn can_undo_discard(&self, editor: ActorId) -> bool {
        self.editing.can_undo_discard(&self.session, editor)
    }

    /// Returns whether the page shows only the controls that are needed to make the first conflict.
    pub fn shows_only_the_first_steps(&self) -> bool {
        self.view.first_visit && self.page == Page::Play
    }

    /// Returns whether long work is running.
    pub fn is_working(&self) -> bool {
        !self.jobs.is_empty()
    }
}

/// Chooses the actor of the right lane, for a session that opens at its current step: the last
/// actor beside A who made a step. If there is none, a controller comes before Editor B.
fn right_lane(tree: &HistoryTree) -> ActorId {
    let steps = tree.current_path().iter().take(tree.position() + 1);
    let actors = steps.rev().filter_map(|node| tree.step(*node)?.actor());
    let controller = tree.world().controllers().map(|(id, _)| id).next();
    let mut actors = actors.filter(|actor| *actor != ActorId::A);
    actors.next().or(controller).unwrap_or(ActorId::B)
}
