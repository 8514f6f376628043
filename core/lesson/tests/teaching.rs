//! The notes for teachers: they name lessons that are there, ask questions that these ask, and expect
//! answers that are wrong.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use optimist_lesson::{Catalogue, Lesson, Walkthrough, teacher_notes};

fn read(file: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn lesson(name: &str) -> Arc<Lesson> {
    let text = read(&format!("lessons/{name}.yaml"));
    Arc::new(Lesson::parse(&text).unwrap_or_else(|error| panic!("{name}, {error}")))
}

/// Each question of a lesson, with its wrong choices.
fn questions(name: &str) -> Vec<(String, Vec<String>)> {
    let (mut walk, mut tree) = Walkthrough::open(lesson(name)).unwrap();
    let mut all = Vec::new();
    loop {
        walk.reveal(&mut tree).unwrap();
        if let Some(prediction) = &walk.step().prediction {
            let choices = prediction.choices.iter().enumerate();
            let wrong = choices.filter(|(at, _)| walk.right() != Some(*at));
            let wrong = wrong.map(|(_, choice)| choice.text.clone()).collect();
            all.push((prediction.question.clone(), wrong));
        }
        if !walk.forward(&mut tree).unwrap() {
            return all;
        }
    }
}

/// The two ways: the minutes that their title promises, and their lessons with the notes.
fn paths(notes: &str) -> Vec<(usize, Vec<(String, String)>)> {
    let mut ways = notes.split("\n## ").skip(1);
    let mut way = |minutes| {
        let lessons = ways.next().unwrap().split("\n### `").skip(1);
        let lessons = lessons.map(|part| {
            let (name, notes) = part.split_once("`\n").unwrap();
            (name.to_owned(), notes.to_owned())
        });
        (minutes, lessons.collect())
    };
    let ways = vec![way(30), way(120)];
    assert_eq!(notes.matches("\n## ").count(), ways.len());
    ways
}

#[test]
fn the_notes_for_teachers_ask_what_the_lessons_ask_and_expect_a_wrong_answer() {
    let mut asked = 0;
    for (_, lessons) in paths(&read("lessons/teaching.md")) {
        for (name, notes) in lessons {
            let questions = questions(&name);
            let mut wrong: &[String] = &[];
            for line in notes.lines() {
                if let Some(question) = line.strip_prefix("- Ask: ") {
                    let found = questions.iter().find(|(known, _)| known == question);
                    wrong = &found.unwrap_or_else(|| panic!("{name}: {question}")).1;
                    asked += 1;
                }
                if let Some(answer) = line.strip_prefix("- Most will say (wrong): ") {
                    let answer = answer.trim_matches('"');
                    let expected = wrong.iter().any(|choice| choice == answer);
                    assert!(expected, "{name}: {answer} is not among {wrong:?}");
                }
            }
        }
    }
    assert!(asked >= 15, "{asked}");
}

#[test]
fn the_notes_about_a_lesson_are_those_of_each_path_that_has_it() {
    let notes = read("lessons/teaching.md");
    let paths = paths(&notes);
    let titles: Vec<&str> = notes
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    let catalogue = Catalogue::parse(&read("lessons/catalogue.yaml")).unwrap();
    let mut told = 0;
    for name in catalogue.course() {
        let found = teacher_notes(&notes, name);
        let ways = paths.iter().zip(&titles);
        let expected = ways.flat_map(|((_, lessons), title)| {
            let lessons = lessons.iter().filter(|(known, _)| known == name);
            lessons.map(|(_, text)| (*title, text.trim()))
        });
        let found: Vec<_> = found.iter().map(|it| (&*it.path, &*it.text)).collect();
        assert_eq!(found.len(), expected.clone().count(), "{name}");
        for ((path, text), (title, all)) in found.into_iter().zip(expected) {
            assert_eq!(path, title, "{name}");
            // What comes after the last lesson of a path is not about that lesson alone.
            assert!(!text.is_empty() && all.starts_with(text), "{name}: {text}");
            told += 1;
        }
    }
    assert!(told >= 15, "{told}");
}

/// The talk of thirty minutes shows only some pages of its lessons: its notes count their own minutes.
#[test]
fn the_lessons_of_the_workshop_need_no_more_minutes_than_its_title_says() {
    let catalogue = Catalogue::parse(&read("lessons/catalogue.yaml")).unwrap();
    let (most, lessons) = paths(&read("lessons/teaching.md")).remove(1);
    let minutes = lessons.iter().map(|(name, _)| {
        assert!(catalogue.has(name), "{name}");
        lesson(name).minutes()
    });
    let minutes: usize = minutes.sum();
    assert!(minutes <= most, "{minutes} minutes of {most}");
    assert!(minutes * 3 >= most * 2, "{minutes} minutes of {most}");
}

/// The number of times that a line says to press `n`.
fn presses(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("- Press: `n` ")?;
    let times = rest.split(' ').next()?.trim_end_matches(['.', ',']);
    match times {
        "once" => Some(1),
        times => Some(times.parse().unwrap_or_else(|_| panic!("{line}"))),
    }
}

/// The name in bold after some words.
fn named<'a>(line: &'a str, before: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(before)?;
    rest.strip_prefix("**")?.split("**").next()
}

#[test]
fn who_does_what_the_notes_for_thirty_minutes_say_sees_what_they_promise() {
    let catalogue = Catalogue::parse(&read("lessons/catalogue.yaml")).unwrap();
    let all = read("lessons/teaching.md");
    let (_, lessons) = paths(&all).remove(0);
    let mut minutes = 0;
    for (name, notes) in lessons {
        let entry = catalogue.lessons().find(|entry| entry.name == name);
        let (mut walk, mut tree) = Walkthrough::open(lesson(&name)).unwrap();
        let (mut asked, mut answered) = (0, 0);
        for line in notes.lines() {
            if let Some(rest) = line.strip_prefix("- Minutes: ") {
                minutes += rest.split('.').next().unwrap().parse::<usize>().unwrap();
                let title = named(line, "Open ").unwrap_or_else(|| panic!("{name}: {line}"));
                assert_eq!(title, entry.unwrap().title);
            }
            for _ in 0..presses(line).unwrap_or_default() {
                // The key of a teacher shows what happens, and then turns the page.
                assert!(walk.forward(&mut tree).unwrap(), "{name}: {line}");
            }
            let step = walk.step();
            for before in ["until the page says ", "Read the text under "] {
                if let Some(title) = named(line, before) {
                    assert_eq!(title, step.title, "{name}: {line}");
                }
            }
            let question = step.prediction.as_ref();
            if let Some(text) = line.strip_prefix("- Ask: ") {
                let here = question.unwrap_or_else(|| panic!("{name}: {line}"));
                assert_eq!(here.question, text);
                assert!(
                    !walk.happened(),
                    "{name}: the answer is there before {line}"
                );
                asked += 1;
            }
            if let Some(text) = line.strip_prefix("- Answer: ") {
                let right = walk.right().unwrap_or_else(|| panic!("{name}: {line}"));
                let right = &question.unwrap().choices[right].text;
                assert_eq!(text.trim_matches('"'), right, "{name}");
                answered += 1;
            }
        }
        assert_eq!(asked, answered, "{name}");
    }
    for more in [
        "This takes 2 minutes",
        "Close, in 2 minutes",
        "Keep 4 minutes",
    ] {
        assert!(all.contains(more), "{more}");
        minutes += if more.contains('4') { 4 } else { 2 };
    }
    assert!((25..=30).contains(&minutes), "{minutes}");
}
