//! Lessons: short scripted histories with texts, predictions and goals. People write a lesson as a
//! text file, and a run checks every claim in it. The crate depends on `optimist-simulation` and the
//! crates below it. The page, links and `cargo xtask lesson` use it.
//!
//! ```
//! use optimist_lesson::Lesson;
//!
//! // An error names the line.
//! let error = Lesson::parse("title: A lesson\nsteps: 3\n").unwrap_err();
//! assert!(error.to_string().contains("line"));
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod belief;
mod catalogue;
mod challenge;
mod check;
mod closing;
mod condition;
mod controller;
mod errors;
mod evidence;
mod feedback;
mod fields;
mod minutes;
mod mistake;
mod model;
mod mutants;
mod path;
mod property;
mod prose;
mod question;
mod read;
mod report;
mod script;
mod switches;
mod teaching;
mod variation;
mod walkthrough;

pub use belief::{Belief, FirstChoice, FirstQuestion, Refutation};
pub use catalogue::{Catalogue, CatalogueEntry, Chapter, Incident, Quiz, Reading};
pub use challenge::Finding;
pub use check::{LessonCheck, check_lesson};
pub use closing::{ClosingText, WriteFilter};
pub use condition::{Condition, GoalLabel, PartLabel, Past};
pub use controller::ControllerAction;
pub use feedback::Feedback;
pub use fields::LessonError;
pub use model::{
    CastMember, Challenge, ChallengeCase, Choice, Claim, Experiment, FactBasis, GoalPart, Lesson,
    LessonStep, OtherWay, PageFact, Prediction, SecondReading, ServerPart, Task, TaskGoal,
    VerdictCounts, WrongAttempt,
};
pub use mutants::{AlsoRight, MutantReport, try_mutants};
pub use path::FieldPath;
pub use property::{
    FieldBound, PropertyError, PropertyErrorKind, StoredCondition, WrittenProperty,
    example_controller_properties, example_properties, known_kinds, named_fields,
    parse_controller_property, parse_property,
};
pub use prose::{Block, Span, blocks, spans};
pub use question::{ChallengeQuestion, Forbidden, RestCondition};
pub use report::{LessonReport, report_on_lesson};
pub use script::{ScriptAction, ScriptActionKind, ScriptEdit};
pub use switches::{SwitchCase, SwitchChallenge, SwitchFinding, SwitchSearch};
pub use teaching::{TeacherNotes, teacher_notes};
pub use variation::Variation;
pub use walkthrough::{PageRecord, Walkthrough};
