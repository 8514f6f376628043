//! The only state of the page: the run tree and what is open, chosen or being typed.

mod discarded;
mod explore_transfer;
pub(crate) mod learn;
mod page;
pub(crate) mod persistence;
pub(crate) mod request;
pub(crate) mod share;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use optimist_apiserver::apply::Path;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::Release;
use optimist_client::lines;
use optimist_client::{Strategy, Write, add_at, edit_scalar, remove_at};
use optimist_simulation::{
    Action, ActorId, ByHand, Connection, Delete, HistoryTree, LeftOut, LoadError, NGINX, NodeId,
    Operation, Start, WatchAction, World,
};
use optimist_text::share::Size;
use serde_json::Value;
use yew::{Callback, Reducible, UseReducerDispatcher, UseReducerHandle};

use self::discarded::Discarded;
pub(crate) use self::explore_transfer::{ExploreRequest, ExploreTransfer, both_edited};
pub(crate) use self::learn::{Course, Learn, LearnMsg};
use self::page::Address;
pub(crate) use self::page::Page;
use self::persistence::Persistence;
use self::request::RequestDraft;
pub(crate) use self::share::ReplayState;
use self::share::{Redacted, SessionLoad};
use crate::browser;
use crate::components::fold::{folded_at_first, visible_lines};
use crate::components::value_input::FIELD;

/// The state, and the way to change it.
pub(crate) type StateHandle = UseReducerHandle<State>;

/// The way to change the state alone: for parts that are not drawn again at every change.
pub(crate) type Dispatcher = UseReducerDispatcher<State>;

/// A column of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lane {
    Editor(ActorId),
    Server,
}

impl Lane {
    /// A short name for ids and classes.
    pub(crate) fn slug(self) -> &'static str {
        match self {
            Lane::Editor(ActorId::A) => "a",
            Lane::Editor(ActorId::B) => "b",
            Lane::Editor(ActorId::C) => "c",
            Lane::Server => "server",
        }
    }
}

/// The folds that are not as they are at first. Clones share them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Folds(Rc<BTreeSet<(ObjectView, String)>>);

impl Folds {
    /// Whether a fold is one of them.
    pub(crate) fn contains(&self, view: ObjectView, pointer: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&(view, pointer.to_owned()))
    }

    fn toggle(&mut self, view: ObjectView, pointer: String) {
        let folds = Rc::make_mut(&mut self.0);
        let fold = (view, pointer);
        if !folds.remove(&fold) {
            folds.insert(fold);
        }
    }
}

/// Where an object or a body is shown, each with folds of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ObjectView {
    Lane(Lane),
    Request,
    Response,
    Preview,
}

/// What the server's card shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerTab {
    Object,
    Owners,
    Revisions,
    Watch,
}

/// What the inspector shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InspectorTab {
    Wire,
    Kubectl,
    Go,
    Rust,
    Diff,
    Preview,
}

/// A dialog that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialog {
    Load,
    Share,
    Help,
    Branches,
    Request,
    Sessions,
}

/// Light, dark, or what the system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    System,
    Light,
    Dark,
}

/// What is being typed in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typing {
    /// A value.
    Value,
    /// What is to be added to a map or list.
    Addition,
}

/// What is being typed in place, and where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Editing {
    pub(crate) editor: ActorId,
    pub(crate) typing: Typing,
    pub(crate) pointer: String,
    pub(crate) text: String,
    pub(crate) error: Option<String>,
}

/// A working copy that is typed as a whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RawYaml {
    pub(crate) text: String,
    /// Why the text is no object; the working copy is as it was before then.
    pub(crate) error: Option<String>,
}

/// What came of loading a manifest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loaded {
    pub(crate) object: String,
    pub(crate) version: u64,
    /// How many objects there are besides.
    pub(crate) others: usize,
    pub(crate) dropped: Vec<String>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// A manifest that is being typed, and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) text: String,
    pub(crate) problem: Option<LoadError>,
}

