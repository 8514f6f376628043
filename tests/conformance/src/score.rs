//! The score of a server, as a page for others: the comparisons and the differences, per kind and verb.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::exceptions::Exceptions;
use super::recording::{Action, Recording};
use super::replay::{Failure, Outcome, Problem, Report};

/// The name of the row of the scenarios that people wrote: they are about several kinds.
const BY_HAND: &str = "several, by hand";

/// The verbs that the page tells apart, and the methods.
const VERBS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "watch", "other"];

/// What stands before the kind in the names of some groups of recordings.
const PREFIXES: [&str; 3] = ["table-", "views-", "many-"];

/// Short names of kinds in the names of groups, and the kinds.
const SHORT: [(&str, &str); 15] = [
    ("csr", "certificatesigningrequest"),
    ("hpa", "horizontalpodautoscaler"),
    ("in", BY_HAND),
    ("mwc", "mutatingwebhookconfiguration"),
    ("pdb", "poddisruptionbudget"),
    ("priority", "priorityclass"),
    ("pv", "persistentvolume"),
    ("pvc", "persistentvolumeclaim"),
    ("quota", "resourcequota"),
    ("rc", "replicationcontroller"),
    ("runtime", "runtimeclass"),
    ("sa", "serviceaccount"),
    ("vap", "validatingadmissionpolicy"),
    ("vapb", "validatingadmissionpolicybinding"),
    ("vwc", "validatingwebhookconfiguration"),
];

/// The kind that a group of recordings is about: `pod` of `table-pod`, `pod-delete` and `pod2`.
fn kind(group: &str) -> &str {
    let without = PREFIXES
        .iter()
        .find_map(|prefix| group.strip_prefix(prefix));
    let name = without.unwrap_or(group);
    let name = name.split('-').next().unwrap_or(name);
    let name = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let long = SHORT.iter().find(|(short, _)| *short == name);
    long.map_or(name, |(_, kind)| kind)
}

/// The results for one kind.
#[derive(Default)]
struct Row {
    recordings: usize,
    passed: usize,
    skipped: usize,
    /// How many steps were answered with another status code.
    other_codes: usize,
    /// For each verb, how many steps were compared, and how many of them differ.
    steps: BTreeMap<&'static str, (usize, usize)>,
}

/// The page, in Markdown. A recording is compared as a whole: what comes after its first difference counts as
/// compared too, unless its replay stopped.
pub fn markdown(replayed: &[(&Recording, &Report)], exceptions: &Exceptions) -> String {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut releases: BTreeMap<&str, usize> = BTreeMap::new();
    for (recording, report) in replayed {
        let kind = recording.kind.as_deref().map_or(BY_HAND, kind);
        add(rows.entry(kind.to_owned()).or_default(), recording, report);
        *releases
            .entry(recording.release.as_deref().unwrap_or("v1.36"))
            .or_default() += 1;
    }
    let mut page = String::new();
    let releases: Vec<String> = releases
        .iter()
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    page.push_str(&format!(
        "{} recordings of a real kube-apiserver: {}. Every answer was compared: the status code, the \
         body, the events of watches, warnings, the order of members. A cell says how many steps were compared, and how many of them \
         differ if any do.\n\n",
        replayed.len(),
        releases.join(", ")
    ));
    let _ = writeln!(
        page,
        "| kind | recordings that agree | {} |",
        VERBS.join(" | ")
    );
    let _ = writeln!(page, "|---|---|{}", "---|".repeat(VERBS.len()));
    let mut all = Row::default();
    for (kind, row) in &rows {
        line(&mut page, kind, row);
        all.recordings += row.recordings;
        all.passed += row.passed;
        all.skipped += row.skipped;
        for (verb, (compared, different)) in &row.steps {
            let sum = all.steps.entry(verb).or_default();
            *sum = (sum.0 + compared, sum.1 + different);
        }
    }
    line(&mut page, "**all**", &all);
    if all.skipped > 0 {
        let _ = writeln!(
            page,
            "\n{} recordings were not replayed: they need what the server does not have or does not give.",
            all.skipped
        );
    }
    reasons(&mut page, replayed, exceptions);
    page
}

/// The sums of the score in one line.
pub fn sums(replayed: &[(&Recording, &Report)]) -> String {
    let all = sum(replayed);
    let (compared, different) = all.answers();
    format!(
        "{} of {} recordings agree; {compared} answers were compared, {different} of them differ, {} of these in the status code",
        all.passed,
        all.recordings - all.skipped,
        all.other_codes
    )
}

