use super::{get, return_unless, watched};
use crate::client::CachedObjects;
use crate::program::{BoolExpression, ControllerOptions, Expression, Kind, Program, Statement};

/// Adds an annotation to each object.
///
/// If the controller changes the cached object in place and makes the patch from it, the difference
/// is empty: nothing is written, and the cache says that the annotation is there
/// (kubernetes#27687, volcano#5683).
#[derive(Clone, Debug, PartialEq)]
pub struct Annotator {
    /// The kind of the objects.
    pub kind: Kind,
    /// `true` if the controller changes the cached object in place; else it makes a copy first
    /// (`DeepCopy`).
    pub in_place: bool,
}

impl Annotator {
    /// The program.
    pub fn program(&self) -> Program {
        let (object, base) = ("object".to_owned(), "base".to_owned());
        let annotation = "/metadata/annotations/seen".to_owned();
        let value = || Expression::Value("yes".into());
        let mut body = get("object", &self.kind);
        body.push(return_unless(
            BoolExpression::Equal(
                Expression::Field(object.clone(), annotation.clone()),
                value(),
            )
            .negated(),
        ));
        if !self.in_place {
            body.push(Statement::DeepCopy {
                into: base.clone(),
                of: object.clone(),
            });
        }
        body.extend([
            Statement::Set {
                of: object.clone(),
                field: annotation,
                to: value(),
            },
            Statement::Patch {
                base: if self.in_place { object.clone() } else { base },
                object,
                lock: false,
                status: false,
                on_error: Vec::new(),
            },
        ]);
        Program {
            name: "annotator".to_owned(),
            watches: vec![watched(&self.kind)],
            options: ControllerOptions {
                cached_objects: if self.in_place {
                    CachedObjects::Shared
                } else {
                    CachedObjects::DeepCopies
                },
                ..ControllerOptions::default()
            },
            body,
        }
    }
}
