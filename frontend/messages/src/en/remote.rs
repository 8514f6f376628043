//! The API server at the address of the page.

crate::catalogue::messages! {
    remote_title() "API server at this address";
    remote_says(origin) "Behind kubectl proxy, this page can read objects from your cluster. It sends a request only after you press a button here, and only to {origin}: GET requests, and writes with dryRun=All when you ask for a comparison.";
    remote_look() "Look for an API server";
    remote_found(version, count) "{version}, with {count} {count|kind|kinds} that can be read.";
    remote_not_found(why) "No API server answers at this address ({why}). Start kubectl proxy as below and open the page that it serves.";
    remote_no_discovery() "The server answers, and lists no kinds. Aggregated discovery is needed: Kubernetes v1.27 or later.";
    remote_kind() "Kind";
    remote_namespace() "Namespace";
    remote_name() "Name";
    remote_names() "List names";
    remote_secrets() "Read the values of Secrets";
    remote_secrets_left_out() "The values of Secrets are left out. Stand-ins take their place.";
    remote_open() "Open in Diagnose";
    remote_play() "Open in Play";
    remote_follow() "Follow";
    remote_stop() "Stop following";
    remote_following(name) "Following {name}: each new version is a step.";
    remote_all() "Read the namespace";
    remote_all_says(count, owned, refused) "{count} {count|object|objects} read. Left out: {owned} that a controller owns, {refused} {refused|kind|kinds} that the server did not list.";
    remote_all_part(kind) "The server has more than 500 objects of {kind}: only the first 500 were read.";
    remote_asking(target) "Asking: {target}";
    remote_refused(target, why) "{target} was not answered: {why}";
    remote_no_path() "Choose a kind, a namespace and a name first.";
    remote_watch_ended() "The server no longer has the versions after the last one. Follow the object again.";
    remote_not_listed(kind) "The server lists no kind {kind}.";
    remote_predict(client) "Predict and compare: {client}";
    remote_predict_says() "Reads the object again, runs the write on the core of Optimist, and sends the same write to the server with dryRun=All.";
    remote_predict_none() "To compare a write, add the manifest of an object of this cluster.";
    remote_no_dry_run(version) "{version} is not known to take dry runs. Nothing is sent.";
    remote_not_predicted(why) "Nothing was compared: {why}.";
    remote_moved() "The object changed during each of three attempts. Nothing was compared.";
    remote_same(code) "The server answers as predicted: {code}.";
    remote_differs(count) "{count} {count|difference|differences} between the server and the prediction.";
    remote_about(method, target) "Compared: {method} {target}";
    remote_as_release(release) "The core answers as {release}.";
    remote_first_only(count) "The client sends {count} more {count|write|writes} after this one. A dry run stores nothing, so only the first is compared.";
    remote_ignored() "Not compared: times, and the number of a new version. The core does not know admission webhooks, policies, quotas and permissions of the cluster.";
    remote_part() "Part of the answer";
    remote_cluster() "Server";
    remote_core() "Prediction";
    remote_absent() "absent";
    remote_save() "Save as a recording";
    remote_save_says() "The recording has the object as the server has it. Look through it before you share it.";
    remote_command() "kubectl proxy for these requests alone";
    remote_command_says() "Replace DIST by the directory of this page. A path or a method that is not named is refused by the proxy.";
}
