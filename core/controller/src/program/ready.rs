//! Ready programs, each with its flaw as a switch.

mod annotator;
mod cleaner;
mod copier;
mod field_owner;
mod finalizer;
mod scaler;
mod switches;

use serde_json::json;

pub use annotator::Annotator;
pub use cleaner::Cleaner;
pub use copier::Copier;
pub use field_owner::FieldOwner;
pub use finalizer::FinalizerKeeper;
pub use scaler::Scaler;
pub use switches::{ReadyProgram, ReadyProgramName, Switch};

use super::{
    BoolExpression, ControllerOptions, Expression, Kind, OnError, Program, Statement, WatchedKind,
};
use crate::client::{CachedObjects, Source};
use crate::handler::Handler;
use crate::predicate::Predicate;
use crate::queue::ReconcileResult;

/// Makes one child for each parent.
///
/// With a generated name and a cached list, the controller makes a second child if it runs again
/// before the event of the first child has arrived (argo-rollouts#243, kuberay#715,
/// cluster-api#13649, scylla-operator#2492).
#[derive(Clone, Debug, PartialEq)]
pub struct ChildMaker {
    /// The kind of the parent.
    pub parent: Kind,
    /// The kind of the child.
    pub child: Kind,
    /// `true` if the server generates the name of the child (`generateName`). Else the name follows
    /// from the parent's name.
    pub generated_name: bool,
    /// The place that lists the children.
    pub list_from: Source,
    /// `true` if the controller waits for the event of the child (expectations).
    pub expectations: bool,
    /// `true` if AlreadyExists is taken to mean that the child is there; else it is an error.
    pub ignore_already_exists: bool,
    /// Further options.
    pub options: ControllerOptions,
}

impl ChildMaker {
    /// The program.
    pub fn program(&self) -> Program {
        let mut body = get_and_list(&self.parent, &self.child, self.expectations, self.list_from);
        body.push(Statement::If {
            condition: BoolExpression::Equal(
                Expression::Count("children".to_owned()),
                Expression::Value(0.into()),
            ),
            then: self.create(),
            otherwise: Vec::new(),
        });
        Program {
            name: "child-maker".to_owned(),
            watches: vec![watched(&self.parent), owned(&self.child, &self.parent)],
            options: self.options,
            body,
        }
    }

    /// The statements that make the child.
    fn create(&self) -> Vec<Statement> {
        let name = if self.generated_name {
            "generateName"
        } else {
            "name"
        };
        let text = if self.generated_name {
            "{name}-"
        } else {
            "{name}-child"
        };
        let child = json!({"apiVersion": self.child.api_version, "kind": self.child.kind,
            "metadata": {name: text}});
        let mut create = Vec::new();
        if self.expectations {
            create.push(Statement::Expect {
                creations: 1,
                deletions: 0,
            });
        }
        create.extend([
            Statement::New {
                into: "child".to_owned(),
                object: child,
                owner: Some("parent".to_owned()),
            },
            Statement::Create {
                object: "child".to_owned(),
                on_error: self.on_error(),
            },
        ]);
        create
    }

    fn on_error(&self) -> Vec<OnError> {
        if self.ignore_already_exists {
            vec![OnError::ignore("AlreadyExists")]
        } else {
            Vec::new()
        }
    }
}

/// Writes the status of an object.
///
/// With a clock in the status and no predicate, each write wakes its own writer
/// (kubeflow/notebooks#1343, konflux-ci#5874, kubernetes-sigs/application#123).
#[derive(Clone, Debug, PartialEq)]
pub struct StatusWriter {
    /// The kind of the object, with a status subresource.
    pub kind: Kind,
    /// `true` if the status has the time of the write.
    pub clock: bool,
    /// `true` if the controller compares before it writes.
    pub compare: bool,
    /// `true` if only changes of the generation wake the controller.
    pub generation_changed: bool,
    /// `true` if the controller changes the cached object in place (kubernetes#27687,
    /// volcano#5683).
    pub in_place: bool,
}

impl StatusWriter {
    /// The program.
    pub fn program(&self) -> Program {
        let field = |name: &str, field: &str| Expression::Field(name.to_owned(), field.to_owned());
        let set = |field: &str, to: Expression| Statement::Set {
            of: "object".to_owned(),
            field: field.to_owned(),
            to,
        };
        // In place, there is one object: the cached one.
        let read = if self.in_place { "object" } else { "parent" };
        let mut body = get(read, &self.kind);
        if !self.in_place {
            body.push(Statement::DeepCopy {
                into: "object".to_owned(),
                of: read.to_owned(),
            });
        }
        body.push(set(
            "/status/observedGeneration",
            field(read, "/metadata/generation"),
        ));
        if self.clock {
            body.push(set("/status/lastSeen", Expression::Now));
        }
        if self.compare {
            body.push(return_unless(
                BoolExpression::Equal(field(read, "/status"), field("object", "/status")).negated(),
            ));
        }
        body.push(Statement::Update {
            object: "object".to_owned(),
            status: true,
            on_error: Vec::new(),
        });
        let mut kind = watched(&self.kind);
        if self.generation_changed {
            kind.predicates.push(Predicate::GenerationChanged);
        }
        Program {
            name: "status-writer".to_owned(),
            watches: vec![kind],
            options: ControllerOptions {
                cached_objects: match self.in_place {
                    true => CachedObjects::Shared,
                    false => CachedObjects::DeepCopies,
                },
                ..ControllerOptions::default()
            },
            body,
        }
    }
}

/// Reads the object of the key, and returns if it is not there or about to go.
fn get(into: &str, kind: &Kind) -> Vec<Statement> {
    let into = into.to_owned();
    vec![
        Statement::Get {
            into: into.clone(),
            kind: kind.clone(),
            name: "{name}".to_owned(),
            from: Source::Cache,
        },
        return_unless(BoolExpression::Found(into.clone())),
        return_unless(BoolExpression::Deleting(into).negated()),
    ]
}

/// Reads the parent of the key and lists its children. With expectations, the program returns
/// before the list until they are satisfied.
fn get_and_list(parent: &Kind, child: &Kind, expectations: bool, from: Source) -> Vec<Statement> {
    let mut body = get("parent", parent);
    if expectations {
        body.push(return_unless(BoolExpression::ExpectationsSatisfied));
    }
    body.push(Statement::List {
        into: "children".to_owned(),
        kind: child.clone(),
        controlled_by: Some("parent".to_owned()),
        from,
    });
    body
}

fn return_unless(condition: BoolExpression) -> Statement {
    Statement::If {
        condition: condition.negated(),
        then: vec![Statement::Return(ReconcileResult::Done)],
        otherwise: Vec::new(),
    }
}

fn watched(kind: &Kind) -> WatchedKind {
    WatchedKind {
        kind: kind.clone(),
        handler: Handler::Object,
        predicates: Vec::new(),
    }
}

/// The kind of an owner, whose events queue the keys of its children.
fn of_owner(parent: &Kind, child: &Kind) -> WatchedKind {
    WatchedKind {
        kind: parent.clone(),
        handler: Handler::Dependents {
            api_version: child.api_version.clone(),
            kind: child.kind.clone(),
        },
        predicates: Vec::new(),
    }
}

fn owned(child: &Kind, parent: &Kind) -> WatchedKind {
    WatchedKind {
        kind: child.clone(),
        handler: Handler::Owner {
            api_version: parent.api_version.clone(),
            kind: parent.kind.clone(),
            only_controller: true,
        },
        predicates: Vec::new(),
    }
}
