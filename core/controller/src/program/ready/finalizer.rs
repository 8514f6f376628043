use super::watched;
use crate::client::Source;
use crate::program::{BoolExpression, ControllerOptions, Kind, OnError, Program, Statement};
use crate::queue::ReconcileResult;

/// Adds a finalizer to each object, and removes it when the object is about to go.
///
/// A merge patch sends the list whole. Without the lock, it removes a finalizer that another
/// controller has added since the object was read (kubermatic#6759, java-operator-sdk#1248).
#[derive(Clone, Debug, PartialEq)]
pub struct FinalizerKeeper {
    /// The kind of the objects.
    pub kind: Kind,
    /// The finalizer, such as `example.com/cleanup`.
    pub finalizer: String,
    /// The name of the controller.
    pub name: String,
    /// `true` if the patch has the resourceVersion (`MergeFromWithOptimisticLock`).
    pub lock: bool,
}

impl FinalizerKeeper {
    /// The program.
    pub fn program(&self) -> Program {
        let object = || "object".to_owned();
        let finalizers = "/metadata/finalizers".to_owned();
        let has = BoolExpression::Contains {
            of: object(),
            field: finalizers.clone(),
            item: self.finalizer.clone(),
        };
        let deleting = BoolExpression::Deleting(object());
        let body = vec![
            Statement::Get {
                into: object(),
                kind: self.kind.clone(),
                name: "{name}".to_owned(),
                from: Source::Cache,
            },
            Statement::If {
                condition: BoolExpression::Found(object()).negated(),
                then: vec![Statement::Return(ReconcileResult::Done)],
                otherwise: Vec::new(),
            },
            Statement::DeepCopy {
                into: "base".to_owned(),
                of: object(),
            },
            Statement::If {
                condition: BoolExpression::All(vec![deleting.clone(), has.clone()]),
                then: vec![
                    Statement::RemoveItem {
                        of: object(),
                        field: finalizers.clone(),
                        item: self.finalizer.clone(),
                    },
                    self.patch(),
                ],
                otherwise: Vec::new(),
            },
            Statement::If {
                condition: BoolExpression::All(vec![deleting.negated(), has.negated()]),
                then: vec![
                    Statement::AddItem {
                        of: object(),
                        field: finalizers,
                        item: self.finalizer.clone(),
                    },
                    self.patch(),
                ],
                otherwise: Vec::new(),
            },
        ];
        Program {
            name: self.name.clone(),
            watches: vec![watched(&self.kind)],
            options: ControllerOptions::default(),
            body,
        }
    }

    fn patch(&self) -> Statement {
        Statement::Patch {
            object: "object".to_owned(),
            base: "base".to_owned(),
            lock: self.lock,
            status: false,
            on_error: vec![OnError::ignore("NotFound")],
        }
    }
}
