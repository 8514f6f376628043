//! The sentences of the caption: the event, its cause, and a next step to try.

crate::catalogue::messages! {
    // The caption of the start and of reads.
    start_title() "Two editors, one object.";
    start_other_title() "Nothing was sent yet.";
    start_text(version) "The server stores version {version}. No editor has read it yet. Reading does not lock the object.";
    both_read_title(version) "Both read {version}. Nothing is locked.";
    two_read_title(names, version) "{names} read {version}. Nothing is locked.";
    more_read_title(count, version) "{count} actors read {version}. Nothing is locked.";
    both_read_text() "The first change makes the next version. After that, every other copy is stale.";
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
    lost_told() "Both writes succeeded: no response reports the lost edit.";
    lost_forced() "Force took ownership without checking the current owner or value.";
    lost_compared(request) "Nothing in the {request} made the server detect the change.";
    deleted_title(name) "{name} deleted the object.";
    deleted_text(version) "It was version {version}. Any remaining local copy refers to a deleted object.";
    finalized_title(name) "{name}'s write removed the last finalizer.";
    finalized_text(version) "The object was marked for deletion, so the server deleted it. It was version {version}. Any remaining local copy refers to a deleted object.";
    terminating_title(name, version) "{name} marked the object for deletion: version {version}.";
    finalizers_title(name, version) "{name} changed the finalizers of the deletion: version {version}.";
    sooner_title(name, version) "{name} shortened the grace period of the deletion: version {version}.";
    terminating_finalizers() "The object has finalizers, so the server does not delete it before the last of them is removed.";
    terminating_grace(seconds) "The object has a grace period of {seconds} {seconds|second|seconds}, so the server does not delete it yet.";
    created_title(name, version) "{name} created the object: version {version}.";
    created_text() "No object with this name was stored. The new object has a new uid, so it is not the same object as any earlier one with this name.";
    stored_title(name, version) "{name} made version {version}.";
    stored_matched(name, before, after) "{name} sent the stored version, {before}. The server accepted the write and made {after}.";
    stored_not_sent(request, before, after) "The {request} carried no resourceVersion, so the server did not compare versions: {before} became {after}.";
    stored_unknown(before, after) "The server replaced version {before} with {after}.";
    still_hold(names, count, version) "{names} still {count|holds|hold} {version}.";

    // The caption of refusals.
    conflict_both_title(version) "Both read {version}. Only one may write it.";
    conflict_several_title(version) "Several actors read {version}. Only one may write it.";
    conflict_title(name, version) "{name} has {version}. It is no longer the latest.";
    conflict_sent_title(version) "The request names version {version}. It is not the latest.";
    conflict_copy(name, sent, stored) "{name} still holds version {sent}. The stored object is at {stored}.";
    conflict_stored(stored) "The stored object is at version {stored}.";
    conflict_compared(sent, stored) "The server compared {sent} with {stored} and stored nothing. Which fields changed does not matter.";
    test_failed_title() "A test in the patch failed.";
    test_failed(field, wanted, found) "The patch tests that {field} is {wanted}. It is {found}, so the server stored nothing.";
    test_failed_cut(field) "The patch tests the value of {field}. The stored value is another one, so the server stored nothing.";
    test_failed_others() "A change to a field that the patch neither tests nor edits would not have stopped it.";
    test_failed_code() "It is a 422, not a 409, so RetryOnConflict does not retry.";
    owned_title() "Another manager owns a field of this apply.";
    owned_text() "Without force, an apply cannot change a field that another manager owns. The server stored nothing. Its answer names each field and its owner.";
    owned_own_title(name) "{name} owns a field of this apply by an Update.";
    owned_own_text() "The Updates and the applies of one manager are separate owners. Without force, an apply cannot change a field that another owner has. The server stored nothing. Its answer names each field and its owner.";
    not_found_title() "The object does not exist.";
    not_found_text() "No object with this name is stored. Any remaining local copy refers to a deleted object.";
    watch_ended_title(name) "The server ended {name}'s watch.";
    refused_title(name) "The server refused {name}'s request.";
    refused_text() "The server stored nothing. Its answer says why.";
    refused_read() "The answer says why.";
    refused_uid() "The uid in the request is not the uid of the stored object, so the server changed nothing. An object that is deleted and created again has another uid.";
    refused_no_version() "The request carried no resourceVersion. An Update of this kind needs one, so the server stored nothing.";
    refused_exists() "An object with this name is already stored. Create never replaces an object.";
    refused_content_type(sent) "The server does not accept the content type {sent} for this request. It stored nothing.";

    // What to try next.
    next_step_forward() "Step forward, or start another branch from here.";
    next_get(actor) "Get as {actor}.";
    next_get_too(actor) "Get as {actor} too.";
    next_get_to_see(actor) "Get as {actor} to see what is stored now.";
    next_get_and_send(actor) "Get as {actor}, then send again.";
    next_change_both(other) "Change one value in A and one in {other}, then send both.";
    next_send_both(other) "Send both, A and {other}, in any order.";
    next_send(actor) "Send as {actor}.";
    next_send_redone(actor, version) "Send as {actor}: the edit was redone on {version}.";
    next_send_again(actor) "Send as {actor} again.";
    next_send_stale(actor) "Send as {actor}, and see what the server compares.";
    next_send_deleted(name) "Send {name}'s copy and see what happens, or step back: this branch is kept.";
    next_change(name) "Change a value in {name}, then send.";
    next_change_again(name) "Change a value in {name} and send again.";
    next_change_stale(name) "Change a value in {name}'s stale copy and send it.";
    next_change_other(name) "Change another value in {name}, or send it to another part of the object, in the menu beside Get.";
    next_without_force(actor) "Step back, and send as {actor} without force, or read again first.";
    next_compare(actor) "Step back, and send as {actor} with resourceVersion.";
    next_compare_or_apply(actor) "Step back, and send as {actor} with resourceVersion, or as an apply.";
    next_other_order() "Step back and send in another order: this history is kept.";
    next_force(name) "Tick force in {name} to take ownership, or leave the fields in conflict out of its apply.";
    next_force_request(name) "Add force=true to {name}'s request to take ownership, or leave the field out of its body.";
    next_create() "Step back to before the object was deleted, or choose Create in the menu beside Get.";
    next_fix(name) "Fix the request in {name} and send it again.";
    next_merge_patch_instead(name) "Send {name}'s edit as a merge patch: every kind accepts one.";

    // The first steps, and the other endings.
    try_get() "Get as A and as B.";
    try_replicas() "Change replicas in A and the image in B: click the value, type, Enter.";
    try_value() "Change one value in A and another in B: click it, type, Enter.";
    try_send() "Send both.";
    endings() "Same moment, sent another way:";
    ending_unversioned() "No version";
    ending_versioned() "With version";
    ending_read_again() "Get again, redo the edit";
    ending_merge_patch() "Merge patch";
    ending_apply() "Apply";
    ending_forced_apply() "Apply, force";
    outcome_lost() "update lost";
    outcome_refused(code) "{code}";
    outcome_replaced(owner) "replaced {owner}'s";
    outcome_left_out() "edit left out";
    outcome_both_kept() "both kept";
    outcome_stored() "stored";
    kept_edits_title(count, edits) "{count} edits kept: {edits}.";
    kept_both_title(edits) "Both edits kept: {edits}.";
    kept_more(edits, count) "{edits} and {count} more";
    kept_value(field, value) "{field} {value}";

    third_add() "Add";
    actor_add(name) "Add another actor: {name}";
    actor_add_most(count) "{count} actors are the most.";
}
