//! The view of the page: the open card, tab and dialog, and the folds.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::rc::Rc;

use optimist_sessions::StorageArea;
use optimist_simulation::ActorId;

use crate::effect::Effects;

/// A column of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// The one of an editor.
    Editor(ActorId),
    /// The one of the API server.
    Server,
}

impl Lane {
    /// A short name for ids and classes.
    pub fn slug(self) -> &'static str {
        match self {
            Lane::Editor(ActorId::A) => "a",
            Lane::Editor(ActorId::B) => "b",
            Lane::Editor(ActorId::C) => "c",
            Lane::Editor(ActorId::D) => "d",
            Lane::Editor(ActorId::E) => "e",
            Lane::Editor(ActorId::F) => "f",
            Lane::Server => "server",
        }
    }
}

/// The folds that are not as they are at first. Clones share them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folds(Rc<BTreeSet<(ObjectView, String)>>);

impl Folds {
    /// Returns whether a fold is in the set.
    pub fn contains(&self, view: ObjectView, pointer: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&(view, pointer.to_owned()))
    }

    pub(crate) fn toggle(&mut self, view: ObjectView, pointer: String) {
        let folds = Rc::make_mut(&mut self.0);
        let fold = (view, pointer);
        if !folds.remove(&fold) {
            folds.insert(fold);
        }
    }
}

/// The part of the page that displays an object or a body. Each has its own folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectView {
    /// The cards, which have the same folds.
    Cards,
    /// The body of a request.
    Request,
    /// The body of a response.
    Response,
    /// The preview of a request.
    Preview,
}

/// The tab of the server's card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerTab {
    /// The stored object.
    Object,
    /// The owners of the fields.
    Owners,
    /// Every stored version.
    Revisions,
    /// The event stream.
    Watch,
    /// The keys of etcd.
    Etcd,
}

/// The tab of the inspector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InspectorTab {
    /// The request and the response.
    Wire,
    /// The same with kubectl.
    Kubectl,
    /// The same with client-go.
    Go,
    /// The same with kube-rs.
    Rust,
    /// The changes of the step.
    Diff,
    /// The request that Send would send.
    Preview,
}

/// A dialog that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// Loads a manifest.
    Load,
    /// Shares the session, and opens others.
    Share,
    /// Help and keys.
    Help,
    /// All histories.
    Branches,
    /// A request that is written by hand.
    Request,
    /// The sessions that the browser keeps.
    Sessions,
    /// The choice of the third actor, and the examples of controllers.
    Controllers,
}

/// Light, dark, or the setting of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// The setting of the system.
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// The view of the page.
#[derive(Clone, Debug)]
pub struct ViewState {
    /// Whom the keyboard speaks for.
    pub focus: ActorId,
    /// The card that is open where only one fits.
    pub lane: Lane,
    /// The actor of the right lane: any but A.
    pub right: ActorId,
    /// The last actor that was added. All before it have a lane too.
    pub last_actor: ActorId,
    /// Folds that are not as they are at first.
    pub toggled: Folds,
    /// The open tab of the server's card.
    pub server_tab: ServerTab,
    /// The resourceVersion that the next watch is opened from; empty to leave it unset.
    pub watch_from: String,
    /// `true` if compacting also restarts the server.
    pub restart: bool,
    /// The open tab of the inspector.
    pub inspector_tab: InspectorTab,
    /// `true` if the inspector is open, where it is a sheet.
    pub sheet: bool,
    /// The dialog that is open.
    pub dialog: Option<Dialog>,
    /// The theme.
    pub theme: Theme,
    /// `true` if keys that are a single character are commands.
    pub letter_keys: bool,
    /// The height of the cards, in percent of the height of cards and timeline; `None` until the
    /// user moves the divider.
    pub cards: Option<u8>,
    /// `true` if this browser has never shown a conflict in Optimist. Play then shows only the
    /// controls that are needed to make one.
    pub first_visit: bool,
    /// `true` if the browser's storage, and not this tab alone, says that Play shows all controls.
    all_controls_kept: bool,
}

/// A message about the view.
#[derive(Clone, Debug)]
pub enum ViewMsg {
    /// Works as an editor.
    Focus(ActorId),
    /// Opens the card of a lane.
    Open(Lane),
    /// Folds or unfolds the value at a pointer.
    Toggle(ObjectView, String),
    /// Opens a tab of the server's card.
    ServerTab(ServerTab),
    /// Opens a tab of the inspector.
    InspectorTab(InspectorTab),
    /// Opens or closes the inspector, where it is a sheet.
    Sheet(bool),
    /// Opens a dialog, or closes it.
    Dialog(Option<Dialog>),
    /// The resourceVersion that the next watch is opened from.
    WatchFrom(String),
    /// Sets whether compacting also restarts the server.
    Restart(bool),
    /// Chooses a theme.
    Theme(Theme),
    /// Sets whether keys that are a single character are commands.
    LetterKeys(bool),
    /// Sets the height of the cards, in percent; `None` for the height at first.
    Cards(Option<u8>),
    /// Shows all controls, also before the first conflict.
    ShowAllControls,
}

/// The possible heights of the cards, in percent of the height of cards and timeline.
pub const CARDS: RangeInclusive<u8> = 25..=85;

/// The height of the cards until the user moves the divider. `layout.css` has the same number.
pub const CARDS_AT_FIRST: u8 = 68;