/// Everything that the page shows.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// Counts changes, so that two states are compared by one number.
    change: u64,
    /// The way in that is open.
    pub(crate) page: Page,
    /// A fragment that leads nowhere.
    pub(crate) unknown_address: Option<String>,
    pub(crate) transfer: ExploreTransfer,
    pub(crate) learn: Learn,
    pub(crate) opening: SessionLoad,
    pub(crate) redacted: Option<Rc<Redacted>>,
    size: Size,
    /// Whether the last step was not taken, because no session as large as that can be opened.
    pub(crate) full: bool,
    pub(crate) persistence: Persistence,
    pub(crate) tree: Rc<HistoryTree>,
    /// Counts loads: a node's id says nothing in another session.
    pub(crate) session: u32,
    /// Whom the keyboard speaks for.
    pub(crate) focus: ActorId,
    /// The card that is open where only one fits.
    pub(crate) lane: Lane,
    pub(crate) editing: Option<Editing>,
    /// Whose lane the right one is: Editor B's or the third hand's.
    pub(crate) right: ActorId,
    /// What a delete asks the server to compare.
    pub(crate) preconditions: Delete,
    /// The ends of the two histories that are compared, where they were chosen.
    compare: [Option<NodeId>; 2],
    /// The working copies that are typed as a whole.
    pub(crate) raw: Rc<BTreeMap<ActorId, RawYaml>>,
    /// Edits that were discarded, as long as nothing was done to their working copy since.
    discarded: BTreeMap<ActorId, Discarded>,
    /// Folds that are not as they are at first.
    pub(crate) toggled: Folds,
    pub(crate) server_tab: ServerTab,
    /// The resourceVersion that the next watch is opened from; empty to leave it unset.
    pub(crate) watch_from: String,
    /// Whether compacting restarts the server too.
    pub(crate) restart: bool,
    pub(crate) inspector_tab: InspectorTab,
    /// Whether the inspector is up where it is a sheet.
    pub(crate) sheet: bool,
    pub(crate) dialog: Option<Dialog>,
    pub(crate) draft: Draft,
    pub(crate) request: Option<RequestDraft>,
    pub(crate) loaded: Option<Loaded>,
    pub(crate) playing: bool,
    pub(crate) theme: Theme,
    /// Whether keys that are a single character do something.
    pub(crate) letter_keys: bool,
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.change == other.change
    }
}

/// What people do.
#[derive(Clone, Debug)]
pub(crate) enum Msg {
    /// The server is to be of another release.
    Release(Release),
    /// The address says so.
    Address(String),
    /// Takes the edits to Explore.
    Explore,
    /// What Explore shows, for links, and whether of edits that it was given.
    Explored(Value, bool),
    /// Shows another history; what was there is kept.
    Enter(Rc<HistoryTree>),
    /// Shows another branch of the same histories.
    Branch(Rc<HistoryTree>),
    /// Goes back to what was kept.
    Return,
    Learn(LearnMsg),
    /// Opens a session from its text.
    OpenSession(String),
    /// Opens no further what is being opened.
    CancelOpening,
    /// Keep the session, for after a reload.
    Keep,
    TakeOffer,
    DismissKept,
    /// Opens a kept session, by its id.
    Reopen(String),
    /// Forgets a kept session.
    RemoveSession(String),
    /// Whether values that look private are left out of what is shared.
    Redact(bool),
    DismissAddress,
    /// Takes back that edits were discarded.
    Undo(ActorId),
    /// Goes on with what takes long.
    Work,
    Get(ActorId),
    Send(ActorId),
    Delete(ActorId),
    Create(ActorId),
    Preconditions(Delete),
    BeginRequest(ActorId),
    WriteRequest(ByHand),
    SendRequest,
    /// Which of its objects it is about, by kind and name.
    LookAt(String, String),
    /// Something that no editor does.
    Act(Operation),
    WatchFrom(String),
    Restart(bool),
    Go(NodeId),
    /// One of the two histories that are compared, whether the second one, and where it ends.
    Compare(bool, NodeId),
    NameBranch(NodeId, String),
    OpenBranch(NodeId),
    DeleteBranch(NodeId),
    /// To the n-th node of the line.
    Seek(usize),
    Back,
    Forward,
    First,
    Last,
    Play,
    Tick,
    Focus(ActorId),
    Open(Lane),
    StartEdit(ActorId, Typing, String, String),
    Remove(ActorId, String),
    /// An apply declares an unchanged value, or no longer does.
    Own(ActorId, String),
    /// Whether a working copy is typed as a whole.
    Raw(ActorId, bool),
    RawText(ActorId, String),
    CommitEdit(String),
    CancelEdit,
    Discard(ActorId),
    Strategy(ActorId, Strategy),
    Write(ActorId, Write),
    Toggle(ObjectView, String),
    ServerTab(ServerTab),
    InspectorTab(InspectorTab),
    Sheet(bool),
    Dialog(Option<Dialog>),
    Draft(String),
    /// A file cannot be taken as what is to be loaded.
    Unreadable(LoadError),
    Load,
    DismissLoaded,
    Theme(Theme),
    LetterKeys(bool),
}

