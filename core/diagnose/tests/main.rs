//! Tests of the public items of this crate.

mod anonymize;
mod audit;
mod audit_missing;
mod branch;
mod cases;
mod claims;
mod client_side;
mod completions;
mod concurrent_writer;
mod default_owners;
mod fight_remedies;
mod following;
mod forms;
mod handover;
mod hostile;
mod input;
mod instructions;
mod lanes;
mod live;
mod message_forms;
mod messages;
mod modified;
mod observed;
mod play;
mod preview;
mod preview_apply_set;
mod preview_force;
mod preview_hooks;
mod preview_hostile;
mod preview_property;
mod preview_refusal;
mod preview_values;
mod preview_waves;
mod previewed;
mod remote;
mod requests;
mod row_parts;
mod scenes;
mod tools;
mod ways;
mod written;

use optimist_diagnose::input::{Input, NotDetected, detect, text_of_file};

/// Detects what a file is, as the page and the command line do.
fn detect_file(file: &[u8]) -> Result<Input, NotDetected> {
    detect(&text_of_file(file)?)
}
