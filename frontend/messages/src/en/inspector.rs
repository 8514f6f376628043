//! The inspector: the request, its answer, and why the server answered so.

crate::catalogue::messages! {
    // The inspector.
    answer() "Answer";
    why() "Why";
    inspector_empty() "What went over the wire";
    inspector_empty_next() "Press Get in an editor. The request, the answer and its reason show here. The other tabs show the same request as kubectl, Go and Rust.";
    wire_nothing() "No request of the API: nothing went over the wire.";
    wire_request() "Request";
    wire_answer() "Answer body";
    wire_stream() "The answer stays open. Each event is a line of its own; at once came:";
    wire_stream_ended(status) "Answered with {status}, and ended by its first event:";
    diff_absent() "absent";
    diff_was(value) "was {value}";
    diff_column_read() "Read";
    diff_column_wanted() "Working copy";
    diff_column_stored() "Stored";
    diff_column_before() "Stored before";
    diff_column_after() "Stored now";
    diff_read() "A read changes nothing.";
    diff_done() "The stored object is as it was.";
    diff_refused() "The server refused the request: the stored object is as it was.";
    diff_unchanged() "The result equals what is stored: nothing was written.";
    diff_bookkeeping() "Only bookkeeping changed: the version, and who owns what.";
    json_less() "show less";
    json_more(count) "… {count} more";
    snippet_none() "No request of the API: there is nothing to type.";
    snippet_no_json() "Nothing is printed here: this body is no JSON, or has a member twice. Wire has it as it was sent.";
    snippet_kubectl() "kubectl command";
    snippet_of_tool(tool) "{tool} sent this request. This kubectl command sends the same one:";
    snippet_go() "Go with client-go";
    snippet_rust() "Rust with kube-rs";
    terminal() "The terminal prints";
    terminal_object() "The terminal prints the answer";
    terminal_advice() "kubectl then lists three ways out: force, leave the fields out, or take over the stored values.";
    copy() "Copy";
    copy_markdown() "Copy the Markdown";
    copied() "Copied";
    copy_refused() "Select it to copy";

    // Why the server answered as it did.
    fact_read_scale(version) "The answer is the Scale of the stored object, version {version}. It shows the number of replicas, and no other field of the spec.";
    fact_read(version) "The answer is the stored object, version {version}.";
    fact_listed(version) "The answer is a list: the stored objects as they were at version {version}.";
    fact_version_matched(version) "Sent version {version}, stored version {version}: no other write came in between.";
    fact_version_differed(sent, stored) "Sent version {sent}, stored version {stored}. The server compares versions, not fields.";
    fact_version_not_sent(stored) "The write carried no resourceVersion, so there was nothing to compare with the stored {stored}.";
    fact_version_taken_over(stored) "The patch carried no resourceVersion. The server applied it to the stored version, {stored}.";
    fact_version_required(stored) "The write carried no resourceVersion. This kind accepts no update without one; the store holds {stored}.";
    fact_uid_differed(sent, stored) "The write carried uid {sent}, but the stored object has uid {stored}. A uid belongs to one object: one that is deleted and created again has another uid.";
    fact_uid_without_object(sent) "The write carried uid {sent}, but the object does not exist.";
    fact_owned(field, manager) "The apply would change {field}, which {manager} owns.";
    fact_given_up(field) "The apply no longer has {field}, and no other manager owns it, so the server removed it. If {field} has a default, it now has that.";
    fact_emptied_kept(field) "The apply removed the last member of {field}. {field} stays and is empty: v1.36.0 to v1.36.2 do that. From v1.36.3 on, {field} becomes null.";
    fact_emptied_null(field) "The apply removed the last member of {field}. {field} becomes null. On v1.36.0 to v1.36.2, {field} stays and is empty.";
    fact_test_differed(path, wanted, found) "The patch tested that {path} is {wanted}, but it is {found}.";
    fact_test_cut(path) "The patch tested the value of {path}. The stored value is another one.";
    fact_test_absent(path, wanted) "The patch tested that {path} is {wanted}, but {path} does not exist.";
    fact_no_operation(position) "Item {position} of the patch is not an operation.";
    fact_operation_failed(position, op, path) "Operation {position} of the patch, {op} {path}, cannot be done on the stored object.";
    fact_none_done(what) "{what} The server did none of the operations, and the answer does not say which one failed.";
    fact_created(version) "The object is new, stored as version {version}.";
    fact_stored(before, after) "The new object replaced version {before} and is version {after}.";
    fact_unchanged(version) "The result equals the stored object, so the server wrote nothing and the version stays {version}.";
    fact_terminating(version) "The object is marked for deletion as version {version}. It is deleted when it has no finalizers and its grace period is over.";
    fact_deleted_each(count) "A DELETE of a collection goes through its objects one by one: it is no single change. Objects in the answer: {count}.";
    fact_deleted(revision) "The object is deleted. The deletion has revision {revision}.";
    fact_dry_run() "It was a dry run: nothing was stored.";
    fact_rule(rule) "The validation rule {rule} was not evaluated: a real server can refuse what this one accepts.";
    card_rule(rule) "This server cannot evaluate the validation rule {rule}. A real server can refuse such an object.";
    card_rules(count, rule) "This server cannot evaluate {count} validation rules, such as {rule}. A real server can refuse such an object.";
}
