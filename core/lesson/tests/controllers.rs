//! Lessons with a controller: what they can say, and what is found when it is false.

use std::sync::Arc;

use optimist_lesson::{Lesson, Task};

const CHILDREN: &str = "title: t
teaches: t
controller: {program: child maker}
steps:
- title: It makes a child.
  do:
  - controller: connect
  - controller: run
  check:
  - {objects: {ConfigMap: 1}, behind: {ConfigMap: 1}, queued: 0, run ended: done}
- title: Which switches
  controller challenge:
    ask: a
    editors: {A: {spec.size: 2}}
    never: [more than 1 ConfigMap]
    at rest: {objects: {ConfigMap: 1}}
    nothing else: yes
    solution: [derived name]
    mistakes:
    - {say: none, with: []}
";

fn problems(source: &str) -> Vec<String> {
    let lesson = Lesson::parse(source).map_err(|error| vec![error]);
    let checked = lesson.and_then(|lesson| Arc::new(lesson).check());
    let problems = checked.err().unwrap_or_default();
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn a_claim_about_the_controller_is_held_to_what_happens() {
    assert_eq!(problems(CHILDREN), [""; 0]);
    for (wrong, problem) in [
        (
            ("ConfigMap: 1}, behind", "ConfigMap: 2}, behind"),
            "2 ConfigMaps (it is 1)",
        ),
        (
            ("behind: {ConfigMap: 1}", "behind: {Widget: 1}"),
            "behind by 1 (it is 0)",
        ),
        (
            ("run ended: done", "run ended: error"),
            "the last run returned an error",
        ),
        (("queued: 0", "at rest: yes"), "the controller is at rest"),
    ] {
        let found = problems(&CHILDREN.replacen(wrong.0, wrong.1, 1));
        assert!(
            found.len() == 1 && found[0].contains(problem),
            "{wrong:?} {found:?}"
        );
    }
}

#[test]
fn a_choice_of_switches_is_held_to_every_history() {
    let found = problems(&CHILDREN.replace("with: []", "with: [live list]"));
    assert!(
        found[0].contains("line 20") && found[0].contains("should not"),
        "{found:?}"
    );
    let found = problems(&CHILDREN.replace("solution: [derived", "solution: [live list, derived"));
    assert!(found[0].contains("is not needed"), "{found:?}");
    let found = problems(&CHILDREN.replace("solution: [derived name]", "solution: [expectations]"));
    assert_eq!(found, [""; 0]);
    let runs_out = CHILDREN
        .replace("solution: [derived name]", "solution: [expectations]")
        .replace("    nothing", "    expectations run out: 1\n    nothing");
    assert!(problems(&runs_out)[0].contains("does what must not be"));
}

#[test]
fn a_lesson_names_the_faults_that_can_happen() {
    let with = |faults: &str| CHILDREN.replace("    nothing", &format!("{faults}    nothing"));
    let all = with("    restarts: 1\n    watches break: 2\n    compactions: 1\n");
    let lesson = Lesson::parse(&all).unwrap();
    let Some(Task::Switches(challenge)) = &lesson.steps[1].task else {
        panic!("{:?}", lesson.steps[1].task)
    };
    let faults = challenge.question.faults;
    let named = (faults.restarts, faults.broken_watches, faults.compactions);
    assert_eq!((named, faults.timeouts), ((1, 2, 1), 0));
    let found = problems(&with("    watches break: 1\n    compactions: 1\n"));
    assert_eq!(found, [""; 0], "one child, whatever breaks");
    let found = problems(&with("    compactions: 4\n"));
    assert!(found[0].contains("at most 3"), "{found:?}");
}

#[test]
fn a_mistake_in_the_words_about_a_controller_is_named_with_its_line() {
    for (wrong, problem) in [
        (
            ("child maker", "child eater"),
            "line 3: “child eater” is not a ready program",
        ),
        (
            ("maker}", "maker, switches: [no clock]}"),
            "line 3: the program has no switch “no clock”",
        ),
        (
            ("controller: run", "controller: fly"),
            "line 8: “fly” is not what a controller does",
        ),
        (
            ("more than 1 ConfigMap", "two of them"),
            "line 15: “two of them” cannot be asked",
        ),
        (("run ended: done", "run ended: well"), "line 10"),
    ] {
        let found = problems(&CHILDREN.replacen(wrong.0, wrong.1, 1));
        assert!(found[0].starts_with(problem), "{wrong:?} {found:?}");
    }
    let without = CHILDREN.replace("controller: {program: child maker}\n", "");
    assert!(problems(&without)[0].contains("cannot do this now"));
}

#[test]
fn the_shortest_history_of_a_mistake_can_be_opened() {
    let lesson = Lesson::parse(CHILDREN).unwrap();
    let Some(Task::Switches(challenge)) = &lesson.steps[1].task else {
        panic!("{:?}", lesson.steps[1].task)
    };
    let mut search = challenge.search(&lesson, &challenge.at_first).unwrap();
    search.run();
    assert!(search.finding().witness.is_some());
    let tree = search.witness().unwrap();
    let children = tree
        .world()
        .server()
        .store()
        .range("/registry/configmaps/")
        .count();
    assert_eq!(children, 2);
}

#[test]
fn a_program_can_be_written_out_in_a_lesson() {
    let lesson = "title: t
teaches: t
controller:
  name: labeller
  watches:
  - kind: {apiVersion: demo.example.com/v1, kind: Widget}
    handler: object
  body:
  - get: {into: widget, kind: {apiVersion: demo.example.com/v1, kind: Widget}, name: '{name}', from: cache}
  - deepCopy: {into: before, of: widget}
  - set: {of: widget, field: /metadata/labels/size, to: {text: 'size-{widget/spec/size}'}}
  - patch: {object: widget, base: before}
steps:
- title: It labels.
  do:
  - controller: connect
  - controller: run
  check:
  - {answer: 200, stored: {metadata.labels.size: size-1}}
  - every history:
      editors: {A: {spec.size: 2}}
      at rest: {stored: {metadata.labels.size: size-2}}
";
    assert_eq!(problems(lesson), [""; 0]);
    let wrong = lesson.replace("size-2}", "size-1}");
    assert!(problems(&wrong)[0].contains("in every history"));
}
