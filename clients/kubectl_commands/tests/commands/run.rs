//! Running texts with commands.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use optimist_apiserver::server::ApiServer;
use serde_json::Value;

use super::served::Served;

/// A text with commands, and what the page says that it does.
pub struct Tried {
    /// The place at which the page prints it.
    pub name: String,
    /// The server on which it is run.
    pub server: ApiServer,
    /// The commands.
    pub script: String,
    /// The files that it reads.
    pub files: Vec<(&'static str, String)>,
    pub expected: Expected,
}

/// The effect of the commands that the page promises.
pub enum Expected {
    /// kubectl understands them, and reports at most what the server says.
    Understood,
    /// All is accepted.
    Accepted,
    /// All is accepted, and the object at the path is this one.
    Object(String, Value),
    /// The server refuses, with this message.
    Refused(String),
    /// The server accepts and stores nothing: the object at the path stays.
    Nothing(String),
}

/// The outcome of a text, with its difference from the page's promise.
pub struct Outcome {
    name: String,
    script: String,
    problem: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "FAILED {}\n{}\n--> {}\n",
            self.name, self.script, self.problem
        )
    }
}

impl Tried {
    /// The commands of kubectl in the text.
    pub fn commands(&self) -> usize {
        let lines = self.script.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.matches("kubectl ").count()).sum()
    }
}

impl Tried {
    /// Returns the text without names and values: its commands with their options, the kind of object, and
    /// the expected effect.
    pub fn form(&self) -> String {
        let mut form: BTreeSet<String> = BTreeSet::new();
        for line in self.script.lines() {
            if let Some(kind) = line.strip_prefix("kind: ") {
                form.insert(kind.to_lowercase());
            }
            let Some(at) = line.find("kubectl ").filter(|_| !line.starts_with('#')) else {
                continue;
            };
            let words = line[at..].split_whitespace();
            let command = words.take_while(|word| !word.starts_with(['<', '\'', '|']));
            let kept = command
                .enumerate()
                .filter(|(at, it)| *at < 3 || it.starts_with('-'));
            let kept = kept.map(|(_, word)| word.split('=').next().unwrap_or_default());
            form.insert(kept.collect::<Vec<_>>().join(" "));
        }
        let expected = match &self.expected {
            Expected::Understood => "understood",
            Expected::Accepted => "accepted",
            Expected::Object(..) => "object",
            Expected::Refused(_) => "refused",
            Expected::Nothing(_) => "nothing",
        };
        let form: Vec<String> = form.into_iter().collect();
        format!("{expected}: {}", form.join("; "))
    }
}

/// The release of kubectl here; `None` if there is none.
pub fn kubectl_version() -> Option<String> {
    let output = Command::new("kubectl")
        .args(["version", "--client"])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = text.lines().next().unwrap_or_default();
    Some(format!("kubectl ({first})"))
}

/// Runs all texts; those that do something else.
pub fn all(tried: Vec<Tried>) -> Vec<Outcome> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get().min(4));
    let left = Mutex::new(tried.into_iter());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..threads {
            let (left, failed) = (&left, &failed);
            scope.spawn(move || {
                let place = Place::new(number);
                loop {
                    let next = left.lock().expect("no thread panics").next();
                    let Some(next) = next else { break };
                    if let Some(problem) = place.problem(&next) {
                        let outcome = Outcome {
                            name: next.name,
                            script: next.script,
                            problem,
                        };
                        println!("{outcome}");
                        failed.lock().expect("no thread panics").push(outcome);
                    }
                }
            });
        }
    });
    failed.into_inner().expect("no thread panics")
}

/// A folder, and a server.
struct Place {
    folder: PathBuf,
    served: Served,
}

/// The output of kubectl if it does not understand a command.
const NOT_UNDERSTOOD: [&str; 10] = [
    "unknown flag",
    "unknown shorthand flag",
    "unknown command",
    "flag needs an argument",
    "invalid argument",
    "for usage",
    "--help",
    "error parsing",
    "Syntax error",
    "not found\nsh:",
];

impl Place {
    fn new(number: usize) -> Self {
        let name = format!("optimist-kubectl-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("there is a temporary folder");
        let served = Served::start();
        let config = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster: {{server: \
             \"http://{}\"}}\ncontexts:\n- name: a\n  context: {{cluster: a, namespace: another-context}}\n",
            served.address
        );
        fs::write(folder.join("config"), config).expect("it can be written");
        Self { folder, served }
    }

    /// Runs a text, and returns its difference from the page's promise.
    fn problem(&self, tried: &Tried) -> Option<String> {
        self.served.replace(tried.server.clone());
        for (name, content) in &tried.files {
            fs::write(self.folder.join(name), content).expect("it can be written");
        }
        let before = match &tried.expected {
            Expected::Nothing(path) => self.served.object(path),
            _ => Value::Null,
        };
        let (accepted, said) = self.sh(&tried.script);
        if let Some(sign) = NOT_UNDERSTOOD.iter().find(|it| said.contains(**it)) {
            return Some(format!("it is not understood ({sign}): {said}"));
        }
        match &tried.expected {
            Expected::Understood => None,
            Expected::Refused(message) => {
                let refused = !accepted && one_line(&said).contains(&one_line(message));
                (!refused).then(|| format!("expected the refusal \"{message}\", got: {said}"))
            }
            _ if !accepted => Some(format!("it is refused: {said}")),
            Expected::Accepted => None,
            Expected::Object(path, object) => differs(object, &self.served.object(path)),
            Expected::Nothing(path) => differs(&before, &self.served.object(path)),
        }
    }

    /// Runs a script with a shell of POSIX. Whether its last command and every one before it succeeded, and
    /// what it printed.
    fn sh(&self, script: &str) -> (bool, String) {
        let output = Command::new("timeout")
            .args(["60", "sh", "-e", "-c", script])
            .current_dir(&self.folder)
            .env("HOME", &self.folder)
            .env("KUBECONFIG", self.folder.join("config"))
            .env("KUBE_EDITOR", "true")
            .stdin(Stdio::null())
            .output()
            .expect("there is a shell");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        (output.status.success(), said)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let folder: &Path = &self.folder;
        let _ = fs::remove_dir_all(folder);
    }
}

/// kubectl breaks messages of several causes into lines.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || "*[],".contains(c));
    let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
    words.join(" ")
}

/// Returns the differences of two objects, apart from values that are new at each run: times and versions.
fn differs(expected: &Value, found: &Value) -> Option<String> {
    let (expected, found) = (comparable(expected), comparable(found));
    (expected != found).then(|| {
        let lines = |value: &Value| {
            let text = format!("{value:#}");
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let (old, new) = (lines(&expected), lines(&found));
        let only = |of: &[String], other: &[String], mark: &str| {
            let only = of.iter().filter(|line| !other.contains(line));
            only.map(|line| format!("{mark}{line}\n"))
                .collect::<String>()
        };
        format!(
            "another object:\n{}{}",
            only(&old, &new, "- "),
            only(&new, &old, "+ ")
        )
    })
}

fn comparable(object: &Value) -> Value {
    let mut object = object.clone();
    let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return object;
    };
    let new_each_time = [
        "resourceVersion",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
    ];
    for field in new_each_time {
        meta.remove(field);
    }
    let entries = meta.get_mut("managedFields").and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten() {
        if let Some(entry) = entry.as_object_mut() {
            entry.remove("time");
        }
    }
    object
}
