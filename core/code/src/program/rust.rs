//! A program as the Rust of a reconciler of `kube` 4 (`kube::runtime::Controller`).

mod changes;
mod conditions;
mod fields;
mod library;
mod reads;
mod writes;

use std::ops::Range;

use optimist_apiserver::server::Resources;
use optimist_controller::program::{Kind, Program, Statement};
use optimist_controller::{CachedObjects, Handler, Source};

use super::variables::{Assigned, Declared, Variables};
use super::{Lines, Numbered, ProgramText, all, count, found_or_done};
use crate::kube_rs::snake;

pub(super) fn render(program: &Program, body: &[Numbered<'_>]) -> ProgramText {
    let mut rust = Rust {
        program,
        resources: Resources::builtin(),
        variables: Variables::collect(body),
        lines: Lines::new("    "),
        parameter: parameter(program, body),
        expects: all(body)
            .iter()
            .any(|one| matches!(one.statement, Statement::Expect { .. })),
    };
    rust.reconcile(body);
    let imports = rust.library(body);
    ProgramText {
        imports,
        lines: rust.lines.lines,
    }
}

struct Rust<'a> {
    program: &'a Program,
    resources: Resources,
    variables: Variables,
    lines: Lines,
    /// The variable of the object that kube-rs gives the reconciler: the one of a first cached Get.
    parameter: Option<String>,
    /// `true` if the program counts events that it expects.
    expects: bool,
}

const DONE: &str = "Ok(Action::await_change())";

/// Names that a variable of a program cannot have in Rust.
const RESERVED: &str = " as async await break const continue crate dyn else enum extern false fn for \
    if impl in let loop match mod move mut pub ref return self static struct super trait true type \
    unsafe use where while abstract become box do final gen macro override priv try typeof unsized \
    virtual yield ctx name namespace key owner text field json patch answer error found ";

