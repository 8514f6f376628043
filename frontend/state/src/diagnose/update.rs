//! Changes the case by messages, and asks for the jobs of its long work.

use std::rc::Rc;

use optimist_diagnose::input::Input;
use optimist_sessions::{StorageArea, StorageEffect};
use optimist_simulation::HistoryTree;

use super::{
    AuditRun, BringProblem, CASE, CASE_DRAFT, CASE_PLACE, CaseKeeping, CaseRun, ChangeRun,
    DiagnoseMsg, DiagnoseState, InputItem, NextRun,
};
use crate::State;
use crate::address::Page;
use crate::effect::Effects;
use crate::jobs::{JobId, JobPart, JobRequest, JobResult, is_worth_sending};

/// The effect of a message on the case.
enum CaseChange {
    /// Only the display changed.
    Shown,
    /// Another step or object is looked at: the tab keeps which one.
    Looked,
    /// The case is another: the tab keeps it.
    Changed,
    /// A history of the case opens in Play, if there is one.
    Steps(Option<Box<HistoryTree>>),
    /// A case opens in Explore, if there is one.
    Explores(Option<Box<HistoryTree>>),
}

impl DiagnoseState {
    fn update(&mut self, msg: DiagnoseMsg) -> CaseChange {
        match msg {
            DiagnoseMsg::Draft(text) => self.draft = text,
            DiagnoseMsg::TakeDraft => {
                let draft = std::mem::take(&mut self.draft);
                self.wait(&draft);
            }
            DiagnoseMsg::Bring(text) => self.wait(&text),
            DiagnoseMsg::Example(example) => {
                self.remove_all();
                example.texts().iter().for_each(|text| self.wait(text));
                self.section = example.section();
            }
            DiagnoseMsg::File(bytes) => {
                self.take_file(&bytes);
                return CaseChange::Changed;
            }
            DiagnoseMsg::Unreadable(name) => self.problem = Some(BringProblem::File(name)),
            DiagnoseMsg::TooLarge(name) => self.problem = Some(BringProblem::TooLarge(name)),
            DiagnoseMsg::Observe(event) => self.observe(&event),
            DiagnoseMsg::EditLive(msg) => self.edit_live(msg),
            DiagnoseMsg::Follow { lines, anew } => {
                self.take_followed(&lines, anew);
                return CaseChange::Changed;
            }
            DiagnoseMsg::Remove(id) => {
                self.live.is_ignored |= self.items.iter().any(|item| item.id == id && item.live);
                self.items.retain(|item| item.id != id);
                self.problem = None;
                self.step = None;
                self.look_again();
                return CaseChange::Changed;
            }
            DiagnoseMsg::CancelReading => {
                self.cancel_reading();
                return CaseChange::Changed;
            }
            DiagnoseMsg::Correct(id) => {
                self.correct(id);
                return CaseChange::Changed;
            }
            DiagnoseMsg::Clear => {
                self.remove_all();
                return CaseChange::Changed;
            }
            DiagnoseMsg::Return => {
                self.take_earlier();
                return CaseChange::Changed;
            }
            other => return self.look(other),
        }
        CaseChange::Shown
    }

