//! Conditions of what is said of an audit log: of the lines that are shown, one for each step.

use optimist_apiserver::environment::Timestamp;
use optimist_apiserver::object::{Metadata, text};
use optimist_diagnose::observed::FieldChange;
use optimist_messages::diagnose as messages;
use optimist_messages::lanes::{self, RowText};
use optimist_state::AuditReplay;
use serde_json::Value;

use super::pasted::Pasted;
use super::rows::is_value;
use super::versions::{is_about, is_named_entry};
use crate::hearing::ConditionOf;
use crate::judge::leaves;
use crate::said::Said;

/// The lines of a log about one object, and one of them.
#[derive(Clone)]
pub struct Recorded {
    steps: Vec<Value>,
    at: usize,
    noise: usize,
    /// All lines of the log.
    log: Vec<Value>,
    /// The core's answer to each step; `None` if it is not run.
    core: Vec<Option<(u16, Value)>>,
}

impl Recorded {
    pub fn new(pasted: &Pasted, replay: &AuditReplay) -> Self {
        let lines: Vec<&str> = pasted.texts[0].lines().collect();
        let steps = replay.history.steps.iter().map(|step| {
            let line = replay.log.events[step.event].line;
            serde_json::from_str(lines[line - 1]).expect("an event")
        });
        Self {
            steps: steps.collect(),
            at: 0,
            noise: pasted.noise,
            log: pasted.log.clone(),
            core: replay
                .history
                .steps
                .iter()
                .map(|step| {
                    Some((
                        step.exchange()?.code,
                        Value::clone(&step.exchange()?.received),
                    ))
                })
                .collect(),
        }
    }

    /// Returns whether the core gives the code, and the answer, that the line has.
    fn same(&self) -> Option<(bool, bool)> {
        let (code, body) = self.core[self.at].as_ref()?;
        let recorded = &self.line()["responseObject"];
        let message = |body: &Value| {
            (
                text(body, "reason").to_owned(),
                text(body, "message").to_owned(),
            )
        };
        let same = match *code < 300 {
            true => {
                let generation = |it: &Value| it["metadata"]["generation"].clone();
                leaves(body) == leaves(recorded) && generation(body) == generation(recorded)
            }
            false => message(body) == message(recorded),
        };
        Some((self::code(self.line()) == Some(u64::from(*code)), same))
    }

    pub fn told(&self) -> String {
        let line = |at: usize| {
            let text = self.steps[at].to_string();
            format!(
                "   {} {}\n",
                at + 1,
                text.chars().take(1200).collect::<String>()
            )
        };
        (self.at.saturating_sub(2)..=self.at).map(line).collect()
    }

    /// A log of which nothing is replayed.
    pub fn unread(lines: Vec<Value>) -> Self {
        Self {
            core: vec![None; lines.len()],
            log: lines.clone(),
            steps: lines,
            at: 0,
            noise: 0,
        }
    }

    /// Its place.
    pub fn row(&self) -> usize {
        self.at
    }

    /// The lines that were refused.
    pub fn refused(&self) -> Vec<Self> {
        let at = |at: usize| Self { at, ..self.clone() };
        let refused = |at: &usize| code(&self.steps[*at]) == Some(409);
        (0..self.steps.len().min(200))
            .filter(refused)
            .map(at)
            .collect()
    }

    fn line(&self) -> &Value {
        &self.steps[self.at]
    }

    fn at(&self, step: Option<u64>) -> Option<&Value> {
        self.steps.get(step?.checked_sub(1)? as usize)
    }

