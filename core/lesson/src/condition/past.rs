//! The part of a history that conditions are about, and queries on it.

use serde_json::Value;

use super::Condition;
use super::writers::written_by;
use optimist_apiserver::server::is_true;
use optimist_apiserver::storage::Revision;
use optimist_client::RequestKind;
use optimist_simulation::{Exchange, HistoryTree, NodeId, Outcome, Step};

/// The part of a history that conditions are about.
#[derive(Clone, Copy)]
pub struct Past<'a> {
    tree: &'a HistoryTree,
    since: NodeId,
}

impl<'a> Past<'a> {
    /// From a node, exclusive, to where the tree is. `None` if that history does not go through
    /// the node.
    pub fn since(tree: &'a HistoryTree, since: NodeId) -> Option<Self> {
        let line = tree.current_path();
        let past = line.get(..=tree.position())?;
        past.contains(&since).then_some(Self { tree, since })
    }

    pub(super) fn nodes(self) -> Vec<NodeId> {
        let line = self.tree.current_path();
        let begin = line.iter().position(|node| *node == self.since);
        let past = begin.unwrap_or(0) + 1..self.tree.position() + 1;
        line.get(past).unwrap_or_default().to_vec()
    }

    pub(super) fn steps(self) -> impl DoubleEndedIterator<Item = &'a Step> {
        let nodes = self.nodes().into_iter();
        nodes.filter_map(|node| self.tree.step(node))
    }

    pub(super) fn exchanges(self) -> impl DoubleEndedIterator<Item = &'a Exchange> {
        self.steps().filter_map(|step| step.exchange.as_ref())
    }

    pub(super) fn count(self, wanted: impl Fn(&Step) -> bool) -> usize {
        self.steps().filter(|step| wanted(step)).count()
    }

    /// Returns whether all conditions hold.
    pub fn fulfils(self, conditions: &[Condition]) -> bool {
        conditions.iter().all(|condition| self.holds(condition))
    }

    /// Returns whether a condition holds.
    pub fn holds(self, condition: &Condition) -> bool {
        condition.0.holds(self)
    }

    /// Returns whether a condition is false and stays false, whatever happens next.
    pub fn rules_out(self, condition: &Condition) -> bool {
        condition.0.is_out_of_reach(self)
    }

    /// Returns whether no request was sent in it.
    pub(crate) fn is_without_requests(self) -> bool {
        self.exchanges().next().is_none()
    }

    /// The revision of the store where it begins.
    pub(super) fn first_revision(self) -> Option<Revision> {
        let world = self.tree.world_at(self.since)?;
        Some(world.server().store().revision())
    }

    /// Returns the actual value behind a false condition, if one word can say it.
    pub(crate) fn actual_value(self, condition: &Condition) -> Option<String> {
        condition.0.actual(self)
    }

    /// The last request that was sent.
    pub(super) fn last(self) -> Option<&'a Exchange> {
        self.exchanges().next_back()
    }

    /// The history that this is a part of.
    pub(super) fn tree(self) -> &'a HistoryTree {
        self.tree
    }

    /// The object as it is stored.
    pub(super) fn stored(self) -> Option<&'a Value> {
        let stored = self.tree.world().stored();
        stored.map(|(_, object)| object.as_ref())
    }

    /// Counts the applies that were sent with force.
    pub(super) fn forced(self) -> usize {
        let forced = |exchange: &&Exchange| {
            written_by(exchange) == Some(RequestKind::Apply)
                && option(exchange, "force").is_some_and(|value| is_true(&value))
        };
        self.exchanges().filter(forced).count()
    }

    /// Counts the requests that were dry runs.
    pub(super) fn dry_runs(self) -> usize {
        let dry = |exchange: &&Exchange| option(exchange, "dryRun").is_some();
        self.exchanges().filter(dry).count()
    }

    /// Counts the stored edits of the wanted kinds that named no version of the object.
    pub(super) fn unversioned(self, wanted: fn(RequestKind) -> bool) -> usize {
        self.count(|step| {
            let sent = step.exchange.as_ref();
            let edits = |kind| ![RequestKind::Create, RequestKind::Delete].contains(&kind);
            let sent = sent
                .filter(|sent| written_by(sent).is_some_and(|kind| edits(kind) && wanted(kind)));
            step.outcome() == Outcome::Written && sent.is_some_and(|sent| !sent.names_version())
        })
    }
}

/// The value of an option in the address of a request.
fn option(exchange: &Exchange, wanted: &str) -> Option<String> {
    let (_, query) = exchange.target.split_once('?')?;
    let mut options = form_urlencoded::parse(query.as_bytes());
    let found = options.find(|(name, _)| name == wanted);
    found.map(|(_, value)| value.into_owned())
}