const LETTER_KEYS: &str = "optimist.letter-keys";

const THEME: &str = "optimist.theme";

impl State {
    /// The page as it opens.
    pub(crate) fn open() -> Self {
        let world = World::load(NGINX)
            .expect("the nginx Deployment is part of this program and loads")
            .0;
        let theme = match browser::remembered(THEME).as_deref() {
            Some("light") => Theme::Light,
            Some("dark") => Theme::Dark,
            _ => Theme::System,
        };
        let fragment = browser::fragment();
        let page = Page::of_fragment(&fragment).unwrap_or(Page::Play);
        let mut opened = Self {
            change: 0,
            page,
            unknown_address: None,
            discarded: BTreeMap::new(),
            transfer: ExploreTransfer::default(),
            learn: Learn::default(),
            opening: SessionLoad::default(),
            redacted: None,
            size: Size::default(),
            full: false,
            persistence: Persistence::default(),
            tree: Rc::new(HistoryTree::new(world)),
            session: 0,
            focus: ActorId::A,
            lane: Lane::Editor(ActorId::A),
            editing: None,
            right: ActorId::B,
            preconditions: Delete::default(),
            compare: [None; 2],
            raw: Rc::default(),
            toggled: Folds::default(),
            server_tab: ServerTab::Object,
            watch_from: String::new(),
            restart: true,
            inspector_tab: InspectorTab::Wire,
            sheet: false,
            dialog: None,
            draft: Draft::default(),
            request: None,
            loaded: None,
            playing: false,
            theme,
            letter_keys: browser::remembered(LETTER_KEYS).as_deref() != Some("off"),
        };
        opened.find_kept();
        opened.address(&fragment);
        opened
    }

    pub(crate) fn world(&self) -> &World {
        self.tree.world()
    }

    /// The columns, from left to right.
    pub(crate) fn lanes(&self) -> [Lane; 3] {
        [
            Lane::Editor(ActorId::A),
            Lane::Server,
            Lane::Editor(self.right),
        ]
    }

    /// The two histories that are compared: those that were chosen, else the one we are in and the
    /// latest other one.
    pub(crate) fn compared(&self, ends: &[NodeId]) -> (NodeId, NodeId) {
        let chosen = self.compare.map(|end| end.filter(|end| ends.contains(end)));
        let line = self.tree.current_path();
        let here = line.last().copied().unwrap_or(0);
        let first = chosen[0].unwrap_or(here);
        let others = ends.iter().rev().copied();
        let other = others
            .filter(|end| *end != first)
            .max_by_key(|end| *end == here);
        let second = chosen[1].or(other).unwrap_or(first);
        (first, second)
    }

    /// Whether something takes long and goes on a slice at a time.
    pub(crate) fn is_working(&self) -> bool {
        let redacted = self.redacted.as_deref();
        let redacting = redacted.is_some_and(|redacted| redacted.replay.progress().is_some());
        redacting || self.learn.is_searching() || self.progress().is_some()
    }

    /// What an actor is called.
    pub(crate) fn name(&self, actor: ActorId) -> &str {
        &self.world().actor(actor).name
    }

    /// A number that is another one after every change; 0 as the page opens.
    pub(crate) fn changes(&self) -> u64 {
        self.change
    }

