//! Statements that read, and loops in Go.

use optimist_controller::Source;
use optimist_controller::program::Statement;

use super::{Go, RETURN_ERROR};
use crate::program::{Numbered, answered};

impl Go<'_> {
    /// `if err := r.Get(…); err != nil { return ctrl.Result{}, client.IgnoreNotFound(err) }`.
    pub(super) fn get_or_done(&mut self, one: &Numbered<'_>, guard: &Numbered<'_>) {
        let Some((into, get)) = self.get_call(one) else {
            return;
        };
        self.declare_here(&into, one);
        self.imports
            .add("sigs.k8s.io/controller-runtime/pkg/client");
        let both = one.number..guard.number + 1;
        let text = format!("if err := {get}; err != nil {{");
        self.lines.call(&text, &both, answered(one.statement));
        let ends = guard.then.first().map_or(guard.only(), Numbered::only);
        let text = "return ctrl.Result{}, client.IgnoreNotFound(err)";
        self.lines.add(text, &ends);
        self.lines.add("}", &both);
        if self.asked(&into, one.number + 1) {
            let declared = self.variables.get(&into, false, one.number + 1);
            let here = declared.is_some_and(|of| of.declared_at() == (one.number, true));
            let equals = if here { ":=" } else { "=" };
            let text = format!("{}Found {equals} true", self.named(&into, one.number + 1));
            self.lines.add(&text, &both);
        }
    }

    /// Declares the variable of a Get or List, if it is the first.
    fn declare_here(&mut self, into: &str, one: &Numbered<'_>) {
        let list = matches!(one.statement, Statement::List { .. });
        let declared = self.variables.get(into, list, one.number + 1).cloned();
        let Some(declared) = declared.filter(|of| of.declared_at() == (one.number, true)) else {
            return;
        };
        let (name, ty) = (self.name(&declared), self.type_of(&declared));
        // Belongs to no statement: the line that reads is the current one.
        self.lines.add(&format!("var {name} {ty}"), &(0..0));
    }

    fn get_call(&mut self, one: &Numbered<'_>) -> Option<(String, String)> {
        let Statement::Get {
            into, name, from, ..
        } = one.statement
        else {
            return None;
        };
        let key = if name == "{name}" {
            "req.NamespacedName".to_owned()
        } else {
            self.imports
                .add("sigs.k8s.io/controller-runtime/pkg/client");
            let name = self.text(name, one.number);
            format!("client.ObjectKey{{Namespace: req.Namespace, Name: {name}}}")
        };
        let target = self.reference(into, one.number + 1);
        let reader = reader(*from);
        Some((into.clone(), format!("{reader}.Get(ctx, {key}, {target})")))
    }

    /// A Get after which the run goes on without the object.
    pub(super) fn get(&mut self, one: &Numbered<'_>) {
        let Some((into, get)) = self.get_call(one) else {
            return;
        };
        self.declare_here(&into, one);
        let range = one.only();
        self.imports
            .add("sigs.k8s.io/controller-runtime/pkg/client");
        let declared = self.variables.get(&into, false, one.number + 1).cloned();
        let asked = self.asked(&into, one.number + 1);
        let source = answered(one.statement);
        if !asked {
            let text = format!(
                "if err := {get}; client.IgnoreNotFound(err) != nil {{\n{RETURN_ERROR}}}\n"
            );
            self.lines.call(&text, &range, source);
            return;
        }
        let found = self.named(&into, one.number + 1) + "Found";
        // Else the flag is declared with the variable.
        let here = declared.is_some_and(|of| of.declared_at() == (one.number, true));
        let flag = if !here { "=" } else { ":=" };
        self.imports
            .add_as("apierrors", "k8s.io/apimachinery/pkg/api/errors");
        let text = format!(
            "{found} {flag} true\nif err := {get}; apierrors.IsNotFound(err) {{\n{found} = false\n}} else if err != nil {{\n{RETURN_ERROR}}}\n"
        );
        let start = self.lines.lines.len();
        self.lines.add(&text, &range);
        if let Some(line) = self.lines.lines.get_mut(start + 1) {
            line.answered = source;
        }
    }

    pub(super) fn list(&mut self, one: &Numbered<'_>) {
        let Statement::List {
            into,
            kind,
            controlled_by,
            from,
        } = one.statement
        else {
            return;
        };
        self.declare_here(into, one);
        self.imports
            .add("sigs.k8s.io/controller-runtime/pkg/client");
        let declared = self.variables.get(into, true, one.number + 1).cloned();
        let list = declared.map_or_else(|| into.clone(), |declared| self.name(&declared));
        let (range, reader) = (one.only(), reader(*from));
        let text = format!(
            "if err := {reader}.List(ctx, &{list}, client.InNamespace(req.Namespace)); err != nil {{\n{RETURN_ERROR}}}\n"
        );
        self.lines.call(&text, &range, answered(one.statement));
        if let Some(owner) = controlled_by {
            self.imports.add("slices");
            self.imports.meta();
            let (ty, owner) = (self.go_type(kind), self.reference(owner, one.number));
            let text = format!(
                "{list}.Items = slices.DeleteFunc({list}.Items, func(item {ty}) bool {{\nreturn !metav1.IsControlledBy(&item, {owner})\n}})\n"
            );
            self.lines.add(&text, &range);
        }
    }

    pub(super) fn for_each(&mut self, one: &Numbered<'_>, item: &str, of: &str) {
        let list = self.variables.get(of, true, one.number).cloned();
        let list = list.map_or_else(|| of.to_owned(), |list| self.name(&list));
        let range = one.only();
        self.lines
            .add(&format!("for i := range {list}.Items {{"), &range);
        let place = format!("{list}.Items[i]");
        let declared = self.variables.get(item, false, one.number + 1).cloned();
        if let Some(declared) = declared {
            let name = self.name(&declared);
            let here = declared.declared_at() == (one.number, true);
            let text = match (here, self.is_pointer(&declared)) {
                (true, true) => format!("{name} := &{place}"),
                (true, false) => format!("{name} := {place}"),
                (false, true) => format!("{name} = &{place}"),
                (false, false) => format!("{name} = {place}"),
            };
            let used = declared.used_after(one.number);
            self.lines.add(&text, &range);
            if !used {
                self.lines.add(&format!("_ = {name}"), &range);
            }
        }
        self.block(&one.then);
        self.lines.add("}", &range);
    }
}

fn reader(from: Source) -> &'static str {
    match from {
        Source::Cache => "r",
        Source::Server => "r.APIReader",
    }
}
