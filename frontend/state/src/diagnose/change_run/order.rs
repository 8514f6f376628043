//! The order in which the ways of writing are run and shown.

use std::collections::VecDeque;

use optimist_client::Preset;
use optimist_diagnose::ways::Way;

/// Ways that are shown beside those of the client that was chosen.
const COMPARED: [Preset; 3] = [
    Preset::KubectlApply,
    Preset::KubectlReplace,
    Preset::MergeFrom,
];

/// All ways, those first that are seen first.
pub(super) fn in_order(client: Preset) -> VecDeque<Way> {
    let mut ways = Way::all();
    // Stable.
    ways.sort_by_key(|way| rank(*way, client));
    ways.into()
}

/// The ways of the client that was chosen, then those that it is compared with, then all others.
pub(super) fn rank(way: Way, client: Preset) -> u8 {
    match way {
        Way::Client(preset, _) if preset == client => 0,
        Way::Client(preset, _) if COMPARED.contains(&preset) => 1,
        _ => 2,
    }
}
