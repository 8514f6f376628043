//! A session as a short text that fits into a link: what was done, never what came of it. Opening
//! one does everything again.
//!
//! The text is a version, then JSON, deflated (RFC 1951) and in the URL-safe alphabet of base64
//! (RFC 4648, section 5). It comes from anywhere, so nothing in it is trusted.

mod operation;
mod private;
mod replay;
mod session;
mod size;
mod text;

pub use private::Private;
pub use replay::Replay;
pub use session::{Learning, Session};
pub use size::Size;
pub use text::{LONGEST_LINK, ShareError};
