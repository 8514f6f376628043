//! The client side of an API server: keep a working copy, edit it, send the edit with a write
//! method, retry after a conflict, and follow a whole collection. The crate does no input or
//! output: it makes requests and reads answers. It depends on `optimist-apiserver`. The simulation
//! and the page use it.
//!
//! ```
//! use http::Request;
//! use optimist_apiserver::server::ApiServer;
//! use optimist_client::{ListMode, Reflector};
//!
//! // A reflector keeps the objects of a collection, as client-go's does.
//! let mut server = ApiServer::default();
//! let maps = "/api/v1/namespaces/default/configmaps";
//! let map = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}"#;
//! server.handle(Request::post(maps).body(map.into()).unwrap());
//!
//! let mut reflector = Reflector::new(maps, ListMode::List);
//! reflector.step(&mut server, 1);
//! assert_eq!(reflector.store().len(), 1);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod addition;
mod aligned_rows;
mod answered;
mod call;
mod changes;
mod client_side_apply;
mod client_side_upgrade;
mod conflict;
mod edit;
mod field_edits;
mod file;
mod intent;
mod load;
mod manifest;
pub mod manifest_fields;
mod object_ref;
mod object_store;
mod object_yaml;
mod preset;
mod procedure;
mod procedures;
mod reflector;
mod server_fields;
mod tool_record;
mod value_type;
mod visible;
mod wanted_change;
mod working_copy;
mod write;
mod write_method;
mod wrong_type;

pub use addition::{Addition, ItemNotation, add_typed, item_notation, without_empty};
pub use aligned_rows::{AlignedRow, AlignedRows, COPIES, Fold, STORED};
pub use answered::AnsweredRequest;
pub use call::{Call, Patch, Preconditions, RequestKind, Sender, get_request};
pub use changes::{ValueChange, brief_both, changes, changes_by_item, dotted, shorten};
pub use client_side_apply::{
    annotated, last_applied, three_way_patch, with_renewed_annotation, without_last_applied,
};
pub use client_side_upgrade::{CLIENT_SIDE, client_side_managers, upgrade_patch};
pub use conflict::{is_conflict, is_conflict_status};
pub use edit::{EditError, add_at, edit_scalar, remove_at};
pub use field_edits::Edit;
pub use file::{
    MAX_OBJECTS, MAX_OBJECTS_TEXT, ObjectReader, decode, flatten, objects, refuse_repeated_keys,
    title,
};
pub use intent::{ChangeKind, IntendedChange, Intent};
pub use load::{load, load_order};
pub use manifest::{MAX_MANIFEST_TEXT, Manifest, ManifestDocument, ManifestError, bare, documents};
pub use object_ref::ObjectRef;
pub use object_store::{ObjectStore, object_key};
pub use object_yaml::{Line, Token, lines, to_yaml};
pub use preset::Preset;
pub use procedure::{Lost, Next, Procedure, Reply};
pub use procedures::agent::{Agent, SingleRequest};
pub use procedures::editor::{Editor, EditorPlan, NextRequest};
pub use procedures::part::ProcedurePart;
pub use procedures::read_change::ReadChange;
pub use procedures::tool::{Tool, ToolPlan};
pub use procedures::tracking;
pub use reflector::{ListMode, Reflector, ReflectorProgress};
pub use tool_record::is_last_applied;
pub use visible::{is_hidden, visible};
pub use wanted_change::{ChangeContent, OnOwned, ReleaseMethod, WantedChange, Way};
pub use working_copy::{WorkingCopy, is_scale};
pub use write::{Declares, OnConflict, Strategy, Subresource, Write};
pub use write_method::WriteMethod;
pub use wrong_type::WrongType;
