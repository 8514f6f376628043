//! Sessions that go out as texts and come in as links or files.

use std::rc::Rc;

use optimist_apiserver::server::Release;
use optimist_links::{Session, ShareError};
use optimist_masking::Private;
use optimist_simulation::HistoryTree;
use optimist_simulation::explore::ThirdActor;
use serde_json::Value;

use crate::State;
use crate::address::Page;
use crate::case_report::CaseReport;
use crate::effect::Effects;
use crate::jobs::{JobId, JobRequest};
use crate::view::Dialog;
use crate::without_values::ValuesLeftOut;

/// The property of a controller that somebody wrote, in what a link of Play has beside its session.
pub(crate) const PROPERTY: &str = "property";

/// The actor that takes part in the search of every order beside those that have edits, in the same place.
pub(crate) const THIRD: &str = "third";

/// The session that is shared, and the session that is opened.
#[derive(Clone, Debug, Default)]
pub struct ShareState {
    /// The session that is being opened.
    pub opening: SessionLoad,
    /// The values that are left out of a shared session.
    pub withheld: Withheld,
    /// The values in the shared session that look private.
    pub private: Rc<[Private]>,
    /// The session without private values, if it is shared so.
    pub redacted: Option<Rc<Redacted>>,
    /// The case of Diagnose without private values, or without all values, if it is shared so.
    pub values: Option<ValuesLeftOut>,
    /// The case as it is shared, as Markdown.
    pub report: Option<CaseReport>,
}

/// A message about sessions as texts.
#[derive(Clone, Debug)]
pub enum ShareMsg {
    /// Opens a session from its text.
    Open(String),
    /// Stops opening a session.
    CancelOpening,
    /// Selects the values to leave out of a shared session.
    Withhold(Withheld),
    /// Repeats the session on the stage, on a server of another release.
    Release(Release),
}

/// The values that are left out of a shared session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Withheld {
    /// Nothing.
    #[default]
    Nothing,
    /// The values that look private.
    Private,
    /// All values of the objects of a case of Diagnose.
    Values,
}

/// A session that is being opened.
#[derive(Clone, Debug, Default)]
pub struct SessionLoad {
    /// The repetition of its steps, with the session.
    replay: Option<(JobId, Rc<Session>)>,
    /// The reason why the last one was not opened.
    pub problem: Option<String>,
    /// `true` if it is a kept session, and stays kept.
    pub still_kept: bool,
    /// `true` if it repeats the session on the stage.
    in_place: bool,
}

/// A shared session without its private values.
#[derive(Clone, Debug)]
pub struct Redacted {
    /// The session without them.
    pub session: Session,
    /// The text of the session.
    pub text: Rc<str>,
    /// The repetition of the session, for exports.
    pub replay: ReplayState,
}

/// The progress of repeating a session, for its exports.
#[derive(Clone, Debug)]
pub enum ReplayState {
    /// Some steps are left.
    Running(JobId),
    /// All steps are done.
    Done(Rc<HistoryTree>),
    /// It cannot be done without the values.
    Failed,
}

impl ShareState {
    /// The jobs that it waits for.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = JobId> {
        let opening = self.opening.replay.as_ref().map(|(job, _)| *job);
        let redacted = self.redacted.as_deref();
        let repeated = redacted.and_then(|redacted| match redacted.replay {
            ReplayState::Running(job) => Some(job),
            _ => None,
        });
        let values = self.values.as_ref().and_then(ValuesLeftOut::job);
        let report = match self.report {
            Some(CaseReport::Running(job, _)) => Some(job),
            _ => None,
        };
        [opening, repeated, values, report].into_iter().flatten()
    }
}

impl SessionLoad {
    /// Returns whether a job repeats its steps.
    pub(crate) fn is_job(&self, id: JobId) -> bool {
        self.replay.as_ref().is_some_and(|(job, _)| *job == id)
    }
}

impl State {
    pub(crate) fn update_share(&mut self, msg: ShareMsg, fx: &mut Effects<'_>) {
        match msg {
            ShareMsg::Open(text) => self.open_session(&text, fx),
            ShareMsg::CancelOpening => self.cancel_opening(fx),
            ShareMsg::Withhold(what) => self.withhold(what, fx),
            ShareMsg::Release(release) => self.change_release(release, fx),
        }
    }

