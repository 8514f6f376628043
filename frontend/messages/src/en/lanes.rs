//! A recorded history in lanes.

crate::catalogue::messages! {
    lanes_title() "Step by step";
    lanes_of_log() "Observed requests, oldest first.";
    lanes_of_versions() "Observed versions, oldest first. The requests were not seen.";
    lanes_server() "API server";
    lanes_clients() "Lanes, from left to right";
    lanes_rows() "Steps, oldest first";
    lane_writes(name, count) "{name} · {count} {count|write|writes}";
    lane_reads(name) "{name} · only reads";
    lane_user(name, user) "{name} ({user})";
    lane_others(count) "{count} others";
    lane_steps(count) "{count} {count|step|steps}";
    lane_step(step) "Step {step}";

    // A row.
    lane_no_code() "no answer in the log";
    lane_same() "observed, predicted";
    lane_same_code() "observed, code predicted";
    lane_differs() "observed, predicted otherwise";
    lane_not_run() "observed, not run here";
    lane_no_request() "observed, no request seen";
    lane_lost(changes) "lost update: {changes}";
    lane_lost_beside(changes, others) "lost update: {changes}; also changed: {others}";
    lane_unchanged() "changed nothing";
    lane_dry_run() "dry run: nothing stored";
    lane_owned(count) "{count} {count|field is|fields are} owned by others";
    lane_created() "created";
    lane_deleted() "deleted";
    lane_first_version() "first version seen";
    lane_other_object() "another object of this name";
    lane_same_version() "the same version again";
    lane_no_field() "no field changed";
    lane_changed(field, before, after) "{field} {before} → {after}";
    lane_set(field, after) "{field} {after}";
    lane_removed(field) "{field} removed";
    lane_more(changes, count) "{changes} and {count} more";
    lane_unknown_writer() "not known by whom";

    // Fights.
    fight_more(count) "{count} more {count|fight is|fights are} below.";
    fight_steps(count, first, last) "The value changed hands {count} {count|time|times} from step {first} to step {last}.";
    fight_pace(field, count, seconds, hour) "{field} changed {count} times. The last change came {seconds} s after the first one: at this pace about {hour} changes an hour.";
    fight_span(field, count, seconds) "{field} changed {count} times. The last change came {seconds} s after the first one.";
    fight_applies(manager) "{manager} applies it (server-side apply).";
    fight_updates(manager) "{manager} updates or patches it.";
    fight_updates_through(manager, subresource) "{manager} updates or patches it through /{subresource}.";
    fight_outs(count) "{count|A way out|Ways out}";
    fight_left(keeper) "Leave it to {keeper}.";
    fight_left_out(manager) "Take it out of what {manager} applies.";
    fight_not_set(manager) "Let {manager} no longer set it.";
    fight_gap(keeper) "It has another value, or none, until {keeper} writes again.";
    fight_ended(count) "The API server of this page ran {count|this|each of these}: the managers wrote again, and the fight was over.";

    // A step that is selected.
    recorded_link(step) "step {step}";
    recorded_step_of(step, last) "Step {step} of {last}";
    recorded_observed(arrived, answered) "Observed: arrived {arrived}, answered {answered}.";
    recorded_answered(answered) "Observed: answered {answered}.";
    recorded_sender(user, agent) "User {user}, program {agent}.";
    recorded_changed_at(time) "Observed: the entry of the writer in managedFields is of {time}.";
    recorded_no_time() "Observed. managedFields do not say when.";
    recorded_no_request() "No request was seen. Who changed a field is read from managedFields.";
    recorded_changes() "What changed";
    recorded_place() "place";
    recorded_there() "observed";
    recorded_here() "this page";
    recorded_differs() "The API server of this page gives another answer here:";
    recorded_play() "Open in Play";
    log_branch() "Branch here";
    log_branch_title() "Begin a session in Play with what the server had after this step. The log goes on without it.";
    log_left_live(step) "You have left the line of the server: this session branches off after step {step} of its log. Nothing that you do here reaches the server.";
    log_left(step) "This session branches off after step {step} of the log. What you do here is in this page alone.";
    log_not_here(count) "Not here: {count} other {count|object|objects} of the log.";
    log_back_live() "Back to the line of the server";
    log_back() "Back to the log";
    versions_branch_title() "Begin a session in Play with the object as it was at this version, and with no other object of its server.";
    versions_left(step, version) "You have left the observed versions: this session branches off at version {version}, step {step}. Other objects of that server are not known here, and nothing that you do here reaches it.";
    versions_back() "Back to the versions";
    live_none() "No request for an object has come yet. Each one is shown here as it comes, from kubectl or any other client.";
    live_write() "Write to this server";
    live_writes_to(server) "What you send goes to {server}. It is one of the requests that this page shows.";
    live_name() "Your name, as client and field manager";
    live_method() "How you write";
    live_get(title) "Get {title}";
    live_text(title, version) "{title}, as you read it at version {version}";
    live_new() "New object";
    live_create() "Create";
    live_unknown_kind(kind, version) "The page knows no kind {kind} in {version}: only built-in kinds, and the kind whose requests are shown.";
    live_answer(request, code) "{request} → {code}";
    live_no_answer() "No answer came. The server may have stored the write all the same.";
    recorded_object(step, title, version) "Step {step}: {title}, version {version}, as it was then.";
    recorded_object_computed(step, title) "Step {step}: {title}. The line of this step does not have the object: the API server of this page computed it from the requests.";
    recorded_object_absent(step) "Step {step}: there is no object after it.";
    recorded_object_unknown(step) "Step {step}: the log does not have the object.";
    recorded_newest() "Back to the newest version";
    recorded_was(value) "was {value}";
    recorded_was_by(value, who) "{who} changed it from {value}";
    recorded_new() "new";
    recorded_new_by(who) "new, by {who}";
}
