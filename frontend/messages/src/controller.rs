//! Sentences about a controller's operations.

use optimist_client::Lost;
use optimist_controller::program::Switch;
use optimist_simulation::ControllerOperation;
use optimist_simulation::explore::ControllerWitness;

use crate::en;

/// Names an operation of a controller in the timeline; empty for a step of its worker, which reports more.
pub(crate) fn operation(operation: ControllerOperation) -> String {
    match operation {
        ControllerOperation::Connect(_) | ControllerOperation::ListBehind(_) => {
            en::controller_connects()
        }
        ControllerOperation::Deliver(_) => en::controller_delivers(),
        ControllerOperation::Step => String::new(),
        ControllerOperation::StepLosing(Lost::Answer) => en::controller_loses_answer(),
        ControllerOperation::StepLosing(Lost::Request) => en::controller_loses_request(),
        ControllerOperation::DropWatch(_) => en::controller_drops(),
        ControllerOperation::Resync(_) => en::controller_resyncs(),
        ControllerOperation::Restart => en::controller_restarts(),
        ControllerOperation::Wake => en::controller_wakes(),
    }
}

/// The label of a switch.
pub fn switch(switch: Switch) -> String {
    match switch {
        Switch::DerivedName => en::switch_derived_name(),
        Switch::LiveList => en::switch_live_list(),
        Switch::Expectations => en::switch_expectations(),
        Switch::IgnoreAlreadyExists => en::switch_ignore_already_exists(),
        Switch::WaitForOwnVersion => en::switch_wait_for_own_version(),
        Switch::ReadYourOwnWrites => en::switch_read_your_own_writes(),
        Switch::NoClock => en::switch_no_clock(),
        Switch::Compare => en::switch_compare(),
        Switch::GenerationChanged => en::switch_generation_changed(),
        Switch::DeepCopy => en::switch_deep_copy(),
        Switch::OptimisticLock => en::switch_optimistic_lock(),
        Switch::LiveParent => en::switch_live_parent(),
        Switch::FindsChildren => en::switch_finds_children(),
        Switch::UidPrecondition => en::switch_uid_precondition(),
    }
}

/// Says the result of a search of every history with some switches.
pub fn witness(witness: Option<&ControllerWitness>, complete: bool, needless: &[Switch]) -> String {
    match witness {
        Some(ControllerWitness::Unsafe(..)) => en::switches_unsafe(),
        Some(ControllerWitness::NeverRests(..)) => en::switches_never_rests(),
        Some(ControllerWitness::RestsWrong(_)) => en::switches_rests_wrong(),
        None if !complete => en::switches_incomplete(),
        None if needless.is_empty() => en::switches_met(),
        None if let [one] = needless => en::switches_needless_one(&switch(*one)),
        None => {
            let needless: Vec<String> = needless.iter().map(|it| switch(*it)).collect();
            en::switches_needless(&needless.join("; "))
        }
    }
}