    /// The conflict in the step that a sentence names; `None` if no write was refused there.
    fn conflict(&self, said: &Said) -> Option<Conflict<'_>> {
        let at = said.number("step")?.checked_sub(1)? as usize;
        let refused = self.steps.get(at)?;
        let lane = |it: &Value| (client(it).0.to_owned(), manager(it).to_owned());
        let own = |it: &(usize, &Value)| {
            let reads_as_same = !is_write(it.1) && client(it.1) == client(refused);
            reads_as_same || lane(it.1) == lane(refused)
        };
        let later: Vec<(usize, &Value)> = self.steps.iter().enumerate().skip(at + 1).collect();
        let later: Vec<(usize, &Value)> = later.into_iter().filter(own).collect();
        let write = later.iter().position(|(_, it)| is_write(it));
        let between = later[..write.unwrap_or(later.len())].iter();
        (is_write(refused) && code(refused) == Some(409)).then(|| Conflict {
            refused,
            between: between.map(|(_, it)| *it).collect(),
            next: write.map(|at| later[at]),
        })
    }

    /// The same, if its client wrote next in the other step that the sentence names.
    fn reaction(&self, said: &Said) -> Option<(Conflict<'_>, &Value)> {
        let conflict = self.conflict(said)?;
        let (next, write) = conflict.next?;
        (said.number("next")? == next as u64 + 1).then_some((conflict, write))
    }

    /// The last version of the object that a line before this one shows.
    fn shown_before(&self) -> Option<String> {
        let mut earlier = self.steps[..self.at].iter().rev();
        earlier.find_map(|it| version(&it["responseObject"]))
    }
}

/// A refused write, and what its client did after it.
struct Conflict<'a> {
    refused: &'a Value,
    /// The later lines of the client, up to its next write.
    between: Vec<&'a Value>,
    /// The place of its next write, and the write.
    next: Option<(usize, &'a Value)>,
}

impl Conflict<'_> {
    /// Returns whether the client read the object before it wrote again.
    fn read_again(&self) -> bool {
        let mut verbs = self.between.iter().map(|it| text(it, "verb"));
        verbs.any(|verb| ["get", "list"].contains(&verb))
    }
}

/// A user and a program.
fn client(line: &Value) -> (&str, &str) {
    (text(&line["user"], "username"), text(line, "userAgent"))
}

/// The field manager of a write: what it names, else its program.
fn manager(line: &Value) -> &str {
    let named = text(line, "requestURI").split_once("fieldManager=");
    let named = named.and_then(|(_, rest)| rest.split('&').next());
    named
        .or(text(line, "userAgent").split('/').next())
        .unwrap_or_default()
}

fn code(line: &Value) -> Option<u64> {
    line["responseStatus"]["code"].as_u64()
}

fn is_write(line: &Value) -> bool {
    ["create", "update", "patch", "delete"].contains(&text(line, "verb"))
}

fn accepted(line: &Value) -> bool {
    is_write(line) && code(line).is_some_and(|code| code < 300)
}

fn version(object: &Value) -> Option<String> {
    let version = object.resource_version();
    (!version.is_empty() && text(object, "kind") != "Status").then(|| version.to_owned())
}

/// Returns whether a line shows a text anywhere in its body or its answer.
fn shows(line: &Value, words: &str) -> bool {
    let body = [&line["requestObject"], &line["responseObject"]]
        .map(Value::to_string)
        .concat();
    let head = words.split('…').next().unwrap_or_default();
    let structure = words.starts_with(['[', '{']) || words == "absent";
    structure || body.contains(head.trim_matches('"'))
}

/// Returns whether an answer has an entry of this manager, and with this subresource if it is
/// given.
fn owns(it: &Recorded, manager: &str, operation: &str, subresource: Option<&str>) -> bool {
    let mut entries = it.steps.iter().flat_map(|line| {
        let entries = line["responseObject"]["metadata"]["managedFields"].as_array();
        entries.into_iter().flatten()
    });
    entries.any(|entry| is_named_entry(entry, manager, operation, subresource))
}

