//! The cards of the actors and of the server, and how an actor writes.

crate::catalogue::messages! {
    // The lines of the cards.
    folded_defaults(count) "{count} defaults";
    folded_more(count, names) "{count} more ({names})";
    line_now(value) "now {value}";
    line_now_removed() "now removed";

    // What became of edits.
    the_object() "the object";
    deletion() "deletion";
    absent() "absent";
    items(count) "[{count} {count|item|items}]";
    edit_removed(field) "removal of {field}";
    field_of_parent(field, parent) "{field} of {parent}";
    edit_owner_reference(kind, name) "ownerReference to {kind} {name}";
    edit_set(field, value) "{field} = {value}";
    loss_created(by, owner) "{by} created again what {owner} had deleted, without having read the deletion.";
    loss_deleted(by, owner, edit) "{by} deleted the object with {owner}'s {edit} in it, without having read the edit.";
    loss_overwrote(by, owner, edit) "{by} overwrote {owner}'s {edit} without having read it.";
    loss_undid(by, owner, edit) "{by} undid {owner}'s {edit} without having read it and without meaning to.";
    replaced_retry(by, owner, edits) "Replaced: {by}'s retry did not look at {owner}'s {edits}.";
    replaced(by, owner, edits, count) "{by} had read {owner}'s {edits} and replaced {count|it|them} knowingly: no update is lost.";
    left_out(answer, edits, why) "The server answered {answer}, but this is not in the object: {edits}. {why}";
    left_out_scale() "A Scale carries replicas only.";
    left_out_apply() "An apply removes only what its manager applied before.";
    left_out_unknown(count) "The server does not know {count|this field|these fields}, and warns of {count|it|them}.";
    left_out_defaults() "The server sets defaults, and it keeps fields that this request cannot write.";
    lost_short(owner, edit) "{owner}'s {edit} lost";
    lost_short_more(owner, edit, more) "{owner}'s {edit} lost +{more}";

    // Typing in a working copy.
    add_name_and_value() "NAME=value";
    add_item() "an item, as YAML";
    add_member() "key: value";

    // How an actor writes, and the clients that people know.
    method_by_hand() "Body by hand";
    method_client_side() "Client-side apply";
    method_update() "Update";
    method_merge() "Merge patch";
    method_strategic() "Strategic merge patch";
    method_json() "JSON patch";
    method_apply() "Apply";
    method_to(method, subresource) "{method} /{subresource}";
    method_as(method, manager) "{method} as {manager}";
    method_if(version) "if {version}";
    method_tests() "tests";
    method_force() "force";
    method_retries() "retries";
    method_dry_run() "dry run";
    writes_to(subresource) "/{subresource}";
    writes_as(manager) "as {manager}";
    client_edit() "edit";
    client_apply() "apply";
    client_apply_server_side() "apply --server-side";
    client_replace() "replace";
    client_scale() "scale";
    client_label() "label";
    client_update() "client-go Update";
    client_merge_from() "client.MergeFrom";
    client_autoscaler() "HPA";
    client_helm_3() "Helm 3";
    client_helm_4() "Helm 4";
    client_argo_cd_client_side() "Argo CD";
    client_argo_cd_server_side() "Argo CD ServerSideApply";
    client_flux() "Flux";
    client_terraform() "Terraform";
    client_controller_apply() "controller-runtime Apply";
    client_create_or_update() "CreateOrUpdate";

    // Manifests that cannot be loaded.
    load_refused(code, message) "The server refuses the object ({code}): {message}";
    load_syntax(line, column, message) "Line {line}, column {column}: {message}";
    load_kind(kind, others) "{kind} cannot be loaded. Supported kinds: {others}.";
    load_kind_short() "this page takes only objects in a namespace, of a built-in kind or of a kind whose CustomResourceDefinition is in the text, too.";
    load_nothing(objects) "No object in the manifest can be loaded.{objects}";
}
