//! The crate `cel`, with the functions that Kubernetes adds
//! (`k8s.io/apiserver/pkg/cel/library`).

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use cel::extractors::This;
use cel::objects::Key;
use cel::{Context, ExecutionError, Program, Value as Cel};
use regex_lite::Regex;
use serde_json::Value;

use super::{Answer, Outcome};
use crate::schema::Quantity;
use crate::schema::openapi::{Additional, Schema};

/// An expression, compiled; `None` where the engine cannot read it.
pub(super) struct Expression {
    program: Option<Program>,
    uses_old_self: bool,
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expression").finish_non_exhaustive()
    }
}

impl Expression {
    pub(super) fn compile(text: &str) -> Self {
        let program = Program::compile(text).ok();
        let uses_old_self = program
            .as_ref()
            .is_some_and(|program| program.references().has_variable("oldSelf"));
        Self {
            program,
            uses_old_self,
        }
    }

    pub(super) fn uses_old_self(&self) -> bool {
        self.uses_old_self
    }
}

/// The functions that expressions may use.
pub(super) struct Evaluator {
    functions: Context<'static, 'static>,
}

impl Evaluator {
    pub(super) fn new() -> Self {
        let mut functions = Context::default();
        // One that the engine has already keeps the engine's meaning.
        let _ = functions.add_function("quantity", quantity);
        let _ = functions.add_function("isQuantity", is_quantity);
        let _ = functions.add_function("isLessThan", is_less_than);
        let _ = functions.add_function("isGreaterThan", is_greater_than);
        let _ = functions.add_function("compareTo", compare_to);
        let _ = functions.add_function("matches", matches);
        let _ = functions.add_function("isURL", is_url);
        let _ = functions.add_function("isIP", is_ip);
        Self { functions }
    }

    pub(super) fn evaluate(
        &self,
        expression: &Expression,
        value: &Value,
        old: Option<&Value>,
        schema: &Schema,
        optional: bool,
    ) -> Outcome {
        let Some(program) = &expression.program else {
            return Outcome::Unknown;
        };
        let mut scope = self.functions.new_inner_scope();
        scope.add_variable_from_value("self", converted(value, Some(schema)));
        let old = old.map(|old| converted(old, Some(schema)));
        match (old, optional) {
            (Some(old), false) => scope.add_variable_from_value("oldSelf", old),
            (None, false) => {}
            (old, true) => {
                if let Some(old) = self.optional(old) {
                    scope.add_variable_from_value("oldSelf", old);
                }
            }
        }
        match program.execute(&scope) {
            Ok(Cel::Bool(holds)) => Outcome::Is(Answer::Bool(holds)),
            Ok(Cel::String(text)) => Outcome::Is(Answer::Text(text.to_string())),
            Ok(_) => Outcome::Is(Answer::Other),
            Err(ExecutionError::NoSuchKey(key)) => Outcome::Fails(format!("no such key: {key}")),
            // Kubernetes checks types when a definition is created, so this is what the engine lacks.
            Err(
                ExecutionError::UndeclaredReference(_)
                | ExecutionError::NoSuchOverload(_)
                | ExecutionError::NotSupportedAsMethod { .. },
            ) => Outcome::Unknown,
            Err(error) => Outcome::Fails(error.to_string()),
        }
    }

    /// A value that may be absent.
    fn optional(&self, value: Option<Cel>) -> Option<Cel> {
        let mut scope = self.functions.new_inner_scope();
        let text = match value {
            Some(value) => {
                scope.add_variable_from_value("it", value);
                "optional.of(it)"
            }
            None => "optional.none()",
        };
        Program::compile(text).ok()?.execute(&scope).ok()
    }
}

/// A value as rules see it: integers and numbers as their schema has them, and properties by
/// names that are identifiers.
fn converted(value: &Value, schema: Option<&Schema>) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(value) => Cel::Bool(*value),
        Value::Number(number) => {
            let wants_float = schema.is_some_and(|schema| schema.ty == "number");
            match number.as_i64() {
                Some(whole) if !wants_float => Cel::Int(whole),
                _ => Cel::Float(number.as_f64().unwrap_or_default()),
            }
        }
        Value::String(text) => Cel::String(Arc::new(text.clone())),
        Value::Array(items) => {
            let of_items = schema.and_then(|schema| schema.items.as_deref());
            let items = items.iter().map(|item| converted(item, of_items));
            Cel::List(Arc::new(items.collect()))
        }
        Value::Object(map) => {
            let members = map.iter().map(|(name, member)| {
                let declared = schema.and_then(|schema| schema.properties.get(name));
                match (declared, schema.map(|schema| &schema.additional)) {
                    (Some(schema), _) => (escaped(name), converted(member, Some(schema))),
                    (None, Some(Some(Additional::Of(schema)))) => {
                        (name.clone(), converted(member, Some(schema)))
                    }
                    (None, _) => (name.clone(), converted(member, None)),
                }
            });
            Cel::Map(members.collect::<HashMap<String, Cel>>().into())
        }
    }
}

/// A property's name as an identifier (`cel.Escape`).
fn escaped(name: &str) -> String {
    const RESERVED: [&str; 18] = [
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
    ];
    if RESERVED.contains(&name) {
        return format!("__{name}__");
    }
    name.replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}

/// The member by which a quantity is told from other values.
const QUANTITY: &str = "\u{0}quantity";

fn quantity(text: Arc<String>) -> Result<Cel, ExecutionError> {
    match Quantity::parse(&text) {
        Ok(_) => {
            let members = HashMap::from([(QUANTITY.to_owned(), Cel::String(text))]);
            Ok(Cel::Map(members.into()))
        }
        Err(why) => Err(ExecutionError::function_error("quantity", why)),
    }
}

fn is_quantity(text: Arc<String>) -> bool {
    Quantity::parse(&text).is_ok()
}

fn quantity_of(value: &Cel) -> Result<Quantity, ExecutionError> {
    if let Cel::Map(map) = value
        && let Some(Cel::String(text)) = map.get(&Key::from(QUANTITY.to_owned()))
        && let Ok(quantity) = Quantity::parse(text)
    {
        return Ok(quantity);
    }
    Err(ExecutionError::function_error("quantity", "not a quantity"))
}

fn is_less_than(This(this): This<Cel>, other: Cel) -> Result<bool, ExecutionError> {
    Ok(quantity_of(&this)? < quantity_of(&other)?)
}

fn is_greater_than(This(this): This<Cel>, other: Cel) -> Result<bool, ExecutionError> {
    Ok(quantity_of(&this)? > quantity_of(&other)?)
}

fn compare_to(This(this): This<Cel>, other: Cel) -> Result<i64, ExecutionError> {
    Ok(quantity_of(&this)?.cmp(&quantity_of(&other)?) as i64)
}

fn matches(This(this): This<Arc<String>>, pattern: Arc<String>) -> Result<bool, ExecutionError> {
    match Regex::new(&pattern) {
        Ok(regex) => Ok(regex.is_match(&this)),
        Err(error) => Err(ExecutionError::function_error("matches", error)),
    }
}

/// `url.ParseRequestURI`: absolute, or a path.
fn is_url(text: Arc<String>) -> bool {
    text.starts_with('/')
        || text
            .parse::<http::Uri>()
            .is_ok_and(|uri| uri.scheme().is_some())
}

fn is_ip(text: Arc<String>) -> bool {
    text.parse::<std::net::IpAddr>().is_ok()
}
