//! What regions, buttons and fields of the page are called, and its fixed sentences.

pub use crate::en_pages::*;

pub use crate::en::{
    add_item, add_member, add_name_and_value, all_controls, answer, branch_begins,
    branch_compare_as, branch_delete, branch_ends, branch_in_the_end, branch_name_label,
    branch_named, branch_no_more, branch_numbered, branch_open, branch_parts, branch_steps,
    branch_steps_here, branch_the_same, branches_compare, branches_count, branches_from_here,
    branches_here, branches_one, branches_title, copied, copy, copy_markdown, copy_refused,
    count_conflicts, count_lost, count_refused, diff_absent, diff_bookkeeping, diff_column_after,
    diff_column_before, diff_column_read, diff_column_stored, diff_column_wanted, diff_done,
    diff_read, diff_refused, diff_unchanged, diff_was, divider, inspector_empty,
    inspector_empty_next, no_conflict, share_kept, share_link, share_not_opened, share_save,
    share_search, share_steps, share_still_kept, share_title, share_title_not_opened,
    share_title_search, share_too_long, share_unchanged, snippet_go, snippet_kubectl, snippet_none,
    snippet_rust, step_back, step_first, step_forward, step_last, step_of, step_pause, step_play,
    step_play_label, step_position, step_start, steps, terminal, terminal_advice, terminal_object,
    third_actor, timeline, timeline_empty, timeline_start, timeline_start_label, timeline_step,
    why, wire_answer, wire_nothing, wire_request, wire_stream, wire_stream_ended,
};
