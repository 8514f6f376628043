//! A program in plain words.

use std::ops::Range;

use optimist_controller::program::{
    BoolExpression, Expression, OnError, Program, Statement, WatchedKind,
};
use optimist_controller::{CachedObjects, Handler, Predicate, ReconcileResult, Source};
use serde_json::Value;

use super::template::{TemplatePart, parts};
use super::{ProgramLine, ProgramText};

pub(super) fn render(program: &Program) -> ProgramText {
    let mut lines = Lines::default();
    for text in program.watches.iter().map(wakes).chain(options(program)) {
        lines.add(&text, &(0..0));
    }
    lines.block(&program.body);
    if !matches!(program.body.last(), Some(Statement::Return(_))) {
        let end = lines.number();
        lines.add("return: nothing more to do until something changes", &end);
    }
    ProgramText {
        imports: String::new(),
        lines: lines.lines,
    }
}

/// The objects that wake the controller, and the keys that they add to its queue.
fn wakes(watched: &WatchedKind) -> String {
    let kind = &watched.kind.kind;
    let of = match &watched.handler {
        Handler::Object => String::new(),
        Handler::Owner {
            kind,
            only_controller: true,
            ..
        } => format!(", for the {kind} that controls it"),
        Handler::Owner { kind, .. } => format!(", for each {kind} that owns it"),
        Handler::Dependents { kind, .. } => format!(", for each {kind} that it owns"),
    };
    let changes = join(&watched.predicates, " and ");
    let only = match changes.is_empty() {
        true => changes,
        false => format!(", after an update only if {changes}"),
    };
    format!("woken by each {kind}{of}{only}")
}

/// The changes that predicates ask for.
fn join(predicates: &[Predicate], with: &str) -> String {
    let words = predicates.iter().map(|predicate| match predicate {
        Predicate::GenerationChanged => "its generation changed".to_owned(),
        Predicate::ResourceVersionChanged => "its version changed".to_owned(),
        Predicate::LabelChanged => "its labels changed".to_owned(),
        Predicate::AnnotationChanged => "its annotations changed".to_owned(),
        Predicate::And(all) => format!("({})", join(all, " and ")),
        Predicate::Or(any) => format!("({})", join(any, " or ")),
    });
    words.collect::<Vec<_>>().join(with)
}

fn options(program: &Program) -> impl Iterator<Item = String> {
    let options = &program.options;
    let shared = options.cached_objects == CachedObjects::Shared;
    let all = [
        (
            shared,
            "reads give the objects of the cache themselves, and not copies",
        ),
        (
            options.read_your_own_writes,
            "a cached read waits until the cache has what this controller wrote",
        ),
        (
            options.wait_for_own_version,
            "wait until the cache has what earlier runs for this key wrote",
        ),
    ];
    let on = all.into_iter().filter(|(on, _)| *on);
    on.map(|(_, text)| text.to_owned())
}

/// The lines so far, and how deep the next one is indented.
#[derive(Default)]
struct Lines {
    lines: Vec<ProgramLine>,
    depth: usize,
    /// The number of the next statement: they are numbered as they are written, blocks after their head.
    next: usize,
}

impl Lines {
    /// The number of the next statement, as a range.
    fn number(&mut self) -> Range<usize> {
        self.next += 1;
        self.next - 1..self.next
    }

    fn add(&mut self, text: &str, statements: &Range<usize>) {
        self.lines.push(ProgramLine {
            depth: self.depth,
            text: text.to_owned(),
            statements: statements.clone(),
            answered: None,
        });
    }

    fn block(&mut self, body: &[Statement]) {
        for statement in body {
            let number = self.number();
            match statement {
                Statement::If {
                    condition: of,
                    then,
                    otherwise,
                } => {
                    self.add(&format!("if {}:", condition(of)), &number);
                    self.nested(then);
                    if !otherwise.is_empty() {
                        self.add("else:", &number);
                        self.nested(otherwise);
                    }
                }
                Statement::ForEach { item, of, body } => {
                    self.add(&format!("for each {item} of {of}:"), &number);
                    self.nested(body);
                }
                statement => {
                    self.add(&sentence(statement), &number);
                    if let Some(line) = self.lines.last_mut() {
                        line.answered = answered(statement);
                    }
                    self.errors(statement, &number);
                }
            }
        }
    }

