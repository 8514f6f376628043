//! A program in plain words.

use optimist_controller::program::{BoolExpression, Expression, OnError, Program, Statement};
use optimist_controller::{ReconcileResult, Source};

use serde_json::Value;

use super::template::{Part, parts};
use super::{Lines, Numbered, ProgramText, answered, count};

pub(super) fn render(program: &Program, body: &[Numbered<'_>]) -> ProgramText {
    let mut lines = Lines::new("  ");
    if program.options.wait_for_own_version {
        let text = "wait until the cache has what earlier runs for this key wrote";
        lines.add(text, &(0..0));
    }
    block(&mut lines, body);
    if !super::ends_with_return(body) {
        let end = count(body);
        let text = "return: nothing more to do until something changes";
        lines.add(text, &(end..end + 1));
    }
    ProgramText {
        imports: String::new(),
        lines: lines.lines,
    }
}

fn block(lines: &mut Lines, body: &[Numbered<'_>]) {
    for one in body {
        let range = one.only();
        match one.statement {
            Statement::If { condition: of, .. } => {
                lines.add(&format!("if {}:", condition(of)), &range);
                nested(lines, &one.then);
                if !one.otherwise.is_empty() {
                    lines.add("else:", &range);
                    nested(lines, &one.otherwise);
                }
            }
            Statement::ForEach { item, of, .. } => {
                lines.add(&format!("for each {item} of {of}:"), &range);
                nested(lines, &one.then);
            }
            statement => {
                let start = lines.lines.len();
                lines.add(&sentence(statement), &range);
                if let Some(line) = lines.lines.get_mut(start) {
                    line.answered = answered(statement);
                }
                errors(lines, one);
            }
        }
    }
}

fn nested(lines: &mut Lines, body: &[Numbered<'_>]) {
    lines.depth += 1;
    block(lines, body);
    lines.depth -= 1;
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
    let kind = super::variables::kind_of(object).kind;
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
    if let [Part::Field(name, field)] = parts.as_slice() {
        return format!("{} of {name}", dotted(field));
    }
    let part = |part: &Part<'_>| match part {
        Part::Letters(letters) => (*letters).to_owned(),
        Part::Name => "<name>".to_owned(),
        Part::Namespace => "<namespace>".to_owned(),
        Part::Field(name, field) => format!("<{} of {name}>", dotted(field)),
    };
    parts.iter().map(part).collect()
}

/// Writes a line for each error that the program handles; another error is returned.
fn errors(lines: &mut Lines, one: &Numbered<'_>) {
    for row in super::on_error(one.statement) {
        let OnError { reason, result } = row;
        let then = match result {
            None => "go on".to_owned(),
            Some(result) => returns(*result),
        };
        lines.depth += 1;
        lines.add(&format!("after {reason}: {then}"), &one.only());
        lines.depth -= 1;
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
            format!("return: again after {}", super::seconds(milliseconds))
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
