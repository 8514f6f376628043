//! The rest of a reconciler in Go: its fields, and what it watches.

use optimist_apiserver::go::quote;
use optimist_controller::program::WatchedKind;
use optimist_controller::{CachedObjects, Handler, Predicate};

use super::Go;

const CLIENT: &str = "sigs.k8s.io/controller-runtime/pkg/client";

impl Go<'_> {
    /// The lines below `Reconcile`; `body` is what `Reconcile` is.
    pub(super) fn setup(&mut self, body: &str) {
        let mut text = String::new();
        if self.needs_at {
            text.push_str(AT);
        }
        text.push_str("\nfunc (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {\n");
        text.push_str("return ctrl.NewControllerManagedBy(mgr).\n");
        self.lines.add(&text, &(0..0));
        self.lines.depth += 1;
        let mut chain = format!("Named({}).\n", quote(&self.program.name));
        let mut main = None;
        for watched in &self.program.watches {
            chain.push_str(&self.watch(watched, &mut main));
        }
        self.lines.add(&(chain + "Complete(r)\n"), &(0..0));
        self.lines.depth -= 1;
        self.lines.add("}\n\ntype Reconciler struct {\n", &(0..0));
        self.fields(body);
        self.lines.add("}\n", &(0..0));
    }

    fn fields(&mut self, body: &str) {
        self.imports.add(CLIENT);
        let mut fields: Vec<(&str, &str)> = Vec::new();
        self.notes();
        self.lines.add("client.Client", &(0..0));
        if body.contains("r.APIReader") {
            fields.push(("APIReader", "client.Reader"));
        }
        if body.contains("r.Scheme") {
            self.imports.add("k8s.io/apimachinery/pkg/runtime");
            fields.push(("Scheme", "*runtime.Scheme"));
        }
        if body.contains("r.Expectations") {
            self.imports.add("k8s.io/kubernetes/pkg/controller");
            fields.push(("Expectations", "controller.ControllerExpectationsInterface"));
        }
        if body.contains("r.Consistency") {
            self.imports
                .add("k8s.io/kubernetes/pkg/controller/util/consistency");
            fields.push(("Consistency", "consistency.ConsistencyStore"));
        }
        let width = fields.iter().map(|(name, _)| name.len()).max();
        for (name, ty) in fields {
            let name = format!("{name:width$}", width = width.unwrap_or_default());
            self.lines.add(&format!("{name} {ty}"), &(0..0));
        }
    }

    /// Adds a comment for each option that is set where the manager is made.
    fn notes(&mut self) {
        let options = &self.program.options;
        if options.cached_objects == CachedObjects::Shared {
            let note = "// The manager's cache has UnsafeDisableDeepCopy: maps and lists are those of the cache.";
            self.lines.add(note, &(0..0));
        }
        if options.read_your_own_writes {
            let note = "// The manager's client has EnableReadYourWritesConsistency: a read waits for its own writes.";
            self.lines.add(note, &(0..0));
        }
    }

    /// A kind that is watched. The first whose objects are the keys is `For`.
    fn watch(&mut self, watched: &WatchedKind, main: &mut Option<(String, String)>) -> String {
        let ty = self.go_type(&watched.kind);
        let predicates: Vec<String> = watched
            .predicates
            .iter()
            .map(|predicate| self.predicate(predicate))
            .collect();
        let with = match predicates.is_empty() {
            true => String::new(),
            false => {
                self.imports
                    .add("sigs.k8s.io/controller-runtime/pkg/builder");
                format!(", builder.WithPredicates({})", predicates.join(", "))
            }
        };
        let kind = (watched.kind.api_version.clone(), watched.kind.kind.clone());
        match &watched.handler {
            Handler::Object if main.is_none() => {
                *main = Some(kind);
                format!("For(&{ty}{{}}{with}).\n")
            }
            Handler::Object => {
                self.imports
                    .add("sigs.k8s.io/controller-runtime/pkg/handler");
                format!("Watches(&{ty}{{}}, &handler.EnqueueRequestForObject{{}}{with}).\n")
            }
            Handler::Owner {
                api_version,
                kind,
                only_controller,
            } => {
                let owner = (api_version.clone(), kind.clone());
                if *only_controller && main.as_ref() == Some(&owner) {
                    return format!("Owns(&{ty}{{}}{with}).\n");
                }
                self.imports
                    .add("sigs.k8s.io/controller-runtime/pkg/handler");
                let owner = super::Kind::new(api_version, kind);
                let owner = self.go_type(&owner);
                let only = match only_controller {
                    true => ", handler.OnlyControllerOwner()",
                    false => "",
                };
                format!(
                    "Watches(&{ty}{{}}, handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &{owner}{{}}{only}){with}).\n"
                )
            }
        }
    }

    fn predicate(&mut self, of: &Predicate) -> String {
        self.imports
            .add("sigs.k8s.io/controller-runtime/pkg/predicate");
        let all = |go: &mut Self, of: &[Predicate]| {
            let all: Vec<_> = of.iter().map(|one| go.predicate(one)).collect();
            all.join(", ")
        };
        match of {
            Predicate::GenerationChanged => "predicate.GenerationChangedPredicate{}".to_owned(),
            Predicate::ResourceVersionChanged => {
                "predicate.ResourceVersionChangedPredicate{}".to_owned()
            }
            Predicate::LabelChanged => "predicate.LabelChangedPredicate{}".to_owned(),
            Predicate::AnnotationChanged => "predicate.AnnotationChangedPredicate{}".to_owned(),
            Predicate::And(of) => format!("predicate.And[client.Object]({})", all(self, of)),
            Predicate::Or(of) => format!("predicate.Or[client.Object]({})", all(self, of)),
        }
    }
}

/// The item of a list, if the list is long enough.
const AT: &str = "
// at is an item of a list, or a zero value if the list is shorter.
func at[T any](items []T, index int) (item T) {
if index < len(items) {
item = items[index]
}
return item
}
";
