//! Reconcilers as programs in data: a short list of statements that is stepped statement by
//! statement. Each request is one atomic step.

mod code;
mod limits;
mod ready;
mod run;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use code::{Code, Touched};
pub use limits::ProgramProblem;
pub use ready::{
    Annotator, ChildMaker, Cleaner, Copier, FieldOwner, FinalizerKeeper, ReadyProgram,
    ReadyProgramName, Scaler, StatusWriter, Switch,
};
pub use run::{Context, Run, StatementStep, Variable};

use crate::client::{CachedObjects, Source};
use crate::handler::Handler;
use crate::predicate::Predicate;
use crate::queue::ReconcileResult;

/// A reconciler, with the kinds that it watches and the way in which its client reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Program {
    /// The name of the controller: the user agent and field manager of its requests.
    pub name: String,
    /// The kinds that it watches. There is one cache for each kind.
    pub watches: Vec<WatchedKind>,
    /// Its options for reads.
    #[serde(default)]
    pub options: ControllerOptions,
    /// The statements of `Reconcile`. At the end, it returns `Result{}`.
    pub body: Vec<Statement>,
}

impl Program {
    /// The program of an editor: it reads an object from the server, sets a field (a JSON pointer)
    /// and updates the object, as `kubectl edit` does.
    pub fn edit(kind: Kind, field: &str, value: Value) -> Self {
        let object = || "object".to_owned();
        Self {
            name: "editor".to_owned(),
            watches: Vec::new(),
            options: ControllerOptions::default(),
            body: vec![
                Statement::Get {
                    into: object(),
                    kind,
                    name: "{name}".to_owned(),
                    from: Source::Server,
                },
                Statement::Set {
                    of: object(),
                    field: field.to_owned(),
                    to: Expression::Value(value),
                },
                Statement::Update {
                    object: object(),
                    status: false,
                    on_error: Vec::new(),
                },
            ],
        }
    }
}

/// A kind of object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Kind {
    /// Such as `apps/v1`.
    pub api_version: String,
    /// Such as `Deployment`.
    pub kind: String,
}

impl Kind {
    /// A kind by its apiVersion and name.
    pub fn new(api_version: &str, kind: &str) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        }
    }
}

/// A kind that a controller watches (`For` and `Owns` of controller-runtime's builder).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WatchedKind {
    /// The kind.
    pub kind: Kind,
    /// The keys that a notification adds to the queue.
    pub handler: Handler,
    /// The predicates that a notification must pass: all of them.
    #[serde(default)]
    pub predicates: Vec<Predicate>,
}

/// The options for the reads of a controller, and for its memory of its own writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ControllerOptions {
    /// The form of cached reads: copies, or the cached objects themselves.
    pub cached_objects: CachedObjects,
    /// `true` if cached reads wait for the client's own writes (controller-runtime v0.25,
    /// `EnableReadYourWritesConsistency`).
    pub read_your_own_writes: bool,
    /// `true` if a run for a key fails until the caches have the writes of earlier runs for the key
    /// (Kubernetes 1.36, `StaleControllerConsistency`).
    pub wait_for_own_version: bool,
}