/// The conditions of sentences about the log.
pub const LOG: &[(&str, ConditionOf<Recorded>)] = &[
    ("audit_loop", |said, it| {
        let first = it.at(said.number("first"))?;
        let same = it
            .steps
            .iter()
            .filter(|it| client(it) == client(first) && text(it, "verb") == text(first, "verb"));
        let has_body = first["requestObject"].is_object();
        Some(has_body && same.count() as u64 >= said.number("count")?)
    }),
    ("audit_loop_changes", |said, it| {
        let writes = it.steps.iter().filter(|it| is_write(it)).count();
        Some(said.number("changes")? <= writes as u64)
    }),
    ("audit_no_reads", |_, it| {
        let mut verbs = it.steps.iter().map(|it| text(it, "verb"));
        Some(!verbs.any(|verb| ["get", "list", "watch"].contains(&verb)))
    }),
    ("audit_unchanged", |said, it| {
        let accepted = it.steps.iter().filter(|it| accepted(it)).count();
        Some((1..=accepted as u64).contains(&said.number("count")?))
    }),
    ("audit_counts", |said, it| {
        let all = ["same", "other", "open"].map(|name| said.number(name).unwrap_or(0));
        Some(all.iter().sum::<u64>() as usize == it.steps.len())
    }),
    ("lane_steps", |said, it| {
        Some(said.number("count")? as usize == it.steps.len())
    }),
    ("audit_steps", |said, it| {
        Some(said.number("count")? as usize == it.steps.len())
    }),
    ("audit_skipped", |said, it| {
        Some(said.number("count")? as usize == it.noise)
    }),
    ("audit_cut", |_, it| Some(it.log.len() > 20_000)),
    ("audit_nothing", |_, it| {
        Some(
            !it.steps
                .iter()
                .any(|it| is_write(it) && code(it) == Some(409)),
        )
    }),
    ("fight_steps", |said, it| {
        let (first, last) = (it.at(said.number("first"))?, it.at(said.number("last"))?);
        let count = said.number("count")?;
        // The first of the steps can take the value from whoever had it before.
        let steps = said.number("last")? - said.number("first")? + 1;
        Some(accepted(first) && accepted(last) && (1..=steps).contains(&count))
    }),
    ("fight_pace", |said, it| {
        let (count, seconds) = (said.number("count")?, said.number("seconds")?);
        // Less than a minute says little of an hour.
        if seconds < 60 {
            return Some(false);
        }
        let times = it.steps.iter().filter(|line| accepted(line));
        let times = times.filter_map(|line| Timestamp::parse(line["stageTimestamp"].as_str()?));
        let times: Vec<u64> = times.map(|time| time.seconds).collect();
        // Parts of a second can make one more or one less.
        let apart = |begin: &u64| {
            let mut later = times.iter();
            later.any(|end| end.saturating_sub(*begin).abs_diff(seconds) <= 1)
        };
        Some(
            times.iter().any(apart)
                && count as usize <= times.len()
                && is_about(said.number("hour")?, (count - 1) * 3600 / seconds),
        )
    }),
    ("fight_span", |said, it| {
        let (count, seconds) = (said.number("count")?, said.text("seconds"));
        let seconds: f64 = seconds.parse().ok()?;
        let times = it.steps.iter().filter(|line| accepted(line));
        let times = times.filter_map(|line| Timestamp::parse(line["stageTimestamp"].as_str()?));
        let times: Vec<u64> = times.map(|time| time.seconds).collect();
        let apart = |begin: &u64| {
            let mut later = times.iter();
            later.any(|end| (end.saturating_sub(*begin) as f64 - seconds).abs() <= 1.0)
        };
        Some(seconds < 60.0 && times.iter().any(apart) && count as usize <= times.len())
    }),
    ("fight_left", |said, it| {
        let keeper = said.text("keeper");
        Some(
            ["Apply", "Update"]
                .iter()
                .any(|operation| owns(it, &keeper, operation, None)),
        )
    }),
    ("fight_gap", |said, it| {
        let keeper = said.text("keeper");
        Some(
            ["Apply", "Update"]
                .iter()
                .any(|operation| owns(it, &keeper, operation, None)),
        )
    }),
    ("fight_left_out", |said, it| {
        Some(owns(it, &said.text("manager"), "Apply", None))
    }),
    ("fight_not_set", |said, it| {
        Some(owns(it, &said.text("manager"), "Update", None))
    }),
    ("fight_applies", |said, it| {
        Some(owns(it, &said.text("manager"), "Apply", None))
    }),
    ("fight_updates", |said, it| {
        Some(owns(it, &said.text("manager"), "Update", Some("")))
    }),
    ("fight_updates_through", |said, it| {
        let subresource = said.text("subresource");
        Some(owns(
            it,
            &said.text("manager"),
            "Update",
            Some(&subresource),
        ))
    }),
    ("audit_schemaless", |_, it| {
        let of = |line: &Value| text(&line["objectRef"], "apiGroup").contains("example.com");
        Some(it.steps.iter().any(of))
    }),
];

