//! Learn's sentences about predictions, tasks and challenges: each lesson is walked through, its own
//! mistakes are made, and every claim is tried.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use optimist_apiserver::object::text;
use optimist_controller::program::Switch;
use optimist_lesson::{
    Catalogue, Forbidden, Lesson, ScriptAction, SwitchChallenge, Task, TaskGoal, Walkthrough,
};
use optimist_messages::{self as messages, controller, label};
use optimist_simulation::{ActorId, HistoryTree};

use super::believing::{self, BELIEVED, Believed};
use super::counted;
use super::hearing::{ConditionOf, Conditions, Hearing};

/// The text of each lesson and quiz of the course, and what it says.
fn lessons() -> Vec<(String, Arc<Lesson>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lessons");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).expect("it is there");
    let catalogue = Catalogue::parse(&read("catalogue.yaml")).expect("a catalogue");
    let parsed = catalogue.course().map(|name| {
        let source = read(&format!("{name}.yaml"));
        let lesson = Arc::new(Lesson::parse(&source).expect("a lesson"));
        (source, lesson)
    });
    parsed.collect()
}

/// A moment of a lesson.
pub struct Learned {
    /// The number of the choice that is right, when nobody or another choice was predicted.
    right: Vec<Option<usize>>,
    /// The choice that the text is about, and the one that was predicted.
    about: usize,
    chosen: Option<usize>,
    /// For each part of the goal, in their order: `true` if it holds.
    goal: Vec<bool>,
    /// `true` if the lesson's own actions reach the goal from here.
    solvable: bool,
    /// For each question of a quiz, in their order: `true` if the right choice was predicted.
    answered: Vec<bool>,
}

pub const LEARNED: &[(&str, ConditionOf<Learned>)] = &[
    ("prediction_right", |_, it| {
        let right = it.right.iter().all(|right| *right == Some(it.about));
        Some(right && it.chosen == Some(it.about))
    }),
    ("prediction_answer", |_, it| {
        let right = it.right.iter().all(|right| *right == Some(it.about));
        Some(right && it.chosen != Some(it.about))
    }),
    ("task_reached", |_, it| {
        Some(!it.goal.is_empty() && it.goal.iter().all(|part| *part))
    }),
    ("task_moved", |_, it| Some(it.goal.iter().any(|part| !part))),
    ("quiz_right", |said, it| {
        let right = it.answered.iter().filter(|right| **right).count();
        let counts = (said.number("count")? as usize, said.number("all")? as usize);
        Some(counts == (right, it.answered.len()))
    }),
    ("task_dead_end", |said, it| {
        Some(!it.solvable && !said.text("part").is_empty())
    }),
];

/// The results of a search of orders, or of a controller's histories.
pub struct Searched {
    orders: Option<usize>,
    states: usize,
    witness: Option<HistoryTree>,
    /// The trees of runs to the end.
    runs: Vec<HistoryTree>,
    challenge: Option<SwitchChallenge>,
    /// The switches that were said to be needless, and whether some history is bad without them.
    needed: bool,
}

impl Searched {
    /// Returns whether a tree has more objects of a kind than is allowed, at its end.
    fn too_many(&self, tree: &HistoryTree) -> bool {
        let Some(challenge) = &self.challenge else {
            return false;
        };
        challenge.question.never.iter().any(|never| match never {
            Forbidden::MoreThan(most, kind) => {
                let all = tree.world().server().store().range("/registry/");
                all.filter(|(_, _, object)| text(object, "kind") == kind)
                    .count()
                    > *most
            }
            _ => false,
        })
    }

    fn counts_only(&self) -> bool {
        let never = self.challenge.iter().flat_map(|it| &it.question.never);
        never.clone().count() > 0
            && never
                .clone()
                .all(|it| matches!(it, Forbidden::MoreThan(..)))
    }
}