/// A statement. Texts can contain `{name}` and `{namespace}` of the key, and fields of variables,
/// `{parent/metadata/uid}`. A text that has 4 KiB gets no more from placeholders, and a run in which
/// an object has more than 100,000 values ends with an error.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Statement {
    /// Reads an object. A NotFound leaves the variable without an object; any other error is
    /// returned.
    Get {
        /// The variable.
        into: String,
        /// The kind.
        kind: Kind,
        /// The name.
        name: String,
        /// The place that answers the read.
        from: Source,
    },
    /// Reads the objects of the namespace, by name.
    List {
        /// The variable.
        into: String,
        /// The kind.
        kind: Kind,
        /// Only the objects whose controller is the object of this variable.
        #[serde(default)]
        controlled_by: Option<String>,
        /// The place that answers the read.
        from: Source,
    },
    /// Runs one of two blocks.
    If {
        /// The condition.
        condition: BoolExpression,
        /// The block for true.
        then: Vec<Statement>,
        /// The block for false.
        #[serde(default)]
        otherwise: Vec<Statement>,
    },
    /// Runs a block for each object of a list.
    ForEach {
        /// The variable of the object.
        item: String,
        /// The variable of the list.
        of: String,
        /// The block.
        body: Vec<Statement>,
    },
    /// Copies an object (`DeepCopy`).
    DeepCopy {
        /// The variable of the copy.
        into: String,
        /// The variable of the object.
        of: String,
    },
    /// Makes an object, without a request.
    New {
        /// The variable.
        into: String,
        /// The object. Its namespace is that of the key.
        object: Value,
        /// The variable of its controller (`SetControllerReference`).
        #[serde(default)]
        owner: Option<String>,
    },
    /// Sets a field.
    Set {
        /// The variable of the object.
        of: String,
        /// The field, as a JSON pointer. Missing objects on its path are made.
        field: String,
        /// The value; the field is removed if there is none.
        to: Expression,
    },
    /// Adds a text to a list of texts that does not have it (`AddFinalizer`).
    AddItem {
        /// The variable of the object.
        of: String,
        /// The list, as a JSON pointer.
        field: String,
        /// The text.
        item: String,
    },
    /// Removes a text from a list of texts (`RemoveFinalizer`).
    RemoveItem {
        /// The variable of the object.
        of: String,
        /// The list, as a JSON pointer.
        field: String,
        /// The text.
        item: String,
    },
    /// Waits for creations and deletions for the key (`SetExpectations`).
    Expect {
        /// The number of creations.
        #[serde(default)]
        creations: u32,
        /// The number of deletions.
        #[serde(default)]
        deletions: u32,
    },
    /// `Create`. The variable gets the answer, as after every write.
    Create {
        /// The variable of the object.
        object: String,
        /// The reactions to errors; an error without a row is returned.
        #[serde(default)]
        on_error: Vec<OnError>,
    },
    /// `Update`.
    Update {
        /// The variable of the object.
        object: String,
        /// `true` if the status is written.
        #[serde(default)]
        status: bool,
        /// The reactions to errors.
        #[serde(default)]
        on_error: Vec<OnError>,
    },
    /// `Patch` with `MergeFrom`.
    Patch {
        /// The variable of the object.
        object: String,
        /// The variable of the object as it was.
        base: String,
        /// `true` if the base's resourceVersion is a precondition.
        #[serde(default)]
        lock: bool,
        /// `true` if the status is written.
        #[serde(default)]
        status: bool,
        /// The reactions to errors.
        #[serde(default)]
        on_error: Vec<OnError>,
    },
    /// `Apply`.
    Apply {
        /// The variable of the object.
        object: String,
        /// `true` if it takes ownership of fields of other managers.
        #[serde(default)]
        force: bool,
        /// `true` if the status is written.
        #[serde(default)]
        status: bool,
        /// The reactions to errors.
        #[serde(default)]
        on_error: Vec<OnError>,
    },
    /// `Delete`.
    Delete {
        /// The variable of the object.
        object: String,
        /// `true` if the uid is a precondition.
        #[serde(default)]
        uid: bool,
        /// `true` if the resourceVersion is a precondition.
        #[serde(default)]
        resource_version: bool,
        /// The reactions to errors.
        #[serde(default)]
        on_error: Vec<OnError>,
    },
    /// Ends the run.
    Return(ReconcileResult),
}

/// The reaction to an error with a reason.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnError {
    /// The reason: `NotFound`, `AlreadyExists`, `Conflict`, …
    pub reason: String,
    /// The result that is returned; `None` if the run goes on (`client.IgnoreNotFound`).
    #[serde(default, rename = "return")]
    pub result: Option<ReconcileResult>,
}

impl OnError {
    /// Goes on after an error with this reason.
    pub fn ignore(reason: &str) -> Self {
        Self {
            reason: reason.to_owned(),
            result: None,
        }
    }

    /// Returns after an error with this reason.
    pub fn returns(reason: &str, result: ReconcileResult) -> Self {
        Self {
            reason: reason.to_owned(),
            result: Some(result),
        }
    }
}

/// A value. There is none if a variable has no object, or the object has no such field.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Expression {
    /// This value.
    Value(Value),
    /// A text.
    Text(String),
    /// A field of the object of a variable.
    Field(String, String),
    /// The number of objects of a list.
    Count(String),
    /// The time, in whole seconds.
    Now,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum BoolExpression {
    /// A variable has an object; after a Get: no NotFound.
    Found(String),
    /// The object of a variable has a deletionTimestamp.
    Deleting(String),
    /// Two values are equal; two missing values are equal.
    Equal(Expression, Expression),
    /// Both values are integers, and the first is less than the second.
    Less(Expression, Expression),
    /// A list of texts has a text.
    Contains {
        /// The variable of the object.
        of: String,
        /// The list, as a JSON pointer.
        field: String,
        /// The text.
        item: String,
    },
    /// Nothing is expected for the key (`SatisfiedExpectations`).
    ExpectationsSatisfied,
    /// The condition is false.
    Not(Box<BoolExpression>),
    /// All conditions are true.
    All(Vec<BoolExpression>),
}

impl BoolExpression {
    /// The contrary.
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// Returns whether it depends on the controller's memory, not only on variables.
    pub(crate) fn reads_memory(&self) -> bool {
        match self {
            Self::ExpectationsSatisfied => true,
            Self::Not(condition) => condition.reads_memory(),
            Self::All(conditions) => conditions.iter().any(Self::reads_memory),
            _ => false,
        }
    }
}