/// The variable of the first statement, if that is what kube-rs does before it calls a reconciler.
fn parameter(program: &Program, body: &[Numbered<'_>]) -> Option<String> {
    let main = main_kind(program)?;
    let [first, second, ..] = body else {
        return None;
    };
    match first.statement {
        Statement::Get {
            into,
            kind,
            name,
            from: Source::Cache,
        } if name == "{name}" && *kind == main && found_or_done(first, second) => {
            Some(into.clone())
        }
        _ => None,
    }
}

/// The kind whose objects are the keys.
fn main_kind(program: &Program) -> Option<Kind> {
    let mut watches = program.watches.iter();
    let main = watches.find(|watched| watched.handler == Handler::Object);
    main.map(|watched| watched.kind.clone())
}

impl Rust<'_> {
    fn reconcile(&mut self, body: &[Numbered<'_>]) {
        let mut rest = body;
        let main = main_kind(self.program);
        let ty = main.map_or_else(|| "DynamicObject".to_owned(), |kind| self.type_of(&kind));
        let mut range = 0..0;
        let mut name = "object".to_owned();
        if let (Some(parameter), [first, second, others @ ..]) = (self.parameter.clone(), body) {
            name = self.named(&parameter, first.number + 1);
            range = first.number..second.number + 2;
            rest = others;
        }
        let head = format!(
            "async fn reconcile({name}: Arc<{ty}>, ctx: Arc<Context>) -> Result<Action, kube::Error> {{"
        );
        self.lines
            .call(&head, &range, (range.end > 0).then_some(Source::Cache));
        self.prelude(&name, body);
        if let Some(parameter) = self.parameter.clone() {
            self.own_parameter(&parameter, &range);
        }
        self.unknown();
        self.block(rest, true);
        if !super::ends_with_return(body) {
            let end = count(body);
            self.lines.add(DONE, &(end..end + 1));
        }
        self.lines.add("}", &(0..0));
    }

    /// Writes the lines that all statements use: the key and the clients.
    fn prelude(&mut self, object: &str, body: &[Numbered<'_>]) {
        self.lines.add(
            &format!("let namespace = {object}.namespace().unwrap_or_default();\nlet name = {object}.name_any();"),
            &(0..0),
        );
        if self.expects || self.program.options.wait_for_own_version {
            let owner = "let owner = format!(\"{namespace}/{name}\");";
            self.lines.add(owner, &(0..0));
        }
        if self.program.options.wait_for_own_version {
            self.lines
                .add("ctx.consistency.ensure_ready(&owner)?;", &(0..0));
        }
        for kind in self.written_kinds(body) {
            let (api, ty) = (api_of(&kind), self.type_of(&kind));
            let client = "ctx.client.clone(), &namespace";
            let made = match self.is_typed(&kind) {
                true => format!("Api::namespaced({client})"),
                false => format!("Api::namespaced_with({client}, &ctx.{})", field_of(&kind)),
            };
            self.lines
                .add(&format!("let {api}: Api<{ty}> = {made};"), &(0..0));
        }
    }

    /// The kinds that requests are sent for.
    fn written_kinds(&self, body: &[Numbered<'_>]) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = Vec::new();
        for one in all(body) {
            let kind = match one.statement {
                Statement::Get { kind, from, .. } | Statement::List { kind, from, .. } => {
                    (*from == Source::Server).then(|| kind.clone())
                }
                Statement::Create { object, .. }
                | Statement::Update { object, .. }
                | Statement::Patch { object, .. }
                | Statement::Apply { object, .. }
                | Statement::Delete { object, .. } => self.variables.kind_at(object, one.number),
                _ => None,
            };
            kinds.extend(kind.filter(|kind| !kinds.contains(kind)));
        }
        kinds
    }

    /// The parameter as an object of its own, if the program changes it.
    fn own_parameter(&mut self, parameter: &str, range: &Range<usize>) {
        let Some(declared) = self.variables.get(parameter, false, 1).cloned() else {
            return;
        };
        if self.program.options.cached_objects == CachedObjects::Shared && declared.changed {
            let note =
                "// An `Arc` of the store cannot be changed in place: Rust makes a copy here.";
            self.lines.add(note, range);
        }
        let name = self.name(&declared);
        if !self.is_shared(&declared) {
            let text = format!("let mut {name} = Arc::unwrap_or_clone({name});");
            self.lines.add(&text, range);
        }
        if declared.asked {
            self.lines
                .add(&format!("let mut {name}_found = true;"), range);
        }
    }

    /// Variables that never get a value.
    fn unknown(&mut self) {
        let unknown = self.variables.iter().filter(|one| one.assigned.is_empty());
        for declared in unknown.cloned().collect::<Vec<_>>() {
            self.declare(&declared, &(0..0));
        }
    }

    fn block(&mut self, body: &[Numbered<'_>], outermost: bool) {
        let mut rest = body.iter();
        while let Some(one) = rest.next() {
            self.declare_before(one);
            let guard = rest.as_slice().first();
            if let Some(guard) = guard.filter(|guard| found_or_done(one, guard)) {
                rest.next();
                self.get(one, Some(guard));
                continue;
            }
            let last = outermost && rest.as_slice().is_empty();
            match one.statement {
                Statement::Return(result) => self.result(*result, last, &one.only()),
                _ => self.statement(one),
            }
        }
    }

    fn declare_before(&mut self, one: &Numbered<'_>) {
        let before: Vec<_> = self
            .variables
            .iter()
            .filter(|declared| declared.declared_at() == (one.number, false))
            .filter(|declared| !declared.assigned.is_empty() && !self.is_parameter(declared))
            .cloned()
            .collect();
        for declared in before {
            self.declare(&declared, &one.only());
        }
    }

    fn declare(&mut self, declared: &Declared, range: &Range<usize>) {
        let name = self.name(declared);
        let ty = self.type_of_declared(declared);
        let text = match declared.list {
            true => format!("let mut {name}: Vec<Arc<{ty}>> = Vec::new();"),
            false => format!("let mut {name} = {};", self.empty(declared)),
        };
        self.lines.add(&text, range);
        if declared.asked {
            self.lines
                .add(&format!("let mut {name}_found = false;"), range);
        }
    }

    /// An object without a name.
    fn empty(&self, declared: &Declared) -> String {
        match &declared.kind {
            Some(kind) if self.is_typed(kind) => format!("{}::default()", self.type_of(kind)),
            Some(kind) => format!("DynamicObject::new(\"\", &ctx.{})", field_of(kind)),
            None => {
                "DynamicObject { types: None, metadata: ObjectMeta::default(), data: json!({}) }"
                    .to_owned()
            }
        }
    }

    fn statement(&mut self, one: &Numbered<'_>) {
        let range = one.only();
        match one.statement {
            Statement::Get { .. } => self.get(one, None),
            Statement::List { .. } => self.list(one),
            Statement::If { condition, .. } => {
                let condition = self.condition(condition, one.number);
                self.lines.add(&format!("if {condition} {{"), &range);
                self.block(&one.then, false);
                if !one.otherwise.is_empty() {
                    self.lines.add("} else {", &range);
                    self.block(&one.otherwise, false);
                }
                self.lines.add("}", &range);
            }
            Statement::ForEach { item, of, .. } => self.for_each(one, item, of),
            Statement::DeepCopy { into, of } => {
                let shared = self.variables.get(of, false, one.number);
                let shared = shared.is_some_and(|declared| self.is_shared(declared));
                let name = self.named(of, one.number);
                let copy = match shared {
                    true => format!("(*{name}).clone()"),
                    false => format!("{name}.clone()"),
                };
                self.assign(into, one, &copy);
            }
            Statement::New { .. } => self.new_object(one),
            Statement::Set { of, field, to } => {
                let text = self.set(of, field, to, one.number);
                self.lines.add(&text, &range);
            }
            Statement::AddItem { of, field, item } => {
                let text = self.change_item((of, field, item), true, one.number);
                self.lines.add(&text, &range);
            }
            Statement::RemoveItem { of, field, item } => {
                let text = self.change_item((of, field, item), false, one.number);
                self.lines.add(&text, &range);
            }
            Statement::Expect {
                creations,
                deletions,
            } => {
                let text = format!("ctx.expectations.set(&owner, {creations}, {deletions});");
                self.lines.add(&text, &range);
            }
            Statement::Return(result) => self.result(*result, false, &range),
            _ => self.write(one),
        }
    }

    /// Gives a variable a value, and declares it if this is the first.
    fn assign(&mut self, into: &str, one: &Numbered<'_>, value: &str) {
        let Some(declared) = self.variables.get(into, false, one.number + 1).cloned() else {
            return;
        };
        let name = self.name(&declared);
        let here = declared.declared_at() == (one.number, true);
        let mutable = if self.is_changed(&declared) {
            "mut "
        } else {
            ""
        };
        let declares = if here {
            format!("let {mutable}")
        } else {
            String::new()
        };
        let range = one.only();
        self.lines
            .add(&format!("{declares}{name} = {value};"), &range);
        if declared.asked {
            let declares = if here { "let mut " } else { "" };
            self.lines
                .add(&format!("{declares}{name}_found = true;"), &range);
        }
    }

    fn name(&self, declared: &Declared) -> String {
        let name = identifier(declared.name());
        let taken = self.variables.is_taken(declared, identifier);
        match (taken, RESERVED.contains(&format!(" {name} "))) {
            (true, _) => format!("{}_{}", name.trim_end_matches('_'), declared.place + 1),
            (false, true) => format!("{name}_object"),
            (false, false) => name,
        }
    }

    fn named(&self, name: &str, number: usize) -> String {
        let declared = self.variables.get(name, false, number);
        declared.map_or_else(|| identifier(name), |declared| self.name(declared))
    }

    /// A reference to the object of a variable.
    fn reference(&self, name: &str, number: usize) -> String {
        let declared = self.variables.get(name, false, number);
        let shared = declared.is_some_and(|declared| self.is_shared(declared));
        let star = if shared { "*" } else { "" };
        format!("&{star}{}", self.named(name, number))
    }

    fn is_parameter(&self, declared: &Declared) -> bool {
        self.parameter.as_deref() == Some(declared.name()) && !declared.list
    }

    /// Returns whether a variable is an `Arc`: kube-rs or a loop sets it, and nothing changes it.
    fn is_shared(&self, declared: &Declared) -> bool {
        let given = self.is_parameter(declared)
            || matches!(declared.assigned.as_slice(), [(number, Assigned::Item)]
                if declared.declared_at() == (*number, true));
        given && !self.is_changed(declared)
    }

    /// Returns whether a variable gets another value, or its object is changed.
    fn is_changed(&self, declared: &Declared) -> bool {
        declared.changed
            || declared.filled
            || declared.assigned.len() > 1
            || declared.written.iter().any(|at| declared.used_after(*at))
    }

    /// Returns whether `k8s-openapi` has a type for a kind whose fields are known here.
    fn is_typed(&self, kind: &Kind) -> bool {
        let resource = self.resources.by_kind(&kind.api_version, &kind.kind);
        resource.is_some_and(|resource| {
            let known = resource.has_builtin_schema();
            known && resource.group_version.group != "apiextensions.k8s.io"
        })
    }

    fn type_of(&self, kind: &Kind) -> String {
        match self.is_typed(kind) {
            true => kind.kind.clone(),
            false => "DynamicObject".to_owned(),
        }
    }

    fn type_of_declared(&self, declared: &Declared) -> String {
        let kind = declared.kind.as_ref();
        kind.map_or_else(|| "DynamicObject".to_owned(), |kind| self.type_of(kind))
    }
}

/// Lower case, letters, digits and underscores; a letter first.
fn identifier(name: &str) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let name = snake(&name.chars().filter(allowed).collect::<String>());
    match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => name,
        _ => format!("object{name}"),
    }
}

/// The field of the context with the type of a kind.
fn field_of(kind: &Kind) -> String {
    identifier(&kind.kind)
}

/// The field of the context with the cached objects of a kind.
fn store_of(kind: &Kind) -> String {
    identifier(&kind.kind) + "s"
}

/// The client of a kind.
fn api_of(kind: &Kind) -> String {
    identifier(&kind.kind) + "_api"
}
