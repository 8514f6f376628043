//! The metadata fields that only the server sets.

use optimist_apiserver::apply::Set;

/// The fields that the server sets in a new object, and keeps.
const SET_BY_CREATE: [&str; 2] = ["uid", "creationTimestamp"];

/// The fields that the server sets with every change.
pub(crate) const SET_BY_EVERY_WRITE: [&str; 3] = ["resourceVersion", "generation", "managedFields"];

/// The other fields that only the server sets.
const SET_BY_DELETE: [&str; 3] = [
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
];

/// All fields of the metadata that only the server sets. A new object must not contain them.
pub(crate) fn server_owned() -> impl Iterator<Item = &'static str> {
    let all = [
        SET_BY_CREATE.as_slice(),
        &SET_BY_EVERY_WRITE,
        &SET_BY_DELETE,
    ];
    all.into_iter().flatten().copied()
}

/// The fields that the server sets when it stores an object: they are no edits.
pub(crate) fn set_by_writes() -> Set {
    let fields = SET_BY_CREATE.iter().chain(&SET_BY_EVERY_WRITE);
    let fields: Vec<[&str; 2]> = fields.map(|field| ["metadata", field]).collect();
    let fields: Vec<&[&str]> = fields.iter().map(<[&str; 2]>::as_slice).collect();
    Set::of_fields(&fields)
}
