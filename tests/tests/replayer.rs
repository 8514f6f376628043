//! The replayer itself, tried on a server that answers what was recorded, with versions, uids and
//! times of its own: it must find no difference there, and every one that is put in.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use http::{Request, Response};
use optimist_tests::conformance::normalize::Normalizer;
use optimist_tests::conformance::recording::{Action, Answer};
use optimist_tests::conformance::replay::{Problem, replay_against};
use optimist_tests::conformance::subject::{ObjectRef, Opened, Unsupported};
use optimist_tests::conformance::tree::Tree;
use optimist_tests::conformance::{Exceptions, Outcome, Recording, Report, load};
use regex_lite::{Captures, Regex};
use serde_json::{Value, json};

static ALL: LazyLock<Vec<Recording>> =
    LazyLock::new(|| load(Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")).unwrap());

fn recording(name: &str) -> &'static Recording {
    ALL.iter().find(|recording| recording.name == name).unwrap()
}

type Events = Vec<(Value, Option<Tree>)>;

/// Answers what was recorded, whatever is asked.
struct Playback {
    answers: VecDeque<Answer>,
    /// The events of open watches; those that are read in a later step are not known yet.
    watches: Vec<Option<Events>>,
    namespace: Option<String>,
    slept: Duration,
}

impl Playback {
    fn new(recording: &Recording) -> Self {
        let mut answers = VecDeque::new();
        for step in &recording.steps {
            match &step.action {
                Action::Sleep(_) | Action::Compact { .. } | Action::Restart => {}
                Action::Parallel { .. } => {
                    for (status, count) in step.expected.statuses.iter().flatten() {
                        let answer = Answer {
                            status: Some(status.parse().unwrap()),
                            ..Answer::default()
                        };
                        answers.extend((0..*count).map(|_| answer.clone()));
                    }
                }
                _ => answers.push_back(step.expected.clone()),
            }
        }
        Playback {
            answers,
            watches: Vec::new(),
            namespace: None,
            slept: Duration::ZERO,
        }
    }

    fn next(&mut self) -> Answer {
        self.answers
            .pop_front()
            .expect("there are as many requests as answers")
    }

    fn response(&self, answer: &Answer) -> Response<Vec<u8>> {
        let mut response = Response::builder().status(answer.status.unwrap_or(200));
        for warning in &answer.warnings {
            response = response.header("Warning", warning);
        }
        if let Some(text) = &answer.retry_after {
            response = response.header("Retry-After", text);
        }
        if let Some(text) = &answer.content_type {
            response = response.header("Content-Type", text);
        }
        let body = match answer
            .response
            .as_ref()
            .map(|response| in_order(&self.lively(response, ""), answer.written.as_ref()))
        {
            Some(Tree::Text(text)) => text,
            Some(value) => value.to_string(),
            None => String::new(),
        };
        response.body(body.into_bytes()).unwrap()
    }

    /// The opposite of normalizing.
    fn lively(&self, value: &Value, key: &str) -> Value {
        match value {
            Value::Object(members) => match (members.get("$repeat"), members.get("$times")) {
                (Some(Value::String(part)), Some(times)) => {
                    part.repeat(times.as_u64().unwrap() as usize).into()
                }
                _ => members
                    .iter()
                    .map(|(name, v)| (name.clone(), self.lively(v, name)))
                    .collect(),
            },
            Value::Array(items) => items.iter().map(|item| self.lively(item, key)).collect(),
            Value::String(text) if text == "<nodePort>" => 31234.into(),
            Value::String(text) => self.lively_text(text, key).into(),
            other => other.clone(),
        }
    }

    fn lively_text(&self, text: &str, key: &str) -> String {
        static VERSION: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\b(list)?rv(\d+)([+-]\d+)?\b").unwrap());
        static UID: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"<uid(\d+)>").unwrap());
        let mut text = text
            .replace("<time>", "2031-02-03T04:05:06Z")
            .replace("<ns>", self.namespace.as_deref().unwrap())
            .replace("<rv>", "123456")
            .replace("<continue>", "abcd")
            .replace("<clusterIP>", "10.0.0.99")
            .replace("<random>", "x2kd9");
        text = UID
            .replace_all(&text, |found: &Captures<'_>| {
                format!("{:08x}-aaaa-4bbb-8ccc-0123456789ab", number(&found[1]))
            })
            .into_owned();
        if key == "resourceVersion" || text.contains("esource") || text.contains("modRevision") {
            text = VERSION
                .replace_all(&text, |found: &Captures<'_>| {
                    let offset = found
                        .get(3)
                        .map_or(0, |offset| offset.as_str().parse::<i64>().unwrap());
                    let base = if found.get(1).is_some() {
                        900_000
                    } else {
                        70_000
                    };
                    // Neither ascending nor close to each other: derived versions must not meet others.
                    (base + 64 * (1000 - number(&found[2])) + offset).to_string()
                })
                .into_owned();
        }
        text
    }
}

