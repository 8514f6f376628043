//! The action of a third actor, and the way in which an actor writes.

use optimist_client::{Preset, WriteMethod};
use optimist_simulation::ActorId;
use optimist_simulation::explore::ThirdActor;

use crate::en;
use crate::ways::client_long;

/// Says the action of a third actor.
pub fn third(third: ThirdActor) -> String {
    match third {
        ThirdActor::Annotates => en::third_annotates(),
        ThirdActor::Reports => en::third_reports(),
        ThirdActor::Deletes => en::third_deletes(),
        ThirdActor::Tool(preset) => client_long(preset),
    }
}

/// Says the actions of two actors, and that of a third one.
pub fn with_third(says: &str, does: ThirdActor) -> String {
    match does {
        ThirdActor::Tool(Preset::KubectlScale | Preset::Autoscaler) => {
            en::with_scaling_tool(&says, &third(does))
        }
        ThirdActor::Tool(Preset::KubectlEdit) => en::with_editing_tool(&says, &third(does)),
        ThirdActor::Tool(_) => en::with_tool(&says, &third(does)),
        _ => en::with_third(&says, &third(does)),
    }
}

/// Names the tool that an actor is.
pub fn actor_tool(actor: ActorId, tool: ThirdActor) -> String {
    en::actor_tool(&actor.letter(), &third(tool))
}

/// Names a way of writing.
pub fn way(way: WriteMethod) -> String {
    match way {
        WriteMethod::Update => en::way_update(),
        WriteMethod::UpdateVersioned => en::way_update_rv(),
        WriteMethod::UpdateReadAgain => en::way_update_retry(),
        WriteMethod::UpdateResend => en::way_update_resend(),
        WriteMethod::Merge => en::way_merge(),
        WriteMethod::MergeVersioned => en::way_merge_rv(),
        WriteMethod::MergeReadAgain => en::way_merge_retry(),
        WriteMethod::Strategic => en::way_strategic(),
        WriteMethod::StrategicVersioned => en::way_strategic_rv(),
        WriteMethod::Json => en::way_json(),
        WriteMethod::JsonTests => en::way_json_test(),
        WriteMethod::JsonVersioned => en::way_json_rv(),
        WriteMethod::Apply => en::way_apply(),
        WriteMethod::ApplyOwned => en::way_apply_own(),
        WriteMethod::ApplyForced => en::way_apply_force(),
        WriteMethod::ApplyVersioned => en::way_apply_rv(),
        WriteMethod::Own => en::way_own(),
    }
}

/// Says an actor's way of writing, and whether the actor reads first.
pub fn actor_way(actor: ActorId, method: WriteMethod, reads_first: bool) -> String {
    let (actor, way) = (actor.letter(), way(method));
    if reads_first {
        en::actor_way(&actor, &way)
    } else {
        en::actor_way_blind(&actor, &way)
    }
}
