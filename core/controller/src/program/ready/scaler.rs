use serde_json::json;

use super::{get_and_list, owned, watched};
use crate::client::Source;
use crate::program::{BoolExpression, ControllerOptions, Expression, Kind, Program, Statement};

/// Makes and deletes children, one in each run, until there are as many as `spec.size` of the
/// parent says.
///
/// With a stale list, the controller makes or deletes more than are needed (argo-rollouts#243,
/// kuberay#715).
#[derive(Clone, Debug, PartialEq)]
pub struct Scaler {
    /// The kind of the parent.
    pub parent: Kind,
    /// The kind of the children. The server generates their names.
    pub child: Kind,
    /// `true` if the controller waits for the events of its creations and deletions.
    pub expectations: bool,
    /// Further options.
    pub options: ControllerOptions,
}

impl Scaler {
    /// The program.
    pub fn program(&self) -> Program {
        let count = || Expression::Count("children".to_owned());
        let size = || Expression::Field("parent".to_owned(), "/spec/size".to_owned());
        let mut body = get_and_list(&self.parent, &self.child, self.expectations, Source::Cache);
        body.extend([
            Statement::If {
                condition: BoolExpression::Less(count(), size()),
                then: self.create(),
                otherwise: Vec::new(),
            },
            Statement::If {
                condition: BoolExpression::Less(size(), count()),
                then: self.delete_one(),
                otherwise: Vec::new(),
            },
        ]);
        Program {
            name: "scaler".to_owned(),
            watches: vec![watched(&self.parent), owned(&self.child, &self.parent)],
            options: self.options,
            body,
        }
    }

    fn expect(&self, creations: u32, deletions: u32) -> Option<Statement> {
        self.expectations.then_some(Statement::Expect {
            creations,
            deletions,
        })
    }

    fn create(&self) -> Vec<Statement> {
        let child = json!({"apiVersion": self.child.api_version, "kind": self.child.kind,
            "metadata": {"generateName": "{name}-"}});
        let mut create: Vec<_> = self.expect(1, 0).into_iter().collect();
        create.extend([
            Statement::New {
                into: "child".to_owned(),
                object: child,
                owner: Some("parent".to_owned()),
            },
            Statement::Create {
                object: "child".to_owned(),
                on_error: Vec::new(),
            },
            Statement::Return(crate::ReconcileResult::Done),
        ]);
        create
    }

    fn delete_one(&self) -> Vec<Statement> {
        let mut delete: Vec<_> = self.expect(0, 1).into_iter().collect();
        delete.extend([
            Statement::Delete {
                object: "child".to_owned(),
                uid: false,
                resource_version: false,
                on_error: vec![crate::program::OnError::ignore("NotFound")],
            },
            Statement::Return(crate::ReconcileResult::Done),
        ]);
        vec![Statement::ForEach {
            item: "child".to_owned(),
            of: "children".to_owned(),
            body: delete,
        }]
    }
}