fn events_of(answer: &Answer) -> Events {
    let like = |i: usize| match &answer.written {
        Some(Tree::List(events)) => events.get(i).cloned(),
        _ => None,
    };
    let events = answer.events.iter().flatten().enumerate();
    events.map(|(i, event)| (event.clone(), like(i))).collect()
}

/// A value with the members of its objects in the order of another document.
fn in_order(value: &Value, like: Option<&Tree>) -> Tree {
    match value {
        Value::Object(members) => {
            let named: Vec<&String> = match like {
                Some(Tree::Object(like)) => like.iter().map(|(name, _)| name).collect(),
                _ => Vec::new(),
            };
            let place = |name: &String| named.iter().position(|n| *n == name);
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
            let member = |name: &String| {
                let like = like.and_then(|like| like.get(name));
                (name.clone(), in_order(&members[name], like))
            };
            Tree::Object(names.into_iter().map(member).collect())
        }
        Value::Array(items) => {
            let like = |i: usize| match like {
                Some(Tree::List(like)) => like.get(i),
                _ => None,
            };
            let items = items.iter().enumerate();
            Tree::List(items.map(|(i, item)| in_order(item, like(i))).collect())
        }
        other => Tree::from(other),
    }
}

fn number(text: &str) -> i64 {
    text.parse().unwrap()
}

impl ObjectRef for Playback {
    type Watch = usize;

    fn handle(&mut self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        if self.namespace.is_none() {
            let body: Value = serde_json::from_slice(request.body()).unwrap();
            self.namespace = Some(body["metadata"]["name"].as_str().unwrap().to_owned());
            return Response::new(Vec::new());
        }
        let answer = self.next();
        self.response(&answer)
    }

    fn advance(&mut self, by: Duration) {
        self.slept += by;
    }

    fn open_watch(&mut self, _: Request<Vec<u8>>) -> Result<Opened<usize>, Unsupported> {
        let answer = self.next();
        if answer.status != Some(200) {
            return Ok(Opened::Refused(self.response(&answer)));
        }
        self.watches
            .push(answer.events.as_ref().map(|_| events_of(&answer)));
        Ok(Opened::Stream(self.watches.len() - 1))
    }

    fn read_watch(&mut self, watch: &mut usize, _: Duration) -> Result<Vec<Tree>, Unsupported> {
        let events = match self.watches[*watch].take() {
            Some(events) => events,
            None => events_of(&self.next()),
        };
        Ok(events
            .iter()
            .map(|(event, like)| in_order(&self.lively(event, ""), like.as_ref()))
            .collect())
    }

    fn install(&mut self, _: Value) -> Result<Tree, Unsupported> {
        let answer = self.next();
        let object = self.lively(answer.response.as_ref().unwrap(), "");
        Ok(in_order(&object, answer.written.as_ref()))
    }

    fn compact(&mut self, _: u64) -> Result<(), Unsupported> {
        Ok(())
    }

    fn restart(&mut self) -> Result<(), Unsupported> {
        Ok(())
    }
}

fn played(recording: &Recording, change: impl FnOnce(&mut Playback), exceptions: &str) -> Report {
    let mut playback = Playback::new(recording);
    change(&mut playback);
    replay_against(recording, playback, &Exceptions::parse(exceptions).unwrap())
}

