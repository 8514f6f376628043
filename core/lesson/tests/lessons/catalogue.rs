//! Every lesson of the catalogue runs, and all that it says is true.

use std::collections::BTreeSet;

use optimist_client::OnConflict;
use optimist_lesson::{Lesson, ScriptAction, ScriptActionKind, Task, Walkthrough, check_lesson};
use optimist_simulation::{Action, ActorId, Operation};

use crate::files::{catalogue, folder, lesson, read};
use crate::lessons;

#[test]
fn every_claim_prediction_goal_and_challenge_is_true_when_it_runs() {
    let mut problems = Vec::new();
    for (file, lesson) in lessons() {
        let check = check_lesson(&lesson);
        problems.extend(
            check
                .problems
                .iter()
                .map(|problem| format!("lessons/{file}, {problem}")),
        );
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn an_actor_has_a_name_that_a_sentence_in_the_third_person_can_use() {
    for (file, lesson) in lessons() {
        let world = lesson.world().unwrap();
        for id in ActorId::ALL {
            let name = &*world.actor(id).name;
            // You still holds 101. Terminal overwrote A colleague's replicas.
            assert!(name != "You" && !name.starts_with("A "), "{file}: {name}");
        }
    }
}

#[test]
fn the_catalogue_names_every_lesson_as_it_names_itself() {
    let catalogue = catalogue();
    for (entry, (_, lesson)) in catalogue.lessons().zip(lessons()) {
        assert_eq!(entry.title, lesson.title);
        let belief = lesson.belief.as_ref().map(|it| &it.text);
        assert_eq!(Some(&entry.belief), belief);
        assert_eq!(entry.pages, lesson.steps.len(), "{}", entry.title);
        assert_eq!(entry.minutes, lesson.minutes(), "{}", entry.title);
    }
    let listed: BTreeSet<String> = catalogue
        .lessons()
        .map(|entry| format!("{}.yaml", entry.name))
        .collect();
    let files = std::fs::read_dir(folder()).unwrap();
    let files: BTreeSet<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".yaml") && name != "catalogue.yaml")
        .filter(|name| !name.starts_with("incident-") && !name.starts_with("questions-"))
        .collect();
    assert_eq!(listed, files);
    assert_eq!(listed.len(), 34);
}

#[test]
fn every_lesson_is_short_and_ends_with_something_that_the_learner_does() {
    let mut challenges = 0;
    let mut predictions = 0;
    for (file, lesson) in lessons() {
        let pages = lesson.steps.len();
        assert!((4..=10).contains(&pages), "{file} has {pages} pages");
        let last = lesson.steps.last().unwrap();
        assert!(last.task.is_some(), "{file} ends without a task");
        challenges += usize::from(matches!(last.task, Some(Task::Challenge(_))));
        if lesson.belief.is_some() {
            let asked = lesson.steps.iter().filter(|step| step.prediction.is_some());
            predictions = asked.count();
            assert!(predictions > 0, "{file} names a belief and never asks");
        }
    }
    assert!(predictions > 0);
    assert!(challenges >= 3, "{challenges} challenges over all orders");
}

#[test]
fn every_lesson_asks_its_belief_first_as_a_question_whose_wrong_choices_are_answered() {
    let mut places = BTreeSet::new();
    for (file, lesson) in lessons() {
        let belief = lesson.belief.as_ref();
        let belief = belief.unwrap_or_else(|| panic!("{file} has no belief"));
        let question = belief.question.as_ref();
        let question = question.unwrap_or_else(|| panic!("{file} asks nothing first"));
        let asked_later = lesson.steps.iter().filter_map(|it| it.prediction.as_ref());
        for later in asked_later {
            assert_ne!(question.ask, later.question, "{file}");
        }
        let texts: BTreeSet<&str> = question.choices.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts.len(), question.choices.len(), "{file}");
        let refuted = question.choices.iter().filter_map(|it| it.refuted.as_ref());
        for page in refuted.filter_map(|it| it.page) {
            let step = &lesson.steps[page];
            let runs = !step.claims.is_empty() || !step.facts.is_empty();
            let asks = step.prediction.is_some() || step.task.is_some();
            assert!(runs || asks, "{file}, page {}", page + 1);
        }
        places.extend(question.choices.iter().position(|it| it.refuted.is_none()));
    }
    assert!(
        places.len() > 2,
        "the place tells the right answer: {places:?}"
    );
}

