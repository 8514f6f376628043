//! Lessons.

use optimist_lesson::Catalogue;
use optimist_sessions::StorageArea;
use optimist_simulation::ActorId;
use optimist_state::{
    CourseProgress, Lane, LearnMsg, LearnProblem, LessonProgress, Msg, PROGRESS, Platform,
    ServerTab, SessionMsg, UnreadableData, ViewMsg, lesson_fragment,
};

use crate::page::Page;

const NAME: &str = "01-the-lost-update";
const LESSON: &str = include_str!("../../../../lessons/01-the-lost-update.yaml");

fn at(page: &mut Page, fragment: &str) {
    page.send(Msg::Address(fragment.to_owned()));
}

fn lesson() -> Page {
    let mut page = Page::open();
    at(&mut page, &lesson_fragment(NAME));
    page.send(LearnMsg::Text(NAME.to_owned(), Ok(LESSON.to_owned())));
    page
}

fn progress(page: &Page) -> Option<LessonProgress> {
    let kept = page.browser.read(StorageArea::Browser, PROGRESS);
    LessonProgress::read(kept.as_deref(), NAME)
}

#[test]
fn the_course_goes_on_with_the_first_lesson_that_is_not_finished() {
    let catalogue = include_str!("../../../../lessons/catalogue.yaml");
    let catalogue = Catalogue::parse(catalogue).unwrap();
    let course = |kept: Option<&str>| {
        let course = CourseProgress::read(kept, &catalogue);
        let next = course.next.map(|entry| entry.name.clone());
        (course.finished, course.opened, next)
    };
    let next = |name: &str| Some(name.to_owned());
    assert_eq!(course(None), (0, 0, next(NAME)));
    assert_eq!(course(Some("not JSON")), (0, 0, next(NAME)));
    let first = r#"{"01-the-lost-update": [6, true]}"#;
    let second = "02-resourceversion-and-the-409";
    assert_eq!(course(Some(first)), (1, 1, next(second)));
    // What was begun comes before what was not.
    let begun = r#"{"01-the-lost-update": [6, true], "07-merge-patch": [2, false]}"#;
    assert_eq!(course(Some(begun)), (1, 2, next("07-merge-patch")));
    let all = catalogue.lessons();
    let all = all.map(|entry| format!(r#""{}": [1, true]"#, entry.name));
    let all = format!("{{{}}}", all.collect::<Vec<_>>().join(", "));
    assert_eq!(course(Some(&all)), (16, 34, None));
}

#[test]
fn the_course_goes_on_along_the_main_line_and_counts_optional_lessons_apart() {
    let catalogue = include_str!("../../../../lessons/catalogue.yaml");
    let catalogue = Catalogue::parse(catalogue).unwrap();
    let first = "01-the-lost-update";
    let optional = "04-just-clear-resourceversion";
    let kept =
        format!(r#"{{"{optional}": [5, true], "05-the-kubelet-got-there-first": [2, false]}}"#);
    let course = CourseProgress::read(Some(&kept), &catalogue);
    assert_eq!((course.finished, course.lessons), (0, 16));
    assert_eq!((course.further_finished, course.further), (1, 18));
    assert_eq!(course.opened, 2);
    assert_eq!(course.next.map(|entry| &*entry.name), Some(first));
    // The main line can be finished without any optional lesson.
    let main = catalogue
        .main_line()
        .map(|name| format!(r#""{name}": [1, true]"#));
    let main = format!("{{{}}}", main.collect::<Vec<_>>().join(", "));
    let course = CourseProgress::read(Some(&main), &catalogue);
    assert_eq!((course.finished, course.further_finished), (16, 0));
    assert_eq!(course.next, None);
}

#[test]
fn progress_is_forgotten_when_one_asks_for_it() {
    let mut page = lesson();
    assert!(progress(&page).is_some());
    page.send(LearnMsg::ForgetProgress);
    assert_eq!(progress(&page), None);
}

#[test]
fn a_saved_progress_joins_what_is_further_in_each_lesson() {
    let mut page = lesson();
    page.send(LearnMsg::ForgetProgress);
    let saved = r#"{"a": [3, false], "b": [5, true]}"#;
    page.send(LearnMsg::OpenProgress(saved.to_owned()));
    assert_eq!(page.state.learn.problem, None);
    page.send(LearnMsg::OpenProgress(
        r#"{"a": [2, true], "b": [1, false]}"#.to_owned(),
    ));
    let stored = |page: &Page| page.browser.read(StorageArea::Browser, PROGRESS);
    let kept = stored(&page).unwrap();
    let read = |name: &str| LessonProgress::read(Some(&kept), name).unwrap();
    assert_eq!((read("a").opened, read("a").finished), (3, true));
    assert_eq!((read("b").opened, read("b").finished), (5, true));
    for broken in [
        "[]",
        "no JSON",
        r#"{"a": "done"}"#,
        r#"{"a": [1, true], "b": [1]}"#,
    ] {
        page.send(LearnMsg::OpenProgress(broken.to_owned()));
        let problem = page.state.learn.problem.clone();
        assert_eq!(problem, Some(LearnProblem::ProgressUnreadable), "{broken}");
        assert_eq!(stored(&page).as_ref(), Some(&kept), "{broken}");
    }
}

#[test]
fn a_lesson_remembers_the_first_choice() {
    let mut page = lesson();
    let chosen = |page: &Page| page.state.learn.course.as_ref().unwrap().first_choice;
    assert_eq!(chosen(&page), None);
    page.send(LearnMsg::ChooseFirst(1));
    page.send(LearnMsg::Forward);
    assert_eq!(chosen(&page), Some(1));
    page.send(LearnMsg::Restart);
    assert_eq!(chosen(&page), None, "it begins again");
}

#[test]
fn hints_are_shown_one_after_the_other_and_then_none() {
    let mut page = lesson();
    let hints = "title: t\nteaches: t\nsteps:\n- title: s\n  do:\n  - A: get\n  goal:\n    ask: q\n    hint: [one, two]\n    \
                 when: {stored: {spec.replicas: 5}}\n    solution:\n    - A: {edit: {spec.replicas: 5}, send: merge patch}\n";
    page.send(LearnMsg::File(hints.to_owned()));
    assert_eq!(page.state.learn.problem, None);
    for shown in [1, 2, 0, 1] {
        page.send(LearnMsg::Hint);
        assert_eq!(page.state.learn.course.as_ref().unwrap().hints, shown);
    }
}

#[test]
fn the_steps_before_the_last_question_can_be_folded_until_one_goes_back_before_it() {
    let mut page = lesson();
    let earlier = |page: &Page| page.state.learn.earlier_steps(&page.state.session.tree);
    assert_eq!(earlier(&page), None, "nothing was asked");
    let course = |page: &Page| page.state.learn.course.clone().unwrap();
    while course(&page).walk.opened() < course(&page).walk.lesson().steps.len() {
        page.send(LearnMsg::Predict(0));
        page.send(LearnMsg::Forward);
    }
    let before = earlier(&page).expect("the last page asks for something");
    let tree = &page.state.session.tree;
    assert_eq!(tree.current_path()[before], course(&page).walk.asked_from());
    assert!(!course(&page).earlier);
    page.send(LearnMsg::Earlier);
    assert!(course(&page).earlier);
    page.send(LearnMsg::Turn(0));
    assert_eq!(earlier(&page), None, "the first page is the beginning");
}

#[test]
fn a_try_that_is_given_up_is_put_aside_and_listed() {
    let mut page = lesson();
    let task = "title: t\nteaches: t\nsteps:\n- title: s\n  do:\n  - A: get\n  goal:\n    ask: q\n    \
                when: {stored: {spec.replicas: 5}}\n    solution:\n    - A: {edit: {spec.replicas: 5}, send: merge patch}\n\
                - title: after\n  do:\n  - B: get\n";
    page.send(LearnMsg::File(task.to_owned()));
    let tries = |page: &Page| page.state.learn.earlier_tries(&page.state.session.tree);
    let path = |page: &Page| page.state.session.tree.current_path().len();
    let before = path(&page);
    page.write(ActorId::A, "/spec/replicas", "7");
    assert_eq!(tries(&page), [0_usize; 0], "this is the try that goes on");
    let first = page.state.session.tree.current();
    page.send(LearnMsg::Resume);
    assert_eq!(path(&page), before, "it is not in the timeline any more");
    assert_eq!(tries(&page), [first]);
    page.write(ActorId::A, "/spec/replicas", "8");
    assert_eq!(tries(&page), [first]);
    page.send(LearnMsg::Solve);
    assert_eq!(tries(&page).len(), 2);
    page.send(SessionMsg::Go(first));
    assert!(!tries(&page).contains(&first), "it is on the stage again");
    page.send(LearnMsg::Forward);
    assert_eq!(tries(&page), [0_usize; 0], "the next page has no task");
    page.send(LearnMsg::Back);
    assert_eq!(tries(&page).len(), 3, "the next page is no try");
}

/// A lesson with a question, a page without one, and a task.
const QUESTION_AND_TASK: &str = "\
title: t
teaches: t
steps:
- title: question
  predict:
    ask: q
    choices:
    - {say: five, when: {stored: {spec.replicas: 5}}}
    - {say: three, when: {stored: {spec.replicas: 3}}}
  do:
  - A: get
  - A: {edit: {spec.replicas: 5}, send: merge patch}
- title: between
  do:
  - B: get
- title: task
  goal:
    ask: q
    when: {stored: {spec.replicas: 7}}
    solution:
    - A: {edit: {spec.replicas: 7}, send: merge patch}
";

fn course(page: &Page) -> std::rc::Rc<optimist_state::Course> {
    page.state.learn.course.clone().expect("it is open")
}

#[test]
fn a_page_opens_the_part_of_the_servers_card_of_which_it_speaks() {
    let text = "title: t\nteaches: t\nsteps:\n- title: one\n  show: owners\n  do:\n  - A: get\n- title: two\n  do:\n  - B: get\n\
                - title: three\n  show: revisions\n  do:\n  - A: get\n";
    let mut page = lesson();
    assert_eq!(page.state.view.server_tab, ServerTab::Object);
    page.send(LearnMsg::File(text.to_owned()));
    assert_eq!(page.state.learn.problem, None);
    assert_eq!(page.state.view.server_tab, ServerTab::Owners);
    page.send(LearnMsg::Forward);
    assert_eq!(
        page.state.view.server_tab,
        ServerTab::Owners,
        "it stays open"
    );
    page.send(ViewMsg::ServerTab(ServerTab::Watch));
    page.send(LearnMsg::Forward);
    assert_eq!(page.state.view.server_tab, ServerTab::Revisions);
    at(&mut page, "#/play");
    assert_eq!(
        page.state.view.server_tab,
        ServerTab::Object,
        "Play has its own"
    );
}

#[test]
fn a_learner_answers_before_something_happens_and_a_teacher_may_show_it() {
    let mut page = lesson();
    page.send(LearnMsg::File(QUESTION_AND_TASK.to_owned()));
    assert!(course(&page).is_asking());
    page.send(LearnMsg::Forward);
    assert!(course(&page).is_asking(), "the question is not passed over");
    assert_eq!(page.stored("/spec/replicas"), "3");
    page.send(LearnMsg::Predict(1));
    assert_eq!(page.stored("/spec/replicas"), "5");
    page.send(LearnMsg::Restart);
    page.send(LearnMsg::Teach);
    page.send(LearnMsg::Forward);
    assert_eq!(page.stored("/spec/replicas"), "5");
    assert_eq!(course(&page).walk.chosen(), None);
}

#[test]
fn a_teacher_hides_an_answer_and_the_stage_goes_back_before_it() {
    let mut page = lesson();
    page.send(LearnMsg::File(QUESTION_AND_TASK.to_owned()));
    page.send(LearnMsg::Predict(0));
    page.send(LearnMsg::Solve);
    assert!(!course(&page).hidden, "a learner hides nothing");
    page.send(LearnMsg::Teach);
    let after = page.state.session.tree.current();
    for again in [
        LearnMsg::Solve,
        LearnMsg::Forward,
        LearnMsg::Predict(1),
        LearnMsg::Resume,
    ] {
        page.send(LearnMsg::Solve);
        assert!(course(&page).hidden);
        assert_eq!(page.stored("/spec/replicas"), "3", "before the answer");
        page.send(again.clone());
        assert!(!course(&page).hidden, "{again:?}");
        assert_eq!(page.state.session.tree.current(), after, "{again:?}");
        assert_eq!(course(&page).walk.at(), 0, "{again:?}");
    }
    assert_eq!(
        course(&page).walk.chosen(),
        Some(0),
        "the answer was given before"
    );
    page.send(LearnMsg::Solve);
    page.send(LearnMsg::Turn(0));
    page.send(LearnMsg::Teach);
    assert!(
        !course(&page).hidden,
        "nothing is hidden without the teacher's view"
    );
}

#[test]
fn a_teacher_hides_the_way_to_do_a_task_and_shows_it_again() {
    let mut page = lesson();
    page.send(LearnMsg::File(QUESTION_AND_TASK.to_owned()));
    page.send(LearnMsg::Teach);
    for _ in 0..3 {
        page.send(LearnMsg::Forward);
    }
    assert_eq!(course(&page).walk.at(), 2);
    for _ in 0..2 {
        page.send(LearnMsg::Solve);
        assert!(course(&page).walk.solved() && !course(&page).hidden);
        assert_eq!(page.stored("/spec/replicas"), "7");
        page.send(LearnMsg::Solve);
        assert!(course(&page).walk.solved() && course(&page).hidden);
        assert_eq!(page.stored("/spec/replicas"), "5");
    }
    page.send(LearnMsg::Back);
    assert!(!course(&page).hidden, "it is hidden on its page alone");
}

#[test]
fn a_lesson_takes_the_stage_and_gives_it_back() {
    let mut page = Page::open();
    page.write(ActorId::A, "/spec/replicas", "5");
    at(&mut page, &lesson_fragment(NAME));
    assert!(!page.state.learn.is_on_stage(), "its text is not there yet");
    page.send(LearnMsg::Text(NAME.to_owned(), Ok(LESSON.to_owned())));
    assert!(page.state.learn.is_on_stage());
    let steps = page.steps();
    at(&mut page, "#/play");
    assert!(!page.state.learn.is_on_stage());
    assert_eq!(page.stored("/spec/replicas"), "5");
    at(&mut page, &lesson_fragment(NAME));
    assert!(page.state.learn.is_on_stage());
    assert_eq!(page.steps(), steps);
}

#[test]
fn a_text_that_came_too_late_is_not_opened() {
    let mut page = Page::open();
    at(&mut page, &lesson_fragment(NAME));
    at(&mut page, "#/learn");
    page.send(LearnMsg::Text(NAME.to_owned(), Ok(LESSON.to_owned())));
    assert!(page.state.learn.course.is_none());
}

#[test]
fn a_lesson_is_opened_again_as_it_was_left() {
    let mut page = lesson();
    let begin = page.steps();
    page.send(LearnMsg::Forward);
    page.send(LearnMsg::Forward);
    let (at_page, steps) = {
        let course = page.state.learn.course.clone().expect("it is open");
        (course.walk.at(), page.steps())
    };
    assert!(at_page > 0);
    let opened = progress(&page).expect("it is noted").opened;
    let mut page = page.reload(&lesson_fragment(NAME));
    page.send(LearnMsg::Text(NAME.to_owned(), Ok(LESSON.to_owned())));
    page.finish_work();
    let course = page.state.learn.course.clone().expect("it is open");
    assert_eq!((course.walk.at(), page.steps()), (at_page, steps));
    assert_eq!(progress(&page).map(|it| it.opened), Some(opened));
    page.send(LearnMsg::Restart);
    let course = page.state.learn.course.clone().expect("it is open");
    assert_eq!((course.walk.at(), page.steps()), (0, begin));
}

#[test]
fn steps_in_a_lesson_are_kept_with_the_lesson() {
    let mut page = lesson();
    let key = format!("optimist.lesson.{NAME}");
    let before = page.browser.read(StorageArea::Browser, &key);
    page.write(ActorId::A, "/spec/replicas", "9");
    assert_ne!(page.browser.read(StorageArea::Browser, &key), before);
    let tried = page.stored("/spec/replicas");
    page.send(LearnMsg::Resume);
    assert_ne!(page.stored("/spec/replicas"), tried);
}

#[test]
fn progress_that_cannot_be_read_is_left_as_it_is() {
    let page = Page::open();
    let broken = "{\"not json".to_owned();
    let storages = &page.browser.storages;
    storages
        .borrow_mut()
        .browser
        .insert(PROGRESS.to_owned(), broken.clone());
    let mut page = page.reload(&lesson_fragment(NAME));
    let unreadable = &page.state.persistence.unreadable;
    assert_eq!(*unreadable, [UnreadableData::Lessons]);
    page.send(LearnMsg::Text(NAME.to_owned(), Ok(LESSON.to_owned())));
    assert!(page.state.learn.is_on_stage());
    assert_eq!(
        page.browser.read(StorageArea::Browser, PROGRESS),
        Some(broken)
    );
}

#[test]
fn a_lesson_from_a_file_is_there_after_a_reload_until_it_is_left() {
    let mut page = Page::open();
    at(&mut page, "#/learn");
    page.send(LearnMsg::File("title: [".to_owned()));
    assert!(matches!(
        &page.state.learn.problem,
        Some(LearnProblem::NotOpened(errors)) if errors[0].line == 1
    ));
    page.send(LearnMsg::File(LESSON.to_owned()));
    assert!(page.state.learn.is_on_stage());
    let mut page = page.reload("#/learn");
    assert!(page.state.learn.is_on_stage());
    page.send(LearnMsg::Leave);
    assert!(!page.state.learn.is_on_stage());
    let page = page.reload("#/learn");
    assert!(!page.state.learn.is_on_stage());
}

#[test]
fn a_name_that_cannot_be_a_lesson_is_said() {
    let mut page = Page::open();
    at(&mut page, "#/learn/../x");
    let unknown = LearnProblem::Unknown("../x".to_owned());
    assert_eq!(page.state.learn.problem, Some(unknown));
}

#[test]
fn a_challenge_about_switches_is_met_by_what_the_search_of_every_history_finds() {
    use optimist_controller::program::Switch::{Expectations, WaitForOwnVersion};
    const NAME: &str = "17-twice-as-many";
    const LESSON: &str = include_str!("../../../../lessons/17-twice-as-many.yaml");
    let mut page = Page::open();
    at(&mut page, &lesson_fragment(NAME));
    page.send(LearnMsg::Text(NAME.to_owned(), Ok(LESSON.to_owned())));
    let course = |page: &Page| page.state.learn.course.clone().expect("it is open");
    let pages = course(&page).walk.lesson().steps.len();
    while course(&page).walk.at() + 1 < pages {
        page.send(LearnMsg::Predict(0));
        page.send(LearnMsg::Forward);
    }
    page.send(LearnMsg::Switch(Expectations));
    page.send(LearnMsg::Search);
    assert!(page.state.learn.is_searching());
    page.finish_work();
    let found = course(&page).switches.found.clone().expect("it searched");
    assert!(!found.0.is_met() && found.1.is_some() && !course(&page).walk.solved());
    page.send(LearnMsg::Switch(Expectations));
    assert!(
        course(&page).switches.found.is_none(),
        "it was about another choice"
    );
    page.send(LearnMsg::Switch(WaitForOwnVersion));
    page.send(LearnMsg::Search);
    page.finish_work();
    assert!(course(&page).walk.solved());
}

/// Editor B is an actor of every history, and a lesson about a controller has nothing for B to do.
fn shows_the_controller(page: &Page) {
    assert_eq!(page.state.view.right, ActorId::C);
    assert_eq!(page.state.lanes()[2], Lane::Editor(ActorId::C));
}

#[test]
fn a_lesson_about_a_controller_shows_the_controller_however_it_is_opened() {
    for (name, lesson) in controller_lessons() {
        let mut page = Page::open();
        at(&mut page, &lesson_fragment(&name));
        page.send(LearnMsg::Text(name.clone(), Ok(lesson.clone())));
        shows_the_controller(&page);
        at(&mut page, "#/play");
        assert_eq!(page.state.view.right, ActorId::B, "{name}: Play has none");
        at(&mut page, &lesson_fragment(&name));
        shows_the_controller(&page);
        page.send(LearnMsg::Forward);
        page.send(LearnMsg::Back);
        shows_the_controller(&page);
        let mut page = page.reload(&lesson_fragment(&name));
        page.send(LearnMsg::Text(name.clone(), Ok(lesson)));
        page.finish_work();
        shows_the_controller(&page);
        page.send(LearnMsg::Restart);
        shows_the_controller(&page);
    }
}

#[test]
fn a_phone_has_a_tab_of_the_controller_also_while_editor_b_has_its_place() {
    let (name, lesson) = controller_lessons().remove(0);
    let mut page = Page::open();
    at(&mut page, &lesson_fragment(&name));
    page.send(LearnMsg::Text(name, Ok(lesson)));
    let controller = Lane::Editor(ActorId::C);
    assert_eq!(page.state.lane_tabs(), page.state.lanes());
    page.send(ViewMsg::Open(Lane::Editor(ActorId::B)));
    assert_eq!(page.state.lane_tabs().last(), Some(&controller));
    page.send(ViewMsg::Open(controller));
    shows_the_controller(&page);
    assert_eq!(page.state.lane_tabs().len(), 3);
}

/// The lessons with a controller.
fn controller_lessons() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lessons");
    let files = std::fs::read_dir(folder).expect("the lessons are there");
    let files = files.map(|file| file.expect("it can be read").path());
    let lessons = files.filter(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    let with_controller = lessons.filter_map(|path| {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let name = path.file_stem()?.to_str()?.to_owned();
        let has_controller = text.contains("\ncontroller:");
        // Where Editor B acts too, the right lane follows whoever acted last.
        let b_acts = text.contains("\n  - B: ");
        (has_controller && !b_acts).then_some((name, text))
    });
    let found: Vec<_> = with_controller.collect();
    assert!(found.len() >= 9, "{}", found.len());
    found
}
