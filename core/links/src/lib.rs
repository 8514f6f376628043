//! A session as a short text for a link. It stores actions, not results. Opening it performs all
//! actions again.
//!
//! The text is a version, then JSON, compressed with a checksum (zlib, RFC 1950) and in the URL-safe alphabet of base64
//! (RFC 4648, section 5). It can come from anywhere, so nothing in it is trusted.
//!
//! ```
//! use optimist_links::Session;
//! use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
//!
//! let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
//! tree.act(Operation::Act(ActorId::A, Action::Get));
//! let text = Session::from_tree(&tree).to_text();
//! let opened = Session::parse(&text).unwrap().replay().finish().unwrap();
//! assert_eq!(opened.len(), tree.len());
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod operation;
mod private;
mod replay;
mod session;
mod size;
mod start;
mod text;

pub use replay::Replay;
pub use session::{Learning, Session};
pub use size::Size;
pub use text::{MAX_LINK_LENGTH, ShareError};