    /// Goes where the address says. Apart from [`apply`](Self::apply), because opening needs it.
    fn address(&mut self, fragment: &str) {
        self.unknown_address = None;
        match Address::of(fragment) {
            Address::Page(page) => {
                self.page = page;
                self.transfer.opened |= page == Page::Explore;
                self.playing = false;
                self.set_stage();
                self.want_lesson(fragment);
            }
            Address::Unknown => self.unknown_address = Some(fragment.to_owned()),
            Address::Place => {}
        }
        match share::carried(fragment) {
            Some(text) => {
                self.put_off();
                // Before anything is done: a reload is not to try again what brought a page down.
                let place = fragment.split('?').next().unwrap_or_default();
                browser::replace_fragment(place);
                self.open_session(text);
            }
            None => self.restore(),
        }
    }

    #[inline(never)] // not on the first screen
    fn apply(&mut self, msg: Msg) {
        match msg {
            Msg::Address(fragment) => self.address(&fragment),
            Msg::Learn(msg) => self.learn(msg),
            Msg::OpenSession(text) => self.open_session(&text),
            Msg::Keep => {}
            Msg::TakeOffer => self.take_offer(),
            Msg::DismissKept => self.dismiss_kept(),
            Msg::Reopen(id) => {
                self.dialog = None;
                self.reopen(&id, true);
            }
            Msg::RemoveSession(id) => self.remove_session(&id),
            Msg::CancelOpening => self.cancel_opening(),
            Msg::Redact(on) => self.redact(on),
            Msg::DismissAddress => {
                self.unknown_address = None;
                self.full = false;
            }
            Msg::Undo(editor) => self.undo_discard(editor),
            Msg::Work => {
                self.open_further();
                self.open_lesson_further();
                self.redact_further();
                self.search();
            }
            Msg::Explore => self.explore(),
            Msg::Explored(setup, of_asked) => self.transfer.explored = (setup, of_asked),
            Msg::Enter(tree) => self.enter_shown(tree),
            Msg::Branch(tree) => {
                self.tree = tree;
                self.size = Size::default();
                self.editing = None;
                self.inspector_tab = InspectorTab::Wire;
            }
            Msg::Return => self.return_to_own(),
            Msg::Get(editor) => self.act(editor, |_| Action::Get),
            Msg::Send(editor) => self.act(editor, |write| Action::Send(write.clone())),
            Msg::Delete(editor) => {
                let preconditions = self.preconditions;
                self.act(editor, |_| Action::Delete(preconditions));
            }
            Msg::Create(editor) => self.act(editor, |_| Action::Create),
            Msg::BeginRequest(actor) => self.begin_request(actor),
            Msg::WriteRequest(by_hand) => self.write_request(by_hand),
            Msg::SendRequest => self.send_request(),
            Msg::Preconditions(preconditions) => self.preconditions = preconditions,
            Msg::LookAt(kind, name) => {
                self.playing = false;
                self.editing = None;
                self.world_mut().look_at(&kind, &name);
                self.write_raw_again();
            }
            Msg::Act(operation) => {
                let lists = operation == Operation::Watch(WatchAction::List);
                self.operate(operation);
                // A reflector goes on at once.
                if lists && *self.world().watcher().connection() == Connection::Listed {
                    self.operate(Operation::Watch(WatchAction::Resume));
                }
            }
            Msg::WatchFrom(version) => self.watch_from = version,
            Msg::Restart(on) => self.restart = on,
            Msg::Go(node) => self.walk(|tree| tree.go(node)),
            Msg::Compare(second, end) => self.compare[usize::from(second)] = Some(end),
            Msg::NameBranch(end, name) => Rc::make_mut(&mut self.tree).set_name(end, &name),
            Msg::OpenBranch(end) => {
                self.dialog = None;
                self.walk(|tree| tree.go(end));
            }
            Msg::DeleteBranch(end) => {
                self.size = Size::default();
                self.walk(|tree| tree.delete(end));
            }
            Msg::Seek(position) => self.walk(|tree| {
                let node = tree.current_path().get(position).copied();
                node.is_some_and(|node| tree.go(node))
            }),
            Msg::Back => self.walk(HistoryTree::back),
            Msg::Forward => self.walk(HistoryTree::forward),
            Msg::First => self.walk(|tree| tree.go(0)),
            Msg::Last => self.walk(|tree| {
                let last = tree.current_path().last().copied();
                last.is_some_and(|last| tree.go(last))
            }),
            Msg::Play => self.play(),
            Msg::Tick => {
                let still = self.playing;
                self.walk(HistoryTree::forward);
                self.playing = still && !self.at_end();
            }
            Msg::Focus(editor) => self.focus = editor,
            Msg::Open(lane) => {
                self.lane = lane;
                if let Lane::Editor(editor) = lane {
                    self.focus = editor;
                    self.show(editor);
                }
            }
            Msg::StartEdit(editor, typing, pointer, text) => {
                self.playing = false;
                self.focus = editor;
                if typing == Typing::Addition {
                    self.unfold(editor, &pointer);
                }
                self.editing = Some(Editing {
                    editor,
                    typing,
                    pointer,
                    text,
                    error: None,
                });
            }
            Msg::CommitEdit(text) => self.commit(text),
            Msg::CancelEdit => self.editing = None,
            Msg::Remove(editor, pointer) => {
                self.playing = false;
                self.focus = editor;
                self.editing = None;
                let edited = self.world().copy(editor).edited();
                if let Some(Ok(edited)) = edited.map(|object| remove_at(object, &pointer)) {
                    self.world_mut().copy_mut(editor).edit(edited);
                }
            }
            Msg::Own(editor, pointer) => {
                self.focus = editor;
                let resource = self.world().resource().clone();
                let copy = self.world_mut().copy_mut(editor);
                let field = copy.edited();
                let field = field.and_then(|object| Path::at(object, &pointer, &resource.root));
                match field {
                    Some(field) if copy.declared().contains(&field) => copy.undeclare(&field),
                    Some(field) => copy.declare(field),
                    None => {}
                }
            }
            Msg::Raw(editor, on) => {
                self.focus = editor;
                self.editing = None;
                // A text that is no object yet is nowhere else.
                if on || self.raw.get(&editor).is_none_or(|raw| raw.error.is_none()) {
                    self.write_raw(editor, on);
                }
            }
            Msg::RawText(editor, text) => {
                self.playing = false;
                let typed = self.world_mut().copy_mut(editor).edit_text(&text);
                let error = typed.err().map(|error| error.to_string());
                Rc::make_mut(&mut self.raw).insert(editor, RawYaml { text, error });
            }
            Msg::Discard(editor) => self.discard(editor),
            Msg::Strategy(editor, strategy) => {
                self.focus = editor;
                self.world_mut().actor_mut(editor).choose(strategy);
            }
            Msg::Write(editor, write) => {
                self.focus = editor;
                self.world_mut().actor_mut(editor).set_write(write);
            }
            Msg::Toggle(view, pointer) => {
                self.toggled.toggle(view, pointer);
            }
            Msg::ServerTab(tab) => self.server_tab = tab,
            Msg::InspectorTab(tab) => self.inspector_tab = tab,
            Msg::Sheet(up) => self.sheet = up,
            Msg::Dialog(Some(Dialog::Sessions)) => self.list_sessions(),
            Msg::Dialog(dialog) => {
                self.dialog = dialog;
                self.opening.problem = None;
                self.redacted = None;
                self.draft.problem = None;
            }
            Msg::Draft(text) => {
                self.draft = Draft {
                    text,
                    problem: None,
                };
            }
            Msg::Unreadable(problem) => self.unreadable(problem),
            Msg::Load => self.load(),
            Msg::Release(release) => self.change_release(release),
            Msg::DismissLoaded => self.loaded = None,
            Msg::LetterKeys(on) => {
                self.letter_keys = on;
                browser::remember(LETTER_KEYS, (!on).then_some("off"));
            }
            Msg::Theme(theme) => {
                self.theme = theme;
                let word = match theme {
                    Theme::System => None,
                    Theme::Light => Some("light"),
                    Theme::Dark => Some("dark"),
                };
                browser::remember(THEME, word);
            }
        }
    }

