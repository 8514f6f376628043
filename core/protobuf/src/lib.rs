//! The protobuf encoding of Kubernetes objects, from and to JSON
//! (`k8s.io/apimachinery/pkg/runtime/serializer/protobuf`, and the `generated.pb.go` of the packages).
//!
//! On the wire, an object is [four bytes](PREFIX) and a `runtime.Unknown`, which names the version and
//! kind and holds the object's own message. [`encode()`] makes it of an object, and [`decode()`] reads it.
//! Fields have numbers in place of names; `messages.facts`, made by `cargo xtask kinds`, has them. The
//! bytes are those that Go writes: fields by number, also the zero values of those that are no pointers,
//! maps by key. Custom resources have no message.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod decode;
mod encode;
mod facts;
mod openapi;
mod reader;
mod time;

pub use decode::{Envelope, Error, decode};
pub use encode::{WriteJson, encode, watch_event};
pub use openapi::{OPENAPI_V2_MEDIA_TYPES, openapi_v2};

/// The media type.
pub const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// The media type of the events of a watch.
pub const WATCH_MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf;stream=watch";

/// The first bytes of an encoded object.
pub const PREFIX: [u8; 4] = *b"k8s\0";

/// The package, such as `core/v1`, of each type that is in a kind, by the name of the type.
pub fn packages_of(api_version: &str, kind: &str) -> std::collections::BTreeMap<String, String> {
    facts::Descriptors::get().packages_of(api_version, kind)
}

/// Returns the version and kind of each message that [`decode()`] takes. The options and answers that any
/// group can have are listed for `v1` only.
pub fn kinds() -> impl Iterator<Item = (String, &'static str)> {
    facts::Descriptors::get().kinds()
}