/// The conditions of sentences about one line.
pub const STEPS: &[(&str, ConditionOf<Recorded>)] = &[
    ("audit_forced", |_, it| {
        Some(text(it.line(), "requestURI").contains("force=true"))
    }),
    ("audit_dry_run", |_, it| {
        Some(text(it.line(), "requestURI").contains("dryRun=All"))
    }),
    ("audit_same", |_, it| Some(it.same()?.0)),
    ("audit_same_answer", |_, it| {
        Some(it.same()? == (true, true))
    }),
    ("audit_same_code", |_, it| Some(it.same()?.0)),
    ("audit_patch_types", |said, it| {
        Some(text(it.line(), "verb") == "patch" && (2..=4).contains(&said.number("count")?))
    }),
    ("audit_other", |_, it| Some(it.same()? != (true, true))),
    ("audit_differs", |said, it| {
        Some(!said.parts("differences").is_empty() && it.same()? != (true, true))
    }),
    ("audit_difference", |said, it| {
        let recorded = match said.inner("place") {
            Some(_) => Some(it.line()["responseStatus"]["code"].clone()),
            None => it.line()["responseObject"]
                .pointer(&said.text("place"))
                .cloned(),
        };
        let text = said.text("recorded");
        Some(
            said.text("core") != text
                || text.contains(['…', '[', '{'])
                || is_value(&text, recorded.as_ref()),
        )
    }),
    ("audit_not_run", |_, it| Some(it.core[it.at].is_none())),
    ("lane_not_run", |_, it| Some(it.core[it.at].is_none())),
    ("audit_unknown_state", |_, it| {
        // What a line before shows is known, up to the next write of which nothing is known.
        let earlier = &it.steps[..it.at];
        let shown = earlier.iter().rposition(|it| {
            version(&it["responseObject"]).is_some()
                || code(it) == Some(404)
                || text(it, "verb") == "delete"
        });
        let since = &earlier[shown.map_or(0, |at| at + 1)..];
        let unknown = since
            .iter()
            .any(|it| is_write(it) && !it["responseObject"].is_object());
        Some(shown.is_none() || unknown || !version_of_object(it))
    }),
    ("audit_missing_write", |_, it| {
        let same = version(&it.line()["responseObject"]).zip(it.shown_before());
        Some(is_write(it.line()) && same.is_some_and(|(now, before)| now != before))
    }),
    ("audit_other_version", |_, it| {
        let same = version(&it.line()["responseObject"]).zip(it.shown_before());
        Some(text(it.line(), "verb") == "get" && same.is_some_and(|(now, before)| now != before))
    }),
    ("audit_other_reason", |_, it| {
        // Of these codes, the object is no cause; of others, a webhook says itself that it is.
        let answer = text(&it.line()["responseObject"], "message");
        let code = code(it.line())?;
        Some(matches!(code, 401 | 403 | 429 | 500..) || code >= 400 && answer.contains("webhook"))
    }),
    ("audit_unknown_owners", |_, it| {
        let shown = it.steps[..it.at]
            .iter()
            .map(|it| &it["responseObject"]["metadata"]);
        let mut shown = shown.filter(|it| it["uid"].is_string());
        Some(shown.any(|it| it["managedFields"].is_null()))
    }),
    ("audit_no_body", |_, it| {
        Some(
            is_write(it.line())
                && !it.line()["requestObject"].is_object()
                && !it.line()["requestObject"].is_array(),
        )
    }),
    ("audit_no_answer", |_, it| Some(code(it.line()).is_none())),
    ("lane_no_code", |_, it| Some(code(it.line()).is_none())),
    ("audit_verb", |_, it| {
        let run = ["get", "create", "update", "patch", "delete"];
        Some(!run.contains(&text(it.line(), "verb")))
    }),
    ("audit_lost", |said, it| {
        let (written, lost) = (it.at(said.number("written"))?, it.at(said.number("lost"))?);
        let (from, to) = (
            said.number("written")? as usize,
            said.number("lost")? as usize - 1,
        );
        let between = it.steps.get(from..to)?;
        let read = between.iter().any(|it| {
            client(it) == client(lost) && it["responseObject"].is_object() && code(it) < Some(300)
        });
        Some(
            client(written) != client(lost)
                && accepted(written)
                && accepted(lost)
                && !read
                && shows(written, &said.text("value")),
        )
    }),
    ("audit_lost_watch", |_, it| {
        Some(it.log.iter().any(|line| text(line, "verb") == "watch"))
    }),
    ("audit_read_again", |said, it| {
        Some(it.reaction(said)?.0.read_again())
    }),
    ("audit_sent_again", |said, it| {
        let (conflict, next) = it.reaction(said)?;
        Some(
            next["requestObject"] == conflict.refused["requestObject"]
                && text(next, "verb") == text(conflict.refused, "verb"),
        )
    }),
    ("audit_then_forced", |said, it| {
        Some(text(it.reaction(said)?.1, "requestURI").contains("force=true"))
    }),
    ("audit_without_version", |said, it| {
        let (conflict, next) = it.reaction(said)?;
        let carries = |it: &Value| version(&it["requestObject"]).is_some();
        Some(carries(conflict.refused) && !carries(next))
    }),
    ("audit_wrote_otherwise", |said, it| {
        let (conflict, next) = it.reaction(said)?;
        Some(!conflict.read_again() && next["requestObject"] != conflict.refused["requestObject"])
    }),
    ("audit_wrote_again", |said, it| {
        let (conflict, next) = it.reaction(said)?;
        let mut both = [conflict.refused, next].into_iter();
        let without_body = both.any(|it| it["requestObject"].is_null());
        Some(!conflict.read_again() && without_body)
    }),
    ("audit_gave_up", |said, it| {
        let conflict = it.conflict(said)?;
        // Whoever hears the name takes it for each that is called so.
        let who = said.text("who");
        let called = |line: &Value| {
            let (name, user) = (manager(line), client(line).0);
            let through = who.starts_with(&format!("{name} · /"));
            let with_user = who.ends_with(&format!(" ({user})"));
            who == name || who == format!("{name} ({user})") || through && with_user
        };
        let mut later = it.steps.iter().skip(said.number("step")? as usize);
        let writes = later.any(|line| is_write(line) && called(line));
        Some(conflict.next.is_none() && !writes)
    }),
    ("lane_same", |_, it| Some(it.same()? == (true, true))),
    ("lane_same_code", |_, it| Some(it.same()?.0)),
    ("lane_differs", |_, it| Some(it.same()? != (true, true))),
    ("lane_lost", |_, it| Some(loses(it))),
    ("lane_lost_beside", |said, it| {
        let apart = said.text("changes") != said.text("others");
        Some(loses(it) && apart)
    }),
    ("lane_unchanged", |_, it| {
        let same = version(&it.line()["responseObject"]).zip(it.shown_before());
        Some(accepted(it.line()) && same.is_none_or(|(now, before)| now == before))
    }),
    ("lane_dry_run", |_, it| {
        Some(text(it.line(), "requestURI").contains("dryRun=All"))
    }),
    ("lane_owned", |said, it| {
        let causes = it.line()["responseObject"]["details"]["causes"].as_array()?;
        Some(code(it.line()) == Some(409) && said.number("count")? as usize == causes.len())
    }),
    ("lane_created", |_, it| Some(code(it.line()) == Some(201))),
    ("lane_deleted", |_, it| {
        Some(text(it.line(), "verb") == "delete" || accepted(it.line()))
    }),
    ("lane_changed", changed),
    ("lane_set", changed),
    ("lane_removed", |_, it| Some(accepted(it.line()))),
    ("lane_more", |said, it| {
        Some(accepted(it.line()) && said.number("count")? > 0)
    }),
    ("lane_writes", |said, it| {
        let writes = it.steps.iter().filter(|it| is_write(it)).count();
        Some(said.number("count")? as usize <= writes)
    }),
    ("lane_reads", |said, it| {
        let name = said.text("name");
        let writes = |it: &&Value| is_write(it) && manager(it) == name;
        Some(!it.steps.iter().any(|it| writes(&it)))
    }),
    ("lane_user", |said, it| {
        Some(
            it.steps
                .iter()
                .any(|it| text(&it["user"], "username") == said.text("user")),
        )
    }),
    ("lane_others", |said, _| Some(said.number("count")? > 1)),
    ("lanes_of_log", |_, it| Some(!it.steps.is_empty())),
    ("recorded_answered", |said, it| {
        let [arrived, answered] = times(it.line());
        Some(arrived == answered && answered == said.text("answered"))
    }),
    ("recorded_observed", |said, it| {
        let [arrived, answered] = times(it.line());
        Some(arrived == said.text("arrived") && answered == said.text("answered"))
    }),
    ("recorded_sender", |said, it| {
        let (user, agent) = client(it.line());
        Some(user == said.text("user") && agent == said.text("agent"))
    }),
    ("recorded_object", |said, it| {
        let shown = it.steps[..=it.at]
            .iter()
            .any(|line| version(&line["responseObject"]).as_ref() == Some(&said.text("version")));
        Some(shown && said.number("step")? as usize == it.at + 1)
    }),
    ("recorded_object_computed", |said, it| {
        // The answer of the step does not show it, so that it follows from the requests before. A Scale is another object.
        let answer = &it.line()["responseObject"];
        let shows = accepted(it.line()) && version(answer).is_some() && answer["kind"] != "Scale";
        Some(!shows && said.number("step")? as usize == it.at + 1)
    }),
    ("recorded_object_absent", |_, it| {
        let gone = |line: &Value| {
            code(line) == Some(404) || (accepted(line) && text(line, "verb") == "delete")
        };
        let shown = it.steps[..=it.at].iter().rposition(|line| {
            version(&line["responseObject"]).is_some() && code(line) < Some(300) && !gone(line)
        });
        let since = &it.steps[shown.map_or(0, |at| at + 1)..=it.at];
        let later = it.steps[it.at..].iter().find(|line| accepted(line));
        // A write without a code may have been carried out.
        let unsure = |line: &Value| code(line).is_none() && is_write(line);
        if since
            .iter()
            .rev()
            .take_while(|line| !gone(line))
            .any(unsure)
        {
            return Some(false);
        }
        Some(
            since.iter().any(gone)
                || later.is_some_and(|line| code(line) == Some(201))
                || it.steps[..=it.at]
                    .iter()
                    .all(|line| text(line, "verb") == "list" || text(line, "verb") == "watch"),
        )
    }),
    ("recorded_object_unknown", |_, it| {
        let answer = &it.line()["responseObject"];
        let listed = answer["items"].as_array().is_some_and(Vec::is_empty);
        Some(version(answer).is_none() || listed)
    }),
    ("recorded_was", |said, it| was_shown(said, it)),
    ("recorded_was_by", |said, it| {
        Some(was_shown(said, it)? && manager(it.line()) == said.text("who").split(" · ").next()?)
    }),
    ("recorded_new", |_, it| Some(accepted(it.line()))),
    ("recorded_new_by", |said, it| {
        Some(accepted(it.line()) && manager(it.line()) == said.text("who").split(" · ").next()?)
    }),
    ("owners_contested", |_, it| {
        let causes = it.line()["responseObject"]["details"]["causes"].as_array()?;
        Some(code(it.line()) == Some(409) && !causes.is_empty())
    }),
];

