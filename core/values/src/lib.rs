//! Quantities, names, formats and patterns, read and checked as a kube-apiserver does.
//!
//! Fields of Kubernetes objects are often texts with a form of their own. This crate reads such
//! texts, and says the reasons against them in the words of the server.
//!
//! | module | what it does | upstream |
//! |---|---|---|
//! | [`quantity`] | reads, adds, compares and prints numbers with a unit | `k8s.io/apimachinery/pkg/api/resource` |
//! | [`names`] | checks names, keys, labels and ports | `k8s.io/apimachinery/pkg/util/validation` |
//! | [`formats`] | checks the formats that a schema names | `k8s.io/kube-openapi/pkg/validation/strfmt` |
//! | [`pattern`] | compiles regular expressions within a limit of memory | `regexp` |
//!
//! ```
//! use optimist_values::{Quantity, formats, names};
//!
//! let half = Quantity::parse("500m").expect("a quantity");
//! assert_eq!(half.plus(half).to_string(), "1");
//! assert_eq!(names::label("a.b"), ["must not contain dots"]);
//! assert_eq!(formats::matches("date", "2026-02-30"), Some(false));
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod formats;
pub mod names;
pub mod pattern;
mod pattern_mistake;
pub mod quantity;

pub use pattern::Pattern;
pub use pattern_mistake::go_mistake;
pub use quantity::Quantity;
