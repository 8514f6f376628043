//! The timeline, the steps, the branches of a session, and what a request carries.

crate::catalogue::messages! {
    // The timeline.
    request_get() "Get";
    request_update() "Update";
    request_merge() "merge patch";
    request_strategic() "strategic merge patch";
    request_json() "JSON patch";
    request_apply() "apply";
    request_create() "create";
    request_delete() "delete";
    request_by_hand() "request by hand";
    watcher() "Watcher";
    etcd() "etcd";
    clock() "Clock";
    last_write_start() "Stored as it was loaded.";
    last_write_elsewhere() "Last write: by hand, while another object was shown.";
    last_write(name, request) "Last write: {name}, {request}";
    last_write_deleted(name, request, before) "Last write: {name}, {request}, {before}\u{a0}→\u{a0}deleted";
    last_write_created(name, request, after) "Last write: {name}, {request}, new: {after}";
    last_write_stored(name, request, before, after) "Last write: {name}, {request}, {before}\u{a0}→\u{a0}{after}";
    pill_compacted(version) "compacted {version}";
    pill_deleted(before) "{before} → deleted";
    pill_created(after) "new: {after}";
    pill_stored(before, after) "{before} → {after}";
    pill_unchanged(version) "= {version}";
    pill_differed(sent, stored) "{sent} ≠ {stored}";
    pill_required(stored) "? ≠ {stored}";
    pill_owner() "≠ owner";
    pill_test() "test failed";
    pill_refused() "not stored";
    ask_restart() "server restarted";
    ask_wait(seconds) "{seconds} s pass";
    answer_unchanged(status) "{status} · unchanged";
    answer_version(status, version) "{status} · rv {version}";
    answer_stream(status) "{status} · stream";
    answer_more(status, more) "{status} · {more}";
    answer_brief(code, version) "{code} · {version}";
    answer_unchanged_brief(code) "{code} · unchanged";
    ask_object(object, ask) "{object}: {ask}";
    spoken_refused(message) " Refused: {message}";
    spoken_received(event) " The watcher receives {event}.";
    spoken_more(count) " And {count} more.";
    announced_step(position, total, sentence) "Step {position} of {total}. {sentence}";
    announced_start() "Start.";
    server_says(message) "The server says: {message}";

    // The timeline and the steps.
    timeline() "History";
    timeline_start(version) "rv {version}";
    timeline_start_label(version) "Start: rv {version} is stored";
    timeline_empty() "Each request becomes a row here.";
    timeline_step(position, sentence) "Step {position}. {sentence}";
    divider() "Height of the cards";
    all_controls() "Show all controls";
    steps() "Steps";
    step_first() "First";
    step_back() "Back";
    step_forward() "Forward";
    step_last() "Last";
    step_play() "Play";
    step_pause() "Pause";
    step_play_label() "Play the steps";
    step_position(here, last) "step {here} / {last}";
    step_of(here, last, what) "step {here} of {last}: {what}";
    step_start() "start";
    count_lost(count) "{count} lost {count|update|updates}";
    count_refused(count) "{count} refused";
    count_conflicts(count) "{count} {count|conflict|conflicts}";
    no_conflict() "no conflict";

    // Branches of a session.
    branch_lost() "lost";
    branch_refused(code) "{code}";
    branch_refused_stored(code) "{code}, then stored";
    branch_stored() "stored";
    branch_unchanged() "unchanged";
    branch_read() "read";
    branch_quiet() "no request";
    branch_of_actor(actor, outcome) "{actor} {outcome}";
    branch_again(outcome, number) "{outcome} ({number})";
    branch_named(name, number, summary) "{name}: branch {number}, {summary}";
    branches_from_here() "Branches from here";
    branches_compare() "Compare branches";
    branches_title() "Branches";
    branches_count(count) "{count} {count|branch|branches}";
    branches_here(count, name) "{name} · {count} {count|branch|branches}";
    branches_one() "There is one branch. Step back and do something else: the branch stays, and this list compares both.";
    branch_numbered(number) "Branch {number}";
    branch_name_label(name) "Name of {name}";
    branch_steps(count) "{count} {count|step|steps}";
    branch_steps_here(count) "{count} {count|step|steps} · you are in it";
    branch_ends(last) "ends with {last}";
    branch_compare_as(name, side) "Compare {name} as {side}";
    branch_open(name) "Open {name}";
    branch_delete(name) "Delete {name}";
    branch_begins() "The branches differ from the first step.";
    branch_parts(step) "The branches differ after step {step}.";
    branch_no_more() "no step of its own";
    branch_in_the_end() "What is stored in the end";
    branch_the_same() "The same, except for versions and times.";

    // What a request carries.
    headline_if(request, version) "{request} · if {version}";
    headline_by_hand() "by hand";
    headline_manifest(edits) "manifest {edits}";
    headline_no_change() "no change";
    headline_declared(fields) "{fields} unchanged";
    operation_send() "send";
    operation_create() "create";
    operation_watch_from(version) "WATCH from {version}";
    operation_watch_again() "WATCH again";
    operation_drop() "connection dropped";
    operation_compact() "compact";
    operation_restart() "compact and restart";
    operation_wait(seconds) "{seconds} s pass";
}
