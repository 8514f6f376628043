//! Diagnose.

crate::catalogue::messages! {
    // What was brought.
    diagnose_skip() "Skip to who owns what";
    diagnose_sections() "Parts of the case";
    diagnose_bring() "Bring what your cluster says";
    diagnose_bring_hint() "Paste or drop: an object, a manifest, an error message, a watch. It stays in this page.";
    diagnose_paste() "Paste here";
    diagnose_paste_hint() "or drop files anywhere on this page";
    diagnose_add() "Add";
    diagnose_file() "Choose a file";
    diagnose_clear() "Remove all";
    diagnose_return() "Back to your case";
    diagnose_remove(title) "Remove {title}";
    diagnose_reading() "Reading what you brought.";
    diagnose_case() "The case";
    diagnose_results() "Results";
    diagnose_private() "Values that look private are masked. Your case stays in this browser tab.";
    diagnose_not_kept() "The case is too large for this tab to keep: a reload of the page loses it.";
    diagnose_too_many(count) "Not added. A case has at most {count} things: remove one first.";
    diagnose_too_large(name, size) "Not added. {name} has more than {size} MB, which is too much for this page.";
    diagnose_unreadable(name) "Not added. The browser could not read {name}.";
    diagnose_object() "Object";
    diagnose_examples() "Or try an example";
    diagnose_example_live() "A live Deployment and a new manifest";
    diagnose_example_message() "An “Apply failed” message";
    diagnose_example_watch() "A watch of a fight";
    diagnose_announce(count) "{count} {count|thing|things} in the case.";

    // Cards.
    card_live(count, version) "live object, {count} {count|manager|managers}, version {version}";
    card_live_unowned(version) "live object without managedFields, version {version}";
    card_live_ask() "It was printed without its managedFields, so its owners are unknown. Print it again with --show-managed-fields.";
    card_manifest() "manifest: what somebody wants to write";
    card_definition() "definition of a custom resource";
    card_several(count) "{count} objects";
    card_watch(title) "Watch of {title}";
    card_watch_objects(count) "Watch of {count} objects";
    card_history(title) "Versions of {title}";
    card_audit() "Audit log of kube-apiserver";
    card_audit_lines(count) "{count} {count|line|lines}";
    card_history_versions(count, first, last) "{count} {count|version|versions}, {first} to {last}";
    card_unknown() "Not recognized";
    card_errors(count) "{count} error messages";
    card_text() "The text";

    // Why a text is not recognized.
    unknown_empty() "The text is empty.";
    unknown_large(size, limit) "It has {size} MB. This page reads at most {limit} MB.";
    unknown_syntax(line, column, problem) "It looks like an object, but line {line}, column {column} cannot be read: {problem}";
    unknown_syntax_line(line, problem) "It looks like an object, but line {line} cannot be read: {problem}";
    unknown_missing(document, fields) "Document {document} is no object of the API. It lacks {fields}.";
    unknown_event(of) "A watch event of type {of} carries no object.";
    unknown_text() "It is no object, and it has no error message that is known here. The text stays in the case.";

    // Error messages.
    error_apply(count) "Apply failed with {count} {count|conflict|conflicts}";
    error_modified() "The object has been modified";
    error_other_uid() "The object is another one: its uid differs";
    error_precondition_uid() "Precondition failed: uid";
    error_precondition_version() "Precondition failed: resourceVersion";
    error_already_exists() "The object already exists";
    error_terminating() "The object already exists and is being deleted";
    error_patch() "The JSON patch was refused";
    error_managed_fields() "The apply carries managedFields";
    error_other_than_expected(what) "kubectl expected another {what}";
    error_not_overwritten(key) "{key} already has a value";
    error_values(sent, stored) "sent {sent}, stored {stored}";
    error_expected(expected, found) "expected {expected}, found {found}";
    error_owned_value(key, value) "{key} is {value}; kubectl overwrites it only with --overwrite";
    error_object_unknown() "object not named";
    error_missing(what) "The message does not say {what}.";
    error_missing_kind() "the kind";
    error_missing_name() "the name";
    error_missing_namespace() "the namespace";
    error_missing_tool() "which tool wrote";
    error_get() "This command prints the object that the message is about:";
    error_get_next() "Paste its output here, to see who owns what.";
    tool_kubectl() "kubectl";
    tool_helm() "Helm 4";
    tool_terraform() "Terraform";
    tool_argo_cd() "Argo CD";
    tool_flux() "Flux";
    tool_pulumi() "Pulumi";
    tool_ansible() "Ansible";
    tool_controller_runtime() "a controller";
    tool_kube_controller_manager() "kube-controller-manager";

    // Who owns what.
    owners_title() "Who owns what";
    owners_of(title, version) "{title}, version {version}";
    owners_filter() "Show the lines of one owner";
    owners_chip(name, count) "{name} · {count}";
    owners_no_owner() "no owner";
    owners_no_owner_hint() "No manager owns these fields: the server filled them in, or sets them at each write.";
    owners_default() "no owner (default)";
    owners_entry(operation, version, since, alone) "{operation}, {version}, since {since}. {alone} {alone|field is|fields are} owned by this manager alone.";
    owners_entry_timeless(operation, version, alone) "{operation}, {version}, no time. {alone} {alone|field is|fields are} owned by this manager alone.";
    owners_refused(why) "The object cannot be stored here: {why}";
    owners_no_live(object) "Only a manifest of {object} is here. Add the live object, to see who owns what: print it with --show-managed-fields.";
    owners_contested() "A conflict: the write is refused for this field.";
    owners_lines() "The object, line by line, with the owners";
    owners_owner() "Owner";
    owners_empty() "No object yet";
    owners_empty_text() "Bring a live object or a watch. The output of this command shows who owns each field:";
    owners_empty_command() "kubectl get deployment NAME -o yaml --show-managed-fields";
    owners_more(count) "Show {count} more {count|line|lines}";
    owners_copy() "Copy as text";
    owners_copy_markdown() "Copy as Markdown";
    owners_in_message() "What the message says";
    owners_in_message_text() "Each line is a field that the refused write wanted to set, and the manager that owns it.";
    owners_field() "Field";
    names_and(most, last) "{most} and {last}";

    // What was added to the object, or is not known of it.
    note_no_managed_fields() "The object was printed without managedFields, so its owners are unknown. Print it again with --show-managed-fields.";
    note_uid() "The object has no uid. This page gave it one.";
    note_namespace() "The object names no namespace. This page put it into the namespace default.";
    note_schemaless(kind) "The definition of {kind} is not here. Without it, a list counts as one value. Add the CustomResourceDefinition for exact owners.";
    note_plural(plural) "The definition is not here, so the resource name {plural} is formed from the kind.";
    note_values(kind) "The fields and owners of {kind} are exact. Its values are not validated here.";

    // What happened.
    happened_title() "What happened";
    happened_empty() "A watch or several versions of an object show which manager changed which field, and when.";
    happened_to(title) "What happened to {title}";
    happened_fight(managers, field) "{managers} fight over {field}.";
    happened_flips(count) "{count} {count|flip|flips}";
    happened_flips_text(count, first, last) "The value changed hands {count} {count|time|times} between version {first} and {last}.";
    happened_no_fight() "No field was changed back and forth by two managers.";
    happened_nothing() "No field changed between these versions.";
    happened_one_version() "There is only one version, so there is nothing to compare. A watch shows changes: ";
    happened_watch_command() "kubectl get deployment NAME -w -o json --output-watch-events --show-managed-fields";
    happened_version() "version";
    happened_time() "time";
    happened_who() "who";
    happened_value() "value";
    happened_field() "field";
    happened_absent() "absent";
    happened_unknown_manager() "not known";
    happened_unknown_hint() "managedFields does not show it: a removal, a field that the server filled in, or several writes between the two versions.";
    happened_others(count) "All {count} {count|change|changes}, field by field";
    happened_more(count) "{count} more {count|change is|changes are} not shown.";
    happened_managed_fields(problem) "The managedFields cannot be read: {problem}.";
    happened_chart(managers) "The value of each version, in the colour of its manager: {managers}";

    // What would happen.
    ways_title() "What would happen";
    ways_of(version) "Your manifest on version {version}, in each way of writing. Each row ran on an API server in this page.";
    ways_table() "Ways of writing";
    ways_empty() "Add the manifest of your next write, to see what each way of writing would do to this object.";
    ways_client() "I write as";
    ways_manager() "Field manager";
    ways_manager_default() "the default of the client";
    ways_way() "write as";
    ways_answer() "answer";
    ways_progress(done, total) "{done} of {total} ways run";
    ways_all(count) "Show all {count} ways of writing";
    ways_fewer() "Show fewer ways of writing";
    ways_step() "Step through it";
    ways_step_through(way) "Step through {way} in Play";
    ways_stays(value) "{value} stays";
    ways_nothing_sent() "not sent";
    ways_fields(count) "{count} {count|field|fields}";
    client_of_kubectl(command) "kubectl {command}";
    way_create() "kubectl create";
    way_force() "with force";
    way_leave_out() "without the fields in conflict";
    effect_refused() "is refused";
    effect_taken_over() "is taken over";
    effect_changed() "changes";
    effect_added() "is added";
    effect_removed() "is removed";
    effect_kept() "keeps its value";
    effect_shared() "gets one more owner";
    effect_owners_changed() "gets other owners";
    effect_left_behind() "is left behind";
    row_refused(message) "Refused, nothing written: {message}";
    row_refused_for(fields) "Refused for {fields}. Nothing is written.";
    row_nothing_sent() "The client finds no difference and sends nothing.";
    row_nothing_changed() "Accepted, and nothing changed.";
    row_takes(fields) "Takes over {fields}.";
    row_taken_back(managers) "{managers} may write again: a fight.";
    row_autoscaler() "HorizontalPodAutoscaler";
    row_removes(count, fields) "{count} {count|field vanishes|fields vanish}: {fields}.";
    row_leaves(fields) "Left behind: {fields}. The manifest no longer has it, and it stays in the object.";
    row_keeps(fields) "The object keeps its own value of {fields}.";
    row_shares(count) "{count} {count|field gets|fields get} one more owner.";
    row_second_changes() "A second run makes a new version again.";
    row_second_nothing() "A second run changes nothing.";
    row_warning(warning) "Warning: {warning}";
    row_values() "Values of this kind are not validated here.";
    row_more(named, more) "{named} and {more} more";
    assume_previous_release() "The manifest of the last release is not here. The page assumes that it had the fields that Helm owns. Bring it before the new one, to be exact.";
    assume_server_side() "Helm 4 applies server-side if the last release did, or with --server-side=true.";
}
