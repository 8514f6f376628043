//! The format of a lesson: mistakes are named with their lines.

use std::sync::Arc;

use optimist_lesson::{Lesson, check_lesson};

use crate::files::{folder, read};

#[test]
fn a_mistake_in_a_lesson_is_named_with_its_line() {
    for (text, told) in [
        ("title: t\nteaches: x\n", "line 1: “steps” is missing here"),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  tekst: x\n",
            "line 5: a step has no “tekst”. It may have: title, text, predict, show, do, after, check, \
             facts, goal, challenge, controller challenge",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  do:\n  - A: {send: put}\n",
            "line 6: “put” is not known. Known: update, merge patch, strategic merge patch, \
             json patch, apply",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  do:\n  - A: {request: $(x) /api/v1}\n",
            "line 6: “$(x)” is not a supported method: GET, POST, PUT, PATCH, DELETE",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: ~\n",
            "line 4: text is needed here",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  check:\n  - stored: {a..b: 1}\n",
            "line 6: a name is missing between two dots",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  check:\n  - forced: never\n",
            "line 6: a number is needed here, or “at least 1”, or “at most 1”",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  check:\n  - read: B\n",
            "line 6: a list is needed here (lines that begin with “- ”)",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  check:\n  - read:\n    - G\n",
            "line 7: “G” is not known. Known: A, B, C, D, E, F",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  check:\n  - set by:\n      \
             spec.replicas: kubelet\n",
            "line 7: “kubelet” is not known. Known: A, B, C, D, E, F",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  check:\n  - writers: {G: [apply]}\n",
            "line 6: A, B or C is needed here",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  check:\n  - writers: {A: [put]}\n",
            "line 6: “put” is not known. Known: update, merge patch, strategic merge patch, \
             json patch, apply, create, delete",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  check:\n  - writers: {A: []}\n",
            "line 6: a way of writing is missing here: leave out who does not write",
        ),
        (
            "title: [t\n",
            "line 1: while parsing a flow sequence, expected ',' or ']'",
        ),
        (
            "title: t\nteaches: x\nbelief:\n  say: b\n  ask: q\n  choices:\n  - {say: c, right: yes}\nsteps:\n\
             - title: s\n",
            "line 6: the question needs two choices or more, and one of them is “right: yes”",
        ),
        (
            "title: t\nteaches: x\nbelief:\n  say: b\n  ask: q\n  choices:\n  - {say: c, right: yes}\n  - say: d\n\
             steps:\n- title: s\n",
            "line 8: a wrong choice needs an “answer”",
        ),
        (
            "title: t\nteaches: x\nbelief:\n  say: b\n  ask: q\n  choices:\n  - {say: c, right: yes, page: 1}\n  \
             - {say: d, answer: a}\nsteps:\n- title: s\n",
            "line 7: the right choice has no “answer” and no “page”",
        ),
        (
            "title: t\nteaches: x\nbelief:\n  say: b\n  ask: q\n  choices:\n  - {say: c, right: yes}\n  \
             - {say: d, answer: a, page: 2}\nsteps:\n- title: s\n",
            "line 8: there is no page 2: the lesson has 1",
        ),
        ("", "line 1: a lesson must be a mapping (key: value)"),
    ] {
        let error = Lesson::parse(text).unwrap_err().to_string();
        assert_eq!(error, told, "{text}");
    }
}

#[test]
fn all_mistakes_in_a_lesson_are_named_at_once_each_with_its_line() {
    let text = "titel: t\nteaches: [x]\nsteps:\n- title: s\n  tekst: x\n  do:\n  - A: {send: put}\n  - A: get\n  \
                - G: get\n  check:\n  - answer: two\n  - answer: 200\n- text: x\n  goal:\n    ask: q\n    when: {forced: \
                never}\n    mistakes:\n    - say: m\n    - {say: m, do: [A: got], misses: []}\n";
    let errors = Lesson::parse_all(text).unwrap_err();
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let begins = |line: usize, words: &str| {
        let begin = format!("line {line}: {words}");
        assert!(
            told.iter().any(|it| it.starts_with(&begin)),
            "{begin}\n{told:#?}"
        );
    };
    begins(1, "a lesson has no “titel”");
    begins(1, "“title” is missing here");
    begins(2, "text is needed here");
    begins(5, "a step has no “tekst”");
    begins(7, "“put” is not known");
    begins(9, "“G” is not an action");
    begins(11, "");
    begins(13, "“title” is missing here");
    begins(16, "a number is needed here");
    begins(15, "“solution” is missing here");
    begins(18, "“do” is missing here");
    begins(19, "“got” is not known");
    assert_eq!(told.len(), 12, "{told:#?}");
    let lines: Vec<usize> = errors.iter().map(|error| error.line).collect();
    assert!(lines.is_sorted(), "{lines:?}");
}