const CARDS_KEY: &str = "optimist.cards";

const ALL_CONTROLS: &str = "optimist.all-controls";

const LETTER_KEYS: &str = "optimist.letter-keys";

const THEME: &str = "optimist.theme";

impl ViewState {
    pub(crate) fn open(fx: &Effects<'_>) -> Self {
        let theme = match fx.read(StorageArea::Browser, THEME).as_deref() {
            Some("light") => Theme::Light,
            Some("dark") => Theme::Dark,
            _ => Theme::System,
        };
        let letter_keys = fx.read(StorageArea::Browser, LETTER_KEYS);
        let cards = fx.read(StorageArea::Browser, CARDS_KEY);
        let cards = cards.and_then(|cards| cards.parse().ok());
        let all_controls = |area| fx.read(area, ALL_CONTROLS).is_some();
        let all_controls_kept = all_controls(StorageArea::Browser);
        Self {
            focus: ActorId::A,
            lane: Lane::Editor(ActorId::A),
            right: ActorId::B,
            last_actor: ActorId::C,
            toggled: Folds::default(),
            server_tab: ServerTab::Object,
            watch_from: String::new(),
            restart: true,
            inspector_tab: InspectorTab::Wire,
            sheet: false,
            dialog: None,
            theme,
            letter_keys: letter_keys.as_deref() != Some("off"),
            cards: cards.filter(|cards| CARDS.contains(cards)),
            first_visit: !all_controls_kept && !all_controls(StorageArea::Tab),
            all_controls_kept,
        }
    }

    pub(crate) fn update(&mut self, msg: ViewMsg, fx: &mut Effects<'_>) {
        match msg {
            ViewMsg::Focus(editor) => self.focus = editor,
            ViewMsg::Open(lane) => {
                self.lane = lane;
                if let Lane::Editor(editor) = lane {
                    self.focus = editor;
                    self.show(editor);
                }
            }
            ViewMsg::Toggle(view, pointer) => self.toggled.toggle(view, pointer),
            ViewMsg::ServerTab(tab) => self.server_tab = tab,
            ViewMsg::InspectorTab(tab) => self.inspector_tab = tab,
            ViewMsg::Sheet(up) => self.sheet = up,
            ViewMsg::Dialog(dialog) => self.dialog = dialog,
            ViewMsg::WatchFrom(version) => self.watch_from = version,
            ViewMsg::Restart(on) => self.restart = on,
            ViewMsg::Theme(theme) => {
                self.theme = theme;
                let word = match theme {
                    Theme::System => None,
                    Theme::Light => Some("light"),
                    Theme::Dark => Some("dark"),
                };
                fx.write(StorageArea::Browser, THEME, word.map(str::to_owned));
            }
            ViewMsg::LetterKeys(on) => {
                self.letter_keys = on;
                let word = (!on).then(|| "off".to_owned());
                fx.write(StorageArea::Browser, LETTER_KEYS, word);
            }
            ViewMsg::Cards(cards) => {
                self.cards = cards.map(|cards| cards.clamp(*CARDS.start(), *CARDS.end()));
                let text = self.cards.map(|cards| cards.to_string());
                fx.write(StorageArea::Browser, CARDS_KEY, text);
            }
            ViewMsg::ShowAllControls => self.show_all_controls(fx),
        }
    }

    /// Shows all controls from now on.
    pub(crate) fn show_all_controls(&mut self, fx: &mut Effects<'_>) {
        self.first_visit = false;
        if !self.all_controls_kept {
            self.all_controls_kept = true;
            fx.write(StorageArea::Browser, ALL_CONTROLS, Some("on".to_owned()));
        }
    }

    /// Shows all controls in this tab, also after a reload: who opens a session of someone else sees all
    /// of it.
    pub(crate) fn show_all_controls_here(&mut self, fx: &mut Effects<'_>) {
        if self.first_visit {
            self.first_visit = false;
            fx.write(StorageArea::Tab, ALL_CONTROLS, Some("on".to_owned()));
        }
    }

    /// Opens the lane of an actor, as its card.
    pub(crate) fn turn_to(&mut self, actor: ActorId) {
        self.show(actor);
        self.lane = Lane::Editor(actor);
        self.focus = actor;
    }

    /// Gives the right lane to an actor, if the lane can be this actor's.
    pub(crate) fn show(&mut self, actor: ActorId) {
        if actor != ActorId::A && actor != self.right {
            if self.lane == Lane::Editor(self.right) {
                self.lane = Lane::Editor(actor);
            }
            if self.focus == self.right {
                self.focus = actor;
            }
            self.right = actor;
            self.last_actor = self.last_actor.max(actor);
        }
    }

    /// A request was sent: there is nothing left of which this would be the preview.
    pub(crate) fn leave_preview(&mut self) {
        if self.inspector_tab == InspectorTab::Preview {
            self.inspector_tab = InspectorTab::Wire;
        }
    }

    /// Another session is shown, with the right lane for an actor, and its last actor.
    pub(crate) fn enter(&mut self, right: ActorId, last_actor: ActorId) {
        self.show(right);
        self.last_actor = last_actor;
        self.toggled = Folds::default();
        self.server_tab = ServerTab::Object;
        self.watch_from.clear();
        self.inspector_tab = InspectorTab::Wire;
        self.sheet = false;
    }
}