pub const SEARCHED: &[(&str, ConditionOf<Searched>)] = &[
    ("challenge_orders", |said, it| {
        Some(said.number("count")? as usize == it.orders?)
    }),
    ("switches_states", |said, it| {
        let least = it.witness.as_ref().map_or(1, HistoryTree::position);
        Some(said.number("count")? as usize == it.states && it.states >= least.min(it.states))
    }),
    ("switches_most_versions", |said, it| {
        let count = said.number("count")?;
        let revision = |world: &optimist_simulation::World| world.server().store().revision();
        let versions = |run: &HistoryTree| revision(run.world()) - revision(run.origin());
        let histories = it.runs.iter().chain(&it.witness);
        Some(histories.map(versions).all(|made| made <= count))
    }),
    ("switches_unsafe", |_, it| {
        let witness = it.witness.as_ref()?;
        let mut before = witness.clone();
        let first = !before.back() || !it.too_many(&before);
        Some(!it.counts_only() || (it.too_many(witness) && first))
    }),
    ("switches_never_rests", |_, it| {
        let witness = it.witness.as_ref()?;
        let revision = |world: &optimist_simulation::World| world.server().store().revision();
        Some(revision(witness.world()) > revision(witness.origin()))
    }),
    ("switches_rests_wrong", |_, it| {
        // Nothing goes on by itself.
        let witness = it.witness.as_ref()?;
        let queue = witness.world().controller(ActorId::C)?.queue();
        Some(queue.processing().next().is_none())
    }),
    ("switches_met", |_, it| {
        Some(it.witness.is_none() && !it.runs.iter().any(|run| it.too_many(run)))
    }),
    ("switches_needless_one", |said, it| {
        Some(!it.needed && !said.text("switch").contains(';'))
    }),
    ("switches_needless", |said, it| {
        Some(!it.needed && !said.text("switches").is_empty())
    }),
];

fn choice_said(happened: bool, right: bool, chosen: bool) -> String {
    match (happened, right, chosen) {
        (true, true, true) => label::prediction_right(),
        (true, true, false) => label::prediction_answer(),
        (true, false, true) => label::prediction_yours(),
        _ => String::new(),
    }
}

/// A walk that has just opened a page.
pub fn opened(lesson: &Arc<Lesson>, page: usize) -> Option<(Walkthrough, HistoryTree)> {
    let (mut walk, mut tree) = Walkthrough::open(Arc::clone(lesson)).ok()?;
    while walk.at() < page {
        walk.reveal(&mut tree).ok()?;
        match lesson.steps[walk.at()].task {
            Some(Task::Goal(_)) => walk.solve(&mut tree).ok()?,
            Some(_) => walk.meet(),
            None => {}
        }
        if !walk.forward(&mut tree).ok()? {
            return None;
        }
    }
    Some((walk, tree))
}

fn holds(walk: &Walkthrough, tree: &HistoryTree) -> Vec<bool> {
    walk.goal(tree)
        .into_iter()
        .map(|(_, holds)| holds)
        .collect()
}

fn predictions(
    lesson: &Arc<Lesson>,
    page: usize,
    hearing: &mut Hearing,
    conditions: &Conditions<Learned>,
) -> Option<()> {
    let choices = lesson.steps[page].prediction.as_ref()?.choices.len();
    let at = opened(lesson, page)?;
    let predicted = |choice: usize| -> Option<Walkthrough> {
        let (mut walk, mut tree) = at.clone();
        walk.predict(choice, &mut tree).ok()?;
        walk.reveal(&mut tree).ok()?;
        Some(walk)
    };
    let walks: Vec<Walkthrough> = (0..choices).filter_map(predicted).collect();
    let right: Vec<Option<usize>> = walks.iter().map(Walkthrough::right).collect();
    for walk in &walks {
        for choice in 0..choices {
            let about = Learned {
                right: right.clone(),
                about: choice,
                chosen: walk.chosen(),
                goal: Vec::new(),
                solvable: true,
                answered: Vec::new(),
            };
            let text = choice_said(
                walk.happened(),
                walk.right() == Some(choice),
                walk.chosen() == Some(choice),
            );
            hearing.hear(&text, conditions, &about, &|| {
                format!("   {} page {page}", lesson.title)
            });
        }
    }
    Some(())
}