fn sum(replayed: &[(&Recording, &Report)]) -> Row {
    let mut all = Row::default();
    for (recording, report) in replayed {
        add(&mut all, recording, report);
    }
    all
}

impl Row {
    /// The number of answers that were compared, and of those that differ.
    fn answers(&self) -> (usize, usize) {
        let add = |sum: (usize, usize), steps: &(usize, usize)| (sum.0 + steps.0, sum.1 + steps.1);
        self.steps.values().fold((0, 0), add)
    }
}

/// The name of the core among servers.
pub const CORE: &str = "Optimist";

/// A table with a row for each server: its name, and the recordings that were replayed against it.
pub fn servers(servers: &[(&str, &[(&Recording, &Report)])]) -> String {
    let mut table = format!(
        "| server | recordings that agree | not replayed | answers | same status code | same answer | {} |\n|---|---|---|---|---|---|{}\n",
        VERBS.join(" | "),
        "---|".repeat(VERBS.len())
    );
    for (name, replayed) in servers {
        table.push_str(&server_row(name, replayed));
    }
    table
}

/// The row of one server. A cell of a verb says how many answers are the same, of how many.
pub fn server_row(name: &str, replayed: &[(&Recording, &Report)]) -> String {
    let all = sum(replayed);
    let (compared, different) = all.answers();
    let mut row = format!(
        "| {name} | {} of {} | {} | {compared} | {} | {} |",
        all.passed,
        all.recordings - all.skipped,
        all.skipped,
        compared - all.other_codes,
        compared - different,
    );
    for verb in VERBS {
        let cell = all.steps.get(verb);
        let cell =
            cell.map(|(compared, different)| format!("{} of {compared}", compared - different));
        let _ = write!(row, " {} |", cell.unwrap_or_default());
    }
    row.push('\n');
    row
}

/// The lines of a page between which the score of the core stands.
const MARKS: [&str; 2] = ["<!-- score -->\n", "<!-- end of the score -->\n"];

/// The lines of a page between which the scores of servers stand.
const SERVERS: [&str; 2] = ["<!-- servers -->\n", "<!-- end of the servers -->\n"];

/// The page with another score in the place of the one that it has; `None` if it has no place for one.
pub fn set_in(page: &str, score: &str) -> Option<String> {
    set_between(page, MARKS, score)
}

/// The same, with the table of [`servers`].
pub fn set_servers_in(page: &str, table: &str) -> Option<String> {
    set_between(page, SERVERS, table)
}

fn set_between(page: &str, [begin, end]: [&str; 2], score: &str) -> Option<String> {
    let (before, rest) = page.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}{score}{end}{after}"))
}

fn add(row: &mut Row, recording: &Recording, report: &Report) {
    row.recordings += 1;
    let failures: &[Failure] = match &report.outcome {
        Outcome::Passed { .. } => {
            row.passed += 1;
            &[]
        }
        Outcome::Failed(failures) => failures,
        Outcome::Skipped { .. } => {
            row.skipped += 1;
            return;
        }
    };
    let stopped = failures
        .iter()
        .find(|it| matches!(it.problem, Problem::Stopped(_)));
    let has_other_code = |it: &&Failure| match &it.problem {
        Problem::Different { expected, got, .. } => expected.status != got.status,
        Problem::Stopped(_) | Problem::Stale { .. } => false,
    };
    row.other_codes += failures.iter().filter(has_other_code).count();
    let end = stopped.map_or(recording.steps.len(), |failure| failure.step + 1);
    for (number, step) in recording.steps.iter().take(end).enumerate() {
        let Some(verb) = verb(&step.action).filter(|_| !step.nondeterministic) else {
            continue;
        };
        let (compared, different) = row.steps.entry(verb).or_default();
        *compared += 1;
        *different += usize::from(failures.iter().any(|failure| failure.step == number));
    }
}

/// The verb of a step; `None` if the step has no answer of a server.
fn verb(action: &Action) -> Option<&'static str> {
    let method = match action {
        Action::Request(call) | Action::Parallel { call, .. } => call.method.as_str(),
        Action::Watch { .. } | Action::WatchOpen { .. } | Action::WatchClose { .. } => "watch",
        Action::Install(_) | Action::Sleep(_) | Action::Compact { .. } | Action::Restart => {
            return None;
        }
    };
    Some(
        VERBS
            .into_iter()
            .find(|verb| *verb == method)
            .unwrap_or("other"),
    )
}

