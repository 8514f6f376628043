//! The Learn page, worked by keyboard as a person works it, in a browser.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use optimist_links::Session;
use optimist_simulation::{Action, ActorId, Operation};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::Window;

use crate::page::{Page, serve};

macro_rules! lessons {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../lessons/", $name, ".yaml")))),*]
    };
}

const LESSONS: [(&str, &str); 34] = lessons!(
    "01-the-lost-update"
    "02-resourceversion-and-the-409"
    "03-read-again-then-retry"
    "04-just-clear-resourceversion"
    "05-the-kubelet-got-there-first"
    "06-the-status-subresource"
    "07-merge-patch"
    "08-strategic-merge-patch"
    "09-json-patch-with-a-test"
    "10-who-owns-a-field"
    "11-apply-conflicts"
    "12-giving-up-a-field"
    "13-from-client-side-to-server-side"
    "14-delete-with-care"
    "15-key-not-event"
    "16-i-just-made-that"
    "17-twice-as-many"
    "18-a-conflict-is-news"
    "19-the-silent-loser"
    "20-the-loop-that-feeds-itself"
    "21-what-the-predicate-hides"
    "22-the-write-that-never-happened"
    "23-missed-history"
    "24-deleted-on-a-stale-view"
    "26-the-version-left-in-the-file"
    "27-writes-that-change-nothing"
    "28-from-etcd-up"
    "29-the-answer-that-got-lost"
    "30-two-replicas-and-a-lease"
    "31-while-its-key-is-processed"
    "32-requeueafter-or-an-error"
    "33-adoption-and-orphans"
    "34-a-restart-behind-a-lagging-server"
    "35-an-upgrade-with-helm-4"
);

const QUIZZES: [(&str, &str); 7] = lessons!(
    "questions-versions"
    "questions-patches"
    "questions-owners"
    "questions-deletion"
    "questions-controllers"
    "questions-etcd"
    "questions-all"
);

const NOTES: &str = include_str!("../../../lessons/teaching.md");

const CATALOGUE: &str = include_str!("../../../lessons/catalogue.yaml");

fn window() -> Window {
    web_sys::window().unwrap()
}

fn storage() -> web_sys::Storage {
    window().local_storage().unwrap().unwrap()
}

/// The files that stand beside the page on a real site.
fn serve_lessons() {
    let catalogue = [("catalogue", CATALOGUE)];
    let files = catalogue.into_iter().chain(LESSONS).chain(QUIZZES);
    let files = files.map(|(name, text)| (format!("lessons/{name}.yaml"), text));
    let notes = ("lessons/teaching.md".to_owned(), NOTES);
    serve(files.chain([notes]));
}

async fn open(fragment: &str) -> Page {
    serve_lessons();
    Page::open_at(fragment).await
}

/// Opens a page in a browser that had one before.
async fn visit(fragment: &str) -> Page {
    serve_lessons();
    Page::open_tab_at(fragment).await
}

fn go(fragment: &str) {
    window().location().set_hash(fragment).unwrap();
}

/// Opens a lesson, and waits until it is there.
async fn take(name: &str) -> Page {
    let page = open(&format!("#/learn/{name}")).await;
    wait(&page, ".lesson").await;
    page
}

/// Opens a lesson in a browser that had a page before.
async fn take_again(name: &str) -> Page {
    let page = visit(&format!("#/learn/{name}")).await;
    wait(&page, ".lesson").await;
    page
}

/// Waits until something is on the page.
async fn wait(page: &Page, selector: &str) {
    page.until(selector, |page| page.find(selector).is_some())
        .await;
}

#[wasm_bindgen_test]
async fn a_lesson_about_a_controller_that_is_opened_again_has_its_controller() {
    drop(take("18-a-conflict-is-news").await);
    let page = take_again("18-a-conflict-is-news").await;
    page.press("Open card", "Controller").await;
    page.press("Controller", "Run to the end").await;
    let history = page.text("History");
    assert!(history.contains("run 1"), "{history}");
}