    /// Changes the view of the case, or the client that writes.
    fn look(&mut self, msg: DiagnoseMsg) -> CaseChange {
        match msg {
            DiagnoseMsg::Client(client) => {
                self.client = Some(client);
                self.run_again();
                self.preview_again();
                return CaseChange::Changed;
            }
            DiagnoseMsg::Manager(manager) => {
                self.manager = manager;
                // It may be the manager that an error message does not say.
                self.look_again();
                return CaseChange::Changed;
            }
            DiagnoseMsg::Given(given) => {
                self.given = given;
                self.look_again();
                return CaseChange::Changed;
            }
            DiagnoseMsg::Choose(position) => {
                self.choose_case(position);
                return CaseChange::Looked;
            }
            DiagnoseMsg::ChooseAudited(position) => {
                if let Some(run) = &mut self.audit {
                    run.choose(position);
                }
                self.step = None;
                self.look_again();
                return CaseChange::Looked;
            }
            DiagnoseMsg::SelectStep(step) => {
                self.select_step(step);
                return CaseChange::Looked;
            }
            DiagnoseMsg::MoveStep(to) => {
                self.move_step(to);
                return CaseChange::Looked;
            }
            DiagnoseMsg::CancelTable => {
                self.table.iter_mut().for_each(|run| run.cancelled = true);
            }
            DiagnoseMsg::CancelAudit => {
                self.audit.iter_mut().for_each(AuditRun::cancel);
            }
            DiagnoseMsg::OneObject(one) => self.one_object = one,
            DiagnoseMsg::PreviewOf(filter) => {
                self.preview.iter_mut().for_each(|it| it.shown = filter);
            }
            DiagnoseMsg::Prune(prunes) => {
                self.prunes = prunes;
                self.preview_again();
            }
            DiagnoseMsg::AllWays(all) => self.all_ways = all,
            DiagnoseMsg::Owner(filter) => self.owner = filter,
            DiagnoseMsg::Section(section) => self.section = section,
            other => return self.opens(&other),
        }
        CaseChange::Shown
    }

    fn choose_case(&mut self, position: usize) {
        self.wanted = position;
        self.chosen = position.min(self.cases.len().saturating_sub(1));
        self.owner = None;
        self.select_step(None);
        self.run_again();
    }

    /// Opens a history or a case in Play or in Explore, if the message asks for it.
    fn opens(&self, msg: &DiagnoseMsg) -> CaseChange {
        let table = self.table.as_ref();
        let explored = match msg {
            DiagnoseMsg::InBetween(way) => table.and_then(|table| table.in_between(*way)),
            DiagnoseMsg::InBetweenOut(kind) => table.and_then(|table| table.in_between_out(*kind)),
            step => return CaseChange::Steps(self.steps(step).map(Box::new)),
        };
        CaseChange::Explores(explored.map(Box::new))
    }

    /// The history that a message wants to step through.
    fn steps(&self, msg: &DiagnoseMsg) -> Option<HistoryTree> {
        let table: Option<&ChangeRun> = self.table.as_ref();
        match msg {
            DiagnoseMsg::StepScene => Some(self.reading()?.scene.as_ref()?.history.clone()),
            DiagnoseMsg::Step(way) => table?.history(*way),
            DiagnoseMsg::StepOut(kind) => table?.history_out(*kind),
            DiagnoseMsg::StepRecorded => {
                let step = self.selected_step()?;
                let replay = self.replay()?;
                replay.history.in_play(step.row, &replay.log)
            }
            DiagnoseMsg::PlayObject => {
                let installed = self.reading()?.installed.as_ref().ok()?;
                Some(HistoryTree::new(installed.world.clone()))
            }
            DiagnoseMsg::StepNext(kind) => self.next_writes.as_ref()?.history(*kind),
            _ => None,
        }
    }
}

impl DiagnoseState {
    /// The request for the part of the case that is next, which the job then does. `has_worker` says whether there is a
    /// worker. `None` if nothing is left. No job may be running: the caller knows whether its last one has ended.
    pub(crate) fn begin_job(
        &mut self,
        job: JobId,
        has_worker: impl Fn() -> bool,
    ) -> Option<JobRequest> {
        let left = self.parts().into_iter().find(|part| part.is_left)?;
        match left.run {
            CaseRun::Reading => self.begin_reading(job, has_worker),
            CaseRun::Audit => self.audit.as_mut()?.begin_job(job).map(JobRequest::Audit),
            CaseRun::Next => {
                let next = self.next_writes.as_mut()?;
                next.begin_job(job).map(JobRequest::Next)
            }
            CaseRun::Preview => {
                let preview = self.preview.as_mut()?;
                preview.begin_job(job).map(JobRequest::Preview)
            }
            CaseRun::Table => {
                let texts = self.texts_for_worker(has_worker);
                let (manager, given) = (self.manager.clone(), self.given_parts());
                let table = self.table.as_mut()?;
                let request = table.begin_job(job, texts, manager, given);
                Some(JobRequest::Table(Box::new(request)))
            }
        }
    }