fn line(page: &mut String, kind: &str, row: &Row) {
    let _ = write!(
        page,
        "| {kind} | {} of {} |",
        row.passed,
        row.recordings - row.skipped
    );
    for verb in VERBS {
        let cell = match row.steps.get(verb) {
            None => String::new(),
            Some((compared, 0)) => compared.to_string(),
            Some((compared, different)) => format!("{compared}, {different} differ"),
        };
        let _ = write!(page, " {cell} |");
    }
    page.push('\n');
}

/// The known differences that these recordings show, each reason once.
fn reasons(page: &mut String, replayed: &[(&Recording, &Report)], exceptions: &Exceptions) {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (recording, _) in replayed {
        for exception in exceptions.for_recording(&recording.name) {
            *reasons.entry(&exception.reason).or_default() += 1;
        }
    }
    page.push_str("\n### Known differences\n\n");
    if reasons.is_empty() {
        page.push_str("None is tolerated.\n");
        return;
    }
    page.push_str(
        "These are tolerated, and their steps count as equal:\n\n| steps | why |\n|---|---|\n",
    );
    for (reason, count) in reasons {
        let _ = writeln!(page, "| {count} | {} |", reason.replace('|', "\\|"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn recording(name: &str, kind: Option<&str>) -> Recording {
        let request = |method: &str| json!({"method": method, "actor": "a", "path": "/api", "status": 200, "response": {}});
        let sleep = json!({"method": "SLEEP", "seconds": 1.0});
        let steps = [request("GET"), request("PUT"), request("PUT"), sleep];
        let mut value = json!({"name": name, "steps": steps});
        if let Some(kind) = kind {
            value["kind"] = kind.into();
        }
        serde_json::from_str(&value.to_string()).unwrap()
    }

    #[test]
    fn a_page_keeps_its_text_around_the_score() {
        let page = "a\n<!-- score -->\nold\n<!-- end of the score -->\nb\n";
        let set = set_in(page, "new\n").unwrap();
        assert_eq!(set, page.replace("old", "new"));
        assert!(set_in("a", "new").is_none());
    }

    #[test]
    fn groups_are_counted_by_their_kind() {
        let groups = [
            "table-pod",
            "pod-delete",
            "pod2",
            "pod",
            "hpa1",
            "table-in-sequence",
        ];
        let kinds = groups.map(kind);
        let hpa = "horizontalpodautoscaler";
        assert_eq!(kinds, ["pod", "pod", "pod", "pod", hpa, BY_HAND]);
    }

    #[test]
    fn a_page_counts_what_was_compared_and_what_differs() {
        let (same, other) = (recording("a", Some("Pod")), recording("b", Some("Pod")));
        let known = Exceptions::parse(
            r#"[{"sequence": "a", "step": 1, "reason": "one | two", "pointers": ["/status"]}]"#,
        );
        let passed = Report {
            name: "a".into(),
            outcome: Outcome::Passed { known: 1 },
        };
        let failure = Failure {
            step: 1,
            request: String::new(),
            problem: Problem::Stopped("no".into()),
        };
        let failed = Report {
            name: "b".into(),
            outcome: Outcome::Failed(vec![failure]),
        };
        let page = markdown(&[(&same, &passed), (&other, &failed)], &known.unwrap());
        assert!(
            page.contains("| Pod | 1 of 2 | 2 |  | 3, 1 differ |"),
            "{page}"
        );
        assert!(
            page.contains("| **all** | 1 of 2 | 2 |  | 3, 1 differ |"),
            "{page}"
        );
        assert!(page.contains(r"| 1 | one \| two |"), "{page}");
        let replayed = [(&same, &passed), (&other, &failed)];
        let table = servers(&[("one", &replayed), ("other", &replayed[..1])]);
        assert!(
            table.contains("| one | 1 of 2 | 0 | 5 | 5 | 4 | 2 of 2 |  | 2 of 3 |"),
            "{table}"
        );
        assert!(
            table.contains("| other | 1 of 1 | 0 | 3 | 3 | 3 | 1 of 1 |  | 2 of 2 |"),
            "{table}"
        );
        let sums = sums(&replayed);
        let expected = "1 of 2 recordings agree; 5 answers were compared, 1 of them differ, 0 of these in the status code";
        assert_eq!(sums, expected);
    }
}
