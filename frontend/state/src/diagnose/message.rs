//! The messages of the page to Diagnose.

use optimist_client::{Preset, WriteMethod};
use optimist_diagnose::scene::GivenParts;
use optimist_diagnose::ways::{RemedyKind, Way};

use super::{
    CaseExample, CaseSection, LiveEditMsg, LiveEvent, OwnerFilter, PreviewFilter, SelectedStep,
    StepMove,
};

/// A message about the case.
#[derive(Clone, Debug)]
pub enum DiagnoseMsg {
    /// The text as it is typed.
    Draft(String),
    /// Takes the typed text.
    TakeDraft,
    /// Takes a text.
    Bring(String),
    /// Opens Diagnose, and takes a text if there is one.
    Open(String),
    /// Begins again with an example.
    Example(CaseExample),
    /// Takes the content of a file.
    File(Vec<u8>),
    /// The browser cannot read the file of this name.
    Unreadable(String),
    /// The file of this name is larger than any that can be read.
    TooLarge(String),
    /// Takes what a running server says of its requests.
    Observe(LiveEvent),
    /// About the editor that writes to the running server.
    EditLive(LiveEditMsg),
    /// Takes events of a watch of the object that is followed.
    Follow {
        /// The events, a line each.
        lines: String,
        /// `true` if another object was followed before, or none.
        anew: bool,
    },
    /// Opens the object that is looked at in Play.
    PlayObject,
    /// Removes a thing, by its number.
    Remove(u32),
    /// Removes everything.
    Clear,
    /// Goes back to the case that was here before a link was opened.
    Return,
    /// Looks at the object at this position.
    Choose(usize),
    /// Shows the object that is looked at, or the preview of all.
    OneObject(bool),
    /// Shows these objects of the preview alone, or all.
    PreviewOf(Option<PreviewFilter>),
    /// The tool deletes the objects that no manifest names any more, or does not.
    Prune(bool),
    /// People write with this client.
    Client(Preset),
    /// People write by this field manager.
    Manager(String),
    /// Adds something to error messages that they do not say.
    Given(GivenParts),
    /// Steps through the scene of an error message, in Play.
    StepScene,
    /// Shows all ways of writing, or those of the client and some to compare.
    AllWays(bool),
    /// Stops running ways of writing.
    CancelTable,
    /// Looks at the object of the audit log at this position.
    ChooseAudited(usize),
    /// Stops reading the audit log.
    CancelAudit,
    /// Stops reading the last text.
    CancelReading,
    /// Takes the text of a thing that is not recognized back to where texts are typed, by its number.
    Correct(u32),
    /// Selects a step of a recorded history; `None` goes back to the newest version.
    SelectStep(Option<SelectedStep>),
    /// Goes to another step of the recorded history.
    MoveStep(StepMove),
    /// Opens the world before the request of the step that is selected, in Play.
    StepRecorded,
    /// Leaves the recorded history: opens what the server had after the selected step, in Play.
    Branch,
    /// Steps through a way of writing, in Play.
    Step(Way),
    /// Steps through a way out of a conflict, in Play.
    StepOut(RemedyKind),
    /// Steps through a next write after the refusal of an Update, in Play.
    StepNext(WriteMethod),
    /// Explores a way of writing while somebody else writes in between.
    InBetween(Way),
    /// Explores a way out of a conflict while somebody else writes in between.
    InBetweenOut(RemedyKind),
    /// Shows the lines of one owner only, or all.
    Owner(Option<OwnerFilter>),
    /// Shows a part of the page.
    Section(CaseSection),
}
