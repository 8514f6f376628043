//! A summary of a step's request, as data for one line.

use std::fmt;

use http::Method;

use super::{Action, ControllerOperation, Operation, Step, WatchAction};
use optimist_apiserver::patch::APPLY;
use optimist_client::{Strategy, Subresource, ValueChange};

/// The summary of a step's request. It displays in English, for exports and command lines: `PUT replicas
/// 3→5 · if 100`. The page takes its words from its catalogue.
#[derive(Clone, Debug, PartialEq)]
pub enum Headline {
    /// An actor's request.
    Request {
        /// The method; `APPLY` for an apply.
        method: String,
        /// The subresource of a write.
        subresource: Option<Subresource>,
        /// The content of a write; `None` for other requests.
        content: Option<HeadlineContent>,
        /// The resourceVersion that the request carries as a precondition.
        if_version: Option<String>,
        /// `true` if it is an apply with force.
        forces: bool,
    },
    /// An operation that is no actor's.
    Operation(Operation),
}

/// The content of a write.
#[derive(Clone, Debug, PartialEq)]
pub enum HeadlineContent {
    /// A body that was written by hand.
    ByHand,
    /// Edits.
    Edits {
        /// `true` if a whole manifest carries them.
        manifest: bool,
        /// The first edit; `None` if there is no edit.
        first: Option<ValueChange>,
        /// The number of other edits.
        more: usize,
    },
    /// No edits, but fields that an apply declares with the value that was read.
    Declared {
        /// `true` if a whole manifest carries them.
        manifest: bool,
        /// The names of the fields.
        fields: Vec<String>,
    },
}

impl Step {
    /// Returns the summary of the step's request.
    pub fn headline(&self) -> Headline {
        let exchange = match (&self.operation, &self.exchange) {
            (Operation::Act(..), Some(exchange)) => exchange,
            (Operation::Watch(WatchAction::Resume), Some(exchange)) => {
                let from = exchange.asked_version().to_owned();
                return Headline::Operation(Operation::Watch(WatchAction::Open(from)));
            }
            // Its controller has no answer, whatever the server answered.
            (Operation::Control(_, ControllerOperation::StepLosing(_)), _) => {
                return Headline::Operation(self.operation.clone());
            }
            (Operation::Control(..), Some(exchange)) if !self.is_stream() => exchange,
            (operation, _) => return Headline::Operation(operation.clone()),
        };
        let applies = exchange.content_type == APPLY;
        let method = match applies && exchange.method == Method::PATCH {
            true => "APPLY".to_owned(),
            false => exchange.method.to_string(),
        };
        Headline::Request {
            method,
            subresource: self.write().and_then(|write| write.subresource),
            content: self.headline_content(),
            if_version: exchange.precondition().map(str::to_owned),
            forces: applies && forces(&exchange.target),
        }
    }

    /// The changes that an actor's write means to make, without those that every write makes: the changes of a person
    /// come before what a tool notes by itself.
    pub fn meant_changes(&self) -> Vec<&ValueChange> {
        named(self.meant.as_ref().unwrap_or(&self.edits))
    }

    fn headline_content(&self) -> Option<HeadlineContent> {
        if let Operation::Control(..) = self.operation {
            return content_of(&self.edits);
        }
        if let Some(Action::Request(by_hand)) = self.action() {
            let writes = ["PUT", "PATCH"].contains(&&*by_hand.method);
            return writes.then(|| content_of(&self.effect)).flatten();
        }
        let write = self.write()?;
        if self.is_by_hand() {
            return Some(HeadlineContent::ByHand);
        }
        let manifest = self.meant.is_some();
        let mut edits = self.meant_changes().into_iter();
        let first = edits.next().cloned();
        let sent = self.exchange.as_ref().map(|exchange| &exchange.sent);
        // A subresource carries only some of them.
        let declared = self.declared.iter();
        let declared = declared.filter(|field| sent.is_some_and(|sent| field.find(sent).is_some()));
        let fields = declared.filter_map(|field| field.0.last());
        let fields: Vec<String> = fields
            .map(|field| field.to_string().replace('.', ""))
            .collect();
        if first.is_none() && write.strategy == Strategy::Apply && !fields.is_empty() {
            return Some(HeadlineContent::Declared { manifest, fields });
        }
        Some(HeadlineContent::Edits {
            manifest,
            first,
            more: edits.count(),
        })
    }
}

impl fmt::Display for Headline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, subresource, content, if_version, forces) = match self {
            Headline::Operation(operation) => return operation.fmt(f),
            Headline::Request {
                method,
                subresource,
                content,
                if_version,
                forces,
            } => (method, subresource, content, if_version, forces),
        };
        f.write_str(method)?;
        if let Some(subresource) = subresource {
            write!(f, " /{}", subresource.name())?;
        }
        if let Some(content) = content {
            write!(f, " {content}")?;
        }
        if *forces {
            f.write_str(" · force")?;
        }
        match if_version {
            Some(version) => write!(f, " · if {version}"),
            None => Ok(()),
        }
    }
}

/// The changes that a row names: those of a person, then what a tool noted by itself.
fn named(changes: &[ValueChange]) -> Vec<&ValueChange> {
    let changes = changes.iter().filter(|change| !change.is_bookkeeping());
    let mut named: Vec<&ValueChange> = changes.collect();
    named.sort_by_key(|change| change.is_record_of_tool());
    named
}

/// These changes as the content of a row; `None` for no change.
fn content_of(changes: &[ValueChange]) -> Option<HeadlineContent> {
    let named = named(changes);
    named.first().map(|first| HeadlineContent::Edits {
        manifest: false,
        first: Some((*first).clone()),
        more: named.len() - 1,
    })
}

/// Returns whether a request says `force`: the first one counts, and is true unless it is `0` or `false`.
fn forces(target: &str) -> bool {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let force = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("force="));
    force.is_some_and(|force| force != "0" && !force.eq_ignore_ascii_case("false"))
}

impl fmt::Display for HeadlineContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (HeadlineContent::Edits { manifest, .. } | HeadlineContent::Declared { manifest, .. }) =
            self
        else {
            return f.write_str("by hand");
        };
        if *manifest {
            f.write_str("manifest ")?;
        }
        match self {
            HeadlineContent::Edits {
                first: Some(first),
                more: 0,
                ..
            } => first.fmt(f),
            HeadlineContent::Edits {
                first: Some(first),
                more,
                ..
            } => write!(f, "{first} +{more}"),
            HeadlineContent::Declared { fields, .. } => {
                write!(f, "{} unchanged", fields.join(", "))
            }
            _ => f.write_str("no change"),
        }
    }
}