/// Answers all questions of a lesson: the first one by its first choice, the second one by its second
/// choice, and so on, but for one page that is shown without an answer.
fn answers(
    lesson: &Arc<Lesson>,
    hearing: &mut Hearing,
    conditions: &Conditions<Learned>,
) -> Option<()> {
    let (mut walk, mut tree) = Walkthrough::open(Arc::clone(lesson)).ok()?;
    let mut answered = Vec::new();
    for page in 0..lesson.steps.len() {
        let choices = lesson.steps[page].prediction.as_ref()?.choices.len();
        if page == 2 {
            walk.reveal(&mut tree).ok()?;
            answered.push(false);
        } else {
            walk.predict(page % choices, &mut tree).ok()?;
            // The script decides: the conditions of the choice hold since the page began.
            answered.push(walk.right() == Some(page % choices));
        }
        walk.forward(&mut tree).ok()?;
    }
    let about = Learned {
        right: Vec::new(),
        about: 0,
        chosen: None,
        goal: Vec::new(),
        solvable: true,
        answered,
    };
    let (right, all) = walk.right_answers();
    let text = label::quiz_right(&right, &all);
    hearing.hear(&text, conditions, &about, &|| {
        format!("   {}", lesson.title)
    });
    Some(())
}

/// Returns whether actions reach the goal of a page.
fn reaches(walk: &Walkthrough, tree: &HistoryTree, actions: &[ScriptAction]) -> bool {
    let mut tree = tree.clone();
    let done = actions
        .iter()
        .try_for_each(|action| action.perform(&mut tree));
    done.is_ok() && !actions.is_empty() && holds(walk, &tree).iter().all(|part| *part)
}

fn tasks(
    lesson: &Arc<Lesson>,
    page: usize,
    goal: &TaskGoal,
    hearing: &mut Hearing,
    conditions: &Conditions<Learned>,
) -> Option<()> {
    let (mut walk, mut tree) = opened(lesson, page)?;
    walk.reveal(&mut tree).ok()?;
    let said = |walk: &Walkthrough, tree: &HistoryTree, solvable: bool| Learned {
        right: Vec::new(),
        about: 0,
        chosen: None,
        goal: holds(walk, tree),
        solvable,
        answered: Vec::new(),
    };
    let told = || format!("   {} page {page}", lesson.title);
    for mistake in &goal.mistakes {
        let mut tried = tree.clone();
        if mistake
            .actions
            .iter()
            .try_for_each(|action| action.perform(&mut tried))
            .is_err()
        {
            continue;
        }
        let solvable =
            reaches(&walk, &tried, &mistake.then) || reaches(&walk, &tried, &goal.solution);
        let lost: Vec<String> = walk
            .out_of_reach(&tried)
            .iter()
            .map(messages::goal)
            .collect();
        if !lost.is_empty() {
            let text = label::task_dead_end(&lost.join("; "));
            hearing.hear(&text, conditions, &said(&walk, &tried, solvable), &told);
        }
    }
    let begin = tree.current();
    walk.solve(&mut tree).ok()?;
    if walk.solved() {
        hearing.hear(
            &label::task_reached(),
            conditions,
            &said(&walk, &tree, true),
            &told,
        );
    }
    tree.go(begin);
    let here = holds(&walk, &tree).iter().all(|part| *part);
    if walk.solved() && !here {
        hearing.hear(
            &label::task_moved(),
            conditions,
            &said(&walk, &tree, true),
            &told,
        );
    }
    Some(())
}

/// The number of steps of a search before it is left.
const SLICES: usize = 12;

