use super::{get, of_owner, return_unless, watched};
use crate::client::Source;
use crate::program::{
    BoolExpression, ControllerOptions, Expression, Kind, OnError, Program, Statement,
};

/// Deletes objects whose owner is gone.
///
/// Nothing is promised about the order of events of two kinds: the event of a child can arrive
/// before that of its owner. And a child that the cache has can have been deleted and created
/// again (cassandra-operator#402, casskop#316, kubernetes#59848).
#[derive(Clone, Debug, PartialEq)]
pub struct Cleaner {
    /// The kind of the owner.
    pub parent: Kind,
    /// The kind of the objects that are deleted.
    pub child: Kind,
    /// The place that answers the read of the owner.
    pub parent_from: Source,
    /// `true` if the uid is a precondition of the deletion.
    pub uid: bool,
    /// `true` if the event of an owner queues the keys of its children; else it queues the key that a child of the
    /// owner's name would have, and nothing finds the other children of an owner that was deleted.
    pub finds_children: bool,
}

impl Cleaner {
    /// The program.
    pub fn program(&self) -> Program {
        let owner = "/metadata/ownerReferences/0";
        let mut body = get("child", &self.child);
        body.extend([
            Statement::Get {
                into: "parent".to_owned(),
                kind: self.parent.clone(),
                name: format!("{{child{owner}/name}}"),
                from: self.parent_from,
            },
            // An object of the same name with another uid is not the owner.
            return_unless(
                BoolExpression::Equal(
                    Expression::Field("parent".to_owned(), "/metadata/uid".to_owned()),
                    Expression::Field("child".to_owned(), format!("{owner}/uid")),
                )
                .negated(),
            ),
            Statement::Delete {
                object: "child".to_owned(),
                uid: self.uid,
                resource_version: false,
                on_error: vec![OnError::ignore("NotFound")],
            },
        ]);
        Program {
            name: "cleaner".to_owned(),
            watches: vec![
                watched(&self.child),
                match self.finds_children {
                    true => of_owner(&self.parent, &self.child),
                    false => watched(&self.parent),
                },
            ],
            options: ControllerOptions::default(),
            body,
        }
    }
}
