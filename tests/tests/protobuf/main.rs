//! Protobuf on the wire: as recorded, and the same objects as in JSON.

mod random;
mod recorded;