/// Each lesson has another way and a mistake. The check of the lesson runs them.
#[test]
fn every_lesson_is_walked_by_another_way_and_by_a_mistake_with_what_the_cards_offer() {
    let offered = |action: &ScriptAction| match &action.what {
        ScriptActionKind::Edit(..)
        | ScriptActionKind::Control(_)
        | ScriptActionKind::Discard(_)
        | ScriptActionKind::Choose(..) => true,
        ScriptActionKind::Do(Operation::Act(_, Action::Send(write))) => write.body.is_none(),
        ScriptActionKind::Do(Operation::Act(
            _,
            Action::Get | Action::Create | Action::Delete(_),
        )) => true,
        // The server's card lists the objects.
        ScriptActionKind::Look { .. } => true,
        ScriptActionKind::Do(_) => false,
    };
    for (file, lesson) in lessons() {
        match lesson.steps.last().and_then(|step| step.task.as_ref()) {
            Some(Task::Goal(goal)) => {
                assert!(!goal.other_ways.is_empty(), "{file} has one way only");
                assert!(!goal.mistakes.is_empty(), "{file} has no mistake");
                let ways = goal.other_ways.iter().flat_map(|way| &way.actions);
                let mistakes = goal.mistakes.iter();
                let mistakes =
                    mistakes.flat_map(|mistake| mistake.actions.iter().chain(&mistake.then));
                for action in ways.chain(mistakes).chain(&goal.solution) {
                    assert!(
                        offered(action),
                        "{file}, line {}: no card does that",
                        action.line
                    );
                }
            }
            Some(Task::Challenge(challenge)) => {
                assert!(!challenge.other_ways.is_empty(), "{file} has one way only");
                assert!(!challenge.mistakes.is_empty(), "{file} has no mistake");
            }
            Some(Task::Switches(challenge)) => {
                assert!(!challenge.mistakes.is_empty(), "{file} has no mistake");
            }
            None => panic!("{file} ends without a task"),
        }
    }
}

/// The attempts and waits that a lesson names are those of client-go
/// (`k8s.io/client-go/util/retry/util.go DefaultRetry`).
#[test]
fn the_lesson_about_retries_names_the_attempts_and_waits_of_client_go() {
    let lesson = Lesson::parse(&read("03-read-again-then-retry")).unwrap();
    let texts: Vec<&str> = lesson.steps.iter().map(|step| &*step.after).collect();
    let text: Vec<&str> = texts
        .iter()
        .flat_map(|text| text.split_whitespace())
        .collect();
    let text = text.join(" ");
    let claim = format!(
        "With `retry.DefaultRetry` there are at most {} attempts, about 10 ms apart.",
        OnConflict::DEFAULT_ATTEMPTS
    );
    assert!(text.contains(&claim), "{claim}");
}

/// A fact without valid evidence is found.
#[test]
fn lessons_tell_what_answers_a_watch_and_who_may_compare_versions_as_facts() {
    // What the lessons once said otherwise: etcd answers a watch, all versions can be compared, an apply
    // carries none, and a first list is never old.
    for (file, fact) in [
        (
            "28-from-etcd-up",
            "a watch of ConfigMaps asks the watch cache, not etcd",
        ),
        (
            "28-from-etcd-up",
            "Without the restart, the watcher would have received the change.",
        ),
        (
            "27-writes-that-change-nothing",
            "An aggregated API server need not have such versions.",
        ),
        (
            "10-who-owns-a-field",
            "An apply may carry a version. If the object exists, the server compares it, as in an Update.",
        ),
        (
            "17-twice-as-many",
            "with client-go since Kubernetes 1.35, each cache begins with everything that was stored before",
        ),
    ] {
        let told = read(file);
        assert!(told.contains(&format!("- say: {fact}")), "{file}: {fact}");
    }
}

/// The right choice is explained by the text after the actions.
#[test]
fn each_wrong_choice_has_an_answer_of_its_own_and_the_right_one_has_none() {
    let (mut answered, mut problems) = (0, Vec::new());
    let catalogue = catalogue();
    let quizzes = catalogue.quizzes().map(|quiz| &quiz.name);
    let quizzes = quizzes.map(|name| (name.clone(), lesson(name)));
    for (file, lesson) in lessons().into_iter().chain(quizzes) {
        let (mut walk, mut tree) = Walkthrough::open(lesson).unwrap();
        loop {
            walk.reveal(&mut tree).unwrap();
            let choices = walk.step().prediction.iter().flat_map(|it| &it.choices);
            for (at, choice) in choices.enumerate() {
                let right = walk.right() == Some(at);
                match (&choice.answer, right) {
                    (Some(_), false) => answered += 1,
                    (None, true) => {}
                    _ => problems.push(format!("{file}: {} (right: {right})", choice.text)),
                }
            }
            if !walk.forward(&mut tree).unwrap() {
                break;
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(answered > 140, "{answered}");
}