/// Walks a lesson or a quiz from its first step to its last, with keys alone.
async fn walk_by_keyboard(name: &str) {
    let page = take_again(name).await;
    let steps = page.count(".lesson-bar li");
    for step in 1..=steps {
        if page.find(".prediction").is_some() {
            assert!(
                page.find(".choice.right").is_none(),
                "{name} tells before it happens"
            );
            page.key("1").await;
            assert!(
                page.find(".choice.right").is_some(),
                "{name}, step {step}: nothing came true"
            );
        }
        if page.find(".task").is_some() {
            assert!(
                page.find(".task.solved").is_none(),
                "{name} is done by itself"
            );
            page.key("s").await;
            if page.find(".check-orders").is_some() {
                page.key("o").await;
                wait(&page, ".found").await;
            }
            assert!(
                page.find(".task.solved").is_some(),
                "{name}, step {step}: {}",
                page.text("Lesson")
            );
        }
        assert_eq!(page.find("[role=alert]"), None, "{name}");
        if step < steps {
            page.key("n").await;
        }
    }
    assert!(
        page.find(".lesson .way-on .primary").is_some(),
        "{name} is not finished"
    );
    let kept = storage().get_item("optimist.lessons").unwrap().unwrap();
    assert!(
        kept.contains(&format!("\"{name}\":[{steps},true]")),
        "{kept}"
    );
}

/// Answers the question of the page if it was not answered, else opens the next page.
async fn go_on(page: &Page) {
    let asks = page.find(".choice:enabled").is_some();
    page.key(if asks { "1" } else { "n" }).await;
}

#[wasm_bindgen_test]
async fn what_happens_is_shown_after_an_answer_and_not_before() {
    let page = take("01-the-lost-update").await;
    for _ in 0..3 {
        page.key("n").await;
    }
    let forward = page.element("#lesson-forward");
    assert!(forward.has_attribute("disabled"));
    let says = page.find("#lesson-forward");
    assert_eq!(says.as_deref(), Some("Choose an answer first"));
    let before = page.position();
    page.key("n").await;
    assert_eq!(page.position(), before);
    assert!(page.find(".choice:enabled").is_some(), "nothing is told");
    page.key("1").await;
    assert!(page.find(".choice.right").is_some());
    assert!(page.text("Lesson").contains("lost update"));
    assert!(!page.element("#lesson-forward").has_attribute("disabled"));
}

#[wasm_bindgen_test]
async fn a_teacher_hides_the_answer_of_a_page_and_shows_it_again_with_one_key() {
    let page = take("01-the-lost-update").await;
    page.key("t").await;
    for _ in 0..4 {
        page.key("PageDown").await;
    }
    let answered = page.position();
    let told = "so no client has an error to report";
    assert!(page.text("Lesson").contains(told));
    page.key("s").await;
    assert!(!page.text("Lesson").contains(told));
    assert!(page.find(".choice.right").is_none());
    assert!(page.find(".choice:enabled").is_some());
    assert!(
        page.text("API server").contains("rv 101"),
        "before the answer"
    );
    page.key("s").await;
    assert!(page.text("Lesson").contains(told));
    assert_eq!(page.position(), answered);
    // The key of a presenter shows the hidden answer before it turns the page.
    page.key("s").await;
    page.key("PageDown").await;
    assert!(page.text("Lesson").contains(told));
    page.key("PageDown").await;
    assert!(page.text("Lesson").contains("Two different fields."));
}

#[wasm_bindgen_test]
async fn the_view_of_a_teacher_has_the_notes_about_the_lesson_folded() {
    let page = take("01-the-lost-update").await;
    assert!(page.find(".teacher-notes").is_none());
    page.key("t").await;
    wait(&page, ".teacher-notes").await;
    assert!(!page.element(".teacher-notes").has_attribute("open"));
    let notes = page.find(".teacher-notes").unwrap();
    assert!(
        notes.contains("Thirty minutes") && notes.contains("Two hours"),
        "{notes}"
    );
    assert!(notes.contains("Ask who would have noticed"), "{notes}");
    page.key("t").await;
    assert!(page.find(".teacher-notes").is_none());
}

/// The number of rows of the contents that say *done*.
async fn done_in_the_contents() -> u32 {
    let page = visit("#/learn").await;
    wait(&page, ".entry").await;
    page.count(".so-far.done")
}

#[wasm_bindgen_test]
async fn every_lesson_is_walked_by_keyboard_from_its_first_step_to_its_last() {
    drop(Page::open().await);
    for (name, _) in LESSONS {
        walk_by_keyboard(name).await;
    }
    assert_eq!(done_in_the_contents().await, LESSONS.len() as u32);
}