    /// Returns whether a part of the case is left to do and no job does it.
    fn waits_for_a_job(&self) -> bool {
        self.parts().iter().any(|part| part.is_left) && self.job().is_none()
    }

    /// The texts of the case for a worker that runs the table, and the position of the object among theirs. No text if
    /// the page runs it: there is no worker, or the case is not worth the message. An error message alone is short, and
    /// the object of an audit log is in no text of its own.
    fn texts_for_worker(&self, has_worker: impl FnOnce() -> bool) -> (Vec<String>, usize) {
        let may_travel = self.table.as_ref().is_some_and(ChangeRun::may_travel);
        let reading = self.reading();
        let is_in_texts = reading.is_some_and(|it| !it.is_audited && it.scene.is_none());
        let texts = || self.items.iter().filter(|item| is_of_case(item));
        let size = texts().map(|item| item.text.len()).sum();
        if !may_travel || !is_in_texts || !is_worth_sending(size) || !has_worker() {
            return (Vec::new(), 0);
        }
        let mut brought = self.brought.iter();
        let at = brought.position(|it| reading.is_some_and(|chosen| Rc::ptr_eq(it, chosen)));
        let texts = texts().map(|item| item.text.to_string()).collect();
        (texts, at.unwrap_or_default())
    }

    /// Takes a part of the result of the job.
    pub(crate) fn take_part(&mut self, part: JobPart) {
        match part {
            JobPart::Object(object) => self.take_object(object),
            JobPart::Item(item) => self.take_item(*item, None),
            JobPart::Next(found) => {
                let next = self.next_writes.iter_mut();
                next.for_each(|next| next.done.push(Rc::clone(&found)));
            }
            JobPart::Table(part) => self.table.iter_mut().for_each(|it| it.take_part(&part)),
            JobPart::LeftOut(_) | JobPart::Report(..) => {}
        }
    }

    /// Takes the result of the job. Returns whether the texts of the case are others now, and are all read.
    pub(crate) fn take_result(&mut self, result: JobResult) -> bool {
        match result {
            JobResult::Read(is_read) => return self.text_is_read(is_read),
            JobResult::Objects(cases) => return self.objects_are_read(cases),
            JobResult::AuditLog(log) => self.take_log(log),
            JobResult::AuditReplay(replay) => self.take_replay(replay),
            JobResult::Next => self.next_writes.iter_mut().for_each(NextRun::end),
            JobResult::Preview(done) => {
                self.preview
                    .iter_mut()
                    .for_each(|it| it.end(Rc::clone(&done)));
                self.look_at_worst();
            }
            JobResult::Table(is_run) => {
                self.table.iter_mut().for_each(|it| it.end(is_run));
                self.mark_conflicts();
            }
            _ => {}
        }
        false
    }
}

/// Returns whether a thing is part of what is read of objects.
fn is_of_case(item: &InputItem) -> bool {
    !matches!(item.content, Ok(Input::AuditLog(_)) | Err(_))
}

impl State {
    /// Starts the job that is next. A worker reads a large text and runs the table of a large case, if there is one: one
    /// request about a large object, and the search for what looks private in it, take longer than the page may be held.
    pub(crate) fn send_case_jobs(&mut self, fx: &mut Effects<'_>) {
        if !self.diagnose.waits_for_a_job() {
            return;
        }
        let job = self.jobs.next();
        if let Some(request) = self.case().begin_job(job, || fx.has_worker()) {
            self.jobs.start_as(job, request, fx);
        }
    }

    /// The case, if it waits for a job.
    fn case_that_waits_for(&mut self, id: JobId) -> Option<&mut DiagnoseState> {
        let waits = self.diagnose.job() == Some(id);
        waits.then(|| self.case())
    }

    /// Takes a part of the result of a job.
    pub(crate) fn take_case_part(&mut self, id: JobId, part: JobPart) {
        if let Some(case) = self.case_that_waits_for(id) {
            case.take_part(part);
        }
    }

    /// Takes the result of a job.
    pub(crate) fn take_case_result(&mut self, id: JobId, result: JobResult, fx: &mut Effects<'_>) {
        let case = self.case_that_waits_for(id);
        if case.is_some_and(|case| case.take_result(result)) {
            self.keep_case(fx);
        }
    }