    fn world_mut(&mut self) -> &mut World {
        Rc::make_mut(&mut self.tree).world_mut()
    }

    /// A value whose text is wrong is not sent as something else: the typing stays open instead.
    fn act(&mut self, editor: ActorId, action: impl FnOnce(&Write) -> Action) {
        self.playing = false;
        self.focus = editor;
        let wrong_value = self
            .editing
            .as_ref()
            .is_some_and(|editing| editing.editor == editor && editing.error.is_some());
        let wrong_text = self.raw.get(&editor).is_some_and(|raw| raw.error.is_some());
        if wrong_value {
            browser::focus_soon(FIELD.to_owned());
        }
        if wrong_value || wrong_text {
            return;
        }
        self.editing = None;
        let action = action(&self.world().actor(editor).write());
        self.operate(Operation::Act(editor, action));
    }

    /// Takes a step. One that would make the session too large to be opened again is not taken.
    fn operate(&mut self, operation: Operation) {
        self.playing = false;
        let before = Rc::clone(&self.tree);
        if Rc::make_mut(&mut self.tree).act(operation).is_some() {
            if !self.size.fits(&self.tree) {
                self.tree = before;
                self.full = true;
                return;
            }
            self.full = false;
            if matches!(self.inspector_tab, InspectorTab::Preview) {
                self.inspector_tab = InspectorTab::Wire;
            }
            self.write_raw_again();
            self.show_actor();
        }
    }