#[wasm_bindgen_test]
async fn every_quiz_is_walked_by_keyboard_from_its_first_question_to_its_last() {
    drop(Page::open().await);
    for (name, _) in QUIZZES {
        walk_by_keyboard(name).await;
    }
    assert_eq!(done_in_the_contents().await, QUIZZES.len() as u32);
}

#[wasm_bindgen_test]
async fn a_lesson_is_resumed_where_it_was_left() {
    let page = take("01-the-lost-update").await;
    for key in ["n", "n", "n", "2"] {
        page.key(key).await;
    }
    drop(page);
    let page = visit("#/learn").await;
    wait(&page, ".entry").await;
    assert!(page.all_text().contains("at step 4 of 6"));
    drop(page);
    let page = take_again("01-the-lost-update").await;
    assert_eq!(
        page.find(".lesson .caption-title").as_deref(),
        Some("B writes as well.")
    );
    assert!(
        page.text("Prediction")
            .contains("what you said, and so it was")
    );
    page.key("n").await;
    assert_eq!(page.find(".stroke.opened.current").map(|_| ()), Some(()));
    assert!(page.text("Lesson").contains("Two different fields."));
}

#[wasm_bindgen_test]
async fn one_may_leave_the_script_and_come_back_and_both_futures_stay() {
    let page = take("01-the-lost-update").await;
    page.key("n").await;
    page.press("Editor A", "Send").await;
    assert!(page.text("Lesson").contains("You left the script"));
    assert!(page.text("API server").contains("rv 101"));
    page.key("l").await;
    assert!(!page.text("Lesson").contains("You left the script"));
    assert!(page.text("API server").contains("rv 100"));
    page.key("n").await;
    assert!(
        page.find(".fork").is_some(),
        "what was tried is still there"
    );
}

#[wasm_bindgen_test]
async fn play_and_the_lesson_each_keep_what_they_had() {
    let page = open("#/play").await;
    page.press("Editor A", "Get").await;
    page.press("Editor B", "Get").await;
    page.press("Editor B", "Get").await;
    go("#/learn/02-resourceversion-and-the-409");
    wait(&page, ".lesson").await;
    go("#/play");
    wait(&page, ".page:not(.learning)").await;
    assert_eq!(page.position(), "step 3 / 3");
    go("#/learn/02-resourceversion-and-the-409");
    wait(&page, ".lesson").await;
    assert_eq!(page.position(), "step 2 / 2");
}

#[wasm_bindgen_test]
async fn while_teaching_the_arrows_turn_the_lesson_and_answers_wait_to_be_shown() {
    let page = take("01-the-lost-update").await;
    page.key("t").await;
    for _ in 0..3 {
        page.key("ArrowRight").await;
    }
    assert!(page.find(".choice").is_some() && page.find(".choice.right").is_none());
    page.key("ArrowRight").await;
    assert!(page.find(".choice.right").is_some());
    page.key("ArrowLeft").await;
    assert!(page.text("Lesson").contains("A writes."));
}

#[wasm_bindgen_test]
async fn the_totals_of_a_challenge_go_when_another_way_of_writing_is_chosen() {
    let page = take("02-resourceversion-and-the-409").await;
    while page.find(".check-orders").is_none() {
        go_on(&page).await;
    }
    page.key("o").await;
    wait(&page, ".found").await;
    assert!(page.find(".found").unwrap().contains("4 lose an update"));
    page.press("Editor A", "Merge").await;
    assert_eq!(page.find(".found"), None, "they are of other choices");
    page.key("o").await;
    wait(&page, ".found").await;
    assert!(page.find(".found").unwrap().contains("2 lose an update"));
}

#[wasm_bindgen_test]
async fn a_challenge_that_failed_brings_its_result_into_sight() {
    let page = take("02-resourceversion-and-the-409").await;
    while page.find(".check-orders").is_none() {
        go_on(&page).await;
    }
    // As on a phone, where the text of a lesson has little room.
    let style = |selector: &str, style: &str| {
        page.element(selector)
            .set_attribute("style", style)
            .unwrap();
    };
    style(".lesson-body", "height: 60px; overflow: auto");
    style(".check-orders", "display: block; margin-bottom: 200px");
    page.key("o").await;
    wait(&page, ".found").await;
    page.until("the result is in sight", |page| {
        let place = |selector: &str| page.element(selector).get_bounding_client_rect();
        let (found, around) = (place(".found"), place(".lesson-body"));
        found.top() >= around.top() && found.top() < around.bottom()
    })
    .await;
}

