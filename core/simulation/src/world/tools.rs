//! Actors that write as a tool does, and have its name.

use optimist_client::{Preset, Write};

use super::World;
use crate::{Actor, ActorId};

impl World {
    /// Lets an actor be a tool: it writes as the tool does, and has the tool's name. `false` if the tool cannot write
    /// the object.
    pub fn become_tool(&mut self, id: ActorId, tool: Preset) -> bool {
        let Some(write) = tool.write(self.resource()) else {
            return false;
        };
        self.actor_mut(id).set_write(write);
        if let Some(name) = tool.actor_name() {
            self.name_actor(id, name);
        }
        true
    }

    /// Lets a person act for an actor: its field manager has its letter, as those of the two editors have.
    pub fn become_editor(&mut self, id: ActorId) {
        let manager = format!("editor-{}", id.letter().to_lowercase());
        self.actor_mut(id).manager = manager.into();
    }

    /// Gives an actor a name. If another one has it already, its letter tells the two apart.
    pub fn name_actor(&mut self, id: ActorId, name: &str) {
        let mut others = ActorId::ALL.into_iter().filter(|other| *other != id);
        let is_taken = others.any(|other| *self.actor(other).name == *name);
        self.actor_mut(id).name = match is_taken {
            true => format!("{name} {}", id.letter()).into(),
            false => name.into(),
        };
    }

    /// Selects an actor's write method. An actor that no longer writes as the tool whose name it has gets its own
    /// name again.
    pub fn choose_write(&mut self, id: ActorId, write: Write) {
        let actor = self.actor_mut(id);
        let letter = format!(" {}", id.letter());
        let name = actor.name.strip_suffix(&letter).unwrap_or(&actor.name);
        // Links of older versions have the name of the program, not of its command.
        let names = |tool: &Preset| [tool.actor_name(), tool.tool_name()];
        let is_tool = |tool: &Preset| names(tool).contains(&Some(name));
        let mut tools = Preset::all().filter(is_tool).peekable();
        let was_tool = tools.peek().is_some();
        if was_tool && !tools.any(|tool| tool.manager() == write.manager.as_deref()) {
            actor.name = Actor::new(id).name;
        }
        actor.set_write(write);
    }
}
