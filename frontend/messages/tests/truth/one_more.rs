//! One more actor in the search of every order: what it does if nobody else does anything.

use optimist_client::Preset;
use optimist_simulation::explore::{ControllerQuestion, ControllerReplay, ThirdActor};
use optimist_simulation::{ActorId, HistoryTree, World};
use optimist_system::Event;

use crate::judge::{Leaves, leaves};
use crate::said::{self, Said};
use crate::tools::is_mark;

/// One more actor, alone.
pub struct OneMore {
    name: String,
    does: ThirdActor,
    before: Leaves,
    /// `None` if there is no object any more.
    after: Option<Leaves>,
    /// The method and the status code of each of its requests.
    sent: Vec<(String, u16)>,
}

fn shown(world: &World) -> Option<Leaves> {
    world.stored().map(|(_, object)| leaves(object))
}

impl OneMore {
    /// The last actor of a question, from the moment of the question.
    pub fn alone(
        tree: &HistoryTree,
        question: &ControllerQuestion,
        (actor, does): (ActorId, ThirdActor),
    ) -> Option<Self> {
        let (name, before) = (
            tree.world().actor(actor).name.to_string(),
            shown(tree.world())?,
        );
        let (mut replay, mut tree) = (ControllerReplay::new(question), tree.clone());
        // Before the actors come the controllers.
        let controllers = tree.world().controllers().count();
        let process = u8::try_from(controllers + question.actors.len() - 1).ok()?;
        let begin = tree.position();
        while replay.perform(&mut tree, Event::Request(process)).is_some() {}
        let nodes = &tree.current_path()[begin + 1..=tree.position()];
        let steps = nodes.iter().filter_map(|node| tree.step(*node));
        let sent = steps.filter(|step| step.actor() == Some(actor));
        let sent = sent.filter_map(|step| step.exchange.as_ref());
        let sent = sent.map(|exchange| (exchange.method.to_string(), exchange.code));
        Some(Self {
            name,
            does,
            before,
            sent: sent.collect(),
            after: shown(tree.world()),
        })
    }

    /// The places whose values differ, but the marks by which a tool knows its objects.
    fn changed(&self) -> Vec<&Vec<String>> {
        let Some(after) = &self.after else {
            return Vec::new();
        };
        let places = self.before.keys().chain(after.keys());
        let differs = |place: &&Vec<String>| self.before.get(*place) != after.get(*place);
        let mut changed: Vec<_> = places.filter(differs).collect();
        changed.sort();
        changed.dedup();
        changed.retain(|place| !is_mark(place));
        changed
    }

    fn changes_one(&self, at: &[&str]) -> bool {
        let is_there = |place: &Vec<String>| at.iter().zip(place).all(|(a, b)| a == b);
        matches!(self.changed()[..], [place] if is_there(place))
    }

    fn is_refused(&self) -> bool {
        self.sent.last().is_some_and(|(_, code)| *code >= 400) && self.changed().is_empty()
    }

    /// Returns whether what is said of it is so.
    pub fn is(&self, said: &Said) -> Option<bool> {
        let done = match said.name() {
            "orders_varied_tool" | "orders_varied_editing_tool" => {
                self.changes_one(&["metadata", "annotations"])
            }
            "orders_varied_scaling_tool" => self.changes_one(&["spec", "replicas"]),
            _ => match said::all(said.parts("does")).first()?.name() {
                "third_annotates" => self.changes_one(&["metadata", "annotations"]),
                "third_reports" => self.changes_one(&["status"]),
                "third_deletes" => self
                    .sent
                    .iter()
                    .any(|(method, code)| method == "DELETE" && *code == 200),
                _ => return None,
            },
        };
        let reads = self.sent.first().is_some_and(|(method, _)| method == "GET");
        let is_named = match said.name() {
            "orders_varied_third" => reads && said.text("name") == self.name,
            name => {
                let chosen = said::parts(&optimist_messages::explore::third(self.does));
                // Only who has a file of the object has a manifest.
                let edits = self.does == ThirdActor::Tool(Preset::KubectlEdit);
                let is_kind = edits == (name == "orders_varied_editing_tool");
                is_kind && said.text("tool") == said::english(&chosen)
            }
        };
        Some(is_named && (done || self.is_refused()))
    }
}