#[wasm_bindgen_test]
async fn a_lesson_that_is_not_there_is_told() {
    let page = open("#/learn/99-nothing").await;
    wait(&page, "[role=alert]").await;
    wait(&page, ".entry").await;
    assert!(
        page.find("[role=alert]")
            .unwrap()
            .contains("There is no lesson")
    );
    let catalogue = optimist_lesson::Catalogue::parse(CATALOGUE).unwrap();
    assert_eq!(page.count(".entry"), catalogue.course().count() as u32);
}

#[wasm_bindgen_test]
async fn optional_lessons_are_folded_apart_from_the_main_line_until_one_was_opened() {
    let page = open("#/learn").await;
    wait(&page, ".entry").await;
    let catalogue = optimist_lesson::Catalogue::parse(CATALOGUE).unwrap();
    let main = catalogue.main_line().count() as u32;
    assert_eq!(page.count(".chapter > ol .entry"), main);
    let further = catalogue.course().count() as u32 - main;
    assert_eq!(page.count(".further .entry"), further);
    assert_eq!(page.count(".further[open]"), 0);
    let length = page.find(".course-length").unwrap();
    let minutes = format!("about {} minutes", catalogue.minutes());
    assert!(length.contains(&minutes), "{length}");
    drop(page);
    // From its last step, an optional lesson leads to the list, and the course goes on where it was.
    walk_by_keyboard("04-just-clear-resourceversion").await;
    let page = visit("#/learn").await;
    wait(&page, ".entry").await;
    assert_eq!(page.count(".further[open]"), 1);
    let all = page.all_text();
    assert!(all.contains("Continue: The lost update"), "{all}");
    assert!(all.contains("0 of 16 lessons of the main line finished"));
    assert!(all.contains("1 of 18 optional lessons finished"), "{all}");
}

#[wasm_bindgen_test]
async fn a_lesson_from_a_file_opens_goes_into_a_link_and_is_left_again() {
    let example = example();
    let page = open("#/learn").await;
    wait(&page, ".entry").await;
    page.choose_file("input[type=file]", "title: t\nteaches: t\n")
        .await;
    wait(&page, "[role=alert]").await;
    assert!(page.find("[role=alert]").unwrap().contains("line "));
    let untrue = example.replacen("- answer: 200", "- answer: 404", 1);
    assert_ne!(untrue, example);
    page.choose_file("input[type=file]", &untrue).await;
    page.until("the wrong answer is named", |page| {
        let told = page.find("[role=alert]").unwrap_or_default();
        told.contains("line ") && told.contains("404")
    })
    .await;
    page.choose_file("input[type=file]", example).await;
    wait(&page, ".lesson").await;
    assert_eq!(page.find("[role=alert]"), None);
    page.key("n").await;
    page.click(".share-button").await;
    let link = page.value("#share-link");
    page.close_dialog().await;
    page.click(".lesson-head a").await;
    wait(&page, ".entry").await;
    drop(page);
    let (_, fragment) = link.split_once('#').unwrap();
    let page = visit(&format!("#{fragment}")).await;
    wait(&page, ".lesson").await;
    assert_eq!(
        page.find(".lesson .caption-title").as_deref(),
        Some("You label it.")
    );
}

