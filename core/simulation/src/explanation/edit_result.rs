//! The effects of a step on the edits of actors.

use std::sync::Arc;

use crate::verdict::{Edit, Loss, Replaced};
use crate::{ActorId, Step};
use optimist_apiserver::apply::{Path, PathElement};
use optimist_client::{Strategy, Subresource};

/// The effect of a step on an edit.
#[derive(Clone, Debug, PartialEq)]
pub enum EditResult {
    /// It took away the edit of another actor, which its writer had not read.
    Lost {
        /// The edit.
        loss: Loss<ActorId>,
        /// `true` if the step was a delete.
        by_delete: bool,
    },
    /// It replaced edits of one other actor, which its writer had been shown. There is at least one.
    Replaced(Vec<Replaced<ActorId>>),
    /// The server accepted the write and left these edits of it out.
    LeftOut {
        /// The edits.
        edits: Vec<Arc<Edit>>,
        /// The code and the reason of the answer: `200 OK`.
        status_line: String,
        /// The reason why the server leaves such edits out.
        reason: LeftOutReason,
    },
}

/// The reason why a server leaves an edit out of a write that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// The `scale` subresource carries replicas only.
    Scale,
    /// An apply removes only the fields that its manager applied before.
    Apply,
    /// The server does not know these fields. It says so in a warning, and drops them
    /// (`k8s.io/apiserver/pkg/endpoints/handlers/create.go createHandler`, v1.36).
    Unknown,
    /// The server sets defaults, and keeps fields that the endpoint does not write.
    Defaults,
}

impl Step {
    /// Returns the effects of the step on the edits of actors: lost, replaced and left-out edits.
    pub fn edit_results(&self) -> Vec<EditResult> {
        let by_delete = self.asks_to_delete() && self.after == 0;
        let lost = self.losses.iter().map(|loss| EditResult::Lost {
            loss: loss.clone(),
            by_delete,
        });
        let replaced = self.replacements().into_iter().map(EditResult::Replaced);
        lost.chain(replaced).chain(self.left_out()).collect()
    }

    /// The edits that the step replaced, together by the actor that had made them. Empty if the object was deleted
    /// or created, or if the step lost an edit: that outweighs them.
    fn replacements(&self) -> Vec<Vec<Replaced<ActorId>>> {
        let mut by_owner: Vec<Vec<Replaced<ActorId>>> = Vec::new();
        if self.after == 0 || !self.losses.is_empty() {
            return by_owner;
        }
        // What a tool notes by itself is no change of a person.
        let is_of_writer = |edit: &Edit| !edit.path.0.is_empty() && !edit.is_record_of_tool();
        let replaced = self.replaced.iter();
        for one in replaced.filter(|one| is_of_writer(&one.edit)) {
            match by_owner.iter_mut().find(|all| all[0].owner == one.owner) {
                Some(all) => all.push(one.clone()),
                None => by_owner.push(vec![one.clone()]),
            }
        }
        by_owner
    }

    fn left_out(&self) -> Option<EditResult> {
        let reason = match self.write() {
            Some(write) if write.subresource == Some(Subresource::Scale) => LeftOutReason::Scale,
            Some(write) if write.strategy == Strategy::Apply && self.leaves_removals_out() => {
                LeftOutReason::Apply
            }
            _ if self.left_out.iter().all(|edit| self.is_unknown(&edit.path)) => {
                LeftOutReason::Unknown
            }
            _ => LeftOutReason::Defaults,
        };
        (!self.left_out.is_empty()).then(|| EditResult::LeftOut {
            edits: self.left_out.clone(),
            status_line: self.status_line(),
            reason,
        })
    }

    /// Returns whether every edit that the server left out removes something.
    fn leaves_removals_out(&self) -> bool {
        self.left_out.iter().all(|edit| edit.value.is_none())
    }

    /// Returns whether the answer warns of a field of this path that the server does not know:
    /// `unknown field "spec.replica"`.
    fn is_unknown(&self, path: &Path) -> bool {
        let warnings = self.exchange.iter().flat_map(|exchange| &exchange.warnings);
        let mut unknown = warnings.filter_map(|warning| {
            let field = warning.strip_prefix("unknown field \"")?;
            field.strip_suffix('"')
        });
        // A name can have dots too.
        let has = |unknown: &str| {
            path.0.iter().any(|element| {
                let PathElement::Field(name) = element else {
                    return false;
                };
                let parent = unknown.strip_suffix(name.as_str());
                parent.is_some_and(|it| it.is_empty() || it.ends_with('.'))
            })
        };
        unknown.any(has)
    }
}
