//! What the check of a lesson finds: false claims, facts, predictions and goals.

use std::sync::Arc;

use optimist_lesson::{Lesson, check_lesson};

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
fn a_json_patch_that_tests_or_replaces_the_version_names_it() {
    let problems = |named: &str| {
        let text = format!(
            "title: t\nteaches: t\nsteps:\n- title: s\n  do:\n  - A:\n      request: PATCH \
             /apis/apps/v1/namespaces/default/deployments/nginx-deployment\n      \
             type: application/json-patch+json\n      body:\n      \
             - {{op: replace, path: /spec/replicas, value: 5}}\n{named}  \
             check:\n  - stored: {{spec.replicas: 5}}\n    unversioned: 0\n"
        );
        let lesson = Lesson::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        check_lesson(&Arc::new(lesson)).problems.len()
    };
    let on_version = |op: &str| {
        format!("      - {{op: {op}, path: /metadata/resourceVersion, value: \"100\"}}\n")
    };
    assert_eq!(problems(""), 1);
    assert_eq!(problems(&on_version("test")), 0);
    assert_eq!(problems(&on_version("replace")), 0);
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
            "line 6: the solution does not meet the challenge: 6 orders: 2 replace an edit after reading it, 4 lose an update"
        ]
    );
    assert_eq!(challenge("left out", "{send: update}").len(), 1);
    assert_eq!(
        challenge("lost", "{send: update, dry run: yes}"),
        ["line 6: the solution does not meet the challenge: a dry run stores nothing"]
    );
    assert_eq!(
        challenge("lost", "{send: update, subresource: status}"),
        ["line 6: the solution does not meet the challenge: 6 orders: 6 leave an edit out"]
    );
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
