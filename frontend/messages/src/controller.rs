//! What a controller did.

use optimist_simulation::{ControllerEvent, ControllerOperation};

use crate::Caption;
use crate::en;

/// What an operation of a controller is called in the timeline.
#[inline(never)] // not on the first screen
pub(crate) fn operation(operation: ControllerOperation) -> String {
    match operation {
        ControllerOperation::Connect(_) => en::controller_connects(),
        ControllerOperation::Deliver(_) => en::controller_delivers(),
        ControllerOperation::Step => en::controller_steps(),
        ControllerOperation::DropWatch(_) => en::controller_drops(),
        ControllerOperation::Resync(_) => en::controller_resyncs(),
        ControllerOperation::Restart => en::controller_restarts(),
        ControllerOperation::Wake => en::controller_wakes(),
    }
}

/// The caption of a step of a controller.
#[inline(never)] // not on the first screen
pub(crate) fn caption(done: ControllerOperation, _event: Option<&ControllerEvent>) -> Caption {
    Caption::new(operation(done), [])
}
