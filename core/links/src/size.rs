//! The size of a session, so that every session that is made can be opened again.

use super::Session;
use super::operation::operation_to_json;
use super::replay::{MAX_WEIGHT, weight_of};
use super::session::{MAX_STEPS, touches};
use super::text::{MAX_JSON_SIZE, MAX_TEXT_LENGTH};
use optimist_simulation::{HistoryTree, NodeId};

/// The size of a tree that grows step by step. A new tree needs a new value.
#[derive(Clone, Debug, Default)]
pub struct Size {
    /// The number of measured nodes.
    nodes: usize,
    /// The size of their requests and answers.
    weight: usize,
    /// An upper bound of their bytes of JSON in a session.
    bytes: usize,
}

/// The bytes of JSON that fit into a text even if they do not compress: deflate adds a few bytes
/// for each block (RFC 1951, section 3.2.4), and base64 makes four bytes of three.
const ALWAYS_FIT: usize = MAX_TEXT_LENGTH / 4 * 3 - (1 << 16);

/// Reserved for the parts of a session besides its steps: the current node, the names of branches,
/// the page.
const BESIDES: usize = 1 << 19;

impl Size {
    /// Returns whether a link to the session of the tree can be opened. Measures only the new nodes
    /// since the last call. If the tree does not fit, nothing is recorded.
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

/// The length of a text in JSON.
fn quoted(text: &str) -> usize {
    serde_json::Value::from(text).to_string().len()
}

/// The bytes of a node in a session, including the edits before its step.
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

/// Returns whether the text of the tree's session and its content are within the limits.
fn is_short(tree: &HistoryTree) -> bool {
    let session = Session::from_tree(tree);
    let json = session.to_json().to_string().len();
    json + BESIDES <= MAX_JSON_SIZE && session.to_text().len() + BESIDES <= MAX_TEXT_LENGTH
}