    pub(crate) fn case(&mut self) -> &mut DiagnoseState {
        Rc::make_mut(&mut self.diagnose)
    }

    /// Adds the texts again that the tab has kept, once Diagnose is open.
    pub(crate) fn open_diagnose(&mut self, fx: &Effects<'_>) {
        if self.page == Page::Diagnose {
            self.restore_case(fx);
        }
    }

    fn restore_case(&mut self, fx: &Effects<'_>) {
        if self.diagnose.opened {
            return;
        }
        let kept = fx.read(StorageArea::Tab, CASE).unwrap_or_default();
        let draft = fx.read(StorageArea::Tab, CASE_DRAFT).unwrap_or_default();
        let place = fx.read(StorageArea::Tab, CASE_PLACE).unwrap_or_default();
        let case = self.case();
        case.opened = true;
        case.restore(&kept);
        case.return_to(&place);
        case.kept_draft.clone_from(&draft);
        case.draft = draft;
    }

    pub(crate) fn update_diagnose(&mut self, msg: DiagnoseMsg, fx: &mut Effects<'_>) {
        let msg = match msg {
            DiagnoseMsg::Open(text) => {
                // What the tab has kept is older than the text.
                self.restore_case(fx);
                fx.go_to(Page::Diagnose.fragment());
                DiagnoseMsg::Bring(text)
            }
            DiagnoseMsg::Observe(event) => {
                self.restore_case(fx);
                DiagnoseMsg::Observe(event)
            }
            DiagnoseMsg::Branch => return self.begin_branch(fx),
            msg => msg,
        };
        match self.case().update(msg) {
            CaseChange::Shown => {}
            CaseChange::Looked => self.keep_place(fx),
            CaseChange::Changed => self.keep_case(fx),
            CaseChange::Explores(tree) => {
                if let Some(tree) = tree {
                    self.explore_case(*tree, fx);
                }
            }
            CaseChange::Steps(tree) => {
                if let Some(tree) = tree {
                    self.open_in_play(*tree, fx);
                }
            }
        }
    }

    /// Opens a history of the case in Play.
    pub(super) fn open_in_play(&mut self, tree: HistoryTree, fx: &mut Effects<'_>) {
        // Who steps through a real case needs all of the page.
        self.view.show_all_controls(fx);
        self.enter_shown(Rc::new(tree), None, fx);
        fx.go_to(Page::Play.fragment());
    }

    /// Keeps in the tab which object and which step is looked at. Apart from the case: a step must
    /// not write all of its texts again.
    fn keep_place(&mut self, fx: &mut Effects<'_>) {
        let place = self.diagnose.place_text();
        fx.write(StorageArea::Tab, CASE_PLACE, place);
    }

    /// Keeps the text that is being typed in the tab, for after a reload.
    pub(crate) fn keep_draft(&mut self, fx: &mut Effects<'_>) {
        let typed = self.diagnose.draft_to_keep();
        if self.diagnose.opened && *typed != *self.diagnose.kept_draft {
            let typed = typed.to_owned();
            let text = Some(typed.clone()).filter(|text| !text.is_empty());
            fx.write(StorageArea::Tab, CASE_DRAFT, text);
            self.case().kept_draft = typed;
        }
    }

    /// Keeps the case in the tab, for after a reload.
    fn keep_case(&mut self, fx: &mut Effects<'_>) {
        match self.case().kept_text() {
            Some(value) => fx.keep([StorageEffect::Write {
                place: StorageArea::Tab,
                key: CASE.to_owned(),
                value,
            }]),
            None => fx.write(StorageArea::Tab, CASE, None),
        }
        self.keep_place(fx);
    }

    /// Says that the browser does not keep the case. Returns whether the refused value is the case.
    pub(crate) fn case_refused(&mut self, effect: &StorageEffect) -> bool {
        let StorageEffect::Write { place, key, .. } = effect else {
            return false;
        };
        let is_case = *place == StorageArea::Tab && key == CASE;
        if is_case {
            self.case().kept = CaseKeeping::Refused;
        }
        is_case
    }
}
