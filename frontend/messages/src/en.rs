//! The catalogue in English: every message, its arguments and its text.
//!
//! To add a message, add a row. To add a language, write a file with a line `message = text` for
//! each row, and pass its text to [`choose`](crate::choose).

crate::catalogue::messages! {
    // The caption of the start and of reads.
    start_title() "Two editors, one object.";
    start_text(version) "The server stores version {version}. No editor has read it yet. Reading does not lock the object.";
    both_read_title(version) "Both read {version}. Nothing is locked.";
    both_read_text() "The first change makes the next version. After that, the other copy is stale.";
    read_title(name, version) "{name} read version {version}.";
    read_text() "Reading does not lock the object: other clients can write at any time.";
    read_redone(name) "{name} keeps the unsent edit: it is redone on the version that was just read.";

    // The caption of accepted writes.
    not_applied_title() "Accepted, but not applied.";
    unchanged_title() "Accepted, and nothing changed.";
    unchanged_text(version) "The request changed nothing in the stored object. The object stays at version {version}.";
    still_terminating_title() "The object was already marked for deletion.";
    still_terminating_text(version) "The delete changed nothing. The object stays at version {version}.";
    dry_run_title() "A dry run: nothing was stored.";
    dry_run_text() "The server answered as it would to the real request.";
    other_object_title(name) "The server accepted {name}'s request.";
    other_object_text() "The request did not change the object that is shown here.";
    lost_title(owner, edit) "An update is lost: {owner}'s {edit}.";
    lost_told(owner, name) "The server told {owner} and {name} that their writes succeeded. No response reports the lost edit.";
    lost_forced() "Force took ownership without checking the current owner or value.";
    lost_compared(request) "The {request} carried nothing that made the server detect the change.";
    deleted_title(name) "{name} deleted the object.";
    deleted_text(version) "It was version {version}. Any remaining local copy refers to a deleted object.";
    finalized_title(name) "{name}'s write removed the last finalizer.";
    finalized_text(version) "The object was marked for deletion, so the server deleted it. It was version {version}. Any remaining local copy refers to a deleted object.";
    terminating_title(name, version) "{name} marked the object for deletion: version {version}.";
    terminating_finalizers() "The object has finalizers, so the server does not delete it before the last of them is removed.";
    terminating_grace(seconds) "The object has a grace period of {seconds} {seconds|second|seconds}, so the server does not delete it yet.";
    created_title(name, version) "{name} created the object: version {version}.";
    created_text() "No object with this name was stored. The new object has a new uid, so it is not the same object as any earlier one with this name.";
    stored_title(name, version) "{name} made version {version}.";
    stored_matched(name, before, after) "{name} sent the stored version, {before}. The server accepted the write and made {after}.";
    stored_not_sent(request, before, after) "The {request} carried no resourceVersion, so the server did not compare versions: {before} became {after}.";
    stored_unknown(before, after) "The server replaced version {before} with {after}.";
    still_holds(name, version) "{name} still holds {version}.";

    // The caption of refusals.
    conflict_both_title(version) "Both read {version}. Only one may write it.";
    conflict_title(name, version) "{name} read {version}. It is no longer the latest.";
    conflict_sent_title(version) "The request names version {version}. It is not the latest.";
    conflict_copy(name, sent, stored) "{name} still holds the copy of version {sent}. The stored object is now at {stored}.";
    conflict_stored(stored) "The stored object is at version {stored}.";
    conflict_compared(sent, stored) "The server compared {sent} with {stored} and stored nothing. The server does not check which fields changed: it would refuse an unrelated edit too.";
    test_failed_title() "A test in the patch failed.";
    test_failed(field, wanted, found) "The patch tests that {field} is {wanted}. It is {found}, so the server stored nothing.";
    test_failed_cut(field) "The patch tests the value of {field}. The stored value is another one, so the server stored nothing.";
    test_failed_others() "A change to a field that the patch neither tests nor edits would not have stopped it.";
    test_failed_code() "It is a 422, not a 409, so RetryOnConflict does not retry.";
    owned_title() "Another manager owns a field of this apply.";
    owned_text() "Without force, an apply cannot change a field that another manager owns. The server stored nothing. Its answer names each field and its owner.";
    not_found_title() "The object does not exist.";
    not_found_text() "No object with this name is stored. Any remaining local copy refers to a deleted object.";
    refused_title(name) "The server refused {name}'s request.";
    refused_text() "The server stored nothing. Its answer says why.";

    // What to try next.
    next_step_forward() "Step forward, or start another history from here.";
    next_get(actor) "Get as {actor}.";
    next_get_too(actor) "Get as {actor} too.";
    next_get_to_see(actor) "Get as {actor} to see what is stored now.";
    next_get_and_send(actor) "Get as {actor}: the edit is kept and redone on the stored object. Then send as {actor} again.";
    next_change_both() "Change the same value in both, then send both.";
    next_send_both() "Send both, in any order.";
    next_send(actor) "Send as {actor}.";
    next_send_redone(actor, version) "Send as {actor}: the edit was redone on {version}.";
    next_send_again(actor) "Send as {actor} again.";
    next_send_stale(actor) "Send as {actor}, and see what the server compares.";
    next_send_deleted(name) "Send {name}'s copy and see what happens, or step back: this history is kept.";
    next_change(name) "Change a value in {name}, then send.";
    next_change_again(name) "Change a value in {name} and send again.";
    next_change_stale(name) "Change a value in {name}'s stale copy and send it.";
    next_change_other(name) "Change another value in {name}, or send it to another part of the object, under more.";
    next_without_force(actor) "Step back, and send as {actor} without force, or read again first.";
    next_compare(actor) "Step back, and send as {actor} so that the server compares: with resourceVersion, or as an apply.";
    next_other_order() "Step back and send in another order: this history is kept.";
    next_force(name) "Tick force in {name} to take ownership, or undo the edit.";
    next_create() "Step back to before the object was deleted, or choose Create under more.";
    next_fix(name) "Fix the request in {name} and send it again.";

    // The first steps, and the other endings.
    try_get() "Get as A and as B.";
    try_replicas() "Change replicas in both: click the number, type, Enter.";
    try_value() "Change the same value in both: click it, type, Enter.";
    try_send() "Send both.";
    ending_without_version() "as Update, without resourceVersion (untick it): an update is lost, and no response reports it";
    ending_with_version() "as Update, with resourceVersion: refused, 409 Conflict";
    ending_retry() "with it, on conflict: read again, redo: refused once, then stored";
    ending_merge() "as Merge: lost only if both changed the same field or list";
    ending_json() "as JSON, test the old values: refused only if those changed";
    ending_apply() "as Apply: refused if another manager owns the field";

    // What became of edits.
    the_object() "the object";
    the_deletion() "the deletion";
    absent() "absent";
    items(count) "[{count} {count|item|items}]";
    edit_removed(field) "{field} removed";
    edit_set(field, value) "{field} = {value}";
    loss_created(by, owner) "{by} created again what {owner} had deleted, without having read the deletion.";
    loss_deleted(by, owner, edit) "{by} deleted the object with {owner}'s {edit} in it, without having read the edit.";
    loss_overwrote(by, owner, edit) "{by} overwrote {owner}'s {edit} without having read it.";
    loss_undid(by, owner, edit) "{by} undid {owner}'s {edit} without having read it and without meaning to.";
    replaced_retry(by, owner, edit) "Replaced: {by}'s retry did not look at {owner}'s {edit}.";
    replaced(by, owner, edit) "{by} had read {owner}'s {edit} and replaced it knowingly: no update is lost.";
    left_out(answer, edits, why) "The server answered {answer}, but this is not in the object: {edits}. {why}";
    left_out_scale() "A Scale carries replicas only.";
    left_out_apply() "An apply removes only what its manager applied before.";
    left_out_defaults() "The server sets defaults, and it keeps fields that this request cannot write.";
    lost_short(owner, edit) "{owner}'s {edit} lost";
    lost_short_more(owner, edit, more) "{owner}'s {edit} lost +{more}";

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
    spoken_refused(message) " Refused: {message}";
    spoken_received(event) " The watcher receives {event}.";
    spoken_more(count) " And {count} more.";
    announced_step(position, total, sentence) "Step {position} of {total}. {sentence}";
    announced_start() "Start of the history.";
    server_says(message) "The server says: {message}";

    // The watch.
    watch_empty() "Events appear here as they arrive.";
    nothing() "nothing";
    version(version) "rv {version}";
    event(kind, version) "{kind} · {version}";
    missed_none() "nothing missed";
    missed(count) "{count} {count|event|events} missed";
    watch_none() "No watch is open.";
    watch_open_now(seen) "Open from now. Seen: {seen}.";
    watch_open(from, seen) "Open from {from}. Seen: {seen}.";
    watch_dropped(seen, missed) "Dropped at {seen}: {missed}.";
    watch_closed(seen, missed) "Ended by the server at {seen}: {missed}.";
    watch_expired() "410 Expired: too old to resume. A client lists again and watches from there.";
    watch_failed(code, message) "{code}: {message}";
    watch_listed(seen) "Listed at {seen}.";
    dropped_title() "The connection is closed.";
    dropped_text(seen) "The server keeps nothing for a watcher without a connection. The watcher keeps one number: {seen} is the last version it saw.";
    listed_title(version) "Listed at {version}.";
    listed_text() "The list is the current state. The watcher gets no events for the changes in between.";
    after_list_title(seen) "Listed again, and watching from {seen}.";
    after_list_text() "A list needs no old versions: it is the current state, and the watch continues from its version. The watcher gets no events for the changes in between.";
    resumed_none_title() "Resumed, and nothing was missed.";
    resumed_title(count) "Resumed: {count} {count|event|events} it had missed.";
    resumed_text() "The watcher named the last version it saw, and the server sent every later change, in order. This is what resourceVersion does in a watch.";
    opened_now_title() "Watching from the current state.";
    opened_now_text() "The watch names no version to start after, so it begins with an ADDED for each object that exists. Every later change follows.";
    opened_title(from) "Watching from {from}.";
    opened_text(from) "The stream has every change after {from}, and nothing from before.";
    compacted_title(version) "Compacted at {version}.";
    compacted_restart_text(version) "etcd removed every version before {version}. The API server was restarted too: open watches ended, and its watch cache, which had kept old changes, starts again at {version}.";
    compacted_text(version) "etcd removed every version before {version}. The API server's watch cache did not: it still serves watches from the changes that it holds.";
    waited_title(seconds) "{seconds} {seconds|second|seconds} later.";
    waited_text() "Nothing was sent. Only the server's clock advanced.";
    expired_title() "410: these changes are no longer available.";
    expired_text() "The server no longer has the changes after that version, so it cannot send them. It answers the request with 200, and the stream has one event, an ERROR.";
    watch_refused_title() "No watch.";
    watch_refused_text() "The server refused it. Its answer says why.";
    next_resume() "Change the object twice, then resume.";
    next_resume_list() "Resume: watch from the version of the list.";
    next_change_stream() "Change the object: the stream continues.";
    next_expire() "Drop it, change the object, compact, and resume: a 410.";
    next_change_or_drop() "Change the object and watch the event arrive. Or drop the connection.";
    next_open_before(version) "Open a watch from a version before {version}: a 410.";
    next_open_restart() "Open a watch from an old version: it works. Then compact with the server restarted.";
    next_other_version() "Choose another version.";
    next_list_again() "List again: a client reads the current state and watches from its version.";
    why_client_knows() "A watch is one long response. When its connection breaks, only the client knows the last version it received.";
    why_not_older() "The list is not older than the last version seen, so the client never goes back in time.";
    why_existing_first() "The request names no version to start after: the objects that exist come first, as ADDED.";
    why_no_gap() "The server still has every change after that version, so the stream has no gap.";
    why_compacted_restart() "etcd keeps old versions until it is compacted; a real API server requests that every five minutes. A restarted server fills its watch cache with a new list.";
    why_watch_cache() "Watches are served from the API server's watch cache, which compaction does not change.";

    // Why the server answered as it did.
    fact_read(version) "The store holds version {version}. Reading locks nothing: other clients can write right after.";
    fact_version_matched(version) "The write carried resourceVersion {version}, and the store holds {version}: no other write came in between.";
    fact_version_differed(sent, stored) "The write carried resourceVersion {sent}, but the store holds {stored}. The comparison failed and nothing was stored. The server did not check which fields differ.";
    fact_version_not_sent(stored) "The write carried no resourceVersion, so there was nothing to compare with the stored {stored}.";
    fact_version_taken_over(stored) "The patch carried no resourceVersion. The server applied it to the stored version, {stored}.";
    fact_version_required(stored) "The write carried no resourceVersion. This kind accepts no update without one; the store holds {stored}.";
    fact_uid_differed(sent, stored) "The write carried uid {sent}, but the stored object has uid {stored}: it is another object with the same name.";
    fact_owned(field, manager) "The apply would change {field}, which {manager} owns.";
    fact_emptied_kept(field) "The apply removed the last member of {field}. {field} stays and is empty: v1.36.0 to v1.36.2 do that. From v1.36.3 on, {field} becomes null.";
    fact_emptied_null(field) "The apply removed the last member of {field}. {field} becomes null. On v1.36.0 to v1.36.2, {field} stays and is empty.";
    fact_test_differed(path, wanted, found) "The patch tested that {path} is {wanted}, but it is {found}.";
    fact_test_absent(path, wanted) "The patch tested that {path} is {wanted}, but {path} does not exist.";
    fact_no_operation(position) "Item {position} of the patch is not an operation.";
    fact_operation_failed(position, op, path) "Operation {position} of the patch, {op} {path}, cannot be done on the stored object.";
    fact_none_done(what) "{what} The server did none of the operations, and the answer does not say which one failed.";
    fact_created(version) "The object is new, stored as version {version}.";
    fact_stored(before, after) "The new object replaced version {before} and is version {after}.";
    fact_unchanged(version) "The result equals the stored object, so the server wrote nothing and the version stays {version}.";
    fact_terminating(version) "The object is marked for deletion as version {version}. It is deleted when it has no finalizers and its grace period is over.";
    fact_deleted(revision) "The object is deleted. The deletion has revision {revision}.";
    fact_dry_run() "It was a dry run: nothing was stored.";
    fact_rule(rule) "The validation rule {rule} was not evaluated: a real server can refuse what this one accepts.";
    fact_not_thorough(kind) "Only the general rules were checked: this server does not know the rules of a real server for the kind {kind}.";
}