    /// Returns the session on the stage.
    pub(crate) fn stage_session(&self) -> Session {
        let tree = &self.session.tree;
        let (mut session, page) = match self.learn.learning() {
            Some(learning) => (Session::of_lesson(tree, learning), Page::Learn),
            None => (Session::from_tree(tree), Page::Play),
        };
        page.slug().clone_into(&mut session.page);
        session
    }

    /// Returns the session that the open page shows.
    pub fn shared(&self) -> Session {
        let other = match self.page {
            Page::Explore => self.explore.session(),
            Page::Diagnose => self.case_session(),
            Page::Play => self.session_with_question(),
            Page::Learn => None,
        };
        other.unwrap_or_else(|| self.stage_session())
    }

    /// Returns the session on the stage with what somebody asks of a controller. `None` without it.
    fn session_with_question(&self) -> Option<Session> {
        let asked = self.shared_question();
        (!asked.is_empty()).then(|| {
            let mut session = self.stage_session();
            session.extra = asked.into_iter().collect();
            session
        })
    }

    /// Returns what somebody asks of a controller in Play: the property that was written, and the actor that
    /// takes part beside those that have edits.
    pub(crate) fn shared_question(&self) -> Vec<(&'static str, &str)> {
        if !self.can_write_property() || self.learn.learning().is_some() {
            return Vec::new();
        }
        let property = Some(&*self.controller.own.text).filter(|text| !text.is_empty());
        let third = self.controller.third.map(ThirdActor::slug);
        let asked = [(PROPERTY, property), (THIRD, third)].into_iter();
        asked.filter_map(|(key, said)| Some((key, said?))).collect()
    }

    /// Takes what was asked of a controller, and asks it again if it has a property. `None` says that a part was
    /// not asked.
    pub(crate) fn ask_again(
        &mut self,
        property: Option<&str>,
        third: Option<&str>,
        fx: &mut Effects<'_>,
    ) {
        self.controller.third = third.and_then(ThirdActor::named);
        self.check_property(property.unwrap_or_default().to_owned(), fx);
    }

    /// Selects the values to leave out of the shared session.
    pub(crate) fn withhold(&mut self, what: Withheld, fx: &mut Effects<'_>) {
        self.share.withheld = what;
        self.share.values = None;
        self.share.redacted = None;
        self.share.report = None;
        if self.page == Page::Diagnose {
            return self.leave_values_out(what, fx);
        }
        if what == Withheld::Nothing {
            return;
        }
        let (session, private) = self.shared().without_private();
        self.share.private = private.into();
        if self.share.private.is_empty() {
            self.share.withheld = Withheld::Nothing;
            return;
        }
        let replay = JobRequest::Replay(Box::new(session.clone()));
        self.share.redacted = Some(Rc::new(Redacted {
            text: session.to_text().into(),
            session,
            replay: ReplayState::Running(self.jobs.start(replay, fx)),
        }));
    }

    /// Drops the shared session without private values.
    pub(crate) fn forget_shared(&mut self) {
        let opening = std::mem::take(&mut self.share.opening);
        self.share = ShareState {
            opening,
            ..ShareState::default()
        };
    }

    /// Returns the page that opens the shared session.
    pub fn shared_page(&self) -> Page {
        match self.page {
            Page::Learn if self.learn.learning().is_none() => Page::Play,
            page => page,
        }
    }

    /// Returns the number of steps in the session that is shared from the stage.
    pub fn shared_steps(&self) -> usize {
        let tree = &self.session.tree;
        (1..tree.len()).filter(|node| tree.exists(*node)).count()
    }

    /// Returns the text of the shared session; `None` until the values to leave out are known.
    pub fn shared_text(&self) -> Option<Rc<str>> {
        match (&self.share.values, &self.share.redacted) {
            (Some(ValuesLeftOut::Found(shared)), _) => Some(Rc::clone(&shared.text)),
            (Some(_), _) => None,
            (None, Some(redacted)) => Some(Rc::clone(&redacted.text)),
            (None, None) => Some(self.shared().to_text().into()),
        }
    }

    /// Takes the history of the shared session without private values.
    pub(crate) fn redacted_is_replayed(
        &mut self,
        id: JobId,
        tree: Result<Rc<HistoryTree>, ShareError>,
    ) {
        let Some(redacted) = self.share.redacted.as_mut() else {
            return;
        };
        if matches!(redacted.replay, ReplayState::Running(job) if job == id) {
            Rc::make_mut(redacted).replay = tree.map_or(ReplayState::Failed, ReplayState::Done);
        }
    }