#[wasm_bindgen_test]
async fn the_first_question_comes_back_at_the_end_with_an_answer_to_the_choice() {
    let belief = "belief: Labels have no conflicts.";
    let question = "belief:\n  say: Labels have no conflicts.\n  ask: Can two labels conflict?\n  choices:\n  \
                    - {say: Never., answer: Both writes carry a version., page: 3}\n  - {say: Yes., right: yes}\n";
    let lesson = example()
        .lines()
        .map(|line| match line.starts_with(belief) {
            true => question.to_owned(),
            false => format!("{line}\n"),
        });
    let page = open("#/learn").await;
    wait(&page, ".entry").await;
    page.choose_file("input[type=file]", &lesson.collect::<String>())
        .await;
    wait(&page, ".first-choice").await;
    let asked = page.find(".belief").unwrap();
    assert!(asked.contains("Can two labels conflict?"), "{asked}");
    assert!(!asked.contains("Both writes"), "{asked}");
    assert!(!asked.contains("Labels have no conflicts"), "{asked}");
    page.click(".first-choice").await;
    let chosen = page.element(".first-choice").get_attribute("aria-pressed");
    assert_eq!(chosen.as_deref(), Some("true"));
    page.key("n").await;
    page.key("n").await;
    page.key("1").await;
    page.key("n").await;
    assert_eq!(page.find(".belief"), None, "the task is not done");
    page.key("s").await;
    wait(&page, ".belief").await;
    let back = page.find(".belief").unwrap();
    for told in [
        "Never.",
        "Both writes carry a version.",
        "Yes.",
        "Labels have no conflicts.",
    ] {
        assert!(back.contains(told), "{told}: {back}");
    }
    page.click(".belief .link").await;
    let title = page.find(".lesson .caption-title");
    assert_eq!(title.as_deref(), Some("So does the job."));
}

/// The lesson that the guide for writers shows.
fn example() -> &'static str {
    let readme = include_str!("../../../lessons/README.md");
    let (_, example) = readme.split_once("```yaml\n").unwrap();
    example.split_once("\n```").unwrap().0
}

#[wasm_bindgen_test]
async fn a_lesson_from_a_file_and_how_far_one_got_in_it_outlive_a_reload() {
    let page = open("#/learn").await;
    wait(&page, ".entry").await;
    page.choose_file("input[type=file]", example()).await;
    wait(&page, ".lesson").await;
    page.key("n").await;
    let step = page.find(".lesson .caption-title");
    assert_eq!(step.as_deref(), Some("You label it."));
    drop(page);
    let page = Page::reopen().await;
    wait(&page, ".lesson").await;
    assert_eq!(page.find(".lesson .caption-title"), step);
    page.click(".lesson-head a").await;
    wait(&page, ".entry").await;
    drop(page);
    let page = Page::reopen().await;
    wait(&page, ".entry").await;
    assert_eq!(page.find(".lesson"), None, "it was left");
    page.choose_file("input[type=file]", example()).await;
    wait(&page, ".lesson").await;
    assert_eq!(page.find(".lesson .caption-title"), step, "goes on");
}

#[wasm_bindgen_test]
async fn a_lesson_that_does_not_exist_is_said() {
    for address in ["#/learn/99", "#/learn/a%20b"] {
        let page = open(address).await;
        wait(&page, ".entry").await;
        wait(&page, "[role=alert]").await;
        let said = page.find("[role=alert]").unwrap();
        assert!(said.contains("There is no lesson"), "{said}");
        go("#/learn");
        page.at_rest().await;
        assert_eq!(page.find("[role=alert]"), None, "said of another address");
    }
}

#[wasm_bindgen_test]
async fn a_lesson_goes_on_where_another_build_left_it_and_one_that_changed_begins_again() {
    let (name, source) = LESSONS[0];
    let page = take(name).await;
    page.key("n").await;
    page.key("n").await;
    let step = page.find(".lesson .caption-title");
    drop(page);
    let key = format!("optimist.lesson.{name}");
    let kept = storage().get_item(&key).unwrap().unwrap();
    let mut session = Session::parse(&kept).unwrap();
    let mut hasher = DefaultHasher::new();
    source.hash(&mut hasher);
    for (of, known) in [(hasher.finish(), true), (7, false)] {
        session.extra = of.into();
        storage().set_item(&key, &session.to_text()).unwrap();
        let page = take_again(name).await;
        assert_eq!(page.find(".lesson .caption-title") == step, known);
        drop(page);
        let keys = (0..storage().length().unwrap()).filter_map(|i| storage().key(i).unwrap());
        let kept = keys.filter(|key| key.starts_with("optimist.kept.")).count();
        assert_eq!(kept, usize::from(!known), "what was not opened is kept");
    }
}

