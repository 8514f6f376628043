//! The content of etcd.

crate::catalogue::messages! {
    etcd_label() "Keys in etcd";
    etcd_intro() "The resourceVersion of an object is the mod revision of its key.";
    etcd_mod_revision() "Mod revision";
    etcd_create_revision() "Create revision";
    etcd_version() "Version";
    etcd_lease() "Lease";
    etcd_key() "Key";
    etcd_deleted() "deleted";
    etcd_compacted() "compacted";
    etcd_row(revision, key) "Revision {revision} of {key}";
    etcd_compaction(revision) "Compacted up to revision {revision}: etcd forgot the values that were not current at {revision}.";
    etcd_no_compaction() "Not compacted: etcd still has every value.";
    etcd_outputs() "Command";
    etcd_protobuf() "Custom resources are stored as JSON, as here. An API server stores Pods, Deployments and most of its own kinds as protobuf, unless it runs with --storage-media-type=application/json.";
    etcd_get() "get";
    etcd_get_then() "get --rev";
    etcd_watch() "watch --rev";
}