/// The times of day at which a request arrived and was answered, to the millisecond.
fn times(line: &Value) -> [String; 2] {
    ["requestReceivedTimestamp", "stageTimestamp"].map(|name| {
        let time = text(line, name).split('T').nth(1).unwrap_or_default();
        time.chars().take(12).collect()
    })
}

/// Returns whether an earlier line shows the value that was replaced.
fn was_shown(said: &Said, it: &Recorded) -> Option<bool> {
    let value = said.text("value");
    let bodies = it.steps[..it.at]
        .iter()
        .flat_map(|line| [&line["responseObject"], &line["requestObject"]]);
    let known = bodies.clone().any(|body| body.is_object());
    let default = it
        .core
        .iter()
        .flatten()
        .any(|(_, body)| contains(body, &value));
    Some(
        accepted(it.line())
            && (!known || default || it.steps[..it.at].iter().any(|line| shows(line, &value))),
    )
}

fn contains(body: &Value, value: &str) -> bool {
    let head = value.split('…').next().unwrap_or_default();
    body.to_string().contains(head.trim_matches('"'))
}

fn version_of_object(it: &Recorded) -> bool {
    it.shown_before().is_some()
}

/// A value that a write set is in what it sent, or in its answer.
/// Returns whether a line is an accepted write that undoes something that somebody else wrote since its client was
/// last answered with the object. Without bodies, only that somebody wrote is known.
fn loses(it: &Recorded) -> bool {
    let line = it.line();
    let who = |line: &Value| {
        let user = text(&line["user"], "username").to_owned();
        (manager(line).to_owned(), user)
    };
    let body = |line: &Value| {
        Some(&line["responseObject"])
            .filter(|body| version(body).is_some())
            .cloned()
    };
    let answered = |line: &Value| code(line).is_some_and(|code| code < 300);
    let mut earlier = (0..it.at).rev();
    let own = earlier.find(|at| answered(&it.steps[*at]) && who(&it.steps[*at]) == who(line));
    let since = own.map_or(0, |at| at + 1);
    let undone = |at: usize| {
        let other = &it.steps[at];
        if !accepted(other) || who(other) == who(line) {
            return false;
        }
        let (Some(wrote), Some(now)) = (body(other), body(line)) else {
            return true;
        };
        let before = it.steps[..at].iter().rev().find_map(body);
        let before = before.map(|before| leaves(&before)).unwrap_or_default();
        let now = leaves(&now);
        let mut changed = leaves(&wrote).into_iter();
        changed.any(|(place, value)| {
            before.get(&place) != Some(&value) && now.get(&place) != Some(&value)
        })
    };
    accepted(line) && (since..it.at).any(undone)
}