    /// Opens the fold of a place in a working copy.
    fn unfold(&mut self, editor: ActorId, pointer: &str) {
        let view = ObjectView::Lane(Lane::Editor(editor));
        let folded = self.world().copy(editor).edited().is_some_and(|object| {
            let all = lines(object);
            let line = all.iter().find(|line| line.pointer == pointer);
            let folded =
                line.is_some_and(|line| folded_at_first(object, line, visible_lines(&all)));
            folded != self.toggled.contains(view, pointer)
        });
        if folded {
            self.apply(Msg::Toggle(view, pointer.to_owned()));
        }
    }

    /// Gives the right lane to whom it is about.
    fn show(&mut self, actor: ActorId) {
        if actor != ActorId::A && actor != self.right {
            if self.lane == Lane::Editor(self.right) {
                self.lane = Lane::Editor(actor);
            }
            if self.focus == self.right {
                self.focus = actor;
            }
            self.right = actor;
        }
    }

    /// Gives the right lane to whoever did the step that led here.
    fn show_actor(&mut self) {
        let step = self.tree.step(self.tree.current());
        if let Some(actor) = step.and_then(|step| step.actor()) {
            self.show(actor);
        }
    }

    /// Shows a working copy as a text, or no longer.
    fn write_raw(&mut self, editor: ActorId, on: bool) {
        let text = self.world().copy(editor).text().filter(|_| on);
        let raw = Rc::make_mut(&mut self.raw);
        match text {
            Some(text) => raw.insert(editor, RawYaml { text, error: None }),
            None => raw.remove(&editor),
        };
    }

    /// Takes the texts from the working copies anew. One that is wrong stays: it is nowhere else.
    fn write_raw_again(&mut self) {
        let right = self.raw.iter().filter(|(_, raw)| raw.error.is_none());
        let right: Vec<ActorId> = right.map(|(editor, _)| *editor).collect();
        for editor in right {
            self.write_raw(editor, true);
        }
    }

    fn walk(&mut self, walk: impl FnOnce(&mut HistoryTree) -> bool) {
        self.playing = false;
        let from = self.tree.current();
        walk(Rc::make_mut(&mut self.tree));
        if self.tree.current() != from {
            self.editing = None;
            self.write_raw_again();
            self.show_actor();
        }
    }

    fn at_end(&self) -> bool {
        self.tree.current_path().last() == Some(&self.tree.current())
    }

    fn play(&mut self) {
        let was_playing = self.playing;
        if !was_playing && self.at_end() {
            self.walk(|tree| tree.go(0));
        }
        self.playing = !was_playing && !self.at_end();
    }

