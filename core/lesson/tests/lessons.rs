//! Every lesson runs, and all its claims are true.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use optimist_client::{OnConflict, Strategy, Write};
use optimist_lesson::{
    Catalogue, FieldPath, Lesson, ScriptAction, ScriptActionKind, Task, Walkthrough, check_lesson,
    try_mutants,
};
use optimist_simulation::{Action, ActorId, ByHand, HistoryTree, Operation};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lessons")
}

fn read(file: &str) -> String {
    let path = folder().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn catalogue() -> Catalogue {
    Catalogue::parse(&read("catalogue.yaml")).unwrap_or_else(|error| panic!("catalogue: {error}"))
}

fn lessons() -> Vec<(String, Arc<Lesson>)> {
    let names = catalogue();
    let lessons = names.lessons().map(|entry| {
        let file = format!("{}.yaml", entry.name);
        let lesson = Lesson::parse(&read(&file)).unwrap_or_else(|error| panic!("{file}, {error}"));
        (file, Arc::new(lesson))
    });
    lessons.collect()
}

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
fn the_catalogue_names_every_lesson_as_it_names_itself() {
    let catalogue = catalogue();
    for (entry, (_, lesson)) in catalogue.lessons().zip(lessons()) {
        assert_eq!(entry.title, lesson.title);
        assert_eq!(Some(&entry.belief), lesson.belief.as_ref());
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
    assert_eq!(listed.len(), 35);
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

#[test]
fn a_challenge_tells_what_each_actor_means_to_change() {
    let mut told = 0;
    for (file, lesson) in lessons() {
        for step in &lesson.steps {
            let Some(Task::Challenge(challenge)) = &step.task else {
                continue;
            };
            for (actor, edits) in &challenge.edits {
                for edit in edits {
                    let field = edit.path.field();
                    assert!(
                        step.text.contains(field),
                        "{file}: the text does not say that {actor:?} changes “{field}”"
                    );
                    told += 1;
                }
            }
        }
    }
    assert!(told >= 8, "{told} edits");
}

/// The attempts and waits that a lesson names are those of client-go
/// (`k8s.io/client-go/util/retry/util.go DefaultRetry`, `DefaultBackoff`).
#[test]
fn the_lesson_about_retries_names_the_attempts_and_waits_of_client_go() {
    let lesson = Lesson::parse(&read("03-read-again-then-retry.yaml")).unwrap();
    let texts: Vec<&str> = lesson.steps.iter().map(|step| &*step.after).collect();
    let text: Vec<&str> = texts
        .iter()
        .flat_map(|text| text.split_whitespace())
        .collect();
    let text = text.join(" ");
    for claim in [
        format!(
            "With `retry.DefaultRetry` there are at most {} attempts, about 10 ms apart.",
            OnConflict::DEFAULT_ATTEMPTS
        ),
        "With `retry.DefaultBackoff`, for objects that controllers write often, there are at most \
         4, and the waits grow: 10, 50, 250 ms."
            .to_owned(),
    ] {
        assert!(text.contains(&claim), "{claim}");
    }
}

/// A fact without valid evidence is found.
#[test]
fn lessons_tell_what_answers_a_watch_and_who_may_compare_versions_as_facts() {
    // What the lessons once said otherwise: etcd answers a watch, all versions can be compared, an apply
    // carries none, and a first list is never old.
    for (file, fact) in [
        (
            "23-missed-history.yaml",
            "a watch asks the watch cache, never etcd",
        ),
        (
            "28-from-etcd-up.yaml",
            "A watch asks the watch cache, never etcd.",
        ),
        (
            "28-from-etcd-up.yaml",
            "Without the restart, the watcher would have received the change, although etcd was compacted.",
        ),
        (
            "27-writes-that-change-nothing.yaml",
            "An aggregated API server need not have such versions.",
        ),
        (
            "10-who-owns-a-field.yaml",
            "An apply may carry a version. Then the server compares it, as in every other write.",
        ),
        (
            "17-twice-as-many.yaml",
            "the caches begin with a consistent list, as client-go requests it since Kubernetes 1.35",
        ),
    ] {
        let told = read(file);
        assert!(told.contains(&format!("- say: {fact}")), "{file}: {fact}");
    }
}

#[test]
fn a_fact_that_is_false_or_that_the_page_does_not_tell_is_found() {
    let lesson = |text: &str, facts: &str| {
        let text = format!(
            "title: t\nteaches: t\nsteps:\n- title: s\n  text: {text}\n  do:\n  - A: get\n  facts:\n{facts}"
        );
        let lesson = Lesson::parse(&text).map_err(|error| vec![error]);
        let problems = lesson.and_then(|lesson| Arc::new(lesson).check());
        let problems = problems.err().unwrap_or_default().into_iter();
        problems
            .map(|problem| problem.to_string())
            .collect::<Vec<_>>()
    };
    let fact = |say: &str, value: u32| {
        format!(
            "  - say: {say}\n    do:\n    - A: {{edit: {{spec.replicas: {value}}}, send: update}}\n    \
             check:\n    - answer: 200\n      writes: 1\n"
        )
    };
    let none: [&str; 0] = [];
    assert_eq!(
        lesson("A write makes a version.", &fact("makes a version", 5)),
        none
    );
    assert_eq!(
        lesson("A write makes a version.", &fact("makes a version", 3)),
        ["line 13: this is false: 1 writes stored (it is 0)"]
    );
    assert_eq!(
        lesson("A write makes a version.", &fact("makes two", 5)),
        ["line 9: these words are not on this page"]
    );
    let sourced = "  - say: makes a version\n    source: k8s.io/apiserver\n";
    assert_eq!(lesson("A write makes a version.", sourced), none);
    assert_eq!(
        lesson("A write makes a version.", "  - say: makes a version\n"),
        ["line 9: a fact has a “source”, or a “check” of what happens"]
    );
    let elsewhere = "  - say: A ConfigMap has no generation\n    object: |\n      apiVersion: v1\n      \
                     kind: ConfigMap\n      metadata: {name: a}\n    do:\n    - A: get\n    check:\n    \
                     - copy: {A: {metadata.generation: ~, metadata.name: b}}\n";
    assert_eq!(
        lesson("A ConfigMap has no generation.", elsewhere),
        ["line 17: this is false: metadata.name in A’s copy is b (it is \"a\")"]
    );
}

#[test]
fn a_way_that_does_not_reach_the_goal_and_a_mistake_that_does_are_found() {
    let lesson = |ways: &str| {
        let text = format!(
            "title: t\nteaches: t\nsteps:\n- title: s\n  do:\n  - A: get\n  goal:\n    ask: q\n    \
             when: {{stored: {{spec.replicas: 5}}, unversioned updates: 0}}\n    solution:\n    \
             - A: {{edit: {{spec.replicas: 5}}, send: update}}\n{ways}"
        );
        let lesson = Lesson::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let problems = check_lesson(&Arc::new(lesson)).problems.into_iter();
        problems
            .map(|problem| problem.to_string())
            .collect::<Vec<_>>()
    };
    let way = |value: u32| {
        format!(
            "    other ways:\n    - say: w\n      do:\n      \
             - A: {{edit: {{spec.replicas: {value}}}, send: merge patch}}\n"
        )
    };
    let mistake = |version: &str, misses: &str| {
        format!(
            "    mistakes:\n    - say: m\n      do:\n      \
             - A: {{edit: {{spec.replicas: 5}}, send: update, version: {version}}}\n      \
             misses: [{misses}]\n"
        )
    };
    let none: [&str; 0] = [];
    assert_eq!(lesson(&way(5)), none);
    assert_eq!(
        lesson(&way(4)),
        ["line 13: this way does not reach the goal: replicas is 5"]
    );
    assert_eq!(lesson(&mistake("no", "no Update without a version")), none);
    assert_eq!(
        lesson(&mistake("yes", "no Update without a version")),
        ["line 13: this mistake reaches the goal"]
    );
    assert_eq!(
        lesson(&mistake("no", "replicas is 5")),
        ["line 13: this mistake misses other conditions: no Update without a version"]
    );
    let then = "      then:\n      - A: {edit: {spec.replicas: 4}, send: update}\n";
    let mistake = mistake("no", "no Update without a version") + then;
    assert_eq!(
        lesson(&mistake),
        [
            "line 13: the actions after this mistake do not reach the goal: replicas is 5",
            "line 13: the actions after this mistake do not reach the goal: no Update without a version",
        ]
    );
}

#[test]
fn two_places_are_the_same_only_if_both_have_the_value() {
    let lesson = |places: &str| {
        let text = format!(
            "title: t\nteaches: t\nsteps:\n- title: s\n  do:\n  - A: get\n  check:\n  - same: {places}\n"
        );
        let lesson = Lesson::parse(&text).map_err(|error| vec![error]);
        let problems = lesson.and_then(|lesson| Arc::new(lesson).check());
        let problems = problems.err().unwrap_or_default().into_iter();
        problems
            .map(|problem| problem.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        lesson("[metadata.labels.app, spec.selector.matchLabels.app]"),
        [""; 0]
    );
    assert_eq!(
        lesson("[spec.replicas, metadata.generation]"),
        ["line 8: this is false: spec.replicas equals metadata.generation (it is 3 and 1)"]
    );
    assert_eq!(
        lesson("[spec.paused, metadata.annotations]"),
        [
            "line 8: this is false: spec.paused equals metadata.annotations (it is not there and not there)"
        ]
    );
    assert_eq!(
        lesson("[spec.replicas]"),
        ["line 8: two places are needed here"]
    );
}

/// False claims of a lesson are found, with their line. Otherwise the tests above prove nothing.
#[test]
fn a_false_claim_prediction_or_goal_is_found() {
    let lesson = |steps: &str| {
        let text = format!("title: t\nteaches: t\nsteps:\n- title: s\n{steps}");
        let lesson = Lesson::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let problems = check_lesson(&Arc::new(lesson)).problems;
        problems
            .into_iter()
            .map(|problem| problem.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        lesson("  do:\n  - A: get\n  check:\n  - answer: 200\n  - answer: 409\n"),
        ["line 9: this is false: the answer is 409 (it is 200)"]
    );
    assert_eq!(
        lesson(
            "  predict:\n    ask: q\n    choices:\n    - say: a\n      when: {answer: 200}\n    \
             - say: b\n      when: {exists: yes}\n  do:\n  - A: get\n"
        ),
        ["line 9: exactly one choice must be true, but 2 are true"]
    );
    assert_eq!(
        lesson("  goal:\n    ask: q\n    when: {exists: yes}\n    solution: [A: get]\n"),
        ["line 6: the goal is reached before the first action"]
    );
    assert_eq!(
        lesson("  goal:\n    ask: q\n    when: {exists: no}\n    solution: [A: get]\n"),
        ["line 6: the solution does not reach the goal: the object is gone"]
    );
    let false_claims = "  do:\n  - A: get\n  - A: {edit: {spec.replicas: 5}, send: apply, force: yes}\n  \
         check:\n  - forced: 0\n  - unversioned: 0\n  - read: [A, B]\n  - set by: {spec.replicas: B}\n  \
         - writers: {B: [update]}\n  - writers: {}\n";
    assert_eq!(
        lesson(false_claims),
        [
            "line 9: this is false: no applies with force (it is 1)",
            "line 10: this is false: no writes without a version (it is 1)",
            "line 11: this is false: B has read the object",
            "line 12: this is false: spec.replicas was set by B (it is A)",
            "line 13: this is false: only B (update) wrote (it is only A (apply))",
            "line 14: this is false: no actor wrote (it is only A (apply))",
        ]
    );
    let by_hand = |force: &str| {
        lesson(&format!(
            "  do:\n  - A:\n      request: PATCH /apis/apps/v1/namespaces/default/deployments/\
             nginx-deployment?fieldManager=m&force={force}\n      type: application/apply-patch+yaml\n      \
             body: {{apiVersion: apps/v1, kind: Deployment, metadata: {{name: nginx-deployment}}}}\n  \
             check:\n  - forced: 0\n"
        ))
    };
    assert_eq!(by_hand("False"), [""; 0]);
    assert_eq!(
        by_hand("yes"),
        ["line 11: this is false: no applies with force (it is 1)"]
    );
    assert_eq!(
        lesson("  do:\n  - A: update\n"),
        ["line 6: this action is not possible here: the actor may have nothing to send"]
    );
    let challenge = |never: &str, way: &str| {
        lesson(&format!(
            "  challenge:\n    ask: q\n    edits: {{A: {{spec.replicas: 5}}, B: {{spec.replicas: 2}}}}\n    \
             at first: {{A: {{send: update, version: no}}, B: {{send: update, version: no}}}}\n    \
             never: [{never}]\n    solution: {{A: {way}, B: {way}}}\n"
        ))
    };
    assert!(challenge("lost", "{send: update}").is_empty());
    assert_eq!(
        challenge("lost", "{send: merge patch}"),
        [
            "line 6: the solution does not meet the challenge: 6 orders: 2 replace an edit knowingly, 4 lose an update"
        ]
    );
    assert_eq!(challenge("left out", "{send: update}").len(), 1);
}

#[test]
fn a_mistake_in_a_lesson_is_named_with_its_line() {
    for (text, told) in [
        ("title: t\nteaches: x\n", "line 1: “steps” is missing here"),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  tekst: x\n",
            "line 5: a step has no “tekst”. It may have: title, text, predict, do, after, check, \
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
            "title: t\nteaches: x\nsteps:\n- title: s\n  check:\n  - read:\n    - D\n",
            "line 7: “D” is not known. Known: A, B, C",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  check:\n  - set by:\n      \
             spec.replicas: kubelet\n",
            "line 7: “kubelet” is not known. Known: A, B, C",
        ),
        (
            "title: t\nteaches: x\nsteps:\n- title: s\n  check:\n  - writers: {D: [apply]}\n",
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
        ("", "line 1: a lesson must be a mapping (key: value)"),
    ] {
        let error = Lesson::parse(text).unwrap_err().to_string();
        assert_eq!(error, told, "{text}");
    }
}

#[test]
fn all_mistakes_in_a_lesson_are_named_at_once_each_with_its_line() {
    let text = "titel: t\nteaches: [x]\nsteps:\n- title: s\n  tekst: x\n  do:\n  - A: {send: put}\n  - A: get\n  \
                - D: get\n  check:\n  - answer: two\n  - answer: 200\n- text: x\n  goal:\n    ask: q\n    when: {forced: \
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
    begins(9, "“D” is not an action");
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
    let lesson = read("01-the-lost-update.yaml");
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
fn a_lesson_is_checked_by_what_happens_in_it() {
    let lesson = |answer: u16| {
        let text = format!(
            "title: t\nteaches: x\nsteps:\n- title: s\n  do:\n  - A: get\n  check:\n  - answer: {answer}\n"
        );
        Arc::new(Lesson::parse(&text).unwrap())
    };
    assert_eq!(lesson(200).check(), Ok(()));
    let problems = lesson(409).check().unwrap_err();
    assert_eq!(problems[0].line, 8);
    assert_eq!(
        problems[0].message,
        "this is false: the answer is 409 (it is 200)"
    );
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
    let readme = read("README.md");
    let begin = readme.find("```yaml\n").unwrap() + "```yaml\n".len();
    let example = &readme[begin..];
    let example = &example[..example.find("\n```").unwrap() + 1];
    let lesson = Lesson::parse(example).unwrap_or_else(|error| panic!("{error}"));
    let check = check_lesson(&Arc::new(lesson));
    assert_eq!(check.problems, [], "{}", check.transcript);
}

/// A learner on the last page of a lesson, who performs any actions there.
struct Learner {
    walk: Walkthrough,
    tree: HistoryTree,
}

impl Learner {
    fn on_the_last_page_of(name: &str) -> Self {
        let lesson = Lesson::parse(&read(&format!("{name}.yaml"))).unwrap();
        let (mut walk, mut tree) = Walkthrough::open(Arc::new(lesson)).unwrap();
        while walk.forward(&mut tree).unwrap() {}
        Self { walk, tree }
    }

    fn act(&mut self, actor: ActorId, action: Action) -> &mut Self {
        self.tree.act(Operation::Act(actor, action)).unwrap();
        self
    }

    fn get(&mut self, actor: ActorId) -> &mut Self {
        self.act(actor, Action::Get)
    }

    fn edit(&mut self, actor: ActorId, place: &str, value: impl Into<Value>) -> &mut Self {
        let copy = self.tree.world_mut().copy_mut(actor);
        let mut object = Value::clone(copy.edited().unwrap());
        let place = FieldPath::parse(place).unwrap();
        match value.into() {
            Value::Null => place.remove(&mut object),
            value => place.set(&mut object, value),
        }
        copy.edit(object);
        self
    }

    /// Presses Send, with the actor's selected write method.
    fn send(&mut self, actor: ActorId) -> &mut Self {
        let write = self.tree.world().actor(actor).write();
        self.act(actor, Action::Send(write))
    }

    fn send_by(&mut self, actor: ActorId, strategy: Strategy) -> &mut Self {
        self.act(actor, Action::Send(Write::usual(strategy)))
    }

    /// The parts of the goal that are not reached here.
    fn missing(&self) -> Vec<String> {
        let goal = self.walk.goal(&self.tree).into_iter();
        goal.filter(|(_, holds)| !holds)
            .map(|(label, _)| label.to_string())
            .collect()
    }
}

const IMAGE: &str = "spec.template.spec.containers[name=nginx].image";

#[test]
fn a_change_from_each_editor_is_one_from_each_whichever_is_whose_and_however_it_is_sent() {
    let last_page = || Learner::on_the_last_page_of("01-the-lost-update");
    let (a, b) = (ActorId::A, ActorId::B);
    let mut alone = last_page();
    alone.get(a).edit(a, IMAGE, "nginx:1.16.1").send(a);
    alone.edit(a, "spec.replicas", 2).send(a);
    assert_eq!(alone.missing(), ["one came from each editor"]);
    for (first, second) in [(a, b), (b, a)] {
        let mut both = last_page();
        both.get(first).get(second);
        both.edit(first, IMAGE, "nginx:1.16.1")
            .send_by(first, Strategy::MergePatch);
        both.edit(second, "spec.replicas", 2)
            .send_by(second, Strategy::MergePatch);
        assert_eq!(both.missing(), [""; 0]);
    }
}

#[test]
fn what_a_search_found_is_about_the_choices_that_it_was_made_with() {
    let mut learner = Learner::on_the_last_page_of("02-resourceversion-and-the-409");
    let Some(Task::Challenge(challenge)) = learner.walk.step().task.clone() else {
        panic!("the last page has a challenge")
    };
    let choose = |learner: &mut Learner, write: Write| {
        let actor = learner.tree.world_mut().actor_mut(ActorId::B);
        actor.set_write(write);
    };
    let mut search = challenge.search(&learner.tree).unwrap();
    assert!(challenge.is_searched_by(&search, &learner.tree));
    search.run();
    let finding = challenge.judge(&search);
    assert!(challenge.is_answered_by(&finding, &learner.tree));
    let before = learner.tree.world().actor(ActorId::B).write();
    choose(&mut learner, Write::usual(Strategy::Update));
    assert!(!challenge.is_answered_by(&finding, &learner.tree));
    assert!(!challenge.is_searched_by(&search, &learner.tree));
    choose(&mut learner, before);
    assert!(
        challenge.is_answered_by(&finding, &learner.tree),
        "as it was"
    );
}

#[test]
fn a_write_without_its_version_is_noticed_whatever_came_after_it() {
    let last_page = || Learner::on_the_last_page_of("04-just-clear-resourceversion");
    let b = ActorId::B;
    let mut careless = last_page();
    careless.get(b).edit(b, "metadata.labels.team", "web");
    careless.send_by(b, Strategy::MergePatch);
    careless.edit(b, IMAGE, "nginx:1.16.1");
    careless.send_by(b, Strategy::Update);
    assert_eq!(careless.missing(), ["every write carried its version"]);
    let mut tested = last_page();
    tested.get(b).edit(b, IMAGE, "nginx:1.16.1");
    let with_version = Write {
        send_resource_version: true,
        ..Write::usual(Strategy::JsonPatch)
    };
    tested.act(b, Action::Send(with_version)).get(b);
    assert_eq!(tested.missing(), [""; 0]);
}

#[test]
fn agreeing_is_an_edit_of_the_card_and_no_force() {
    let last_page = || Learner::on_the_last_page_of("11-apply-conflicts");
    let a = ActorId::A;
    let mut plain = last_page();
    plain.edit(a, "data.colour", "red").send(a);
    assert_eq!(plain.missing(), [""; 0]);
    let mut after_a_refusal = last_page();
    after_a_refusal.edit(a, "data.colour", "pink").send(a);
    after_a_refusal.edit(a, "data.colour", "red").send(a);
    assert_eq!(after_a_refusal.missing(), [""; 0]);
    let mut forcing = last_page();
    let force = Write {
        force: true,
        ..Write::usual(Strategy::Apply)
    };
    forcing.edit(a, "data.colour", "red");
    forcing.act(a, Action::Send(force));
    assert_eq!(forcing.missing(), ["nothing more is forced"]);
}

#[test]
fn a_patch_does_not_count_as_an_apply_whoever_wrote_it() {
    let last_page = || Learner::on_the_last_page_of("13-from-client-side-to-server-side");
    let aim = "nothing but applies by the Pipeline";
    let a = ActorId::A;
    let mut patching = last_page();
    patching.edit(a, "data.legacy", Value::Null);
    patching.send_by(a, Strategy::MergePatch);
    assert_eq!(patching.missing(), [aim]);
    let mut by_hand = last_page();
    let request = ByHand {
        method: "PATCH".to_owned(),
        target: "/api/v1/namespaces/default/configmaps/settings".to_owned(),
        content_type: "application/merge-patch+json".to_owned(),
        body: r#"{"data": {"legacy": null}}"#.to_owned(),
    };
    by_hand.act(a, Action::Request(request));
    assert_eq!(by_hand.missing(), [aim]);
    let mut applying = last_page();
    applying.edit(a, "data.legacy", "mine");
    applying.send_by(a, Strategy::Apply);
    applying.edit(a, "data.legacy", Value::Null);
    applying.send_by(a, Strategy::Apply);
    assert_eq!(applying.missing(), [""; 0]);
}

/// Puts the members of an object into another one, at every depth.
fn join(into: &mut Value, other: &Value) {
    if let Some(members) = other.as_object() {
        for (key, value) in members {
            join(&mut into[key], value);
        }
        if into.is_null() {
            *into = other.clone();
        }
    }
}

/// Checks the lesson against the patch of `csaupgrade.UpgradeManagedFieldsPatch` of client-go: the
/// managers that update and own the last-applied annotation are joined into the one that applies.
#[test]
fn the_ownership_is_moved_by_the_patch_that_kubectl_would_send() {
    let lesson = Lesson::parse(&read("13-from-client-side-to-server-side.yaml")).unwrap();
    let (mut walk, mut tree) = Walkthrough::open(Arc::new(lesson)).unwrap();
    while walk.step().title != "Move the ownership." || !walk.happened() {
        assert!(walk.forward(&mut tree).unwrap());
    }
    let sent = tree
        .step(tree.current())
        .and_then(|step| step.exchange.clone());
    let before = tree
        .parent(tree.current())
        .and_then(|node| tree.world_at(node));
    let (_, before) = before.unwrap().stored().unwrap();
    let entries = before["metadata"]["managedFields"].as_array().unwrap();
    let applied = "f:kubectl.kubernetes.io/last-applied-configuration";
    let mut managers = Vec::new();
    let mut moved = Vec::new();
    for entry in entries {
        let owns = &entry["fieldsV1"]["f:metadata"]["f:annotations"][applied];
        if entry["operation"] == "Update" && owns.is_object() {
            moved.push(&entry["fieldsV1"]);
        } else {
            managers.push(entry.clone());
        }
    }
    assert!(!moved.is_empty(), "there is something to be moved");
    let [pipeline] = managers.as_mut_slice() else {
        panic!("{managers:?}")
    };
    for fields in moved {
        join(&mut pipeline["fieldsV1"], fields);
    }
    let version = &before["metadata"]["resourceVersion"];
    assert_eq!(
        *sent.unwrap().sent,
        serde_json::json!([
            {"op": "replace", "path": "/metadata/managedFields", "value": managers},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        ])
    );
}

#[test]
fn removing_the_finalizer_counts_after_a_refusal_too_but_not_unread() {
    let last_page = || Learner::on_the_last_page_of("14-delete-with-care");
    let (a, b) = (ActorId::A, ActorId::B);
    let none = || Value::Array(Vec::new());
    let mut refused = last_page();
    refused.edit(b, "metadata.finalizers", none());
    refused.send_by(b, Strategy::Update);
    assert_eq!(refused.missing().len(), 3);
    refused.get(b).send_by(b, Strategy::Update);
    assert_eq!(refused.missing(), [""; 0]);
    let mut again = last_page();
    again.edit(b, "metadata.finalizers", Value::Null);
    let loops = Write {
        on_conflict: OnConflict::ReadAgain(5),
        ..Write::default()
    };
    again.act(b, Action::Send(loops));
    assert_eq!(again.missing(), [""; 0]);
    let mut unread = last_page();
    unread.edit(b, "metadata.finalizers", Value::Null);
    unread.send_by(b, Strategy::MergePatch);
    assert_eq!(unread.missing(), ["Editor B has read it"]);
    let mut by_the_other = last_page();
    by_the_other.get(b).get(a);
    by_the_other.edit(a, "metadata.finalizers", Value::Null);
    by_the_other.send_by(a, Strategy::Update);
    assert_eq!(by_the_other.missing(), ["Editor B removed the finalizer"]);
}

#[test]
fn a_body_that_a_lesson_writes_by_hand_is_not_what_the_learner_sends_next() {
    let mut bodies = 0;
    for (file, lesson) in lessons() {
        let (mut walk, mut tree) = Walkthrough::open(lesson).unwrap();
        loop {
            for id in ActorId::ALL {
                let actor = tree.world().actor(id);
                for strategy in Strategy::ALL {
                    let body = actor.write_by(strategy).body;
                    assert_eq!(body, None, "{file}, page {}", walk.at() + 1);
                }
            }
            let last = tree.step(tree.current()).and_then(|step| step.action());
            if let Some(Action::Send(Write { body: Some(_), .. })) = last {
                bodies += 1;
            }
            if !walk.forward(&mut tree).unwrap() {
                break;
            }
        }
    }
    assert!(bodies >= 8, "{bodies} pages end with a body by hand");
}

#[test]
fn a_card_shows_how_its_actor_is_about_to_write_before_one_predicts() {
    for (name, page, write) in [
        (
            "01-the-lost-update",
            3,
            Write {
                send_resource_version: false,
                ..Write::default()
            },
        ),
        (
            "03-read-again-then-retry",
            1,
            Write {
                on_conflict: OnConflict::Resend(5),
                ..Write::default()
            },
        ),
    ] {
        let lesson = Lesson::parse(&read(&format!("{name}.yaml"))).unwrap();
        let (mut walk, mut tree) = Walkthrough::open(Arc::new(lesson)).unwrap();
        while walk.at() < page {
            walk.forward(&mut tree).unwrap();
        }
        assert!(!walk.happened());
        assert_eq!(tree.world().actor(ActorId::B).write(), write, "{name}");
    }
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

/// Tries every task with every way of writing, with and without version, force, tests and retry, and
/// with other switches. What reaches a task is one of its ways, or has a reason in `also right`.
#[test]
fn no_task_accepts_a_way_of_writing_without_a_reason() {
    let (mut tried, mut accepted, mut problems) = (0, 0, Vec::new());
    let (mut refused, mut explained) = (0, 0);
    for (file, lesson) in lessons() {
        let report = try_mutants(&lesson).unwrap_or_else(|error| panic!("{file}, {error}"));
        tried += report.tried;
        accepted += report.accepted;
        refused += report.refused;
        explained += report.explained;
        println!(
            "{file}: {} tried, {} accepted, {} of {} refused tries at goals are explained",
            report.tried, report.accepted, report.explained, report.refused
        );
        let told = report.problems.iter();
        problems.extend(told.map(|problem| format!("lessons/{file}, {problem}")));
    }
    println!(
        "{tried} tried, {accepted} accepted, {explained} of {refused} refused tries explained, {} problems",
        problems.len()
    );
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(tried > 1_500, "{tried}");
}

#[test]
fn each_mistake_at_a_goal_is_told_why_it_does_not_reach_it() {
    let (mut told, mut silent) = (0, Vec::new());
    for (file, lesson) in lessons() {
        let (mut walk, mut tree) = Walkthrough::open(lesson).unwrap();
        loop {
            walk.reveal(&mut tree).unwrap();
            if let Some(Task::Goal(goal)) = walk.step().task.clone() {
                assert_eq!(
                    walk.feedback(&tree),
                    None,
                    "{file}: before the first request"
                );
                let mut solved = tree.clone();
                walk.clone().solve(&mut solved).unwrap();
                assert_eq!(walk.feedback(&solved), None, "{file}: the goal is reached");
                for mistake in &goal.mistakes {
                    let mut tree = tree.clone();
                    for action in &mistake.actions {
                        action.perform(&mut tree).unwrap();
                    }
                    match walk.feedback(&tree) {
                        Some(_) => told += 1,
                        None => silent.push(format!("{file}, line {}", mistake.line)),
                    }
                }
            }
            if !walk.forward(&mut tree).unwrap() {
                break;
            }
        }
    }
    assert!(
        silent.is_empty(),
        "nothing is said after:\n{}",
        silent.join("\n")
    );
    assert!(told > 40, "{told}");
}

/// The right choice is explained by the text after the actions.
#[test]
fn each_wrong_choice_has_an_answer_of_its_own_and_the_right_one_has_none() {
    let (mut answered, mut problems) = (0, Vec::new());
    for (file, lesson) in lessons() {
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
    assert!(answered > 80, "{answered}");
}

#[test]
fn what_can_never_hold_again_is_said_until_one_goes_back() {
    let a = ActorId::A;
    let mut learner = Learner::on_the_last_page_of("28-from-etcd-up");
    let lost = |learner: &Learner| {
        let parts = learner.walk.out_of_reach(&learner.tree);
        parts.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(lost(&learner), [""; 0]);
    learner.edit(a, "data.colour", "red");
    learner.send_by(a, Strategy::MergePatch);
    assert_eq!(lost(&learner), [""; 0], "one write of two is left");
    for colour in ["blue", "green", "gold"] {
        learner.edit(a, "data.colour", colour);
        learner.send_by(a, Strategy::MergePatch);
    }
    assert_eq!(
        lost(&learner),
        ["`first` has version 107", "`first` was written once"]
    );
    let Learner { walk, tree } = &mut learner;
    walk.resume(tree);
    assert_eq!(lost(&learner), [""; 0]);
}

#[test]
fn each_choice_of_switches_is_told_what_is_true_of_it() {
    use optimist_controller::program::Switch;
    let lesson = Lesson::parse(&read("17-twice-as-many.yaml")).unwrap();
    let Some(Task::Switches(challenge)) = &lesson.steps.last().unwrap().task else {
        panic!("17 ends with switches")
    };
    let told = |switch: Option<Switch>| {
        let chosen = switch.into_iter().collect::<BTreeSet<Switch>>();
        challenge.closing_text(Some(&chosen))
    };
    assert!(told(Some(Switch::DerivedName)).contains("needs no memory"));
    assert!(!told(Some(Switch::LiveList)).contains("needs no memory"));
    let waits = told(Some(Switch::WaitForOwnVersion));
    assert!(waits.contains("a restart forgets it"), "{waits}");
    assert!(waits.starts_with(&challenge.closing_text(None)));
}
