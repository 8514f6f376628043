use serde_json::json;

use super::{get, owned, return_unless, watched};
use crate::client::Source;
use crate::predicate::Predicate;
use crate::program::{BoolExpression, ControllerOptions, Expression, Kind, Program, Statement};

/// Copies `spec.size` of the parent into its child.
///
/// The controller compares with a cached child that can be older than its own last write, and
/// concludes that nothing is to do (cluster-api#7594, ai-dynamo/grove#775). The event of its write
/// wakes it again, unless a predicate drops that event.
#[derive(Clone, Debug, PartialEq)]
pub struct Copier {
    /// The kind of the parent.
    pub parent: Kind,
    /// The kind of the child.
    pub child: Kind,
    /// `true` if only changes of the child's generation wake the controller. A kind without a
    /// generation has none.
    pub generation_changed: bool,
    /// `true` if a run waits for the writes of earlier runs.
    pub wait_for_own_version: bool,
}

impl Copier {
    /// The program.
    pub fn program(&self) -> Program {
        let child = || "child".to_owned();
        let mut body = get("parent", &self.parent);
        body.extend([
            Statement::Get {
                into: child(),
                kind: self.child.clone(),
                name: "{name}-copy".to_owned(),
                from: Source::Cache,
            },
            // The copy from which the difference is made.
            Statement::DeepCopy {
                into: "before".to_owned(),
                of: child(),
            },
            self.write_if_different(),
        ]);
        let mut watched_child = owned(&self.child, &self.parent);
        if self.generation_changed {
            watched_child.predicates.push(Predicate::GenerationChanged);
        }
        Program {
            name: "copier".to_owned(),
            watches: vec![watched(&self.parent), watched_child],
            options: ControllerOptions {
                wait_for_own_version: self.wait_for_own_version,
                ..ControllerOptions::default()
            },
            body,
        }
    }

    fn write_if_different(&self) -> Statement {
        let child = || "child".to_owned();
        let size = Expression::Text("{parent/spec/size}".to_owned());
        let value = Expression::Field(child(), "/data/size".to_owned());
        let set = Statement::Set {
            of: child(),
            field: "/data/size".to_owned(),
            to: size.clone(),
        };
        let template = json!({"apiVersion": self.child.api_version, "kind": self.child.kind,
            "metadata": {"name": "{name}-copy"}, "data": {"size": "{parent/spec/size}"}});
        Statement::If {
            condition: BoolExpression::Found(child()),
            then: vec![
                return_unless(BoolExpression::Equal(value, size).negated()),
                set,
                Statement::Patch {
                    object: child(),
                    base: "before".to_owned(),
                    lock: false,
                    status: false,
                    on_error: Vec::new(),
                },
            ],
            otherwise: vec![
                Statement::New {
                    into: child(),
                    object: template,
                    owner: Some("parent".to_owned()),
                },
                Statement::Create {
                    object: child(),
                    on_error: Vec::new(),
                },
            ],
        }
    }
}