fn changed(said: &Said, it: &Recorded) -> Option<bool> {
    let known = it.line()["responseObject"].is_object() || it.line()["requestObject"].is_object();
    Some(accepted(it.line()) && (!known || shows(it.line(), &said.text("after"))))
}

/// Says each text about each step.
pub fn steps(recorded: &Recorded, replay: &AuditReplay, hear: &mut dyn FnMut(&str, &Recorded)) {
    let mut about = recorded.clone();
    for lane in &replay.lanes.lanes {
        hear(&lanes::lane(lane, &replay.lanes), &about);
    }
    hear(&lanes::steps_of_log(&replay.history), &about);
    for (at, step) in replay.history.steps.iter().enumerate() {
        // A long log says the same of each of its steps.
        if at > 200 {
            break;
        }
        about.at = at;
        let event = &replay.log.events[step.event];
        let (word, says) = messages::prediction(&step.prediction);
        let changes = replay
            .findings
            .changes_of(at)
            .iter()
            .map(|(_, change)| change);
        let changes: Vec<&FieldChange> = changes.collect();
        let row = RowText::of_request(&replay.lanes.rows[at], step, event, &changes);
        let id = step
            .after
            .as_deref()
            .map(optimist_diagnose::case::ObjectId::from_object);
        let title = lanes::step_title(at, step.known_after, id.as_ref(), step.version_after());
        let mut texts = vec![
            word,
            says,
            messages::asked(step, event),
            row.answer,
            row.what,
            row.mark,
            lanes::observed(event),
            title,
        ];
        texts.extend(changes.iter().map(|change| lanes::was(change)));
        let conflicts = replay
            .findings
            .conflicts
            .iter()
            .filter(|one| one.step == at);
        texts.extend(conflicts.map(|one| messages::recorded_conflict(one, "somebody")));
        let lost = replay.findings.lost.iter().filter(|one| one.lost == at);
        texts.extend(lost.map(|one| messages::lost_update(one, "one", "another")));
        for text in &texts {
            hear(text, &about);
        }
    }
}