#[test]
fn a_lesson_with_one_mistake_has_one_error_and_a_lesson_without_one_is_read() {
    let lesson = read("01-the-lost-update");
    assert_eq!(
        Lesson::parse_all(&lesson),
        Ok(Lesson::parse(&lesson).unwrap())
    );
    let broken = lesson.replacen("send: update", "send: put", 1);
    let first = Lesson::parse(&broken).unwrap_err();
    assert_eq!(Lesson::parse_all(&broken), Err(vec![first]));
}

#[test]
fn a_mistake_in_a_manifest_is_named_with_its_line_in_the_lesson() {
    let lesson = |object: &str| {
        let text =
            format!("title: t\nteaches: x\n\n{object}steps:\n- title: s\n  do:\n  - A: get\n");
        let problems = match Lesson::parse(&text) {
            Ok(lesson) => Arc::new(lesson).check().err().unwrap_or_default(),
            Err(error) => vec![error],
        };
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        told.join("\n")
    };
    let map = |object: &str, data: &str| {
        lesson(&format!(
            "{object}\n  apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: settings\n  \
             data:\n{data}"
        ))
    };
    let unclosed = "line 10: while parsing a flow sequence, expected ',' or ']'";
    assert_eq!(map("object: |", "    colour: [blue\n"), unclosed);
    assert_eq!(map("object: |", "    colour: [blue\n\n\n"), unclosed);
    assert_eq!(
        map("object: |\n", "    colour: [blue\n"),
        unclosed.replace("10", "11")
    );
    assert_eq!(
        map("object: |", "    colour: [blue\n    size: large\n"),
        "line 10: illegal placement of ':' indicator"
    );
    assert_eq!(
        map("object: |", "    colours: [blue,\n      `red]\n"),
        "line 11: unexpected character: ``'"
    );
    assert_eq!(
        map("object: |\n  kind: ConfigMap\n  ---", "    colour: [blue\n"),
        unclosed.replace("10", "12")
    );
    let twice = map("object: |", "    colour: blue\n    colour: red\n");
    assert!(
        twice.contains("key \"colour\" already set in map"),
        "{twice}"
    );
    assert_eq!(
        lesson("object: 'colour: [blue'\n"),
        unclosed.replace("10", "4")
    );
    assert_eq!(
        lesson("object: |\n  {\"kind\": \"ConfigMap\",\n   \"data\": oops}\n"),
        "line 6: invalid character 'o' looking for beginning of value"
    );
    for (problem, begin) in [
        (
            lesson("object: |\n  kind: ConfigMap\n"),
            "line 4: This is not a manifest: apiVersion and kind are missing",
        ),
        (
            map("object: |", "    colour: {blue: 1}\n"),
            "line 4: The server refuses the object (400): ",
        ),
    ] {
        assert!(problem.starts_with(begin), "{problem}");
        assert!(!problem.ends_with('.'), "{problem}");
    }
}

#[test]
fn a_bracket_that_is_not_closed_is_named_where_it_is_opened() {
    let lesson = |steps: &str| {
        let text = format!("title: t\nteaches: x\nsteps:\n- title: s\n  check:\n{steps}");
        Lesson::parse(&text).unwrap_err().line
    };
    assert_eq!(lesson("  - stored: {a: 1\n- title: s\n- title: s\n"), 6);
    assert_eq!(lesson("  - owners: {a: [x\n  - exists: yes\n"), 6);
    assert_eq!(lesson("  - exists: yes\n  - owners: {a: [x]\n"), 7);
}

#[test]
fn a_step_in_which_too_much_happens_is_refused() {
    let actions = "  - A: get\n".repeat(101);
    let text = format!("title: t\nteaches: x\nsteps:\n- title: s\n  do:\n{actions}");
    let error = Lesson::parse(&text).unwrap_err().to_string();
    assert_eq!(error, "line 4: a step can have at most 100 actions");
}

#[test]
fn the_documented_example_is_a_lesson_and_true() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let begin = readme.find("```yaml\n").unwrap() + "```yaml\n".len();
    let example = &readme[begin..];
    let example = &example[..example.find("\n```").unwrap() + 1];
    let lesson = Lesson::parse(example).unwrap_or_else(|error| panic!("{error}"));
    let check = check_lesson(&Arc::new(lesson));
    assert_eq!(check.problems, [], "{}", check.transcript);
}

#[test]
fn a_condition_that_is_not_known_is_refused_and_not_read_as_another_one() {
    let text = "title: T\nteaches: x\nsteps:\n  - title: S\n    text: hello\n    check: [{owner: {spec.replicas: [a]}}]\n";
    let error = Lesson::parse(text).unwrap_err().to_string();
    assert!(
        error.contains("a condition has no “owner”. It may have:"),
        "{error}"
    );
}
