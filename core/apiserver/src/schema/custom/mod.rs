//! The effects of a custom resource's schema on its objects
//! (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema`, v1.36): how they merge, which fields
//! stay, what is filled in, and the rules that they must satisfy.

mod default_values;
mod defaults;
mod embedded;
mod field_path;
mod limits;
mod lists;
mod numbers;
mod outcome;
mod prune;
mod rules;
mod types;
mod validate;
mod work;

pub use default_values::errors as default_errors;
pub use defaults::fill_in;
pub use embedded::{coerce, coerce_metadata, validate as validate_embedded};
pub use field_path::normalized as normalized_path;
pub use lists::duplicates;
pub use numbers::{numbers_as_read, numbers_as_stored};
pub use prune::{prune, prune_nulls};
pub use rules::{Compiled, Judged, ValidationRule, judge, judge_default};
pub use types::root;
pub use validate::{Before, is_known_format, validate};
pub use work::{is_feasible, is_feasible_schema};
