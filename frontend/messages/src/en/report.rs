//! A case as Markdown.

crate::catalogue::messages! {
    report_title(title) "Diagnosis: {title}";
    report_source(release) "The answers are those of the API server in Optimist, which answers as kube-apiserver {release}. Nothing was sent to a cluster.";
    report_masked(mask) "Values that look private are shown as {mask}.";
    report_stand_ins() "The values of the objects are left out. A stand-in such as value-1 is in the place of each. The answers are the same with the values.";
    report_more(count, title) "The case has {count} more {count|object|objects}. The parts below are about {title} alone.";
    report_writer(client) "The change is written with {client}.";
    report_writer_manager(client, manager) "The change is written with {client}, by the field manager {manager}.";
    report_owners(count) "{count} {count|line|lines} with a value";
    report_cut(shown, all) "The first {shown} of {all} characters:";
    report_not_ready() "The Markdown is ready when all ways of writing have run.";
    report_request() "request";
    report_here() "in Optimist";
}