    fn commit(&mut self, typed: String) {
        let Some(editing) = self.editing.take() else {
            return;
        };
        let copy = self.world().copy(editing.editor);
        let Some(object) = copy.edited() else {
            return;
        };
        let edited = match editing.typing {
            Typing::Value => edit_scalar(object, &editing.pointer, &typed),
            Typing::Addition if typed.trim().is_empty() => return,
            Typing::Addition => add_at(object, &editing.pointer, &typed).map(|(edited, _)| edited),
        };
        match edited {
            Ok(edited) if edited == **object => {}
            Ok(edited) => self.world_mut().copy_mut(editing.editor).edit(edited),
            Err(error) => {
                self.editing = Some(Editing {
                    text: typed,
                    error: Some(error.to_string()),
                    ..editing
                });
            }
        }
    }

    fn load(&mut self) {
        let release = self.world().server().release();
        let loaded = Start::loadable(&self.draft.text).and_then(|mut loadable| {
            loadable.start.release = release;
            let (world, _) = World::begin(loadable.start.into())?;
            Ok((world, loadable.dropped, loadable.left_out))
        });
        let (world, dropped, left_out) = match loaded {
            Ok(loaded) => loaded,
            Err(problem) => {
                self.draft.problem = Some(problem);
                return;
            }
        };
        self.loaded = world.stored().map(|(version, object)| Loaded {
            object: format!("{} {}", world.resource().kind, object.name()),
            version,
            others: world.subjects().count().saturating_sub(1),
            dropped,
            left_out,
        });
        // What was there is not lost: the header leads back to it.
        self.put_aside(true);
        self.enter(Rc::new(HistoryTree::new(world)));
        self.dialog = None;
        self.draft = Draft::default();
    }

    /// Says that a file cannot be read, where it was chosen.
    #[inline(never)] // not on the first screen
    fn unreadable(&mut self, problem: LoadError) {
        match self.dialog {
            Some(Dialog::Load) => self.draft.problem = Some(problem),
            Some(Dialog::Share) => self.opening.problem = Some(problem.to_string()),
            _ => self.learn.problem = Some(problem.to_string()),
        }
    }

    /// Shows another tree.
    fn enter(&mut self, tree: Rc<HistoryTree>) {
        self.tree = tree;
        self.session += 1;
        self.editing = None;
        self.compare = [None; 2];
        self.raw = Rc::default();
        self.discarded.clear();
        (self.full, self.size) = (false, Size::default());
        self.right = ActorId::B;
        self.toggled = Folds::default();
        self.server_tab = ServerTab::Object;
        self.watch_from.clear();
        self.inspector_tab = InspectorTab::Wire;
        self.sheet = false;
        self.playing = false;
    }
}

impl Reducible for State {
    type Action = Msg;

    fn reduce(self: Rc<Self>, msg: Msg) -> Rc<Self> {
        // Most pointer moves land where the keyboard already is.
        if matches!(msg, Msg::Focus(editor) if editor == self.focus) {
            return self;
        }
        let mut next = (*self).clone();
        if matches!(msg, Msg::Keep) && !next.keep() {
            // Nothing to draw; what is known of the storages is another one now.
            return Rc::new(next);
        }
        next.change += 1;
        next.apply(msg);
        next.note_lesson(&self.tree);
        Rc::new(next)
    }
}

/// Callbacks that send a message.
pub(crate) trait Sends {
    /// What sends it.
    fn sender(&self) -> Dispatcher;

    /// A callback that sends what is made of its event.
    fn on<E>(&self, message: impl Fn(E) -> Msg + 'static) -> Callback<E> {
        let dispatcher = self.sender();
        Callback::from(move |event| dispatcher.dispatch(message(event)))
    }

    /// A callback that always sends the same.
    fn sends<E>(&self, message: Msg) -> Callback<E> {
        self.on(move |_| message.clone())
    }
}

impl Sends for StateHandle {
    fn sender(&self) -> Dispatcher {
        self.dispatcher()
    }
}

impl Sends for Dispatcher {
    fn sender(&self) -> Dispatcher {
        self.clone()
    }
}
