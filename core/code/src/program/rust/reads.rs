//! Statements that read, loops and returns in Rust.

use std::ops::Range;

use optimist_controller::program::{Kind, Statement};
use optimist_controller::{ReconcileResult, Source};

use super::{DONE, Rust, api_of, field_of, identifier, store_of};
use crate::kube_rs::string;
use crate::program::variables::Declared;
use crate::program::{Numbered, answered};

impl Rust<'_> {
    /// A Get, and the return behind it if there is one.
    pub(super) fn get(&mut self, one: &Numbered<'_>, guard: Option<&Numbered<'_>>) {
        let Statement::Get {
            into,
            kind,
            name,
            from,
        } = one.statement
        else {
            return;
        };
        let Some(declared) = self.variables.get(into, false, one.number + 1).cloned() else {
            return;
        };
        let read = self.read(one, kind, name, *from);
        if let Some(guard) = guard {
            self.get_or_return(one, guard, &declared, &read);
            return;
        }
        let (name, mutable) = (self.name(&declared), self.mutable(&declared));
        let here = declared.declared_at() == (one.number, true);
        let source = answered(one.statement);
        let range = one.only();
        let empty = match self.is_typed(kind) {
            true => "unwrap_or_default()".to_owned(),
            false => format!("unwrap_or_else(|| {})", self.empty(&declared)),
        };
        let target = if here {
            format!("let {mutable}{name}")
        } else {
            name.clone()
        };
        if declared.asked {
            let flag = if here && declared.assigned.len() == 1 {
                "let "
            } else if here {
                "let mut "
            } else {
                ""
            };
            self.lines
                .call(&format!("let found = {read};"), &range, source);
            self.lines
                .add(&format!("{flag}{name}_found = found.is_some();"), &range);
            self.lines
                .add(&format!("{target} = found.{empty};"), &range);
        } else {
            self.lines
                .call(&format!("{target} = {read}.{empty};"), &range, source);
        }
    }

    /// A Get that returns if there is no object.
    fn get_or_return(
        &mut self,
        one: &Numbered<'_>,
        guard: &Numbered<'_>,
        declared: &Declared,
        read: &str,
    ) {
        let (name, mutable) = (self.name(declared), self.mutable(declared));
        let here = declared.declared_at() == (one.number, true);
        let range = one.number..guard.number + 1;
        let target = if here {
            format!("{mutable}{name}")
        } else {
            "found".to_owned()
        };
        self.lines.call(
            &format!("let Some({target}) = {read} else {{"),
            &range,
            answered(one.statement),
        );
        let ends = guard.then.first().map_or(guard.only(), Numbered::only);
        self.lines.add(&format!("return {DONE};"), &ends);
        self.lines.add("};", &range);
        if !here {
            self.lines.add(&format!("{name} = found;"), &range);
        }
        if declared.asked {
            let declares = if here { "let mut " } else { "" };
            self.lines
                .add(&format!("{declares}{name}_found = true;"), &range);
        }
    }

    fn mutable(&self, declared: &Declared) -> &'static str {
        if self.is_changed(declared) {
            "mut "
        } else {
            ""
        }
    }

    /// A read of one object, as an `Option`.
    fn read(&mut self, one: &Numbered<'_>, kind: &Kind, name: &str, from: Source) -> String {
        let name = self.borrowed(name, one.number);
        match from {
            Source::Server => format!("{}.get_opt({name}).await?", api_of(kind)),
            Source::Cache => {
                let key = match self.is_typed(kind) {
                    true => format!("ObjectRef::new({name})"),
                    false => format!(
                        "ObjectRef::new_with({name}, ctx.{}.clone())",
                        field_of(kind)
                    ),
                };
                let key = format!("let key = {key}.within(&namespace);");
                self.lines.add(&key, &one.only());
                format!("ctx.{}.get(&key).map(Arc::unwrap_or_clone)", store_of(kind))
            }
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
        let Some(declared) = self.variables.get(into, true, one.number + 1).cloned() else {
            return;
        };
        let owner = controlled_by
            .as_ref()
            .map(|owner| self.reference(owner, one.number));
        let of = |item: &str| {
            owner
                .as_ref()
                .map(|owner| format!("is_controlled_by({item}, {owner})"))
        };
        let read = match from {
            Source::Cache => {
                let here = "item.namespace().unwrap_or_default() == namespace";
                let condition = match of("item") {
                    Some(owned) => format!("{here} && {owned}"),
                    None => here.to_owned(),
                };
                format!(
                    "ctx.{}.state_filter(|item| {{\n{condition}\n}})",
                    store_of(kind)
                )
            }
            Source::Server => {
                let items = format!("{}.list(&ListParams::default()).await?.items", api_of(kind));
                let filter =
                    of("item").map_or_else(String::new, |owned| format!(".filter(|item| {owned})"));
                format!("{items}.into_iter(){filter}.map(Arc::new).collect()")
            }
        };
        let name = self.name(&declared);
        let ty = self.type_of(kind);
        let mutable = if declared.assigned.len() > 1 {
            "mut "
        } else {
            ""
        };
        let target = match declared.declared_at() == (one.number, true) {
            true => format!("let {mutable}{name}: Vec<Arc<{ty}>>"),
            false => name,
        };
        let text = format!("{target} = {read};");
        let source = answered(one.statement).filter(|source| *source == Source::Cache);
        self.lines.call(&text, &one.only(), source);
    }

    pub(super) fn for_each(&mut self, one: &Numbered<'_>, item: &str, of: &str) {
        let list = self.variables.get(of, true, one.number).cloned();
        let list = list.map_or_else(|| identifier(of), |list| self.name(&list));
        let range = one.only();
        let declared = self.variables.get(item, false, one.number + 1).cloned();
        let Some(declared) = declared else { return };
        let name = self.name(&declared);
        let here = declared.declared_at() == (one.number, true);
        let target = if here { &name } else { "item" };
        self.lines.add(
            &format!("for {target} in {list}.iter().cloned() {{"),
            &range,
        );
        if !here {
            let text = format!("{name} = Arc::unwrap_or_clone(item);");
            self.lines.add(&text, &range);
        } else if !self.is_shared(&declared) {
            let text = format!("let mut {name} = Arc::unwrap_or_clone({name});");
            self.lines.add(&text, &range);
        }
        self.block(&one.then, false);
        self.lines.add("}", &range);
    }

    /// Ends the run: the last statement of all is the value of the function.
    pub(super) fn result(&mut self, result: ReconcileResult, last: bool, range: &Range<usize>) {
        let value = match result {
            ReconcileResult::Done | ReconcileResult::RequeueAfter(0) => DONE.to_owned(),
            ReconcileResult::RequeueAfter(milliseconds) => match milliseconds % 1000 {
                0 => format!(
                    "Ok(Action::requeue(Duration::from_secs({})))",
                    milliseconds / 1000
                ),
                _ => format!("Ok(Action::requeue(Duration::from_millis({milliseconds})))"),
            },
            ReconcileResult::Requeue => {
                let note =
                    "// kube-rs has no rate-limited requeue: this is the first delay of one.";
                self.lines.add(note, range);
                "Ok(Action::requeue(Duration::from_millis(5)))".to_owned()
            }
            ReconcileResult::Error => {
                let text = string("to be tried again after the backoff");
                format!("Err(kube::Error::Service({text}.into()))")
            }
            ReconcileResult::TerminalError => {
                let note = "// kube-rs has no terminal error: nothing is queued again.";
                self.lines.add(note, range);
                DONE.to_owned()
            }
        };
        let text = if last {
            value
        } else {
            format!("return {value};")
        };
        self.lines.add(&text, range);
    }
}
