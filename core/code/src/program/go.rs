//! A program as the Go of a reconciler of `sigs.k8s.io/controller-runtime` v0.25.

mod changes;
mod conditions;
mod fields;
mod reads;
mod setup;
mod writes;

use optimist_apiserver::go::quote;
use optimist_apiserver::server::Resources;
use optimist_controller::ReconcileResult;
use optimist_controller::program::{BoolExpression, Kind, Program, Statement};

use super::variables::{Assigned, Declared, Variables};
use super::{Lines, Numbered, ProgramText, count, found_or_done};
use crate::client_go::Imports;

pub(super) fn render(program: &Program, body: &[Numbered<'_>]) -> ProgramText {
    let mut go = Go {
        program,
        resources: Resources::builtin(),
        variables: Variables::collect(body),
        imports: Imports::default(),
        lines: Lines::new("\t"),
        expects: super::all(body)
            .iter()
            .any(|one| matches!(one.statement, Statement::Expect { .. })),
        needs_at: false,
        owner: super::all(body).iter().find_map(|one| match one.statement {
            Statement::Get { into, name, .. } if name == "{name}" => Some(into.clone()),
            _ => None,
        }),
    };
    go.reconcile(body);
    let code = |go: &Go<'_>| -> String {
        let lines = go.lines.lines.iter();
        lines
            .map(|line| line.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    };
    let body = code(&go);
    go.setup(&body);
    ProgramText {
        imports: go.imports.render(),
        lines: go.lines.lines,
    }
}

struct Go<'a> {
    program: &'a Program,
    resources: Resources,
    variables: Variables,
    imports: Imports,
    lines: Lines,
    /// `true` if the program counts events that it expects.
    expects: bool,
    /// `true` if an item of a list is read.
    needs_at: bool,
    /// The variable that has the object of the key.
    owner: Option<String>,
}

const RETURN_ERROR: &str = "return ctrl.Result{}, err\n";

/// Names that a variable of a program cannot have in Go.
const RESERVED: &str = " break case chan const continue default defer else fallthrough for func go \
    goto if import interface map package range return select struct switch type var r ctx req err \
    logger client ctrl corev1 appsv1 metav1 nil true false len string int any at ptr slices fmt \
    errors apierrors runtime schema time mgr ";

