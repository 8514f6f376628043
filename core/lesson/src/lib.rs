//! Lessons: short scripted histories with texts, predictions and goals. A lesson is a text that
//! people write by hand; everything it claims is found out by running it. The crate depends on
//! `optimist-simulation` and the crates below it; the page, links and `cargo xtask lesson` use it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod catalogue;
mod challenge;
mod condition;
mod evidence;
mod fields;
mod mistake;
mod model;
mod path;
mod proof;
mod prose;
mod read;
mod script;
mod walkthrough;

pub use catalogue::{Catalogue, Chapter, Entry};
pub use challenge::Finding;
pub use condition::{Condition, Past};
pub use fields::LessonError;
pub use model::{
    Aim, Cast, Challenge, Choice, Chosen, Claim, Experiment, Fact, Found, Goal, Held, Lesson,
    LessonStep, Mistake, OtherWay, Prediction, Task,
};
pub use path::FieldPath;
pub use proof::{Proof, prove};
pub use prose::{Block, Span, blocks, spans};
pub use script::{Deed, Edit, What};
pub use walkthrough::{PageRecord, Walkthrough};