    /// Begins to open a session.
    fn open_session(&mut self, text: &str, fx: &mut Effects<'_>) {
        match Session::parse(text) {
            Ok(session) => {
                self.begin_replay(session, false, fx);
                self.view.dialog = None;
            }
            Err(error) => self.not_opened(&error, fx),
        }
    }

    fn begin_replay(&mut self, session: Session, in_place: bool, fx: &mut Effects<'_>) {
        let request = JobRequest::Replay(Box::new(session.clone()));
        let job = self.jobs.start(request, fx);
        let opening = &mut self.share.opening;
        opening.replay = Some((job, Rc::new(session)));
        opening.problem = None;
        opening.in_place = in_place;
    }

    /// Repeats the session on the stage, on a server of another release.
    fn change_release(&mut self, release: Release, fx: &mut Effects<'_>) {
        if release != self.world().server().release() {
            self.session.playing = false;
            self.begin_replay(self.stage_session().at_release(release), true, fx);
        }
    }

    fn not_opened(&mut self, error: &ShareError, fx: &mut Effects<'_>) {
        let still_kept = self.not_opened_kept(fx);
        self.share.opening = SessionLoad {
            replay: None,
            problem: Some(error.to_string()),
            still_kept,
            in_place: false,
        };
        self.view.dialog = Some(Dialog::Share);
        self.withhold(Withheld::Private, fx);
    }

    /// Returns the number of steps that are done and the number of all steps of the session that is
    /// being opened.
    pub fn progress(&self) -> Option<(usize, usize)> {
        let opening = self.share.opening.replay.as_ref().map(|(job, _)| *job);
        let job = opening.or_else(|| self.learn.reopening_job())?;
        self.jobs.progress(job)
    }

    /// Stops opening a session. A kept session stays kept.
    fn cancel_opening(&mut self, fx: &mut Effects<'_>) {
        if self.share.opening.replay.take().is_some() && !self.share.opening.in_place {
            self.not_opened_kept(fx);
        }
        self.cancel_lesson(fx);
    }

    /// Shows the session whose steps are repeated.
    pub(crate) fn opened(
        &mut self,
        tree: Result<Rc<HistoryTree>, ShareError>,
        fx: &mut Effects<'_>,
    ) {
        let Some((_, session)) = self.share.opening.replay.take() else {
            return;
        };
        let tree = match tree {
            Ok(tree) => tree,
            Err(error) => return self.not_opened(&error, fx),
        };
        if std::mem::take(&mut self.share.opening.in_place) {
            let tab = self.view.server_tab;
            self.enter(tree);
            self.view.server_tab = tab;
            return;
        }
        let page = Page::ALL.into_iter().find(|it| session.page == it.slug());
        let setup = session.extra.clone();
        match session.learning.clone() {
            None if page == Some(Page::Diagnose) => {
                self.opened_elsewhere(fx);
                self.case().open_link(&setup);
                self.page = Page::Diagnose;
                fx.go_to(Page::Diagnose.fragment());
            }
            None if page == Some(Page::Explore) => {
                self.opened_elsewhere(fx);
                self.explore.ask(Rc::unwrap_or_clone(tree), setup);
                self.keep_edits_of_explore(fx);
                self.page = Page::Explore;
                fx.go_to(Page::Explore.fragment());
            }
            Some(learning) => {
                self.opened_elsewhere(fx);
                self.page = Page::Learn;
                self.set_stage();
                self.open_linked_lesson(learning, Rc::unwrap_or_clone(tree), fx);
            }
            None => self.play_session(&tree, &session, fx),
        }
    }

    /// Shows a session that was opened in Play.
    fn play_session(&mut self, tree: &Rc<HistoryTree>, session: &Session, fx: &mut Effects<'_>) {
        // What was kept is opened behind whatever page is open.
        let page = self.page;
        self.page = Page::Play;
        self.set_stage();
        if self.enter_kept(tree, Some(session), fx) {
            self.page = page;
            self.set_stage();
            return;
        }
        // What was there is not lost: the header leads back to it.
        self.enter_shown(Rc::clone(tree), Some(session), fx);
        let asked = |key: &str| session.extra.get(key).and_then(Value::as_str);
        self.ask_again(asked(PROPERTY), asked(THIRD), fx);
        fx.go_to(Page::Play.fragment());
    }
}