impl Go<'_> {
    fn reconcile(&mut self, body: &[Numbered<'_>]) {
        self.imports.add("context");
        self.imports
            .add_as("ctrl", "sigs.k8s.io/controller-runtime");
        self.lines.add(
            "func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {",
            &(0..0),
        );
        if self.uses_logger(body) {
            self.imports.add("k8s.io/klog/v2");
            self.lines.add("logger := klog.FromContext(ctx)", &(0..0));
        }
        if self.program.options.wait_for_own_version {
            let wait = format!(
                "if err := r.Consistency.EnsureReady(req.NamespacedName); err != nil {{\n{RETURN_ERROR}}}\n"
            );
            self.lines.add(&wait, &(0..0));
        }
        let unknown = self.variables.iter().filter(|one| one.assigned.is_empty());
        for declared in unknown.cloned().collect::<Vec<_>>() {
            self.declare(&declared, &(0..0));
        }
        self.block(body);
        if !super::ends_with_return(body) {
            let end = count(body);
            self.lines.add("return ctrl.Result{}, nil", &(end..end + 1));
        }
        self.lines.add("}", &(0..0));
    }

    fn uses_logger(&self, body: &[Numbered<'_>]) -> bool {
        self.expects
            || super::all(body).iter().any(|one| match one.statement {
                Statement::If { condition, .. } => condition_expects(condition),
                _ => false,
            })
    }

    fn block(&mut self, body: &[Numbered<'_>]) {
        let mut rest = body.iter();
        while let Some(one) = rest.next() {
            self.declare_before(one);
            let guard = rest.as_slice().first();
            if let Some(guard) = guard.filter(|guard| found_or_done(one, guard)) {
                rest.next();
                self.get_or_done(one, guard);
                continue;
            }
            self.statement(one);
        }
    }

    /// The variables that are declared before a statement which does not give them a value.
    fn declare_before(&mut self, one: &Numbered<'_>) {
        let before: Vec<_> = self
            .variables
            .iter()
            .filter(|declared| declared.declared_at() == (one.number, false))
            .filter(|declared| !declared.assigned.is_empty())
            .cloned()
            .collect();
        for declared in before {
            self.declare(&declared, &one.only());
        }
    }

    /// Declares a variable, and whether it was found if a condition asks.
    fn declare(&mut self, declared: &Declared, range: &std::ops::Range<usize>) {
        let (name, ty) = (self.name(declared), self.type_of(declared));
        let pointer = if self.is_pointer(declared) { "*" } else { "" };
        self.lines.add(&format!("var {name} {pointer}{ty}"), range);
        if declared.asked {
            self.lines.add(&format!("{name}Found := false"), range);
        }
    }

    fn statement(&mut self, one: &Numbered<'_>) {
        let range = one.only();
        match one.statement {
            Statement::Get { .. } => self.get(one),
            Statement::List { .. } => self.list(one),
            Statement::If { condition, .. } => {
                let condition = self.condition(condition, one.number);
                self.lines.add(&format!("if {condition} {{"), &range);
                self.block(&one.then);
                if !one.otherwise.is_empty() {
                    self.lines.add("} else {", &range);
                    self.block(&one.otherwise);
                }
                self.lines.add("}", &range);
            }
            Statement::ForEach { item, of, .. } => self.for_each(one, item, of),
            Statement::DeepCopy { into, of } => {
                let copy = format!("{}.DeepCopy()", self.named(of, one.number));
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
                let expect = format!(
                    "if err := r.Expectations.SetExpectations(logger, req.String(), {creations}, {deletions}); err != nil {{\n{RETURN_ERROR}}}\n"
                );
                self.lines.add(&expect, &range);
            }
            Statement::Return(result) => {
                let result = self.result(*result);
                self.lines.add(&result, &range);
            }
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
        let equals = if here { ":=" } else { "=" };
        // The value is a pointer: a literal with `&`, or a copy.
        let value = match (self.is_pointer(&declared), value.strip_prefix('&')) {
            (true, _) => value.to_owned(),
            (false, Some(literal)) => literal.to_owned(),
            (false, None) => format!("*{value}"),
        };
        let range = one.only();
        self.lines.add(&format!("{name} {equals} {value}"), &range);
        if declared.asked {
            self.lines
                .add(&format!("{name}Found {equals} true"), &range);
        }
    }

    /// Returns whether a condition asks if a variable has an object.
    fn asked(&self, name: &str, number: usize) -> bool {
        let declared = self.variables.get(name, false, number);
        declared.is_some_and(|declared| declared.asked)
    }

    fn result(&mut self, result: ReconcileResult) -> String {
        match result {
            ReconcileResult::Done => "return ctrl.Result{}, nil\n".to_owned(),
            ReconcileResult::RequeueAfter(milliseconds) => {
                self.imports.add("time");
                let after = match milliseconds % 1000 {
                    0 => format!("{} * time.Second", milliseconds / 1000),
                    _ => format!("{milliseconds} * time.Millisecond"),
                };
                format!("return ctrl.Result{{RequeueAfter: {after}}}, nil\n")
            }
            ReconcileResult::Requeue => "return ctrl.Result{Requeue: true}, nil\n".to_owned(),
            ReconcileResult::Error => {
                self.imports.add("errors");
                let text = quote("to be tried again after the backoff");
                format!("return ctrl.Result{{}}, errors.New({text})\n")
            }
            ReconcileResult::TerminalError => {
                self.imports.add("errors");
                self.imports
                    .add("sigs.k8s.io/controller-runtime/pkg/reconcile");
                let text = quote("not to be tried again until something changes");
                format!("return ctrl.Result{{}}, reconcile.TerminalError(errors.New({text}))\n")
            }
        }
    }

    /// The name of a variable in Go: its own, unless Go or another variable has that.
    fn name(&self, declared: &Declared) -> String {
        let name = identifier(declared.name());
        let taken = self.variables.is_taken(declared, identifier);
        match (taken, RESERVED.contains(&format!(" {name} "))) {
            (true, _) => format!("{name}{}", declared.place + 1),
            (false, true) => format!("{name}Object"),
            (false, false) => name,
        }
    }

    /// The name of the variable with an object.
    fn named(&self, name: &str, number: usize) -> String {
        let declared = self.variables.get(name, false, number);
        declared.map_or_else(|| identifier(name), |declared| self.name(declared))
    }

    /// A pointer to the object of a variable.
    fn reference(&self, name: &str, number: usize) -> String {
        let declared = self.variables.get(name, false, number);
        let pointer = declared.is_some_and(|declared| self.is_pointer(declared));
        let and = if pointer { "" } else { "&" };
        format!("{and}{}", self.named(name, number))
    }

    /// Returns whether a variable is a pointer: no Get writes into it.
    fn is_pointer(&self, declared: &Declared) -> bool {
        let filled = |how: &Assigned| matches!(how, Assigned::Read(_));
        !declared.assigned.is_empty() && !declared.assigned.iter().any(|(_, how)| filled(how))
    }

    fn type_of(&mut self, declared: &Declared) -> String {
        let suffix = if declared.list { "List" } else { "" };
        match &declared.kind {
            Some(kind) => format!("{}{suffix}", self.go_type(kind)),
            None => {
                self.imports
                    .add("k8s.io/apimachinery/pkg/apis/meta/v1/unstructured");
                format!("unstructured.Unstructured{suffix}")
            }
        }
    }

    /// The type of a kind, in its package: that of `k8s.io/api`, or of the operator.
    fn go_type(&mut self, kind: &Kind) -> String {
        let (group, version) = kind
            .api_version
            .split_once('/')
            .unwrap_or(("core", &kind.api_version));
        let (first, builtin) = match group.split_once('.') {
            None => (group, true),
            Some((first, rest)) => (first, rest == "k8s.io"),
        };
        let package = match builtin {
            true => format!("k8s.io/api/{first}/{version}"),
            false => format!("example.com/operator/api/{version}"),
        };
        let letters: String = format!("{first}{version}")
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        let alias = self.imports.add_as(&letters, &package);
        format!("{alias}.{}", identifier(&kind.kind))
    }
}

fn condition_expects(condition: &BoolExpression) -> bool {
    match condition {
        BoolExpression::ExpectationsSatisfied => true,
        BoolExpression::Not(inner) => condition_expects(inner),
        BoolExpression::All(all) => all.iter().any(condition_expects),
        _ => false,
    }
}

/// Letters, digits and underscores; a letter first.
fn identifier(name: &str) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let name: String = name.chars().filter(allowed).collect();
    match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => name,
        _ => format!("object{name}"),
    }
}