#[wasm_bindgen_test]
async fn a_session_goes_into_a_link_and_opens_again_at_the_same_step() {
    let page = open("#/play").await;
    page.press("Editor A", "Get").await;
    page.set("Editor A", "spec.replicas", "5").await;
    page.press("Editor A", "Send").await;
    page.press("Steps", "Back").await;
    page.click(".share-button").await;
    for (file, part) in [
        ("md", "Editor%20A%20%7C%20GET"),
        ("mmd", "sequenceDiagram"),
        ("sh", "kubectl"),
    ] {
        let export = page.attribute(&format!("[download='history.{file}']"), "href");
        assert!(export.contains(part), "{file}: {export}");
    }
    let link = page.value("#share-link");
    assert!(link.len() < 500, "{}", link.len());
    page.close_dialog().await;
    drop(page);
    let (_, fragment) = link.split_once('#').unwrap();
    let page = visit(&format!("#{fragment}")).await;
    wait(&page, "#step-2").await;
    assert_eq!(page.position(), "step 1 / 2");
    assert!(page.text("Editor A").contains("was 3"));
    page.key("ArrowRight").await;
    assert!(page.text("API server").contains("rv 101"));
}

#[wasm_bindgen_test]
async fn a_lesson_goes_into_a_link_with_its_page() {
    let page = take("01-the-lost-update").await;
    for key in ["n", "n", "n"] {
        page.key(key).await;
    }
    page.click(".share-button").await;
    let link = page.value("#share-link");
    page.close_dialog().await;
    drop(page);
    storage().clear().unwrap();
    let (_, fragment) = link.split_once('#').unwrap();
    let page = visit(&format!("#{fragment}")).await;
    wait(&page, ".lesson").await;
    assert_eq!(
        page.find(".lesson .caption-title").as_deref(),
        Some("B writes as well.")
    );
}

#[wasm_bindgen_test]
async fn a_damaged_link_is_told_and_changes_nothing() {
    let page = open("#/play?s=1pY5Lbroken").await;
    wait(&page, "[role=alert]").await;
    let told = page.find("[role=alert]").unwrap();
    assert!(
        told.contains("Not opened") && told.contains("damaged"),
        "{told}"
    );
    page.close_dialog().await;
    assert!(page.text("API server").contains("rv 100"));
    drop(page);
    let page = visit("#/play?s=7abc").await;
    wait(&page, "[role=alert]").await;
    assert!(page.find("[role=alert]").unwrap().contains("later version"));
}

#[wasm_bindgen_test]
async fn a_lesson_that_takes_long_to_open_again_can_be_cancelled_and_stays_kept() {
    let page = take("01-the-lost-update").await;
    page.key("n").await;
    drop(page);
    let key = "optimist.lesson.01-the-lost-update";
    let short = Session::parse(&storage().get_item(key).unwrap().unwrap()).unwrap();
    let (learning, extra) = (short.learning.clone().unwrap(), short.extra.clone());
    let mut tree = short.replay().finish().unwrap();
    for _ in 0..1_500 {
        tree.act_once(Operation::Act(ActorId::A, Action::Get));
    }
    let mut long = Session::of_lesson(&tree, learning);
    long.extra = extra;
    long.page = "learn".to_owned();
    storage().set_item(key, &long.to_text()).unwrap();

    let page = visit("#/learn/01-the-lost-update").await;
    wait(&page, ".opening").await;
    assert!(page.find(".lesson").is_none());
    page.press_named("Cancel").await;
    wait(&page, ".lesson").await;
    assert!(page.find(".opening").is_none());
    let keys = (0..storage().length().unwrap()).filter_map(|i| storage().key(i).unwrap());
    let kept = keys.filter(|key| key.starts_with("optimist.kept.")).count();
    assert_eq!(kept, 1, "what was not opened is kept");
}

#[wasm_bindgen_test]
async fn a_lesson_says_in_its_column_what_to_do_and_the_strip_above_what_happened() {
    let page = open("#/learn/02-resourceversion-and-the-409").await;
    for _ in 0..3 {
        page.key("n").await;
    }
    let strip = page.text("What happened");
    assert!(strip.contains("Editor A made version 101."), "{strip}");
    assert!(
        !strip.contains("Next"),
        "the lesson says what is next: {strip}"
    );
    assert_eq!(page.count(".other-endings"), 0);
    assert_eq!(page.count(".invitation"), 0);
    assert!(page.count(".lesson .choice") > 0);
}
