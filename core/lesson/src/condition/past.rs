//! The part of a history that conditions are about, and what is asked of it.

use serde_json::Value;

use super::Condition;
use super::writers::WriteKind;
use optimist_apiserver::server::is_true;
use optimist_apiserver::storage::Revision;
use optimist_client::Strategy;
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

    /// Whether all of them hold.
    pub fn fulfils(self, conditions: &[Condition]) -> bool {
        conditions.iter().all(|condition| self.holds(condition))
    }

    /// Whether a condition holds.
    pub fn holds(self, condition: &Condition) -> bool {
        condition.0.holds(self)
    }

    /// Whether a condition can never hold again, whatever happens next.
    pub fn rules_out(self, condition: &Condition) -> bool {
        condition.0.is_out_of_reach(self)
    }

    /// The revision of the store where it begins.
    pub(super) fn first_revision(self) -> Option<Revision> {
        let world = self.tree.world_at(self.since)?;
        Some(world.server().store().revision())
    }

    /// What is there instead of what a condition wants, where that can be said in a word.
    pub(crate) fn instead_of(self, condition: &Condition) -> Option<String> {
        condition.0.found(self)
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

    /// How many applies were sent with force.
    pub(super) fn forced(self) -> usize {
        let forced = |exchange: &&Exchange| {
            let query = exchange
                .target
                .split_once('?')
                .map_or("", |(_, query)| query);
            WriteKind::of(exchange) == Some(WriteKind::Send(Strategy::Apply))
                && form_urlencoded::parse(query.as_bytes())
                    .find(|(name, _)| name == "force")
                    .is_some_and(|(_, value)| is_true(&value))
        };
        self.exchanges().filter(forced).count()
    }

    /// How many writes of a strategy were stored that did not say of which version.
    pub(super) fn unversioned(self, wanted: fn(Strategy) -> bool) -> usize {
        self.count(|step| {
            let sent = step.exchange.as_ref();
            let sent = sent.filter(
                |sent| matches!(WriteKind::of(sent), Some(WriteKind::Send(strategy)) if wanted(strategy)),
            );
            step.outcome() == Outcome::Written && sent.is_some_and(|sent| !names_version(sent))
        })
    }
}

/// Whether a request says of which version of the object it is: in its body, or as a JSON patch's
/// test.
fn names_version(exchange: &Exchange) -> bool {
    exchange.precondition().is_some() || exchange.tests_version()
}
