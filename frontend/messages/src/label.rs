//! What regions, buttons and fields of the page are called, and its fixed sentences.

pub use crate::en::{
    branch_begins, branch_compare_as, branch_delete, branch_ends, branch_in_the_end,
    branch_name_label, branch_named, branch_no_more, branch_numbered, branch_open, branch_parts,
    branch_steps, branch_steps_here, branch_the_same, branches_compare, branches_count,
    branches_from_here, branches_here, branches_one, branches_title, count_conflicts, count_lost,
    count_refused, divider, no_conflict, step_back, step_first, step_forward, step_last, step_of,
    step_pause, step_play, step_play_label, step_position, step_start, steps, timeline,
    timeline_empty, timeline_start, timeline_start_label, timeline_step,
};