/// The first difference, as step and pointer.
fn first_difference(report: &Report) -> (usize, &str) {
    let Outcome::Failed(failures) = &report.outcome else {
        panic!("{report:?}")
    };
    match &failures[0].problem {
        Problem::Different { differences, .. } => (failures[0].step, &differences[0].pointer),
        Problem::Stale { pointer } => (failures[0].step, pointer),
        Problem::Stopped(message) => panic!("{message}"),
    }
}

#[test]
fn normalizing_the_recorded_form_changes_nothing() {
    for recording in ALL.iter() {
        let mut normalizer = Normalizer::new("<ns>", &[]);
        for step in &recording.steps {
            step.expected
                .response
                .iter()
                .for_each(|it| normalizer.keep(it));
            step.expected
                .events
                .iter()
                .flatten()
                .for_each(|it| normalizer.keep(it));
        }
        for (number, step) in recording.steps.iter().enumerate() {
            let events = step.expected.events.clone().map(Value::from);
            for value in [&step.expected.response, &events].into_iter().flatten() {
                assert_eq!(
                    &normalizer.normalize(value),
                    value,
                    "{} step {number}",
                    recording.name
                );
            }
            for warning in &step.expected.warnings {
                assert_eq!(
                    &normalizer.normalize_text(warning),
                    warning,
                    "{} step {number}",
                    recording.name
                );
            }
        }
    }
}

#[test]
fn a_server_that_answers_as_recorded_passes_everything() {
    for recording in ALL.iter() {
        let report = played(recording, |_| {}, "[]");
        assert!(
            matches!(report.outcome, Outcome::Passed { known: 0 }),
            "{report:#?}"
        );
    }
    assert!(ALL.len() > 500);
}

#[test]
fn a_changed_value_is_found_where_it_is() {
    let report = played(
        recording("update_conflict_configmap"),
        |playback| playback.answers[1].response.as_mut().unwrap()["data"] = json!({"a": "other"}),
        "[]",
    );
    let (step, pointer) = first_difference(&report);
    assert_eq!(step, 1);
    assert!(pointer.starts_with("/response/data"), "{pointer}");
}

#[test]
fn a_write_too_many_shows_in_the_versions() {
    let recording = recording("noop_writes");
    let report = played(
        recording,
        |playback| {
            // Step 4 (step 3 sleeps) writes what is there, so its answer has the version of step 0.
            let answer = playback.answers[3].response.as_mut().unwrap();
            assert_eq!(answer["metadata"]["resourceVersion"], "rv1");
            answer["metadata"]["resourceVersion"] = json!("4711");
        },
        "[]",
    );
    assert_eq!(
        first_difference(&report),
        (4, "/response/metadata/resourceVersion")
    );
}

#[test]
fn a_known_difference_is_tolerated_until_it_is_gone() {
    let exception = r#"[{"sequence":"update_conflict_configmap","step":0,"reason":"a test","pointers":["/response/extra"]}]"#;
    let recording = recording("update_conflict_configmap");
    let extra = |playback: &mut Playback| {
        playback.answers[0].response.as_mut().unwrap()["extra"] = json!({"deep": true})
    };
    assert!(matches!(
        played(recording, extra, exception).outcome,
        Outcome::Passed { known: 1 }
    ));
    assert_eq!(
        first_difference(&played(recording, |_| {}, exception)),
        (0, "/response/extra")
    );
    assert_eq!(
        first_difference(&played(recording, extra, "[]")),
        (0, "/response/extra")
    );
}

#[test]
fn a_missing_reference_ends_the_replay_behind_the_difference_that_caused_it() {
    let recording = recording("watch_basic_configmap");
    let report = played(
        recording,
        |playback| playback.answers[0].response = Some(json!({})),
        "[]",
    );
    assert_eq!(first_difference(&report).0, 0);
    let Outcome::Failed(failures) = &report.outcome else {
        unreachable!()
    };
    assert!(
        matches!(failures.last().unwrap().problem, Problem::Stopped(_)),
        "{failures:#?}"
    );
}
