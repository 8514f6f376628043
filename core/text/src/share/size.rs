//! How large a session is, so that whatever is made can be opened again.

use super::Session;
use super::operation::operation_to_json;
use super::replay::{MAX_WEIGHT, weight_of};
use super::session::{MAX_STEPS, touches};
use super::text::{LARGEST_JSON, LONGEST_TEXT};
use optimist_simulation::{HistoryTree, NodeId};

/// What a tree weighs that grows a step at a time. A tree in whose place another one came has a
/// size of its own.
#[derive(Clone, Debug, Default)]
pub struct Size {
    /// How many nodes were weighed.
    nodes: usize,
    /// What their requests and answers weigh together.
    weight: usize,
    /// How many bytes of JSON they are in a session, or more.
    bytes: usize,
}

/// So many bytes of JSON fit into a text, however badly they compress: deflated they are as many
/// and a few for each block (RFC 1951, section 3.2.4), and base64 makes four of three.
const ALWAYS_FIT: usize = LONGEST_TEXT / 4 * 3 - (1 << 16);

/// For what a session has besides its steps: where one is, the names of branches, the page.
const BESIDES: usize = 1 << 19;

impl Size {
    /// Whether the tree can be opened again from its session. Only the nodes that came since the
    /// last time are weighed; of a tree that does not fit nothing is remembered.
    pub fn fits(&mut self, tree: &HistoryTree) -> bool {
        let mut size = self.clone();
        if size.nodes == 0 {
            size.bytes = BESIDES + quoted(&tree.world().start().manifests);
        }
        for node in size.nodes..tree.len() {
            size.weight += tree.step(node).map_or(0, weight_of);
            size.bytes += bytes_of(tree, node);
        }
        size.nodes = tree.len();
        let fits = size.weight <= MAX_WEIGHT
            && tree.len() <= MAX_STEPS
            && (size.bytes <= ALWAYS_FIT || is_short(tree));
        if fits {
            *self = size;
        }
        fits
    }
}

/// How long a text is in JSON.
fn quoted(text: &str) -> usize {
    serde_json::Value::from(text).to_string().len()
}

/// How many bytes a node is in a session, with what was typed before its step by now.
fn bytes_of(tree: &HistoryTree, node: NodeId) -> usize {
    let typed = |node: NodeId| {
        let (step, above) = tree.step(node).zip(tree.parent(node))?;
        let (before, after) = tree.world_at(above).zip(tree.world_at(node))?;
        Some(touches(step, before, after).to_string().len())
    };
    let Some(step) = tree.step(node) else {
        return 0;
    };
    let (operation, _) = operation_to_json(&step.operation);
    let above = tree.parent(node).and_then(typed);
    operation.to_string().len() + typed(node).unwrap_or(0) + above.unwrap_or(0) + 64
}

/// Whether the text of the tree's session is short enough to be looked at, and what is in it.
fn is_short(tree: &HistoryTree) -> bool {
    let session = Session::of(tree);
    let json = session.to_json().to_string().len();
    json + BESIDES <= LARGEST_JSON && session.to_text().len() + BESIDES <= LONGEST_TEXT
}