fn switches(
    lesson: &Arc<Lesson>,
    challenge: &SwitchChallenge,
    hearing: &mut Hearing,
    conditions: &Conditions<Searched>,
) -> Option<()> {
    let mistakes = challenge.mistakes.iter().map(|case| &case.switches);
    let also = challenge.also_right.iter().map(|case| &case.switches);
    let mut all: BTreeSet<Switch> = challenge.solution.clone();
    let switches = SwitchChallenge::program(lesson)?.name.switches();
    all.extend(switches);
    let mut one_more = challenge.solution.clone();
    one_more.extend(switches.iter().find(|it| !challenge.solution.contains(it)));
    let chosen = mistakes.chain(also);
    let chosen = chosen.chain([&challenge.solution, &one_more, &all]);
    for chosen in chosen.take(7) {
        let mut search = challenge.search(lesson, chosen)?;
        if !(0..SLICES).any(|_| search.advance(200)) {
            continue;
        }
        let finding = search.finding();
        let bad = |without: &Switch| {
            let mut fewer = chosen.clone();
            fewer.remove(without);
            let mut search = challenge.search(lesson, &fewer)?;
            (0..SLICES)
                .any(|_| search.advance(200))
                .then(|| search.finding().witness.is_some())
        };
        let mut run = HistoryTree::new(lesson.world().ok()?);
        run.connect_controller(ActorId::C);
        for _ in 0..6 {
            run.run_controller(ActorId::C);
        }
        let about = Searched {
            orders: None,
            states: finding.states,
            witness: search.witness(),
            runs: Vec::from_iter((chosen == &challenge.solution).then_some(run)),
            challenge: Some(challenge.clone()),
            needed: finding
                .needless
                .iter()
                .any(|switch| bad(switch) == Some(true)),
        };
        let states = label::switches_states(&finding.states);
        let found = controller::witness(
            finding.witness.as_ref(),
            finding.complete,
            &finding.needless,
        );
        let most = finding.most_versions;
        let most = most.map(|count| label::switches_most_versions(&count));
        for text in [states, found].iter().chain(&most) {
            hearing.hear(text, conditions, &about, &|| {
                format!("   {} {chosen:?}", lesson.title)
            });
        }
    }
    Some(())
}

/// Walks through each lesson.
pub fn each(hearing: &mut Hearing) {
    let learned: Conditions<Learned> = LEARNED.iter().copied().collect();
    let searched: Conditions<Searched> = SEARCHED.iter().copied().collect();
    let in_belief: Conditions<Believed> = BELIEVED.iter().copied().collect();
    for (source, lesson) in lessons() {
        believing::each_choice(&source, &lesson, hearing, &in_belief);
        // Only the pages of a quiz all have a question.
        answers(&lesson, hearing, &learned);
        for (page, step) in lesson.steps.iter().enumerate() {
            predictions(&lesson, page, hearing, &learned);
            match &step.task {
                Some(Task::Goal(goal)) => drop(tasks(&lesson, page, goal, hearing, &learned)),
                Some(Task::Switches(challenge)) => {
                    switches(&lesson, challenge, hearing, &searched);
                }
                Some(Task::Challenge(challenge)) => {
                    let Some((_, tree)) = opened(&lesson, page) else {
                        continue;
                    };
                    let Some(mut search) = challenge.search(&tree) else {
                        continue;
                    };
                    search.run();
                    let about = Searched {
                        orders: counted::orders(&search, 5_000).map(|all| all.len()),
                        states: 0,
                        witness: None,
                        runs: Vec::new(),
                        challenge: None,
                        needed: false,
                    };
                    let text = label::challenge_orders(&challenge.judge(&search).tally.total());
                    hearing.hear(&text, &searched, &about, &|| {
                        format!("   {} page {page}", lesson.title)
                    });
                }
                None => {}
            }
        }
    }
}

/// The names of all messages that have a condition here.
pub fn names() -> Vec<&'static str> {
    let learned = LEARNED.iter().map(|(name, _)| *name);
    learned
        .chain(SEARCHED.iter().map(|(name, _)| *name))
        .chain(BELIEVED.iter().map(|(name, _)| *name))
        .collect()
}
