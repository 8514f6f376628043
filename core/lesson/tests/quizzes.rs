//! The quizzes of the catalogue: each question is run, exactly one answer is right, and no lesson asks it.

use std::collections::{BTreeMap, BTreeSet};

use optimist_lesson::{ScriptActionKind, ScriptEdit, Walkthrough, check_lesson};

use crate::files::{catalogue, folder, lesson};

#[test]
fn every_question_has_one_right_answer_when_it_runs() {
    let mut problems = Vec::new();
    for quiz in catalogue().quizzes() {
        let check = check_lesson(&lesson(&quiz.name));
        problems.extend(
            check
                .problems
                .iter()
                .map(|it| format!("{}, {it}", quiz.name)),
        );
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// Readers of a text that left out one of two changes took the version that the other one made for its result.
#[test]
fn a_question_that_names_a_field_of_an_edit_names_all_of_them() {
    let mut silent = Vec::new();
    for quiz in catalogue().quizzes() {
        for step in &lesson(&quiz.name).steps {
            let asked = step.prediction.iter().map(|it| it.question.as_str());
            let told: Vec<&str> = asked.chain([step.text.as_str()]).collect();
            let is_named = |edit: &ScriptEdit| {
                let place = edit.path.to_string();
                let field = place.rsplit('.').next().unwrap_or(&place);
                told.iter().any(|text| text.contains(field))
            };
            for action in &step.actions {
                if let ScriptActionKind::Edit(_, edits) = &action.what
                    && edits.iter().any(is_named)
                    && !edits.iter().all(is_named)
                {
                    silent.push(format!("{}: {}", quiz.name, step.title));
                }
            }
        }
    }
    assert!(silent.is_empty(), "\n{}", silent.join("\n"));
}

#[test]
fn each_chapter_ends_with_five_questions_and_the_course_with_ten() {
    let catalogue = catalogue();
    for chapter in &catalogue.chapters {
        let quiz = chapter.quiz.as_ref().map(|quiz| quiz.questions);
        assert_eq!(quiz, Some(5), "{}", chapter.title);
    }
    assert_eq!(
        catalogue.closing.as_ref().map(|quiz| quiz.questions),
        Some(10)
    );
    let mut listed = BTreeSet::new();
    for quiz in catalogue.quizzes() {
        let lesson = lesson(&quiz.name);
        assert_eq!(quiz.title, lesson.title);
        assert_eq!(quiz.questions, lesson.steps.len(), "{}", quiz.name);
        assert_eq!(quiz.minutes, lesson.minutes(), "{}", quiz.name);
        for step in &lesson.steps {
            assert!(step.prediction.is_some(), "{}: {}", quiz.name, step.title);
            assert!(!step.after.is_empty(), "{}: {}", quiz.name, step.title);
        }
        assert!(catalogue.has(&quiz.name));
        listed.insert(format!("{}.yaml", quiz.name));
    }
    let files = std::fs::read_dir(folder()).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> = files
        .filter(|name| name.starts_with("questions-"))
        .collect();
    assert_eq!(listed, files);
}

/// A reader counted: of two choices, the second one was right in 31 of 37 questions.
#[test]
fn each_place_among_the_choices_is_right_about_equally_often() {
    let catalogue = catalogue();
    let main: BTreeSet<&str> = catalogue.main_line().collect();
    // Of the main line or not, and of how many choices: how often each place is right.
    let mut right: BTreeMap<(bool, usize), Vec<usize>> = BTreeMap::new();
    for name in catalogue.course() {
        let lesson = lesson(name);
        let mut places = Vec::new();
        for prediction in lesson.steps.iter().filter_map(|it| it.prediction.as_ref()) {
            let choices = &prediction.choices;
            let place = choices.iter().position(|it| it.answer.is_none()).unwrap();
            let counts = right
                .entry((main.contains(name), choices.len()))
                .or_insert_with(|| vec![0; choices.len()]);
            counts[place] += 1;
            places.push(place);
        }
        if places.len() >= 4 {
            let first = places[0];
            assert!(places.iter().any(|it| *it != first), "{name}: {places:?}");
        }
    }
    assert!(right.len() >= 4, "{right:?}");
    for ((main, choices), counts) in &right {
        let all: usize = counts.iter().sum();
        for count in counts {
            let close = (count * choices).abs_diff(all) * 5 <= all;
            assert!(close, "main line: {main}, {choices} choices: {counts:?}");
        }
    }
}

#[test]
fn no_lesson_and_no_other_quiz_has_a_question_of_a_quiz() {
    let catalogue = catalogue();
    let texts = |name: &str| {
        let steps = lesson(name).steps.clone();
        steps.into_iter().map(|step| step.text).collect::<Vec<_>>()
    };
    let mut seen: BTreeSet<String> = catalogue
        .lessons()
        .flat_map(|entry| texts(&entry.name))
        .collect();
    for quiz in catalogue.quizzes() {
        for text in texts(&quiz.name) {
            assert!(seen.insert(text.clone()), "{}: {text}", quiz.name);
        }
    }
}

#[test]
fn the_right_answers_of_a_quiz_are_counted() {
    let quiz = lesson(&catalogue().chapters[0].quiz.as_ref().unwrap().name);
    let (mut walk, mut tree) = Walkthrough::open(quiz).unwrap();
    let mut expected = 0;
    loop {
        let at = walk.at();
        // The first choice, except on one page that is revealed without an answer.
        if at == 1 {
            walk.reveal(&mut tree).unwrap();
        } else {
            walk.predict(0, &mut tree).unwrap();
            expected += usize::from(walk.right() == Some(0));
        }
        if !walk.forward(&mut tree).unwrap() {
            break;
        }
    }
    assert_eq!(walk.right_answers(), (expected, 5));
    assert!(expected < 5, "the first choice is not always right");
}

/// After a lesson comes the next one; after the last one of a chapter, its quiz.
#[test]
fn the_course_goes_through_lessons_and_quizzes_in_order() {
    let catalogue = catalogue();
    let course: Vec<&str> = catalogue.course().collect();
    let first = &catalogue.chapters[0];
    let lessons = first.lessons.len();
    assert_eq!(course[lessons], first.quiz.as_ref().unwrap().name);
    assert_eq!(course[lessons + 1], catalogue.chapters[1].lessons[0].name);
    assert_eq!(course.last(), Some(&"questions-all"));
}

#[test]
fn the_main_line_leaves_out_the_optional_lessons_and_no_quiz() {
    let catalogue = catalogue();
    let main: BTreeSet<&str> = catalogue.main_line().collect();
    for entry in catalogue.lessons() {
        assert_ne!(
            main.contains(&*entry.name),
            entry.optional,
            "{}",
            entry.name
        );
    }
    for quiz in catalogue.quizzes() {
        assert!(main.contains(&*quiz.name), "{}", quiz.name);
    }
    for chapter in &catalogue.chapters {
        assert!(chapter.main_line().count() > 0, "{}", chapter.title);
        // The optional lessons of a chapter come after those of the main line.
        let optional: Vec<bool> = chapter.lessons.iter().map(|it| it.optional).collect();
        assert!(optional.is_sorted(), "{}", chapter.title);
    }
}

/// A reader needed 200 minutes for a main line that an earlier formula gave 156: it left out the first question of each
/// lesson, and gave half a minute for a question.
#[test]
fn the_main_line_needs_clearly_less_than_three_hours() {
    let catalogue = catalogue();
    let minutes = catalogue.main_line().map(|name| lesson(name).minutes());
    let minutes: usize = minutes.sum();
    assert_eq!(catalogue.minutes(), minutes);
    assert!(minutes <= 165, "{minutes}");
}

#[test]
fn the_minutes_count_words_questions_and_tasks() {
    let minutes = |words: usize, belief: &str, rest: &str| {
        let text = "word ".repeat(words);
        let source = format!(
            "title: t\nteaches: t\n{belief}steps:\n- title: s\n  text: {text}\n  do:\n  - A: get\n{rest}"
        );
        let lesson = optimist_lesson::Lesson::parse(&source);
        lesson.unwrap_or_else(|error| panic!("{error}")).minutes()
    };
    assert_eq!(minutes(1_800, "", ""), 10);
    let belief = "belief:\n  say: b\n  ask: q\n  choices:\n  - {say: a, right: yes}\n  - {say: b, answer: c}\n";
    assert_eq!(minutes(1_800, belief, ""), 11);
    let question = "  predict:\n    ask: q\n    choices:\n    - {say: a, when: {answer: 200}}\n    \
                    - {say: b, answer: c, when: {answer: 409}}\n";
    assert_eq!(minutes(1_800, belief, question), 12);
    let task = "  goal:\n    ask: q\n    when: {stored: {spec.replicas: 5}}\n    solution: [A: get]\n    reached: ";
    assert_eq!(minutes(1_800, "", &format!("{task}w\n")), 13);
    let told = "word ".repeat(360);
    assert_eq!(minutes(1_800, "", &format!("{task}{told}\n")), 15);
}

#[test]
fn what_to_read_next_has_addresses() {
    let reading = catalogue().reading;
    assert!(reading.len() >= 4);
    for document in reading {
        assert!(
            document.address.starts_with("https://"),
            "{}",
            document.address
        );
        assert!(!document.because.is_empty());
    }
}