    fn nested(&mut self, body: &[Statement]) {
        self.depth += 1;
        self.block(body);
        self.depth -= 1;
    }

    /// Adds a line for each error that the program handles; another error is returned.
    fn errors(&mut self, statement: &Statement, number: &Range<usize>) {
        self.depth += 1;
        for OnError { reason, result } in on_error(statement) {
            let then = result.map_or_else(|| "go on".to_owned(), returns);
            self.add(&format!("after {reason}: {then}"), number);
        }
        self.depth -= 1;
    }
}

/// A statement without a block.
fn sentence(statement: &Statement) -> String {
    match statement {
        Statement::Get {
            into,
            kind,
            name,
            from,
        } => {
            let name = if name == "{name}" {
                "of the key".to_owned()
            } else {
                text(name)
            };
            format!("{into} = the {} {name}, {}", kind.kind, source(*from))
        }
        Statement::List {
            into,
            kind,
            controlled_by,
            from,
        } => {
            let owner = controlled_by.as_ref();
            let owned = owner.map_or_else(String::new, |owner| format!(" that {owner} controls"));
            format!("{into} = every {}{owned}, {}", kind.kind, source(*from))
        }
        Statement::DeepCopy { into, of } => format!("{into} = a copy of {of}"),
        Statement::New {
            into,
            object,
            owner,
        } => new(into, object, owner.as_deref()),
        Statement::Set {
            of,
            field,
            to: value,
        } => format!("set {} of {of} to {}", dotted(field), expression(value)),
        Statement::AddItem { of, field, item } => {
            format!(
                "add {} to {} of {of}, if it is not there",
                text(item),
                dotted(field)
            )
        }
        Statement::RemoveItem { of, field, item } => {
            format!("remove {} from {} of {of}", text(item), dotted(field))
        }
        Statement::Expect {
            creations,
            deletions,
        } => format!("expect the events of {creations} creations and {deletions} deletions"),
        Statement::Return(result) => returns(*result),
        write => request(write),
    }
}

/// A statement that writes.
fn request(statement: &Statement) -> String {
    let part = |status: &bool| if *status { "the status of " } else { "" };
    match statement {
        Statement::Create { object, .. } => format!("create {object}"),
        Statement::Update { object, status, .. } => format!(
            "update {}{object}: the whole object, if its version is still current",
            part(status)
        ),
        Statement::Patch {
            object,
            base,
            lock,
            status,
            ..
        } => {
            let lock = match lock {
                true => "if the version is still current",
                false => "whatever the version is",
            };
            let part = part(status);
            format!("patch {part}{object}: what differs from {base}, {lock}")
        }
        Statement::Apply {
            object,
            force,
            status,
            ..
        } => {
            let force = if *force { " by force" } else { "" };
            format!("apply {}{object}{force}", part(status))
        }
        Statement::Delete {
            object,
            uid,
            resource_version,
            ..
        } => {
            let on = match (uid, resource_version) {
                (true, true) => ", if uid and version are still the same",
                (true, false) => ", if its uid is still the same",
                (false, true) => ", if its version is still the same",
                (false, false) => "",
            };
            format!("delete {object}{on}")
        }
        _ => String::new(),
    }
}

fn new(into: &str, object: &Value, owner: Option<&str>) -> String {
    let kind = object
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let name = |field: &str| object.pointer(field).and_then(|name| name.as_str());
    let named = match (name("/metadata/name"), name("/metadata/generateName")) {
        (Some(name), _) => format!(" named {}", text(name)),
        (None, Some(prefix)) => {
            let prefix = text(prefix);
            format!(" with a generated name that begins with {prefix}")
        }
        (None, None) => String::new(),
    };
    let owned = owner.map_or_else(String::new, |owner| format!(", controlled by {owner}"));
    let mut fields = String::new();
    fill(object, "", &mut fields);
    format!("{into} = a new {kind}{named}{owned}{fields}")
}

/// The fields of a new object that are no metadata.
fn fill(object: &Value, at: &str, out: &mut String) {
    for (key, value) in object.as_object().into_iter().flatten() {
        if at.is_empty() && ["apiVersion", "kind", "metadata"].contains(&key.as_str()) {
            continue;
        }
        let field = match at {
            "" => key.clone(),
            at => format!("{at}.{key}"),
        };
        let value = match value {
            Value::Object(members) if !members.is_empty() => {
                fill(value, &field, out);
                continue;
            }
            Value::String(template) => text(template),
            other => other.to_string(),
        };
        out.push_str(&format!(", {field}: {value}"));
    }
}

