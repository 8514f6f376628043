//! What Explore says of answers that are lost.

use optimist_client::WriteMethod;
use optimist_messages::explore as said_of;
use optimist_simulation::explore::{PRESETS, Search, SearchStatus, TransitionKind, replayed};
use optimist_simulation::{Action, ActorId, HistoryTree, Operation, World};

use crate::hearing::{ConditionOf, Conditions, Hearing};
use crate::said;

/// A write whose answer is lost.
pub struct LostAnswer {
    /// The status code that the server answers in Play to the same request at the same moment.
    code: u16,
    /// `true` if the next request of the writer in every order is the same write.
    is_sent_again: bool,
}

/// The conditions of what is said of a write whose answer is lost.
pub const LOST_ANSWERS: &[(&str, ConditionOf<LostAnswer>)] = &[
    ("step_answer_lost", |_, it| Some(it.is_sent_again)),
    ("answer_lost", |_, it| {
        Some(it.code < 400 && it.is_sent_again)
    }),
    ("answer_lost_refused", |said, it| {
        let code = said.number("code")? == u64::from(it.code);
        Some(code && it.code >= 400 && it.is_sent_again)
    }),
];

/// Sends each write whose answer a search loses in Play, and hears what is said of it.
pub fn hear(hearing: &mut Hearing) -> Option<()> {
    use WriteMethod::{Apply, JsonTests, Update, UpdateReadAgain, UpdateVersioned};
    for slug in ["different-fields", "same-field"] {
        let preset = PRESETS.iter().find(|it| it.slug == slug)?;
        let start = HistoryTree::new(World::load(preset.manifest).ok()?.0);
        for way in [Update, UpdateVersioned, UpdateReadAgain, Apply, JsonTests] {
            let mut scenario = preset.scenario().ok()?.in_ways(&[way], 2).ok()?;
            scenario.faults.lost_answers = 1;
            let mut search = Search::new(scenario, 4000);
            (search.run() == SearchStatus::Done).then_some(())?;
            ends(&search, hearing);
            for edge in search.edges().iter().filter(|edge| edge.is_lost) {
                let path = search.path_to(edge.from);
                let mut tree = replayed(&search, &path, path.len(), start.clone());
                let write = search.scenario().plans.get(edge.actor)?.sends();
                let who = *ActorId::ALL.get(edge.actor)?;
                let node = tree.act_once(Operation::Act(who, Action::Send(write)))?;
                let next = search.view(edge.to)?.edges();
                let mut next = next.map(|id| search.edges()[id]);
                let next = next.find(|next| next.actor == edge.actor);
                let lost = LostAnswer {
                    code: tree.step(node)?.exchange.as_ref()?.code,
                    is_sent_again: next.is_some_and(|next| next.what == TransitionKind::Write),
                };
                let of_all: Conditions<LostAnswer> = LOST_ANSWERS.iter().copied().collect();
                let told = || format!("   {slug}: {way:?}");
                hearing.hear(&said_of::step(&search, edge), &of_all, &lost, &told);
                for text in said_of::transition(&search, edge) {
                    hearing.hear(&text, &of_all, &lost, &told);
                }
            }
        }
    }
    Some(())
}

/// The letters of the actors that are refused at an end of which the server accepted a write, and the answer was
/// lost.
struct RefusedAgain(Vec<&'static str>);

/// The conditions of what is said of an end.
const ENDS: &[(&str, ConditionOf<RefusedAgain>)] = &[("search_refused_again", |said, it| {
    Some(it.0.contains(&said.text("actor").as_str()))
})];

/// Hears what is said of the ends of a search.
fn ends(search: &Search, hearing: &mut Hearing) {
    let of_ends: Conditions<RefusedAgain> = ENDS.iter().copied().collect();
    for end in search.ends() {
        let path = search.path_to(end.id);
        let lost = |who: usize| {
            let mut steps = path.iter().map(|id| search.edges()[*id]);
            steps.any(|it| it.is_lost && it.actor == who && it.code < 400)
        };
        let refused = end.refusals().into_iter().map(|(who, _)| who);
        let letters = refused.filter(|who| lost(*who));
        let again = RefusedAgain(letters.map(|who| ActorId::ALL[who].letter()).collect());
        let told = || format!("   {}", said_of::path(search, &path));
        let text = said_of::because(search, end.id);
        let parts = said::parts(&text);
        let says = said::all(&parts).into_iter().map(|it| it.name());
        if says.filter(|name| *name == "search_refused_again").count() != again.0.len() {
            hearing.unsaid("search_refused_again", told());
        }
        hearing.hear(&text, &of_ends, &again, &told);
    }
}

/// The names of all messages that have a condition here.
pub fn names() -> impl Iterator<Item = &'static str> {
    let lost = LOST_ANSWERS.iter().map(|(name, _)| *name);
    lost.chain(ENDS.iter().map(|(name, _)| *name))
}
