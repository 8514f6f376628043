use serde_json::Value;

use super::{get, return_unless, watched};
use crate::program::{BoolExpression, ControllerOptions, Expression, Kind, Program, Statement};

/// Keeps a field at a value. Two of them with different values for one field never rest
/// (flux2#1842): an autoscaler and GitOps, for example. To order their writes does not settle the
/// dispute; that one of them leaves the field out does.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldOwner {
    /// The name of the controller.
    pub name: String,
    /// The kind of the object.
    pub kind: Kind,
    /// The field, as a JSON pointer.
    pub field: String,
    /// Its value.
    pub value: Value,
    /// `true` if the patch has the resourceVersion.
    pub lock: bool,
}

impl FieldOwner {
    /// The program.
    pub fn program(&self) -> Program {
        let field = Expression::Field("object".to_owned(), self.field.clone());
        let value = Expression::Value(self.value.clone());
        let mut body = get("object", &self.kind);
        body.extend([
            return_unless(BoolExpression::Equal(field, value.clone()).negated()),
            Statement::DeepCopy {
                into: "base".to_owned(),
                of: "object".to_owned(),
            },
            Statement::Set {
                of: "object".to_owned(),
                field: self.field.clone(),
                to: value,
            },
            Statement::Patch {
                object: "object".to_owned(),
                base: "base".to_owned(),
                lock: self.lock,
                status: false,
                on_error: Vec::new(),
            },
        ]);
        Program {
            name: self.name.clone(),
            watches: vec![watched(&self.kind)],
            options: ControllerOptions::default(),
            body,
        }
    }
}