/// A text, with what its placeholders stand for.
fn text(template: &str) -> String {
    let parts = parts(template);
    if let [TemplatePart::Field(name, field)] = parts.as_slice() {
        return format!("{} of {name}", dotted(field));
    }
    let part = |part: &TemplatePart<'_>| match part {
        TemplatePart::Letters(letters) => (*letters).to_owned(),
        TemplatePart::Name => "<name>".to_owned(),
        TemplatePart::Namespace => "<namespace>".to_owned(),
        TemplatePart::Field(name, field) => format!("<{} of {name}>", dotted(field)),
    };
    parts.iter().map(part).collect()
}

/// Returns the source that answers a statement; `None` if the statement sends nothing and reads no
/// cache.
fn answered(statement: &Statement) -> Option<Source> {
    match statement {
        Statement::Get { from, .. } | Statement::List { from, .. } => Some(*from),
        Statement::Create { .. }
        | Statement::Update { .. }
        | Statement::Patch { .. }
        | Statement::Apply { .. }
        | Statement::Delete { .. } => Some(Source::Server),
        _ => None,
    }
}

/// Returns the results that a write has for certain errors.
fn on_error(statement: &Statement) -> &[OnError] {
    match statement {
        Statement::Create { on_error, .. }
        | Statement::Update { on_error, .. }
        | Statement::Patch { on_error, .. }
        | Statement::Apply { on_error, .. }
        | Statement::Delete { on_error, .. } => on_error,
        _ => &[],
    }
}

/// A time in words: `30 s`, `500 ms`.
fn seconds(milliseconds: u64) -> String {
    match milliseconds % 1000 {
        0 => format!("{} s", milliseconds / 1000),
        _ => format!("{milliseconds} ms"),
    }
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Cache => "as the cache has it",
        Source::Server => "as the server has it",
    }
}

fn returns(result: ReconcileResult) -> String {
    match result {
        ReconcileResult::Done => "return: nothing more to do until something changes".to_owned(),
        ReconcileResult::RequeueAfter(milliseconds) => {
            format!("return: again after {}", seconds(milliseconds))
        }
        ReconcileResult::Requeue => "return: again after the backoff".to_owned(),
        ReconcileResult::Error => "return an error: again after the backoff".to_owned(),
        ReconcileResult::TerminalError => {
            "return a terminal error: not again until something changes".to_owned()
        }
    }
}

fn dotted(pointer: &str) -> String {
    super::template::path(pointer).join(".")
}

fn expression(of: &Expression) -> String {
    match of {
        Expression::Value(value) => value.to_string(),
        Expression::Text(template) => text(template),
        Expression::Field(name, field) => format!("{} of {name}", dotted(field)),
        Expression::Count(name) => format!("the number of {name}"),
        Expression::Now => "the time".to_owned(),
    }
}

fn condition(of: &BoolExpression) -> String {
    use BoolExpression as Is;
    match of {
        Is::Found(name) => format!("{name} was found"),
        Is::Deleting(name) => format!("{name} is being deleted"),
        Is::Equal(a, b) => format!("{} is {}", expression(a), expression(b)),
        Is::Less(a, b) => format!("{} is less than {}", expression(a), expression(b)),
        Is::Contains { of, field, item } => format!("{} of {of} has {}", dotted(field), text(item)),
        Is::ExpectationsSatisfied => "every expected event has arrived".to_owned(),
        Is::All(all) => all.iter().map(condition).collect::<Vec<_>>().join(", and "),
        Is::Not(inner) => match &**inner {
            Is::Not(twice) => condition(twice),
            Is::Found(name) => format!("{name} was not found"),
            Is::Deleting(name) => format!("{name} is not being deleted"),
            Is::Equal(a, b) => format!("{} is not {}", expression(a), expression(b)),
            Is::Less(a, b) => format!("{} is not less than {}", expression(a), expression(b)),
            Is::Contains { of, field, item } => {
                format!("{} of {of} does not have {}", dotted(field), text(item))
            }
            Is::ExpectationsSatisfied => "an expected event has not arrived".to_owned(),
            all => format!("not all of this is true: {}", condition(all)),
        },
    }
}
