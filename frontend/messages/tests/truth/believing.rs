//! The sentences about the first question of a lesson: the right choice is the one that the lesson calls right, and the
//! page that an answer names shows what the answer says.

use std::sync::Arc;

use optimist_lesson::{Lesson, Span, Task, spans};
use optimist_messages::label;

use super::hearing::{ConditionOf, Conditions, Hearing};
use super::lessons::opened;

/// A choice in the first question of a lesson, when the lesson has been walked.
pub struct Believed {
    /// The place of the choice, and of the ones that the text of the lesson calls right.
    chosen: usize,
    right: Vec<usize>,
    /// The names and numbers of its answer.
    named: Vec<String>,
    /// What each page shows: its texts, its requests and answers, and the objects that are stored then.
    shown: Vec<String>,
}

pub const BELIEVED: &[(&str, ConditionOf<Believed>)] = &[
    ("belief_right", |_, it| Some(it.right == [it.chosen])),
    ("belief_page", |said, it| {
        let page = usize::try_from(said.number("page")?).ok()?;
        let shown = it.shown.get(page.checked_sub(1)?)?;
        let named = it.named.iter().all(|name| shown.contains(name));
        Some(!it.right.contains(&it.chosen) && named)
    }),
];

/// The places of the choices with `right: yes` in the first question of a lesson, from its lines.
fn called_right(source: &str) -> Vec<usize> {
    let belief = source.split("\nbelief:\n").nth(1).unwrap_or_default();
    let lines = belief
        .lines()
        .take_while(|line| line.starts_with(' ') || line.is_empty());
    let (mut choices, mut right) = (0_usize, Vec::new());
    for line in lines {
        choices += usize::from(line.starts_with("  - say: "));
        if line == "    right: yes" {
            right.extend(choices.checked_sub(1));
        }
    }
    right
}

/// The code in an answer, and its numbers.
fn named(answer: &str) -> Vec<String> {
    let mut named = Vec::new();
    for span in spans(answer) {
        match span {
            Span::Code(code) => named.push(code),
            Span::Plain(text) | Span::Strong(text) | Span::Emphasis(text) => {
                let words = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
                let numbers = words.map(|word| word.trim_matches('.'));
                named.extend(numbers.filter(|it| !it.is_empty()).map(str::to_owned));
            }
        }
    }
    named
}

/// What a page shows when all of it has happened and its task is done.
fn shown(lesson: &Arc<Lesson>, page: usize) -> Option<String> {
    let (mut walk, mut tree) = opened(lesson, page)?;
    let before = tree.position();
    walk.reveal(&mut tree).ok()?;
    let step = &lesson.steps[page];
    let mut shown = vec![step.title.clone(), step.text.clone(), step.after.clone()];
    if let Some(prediction) = &step.prediction {
        shown.push(prediction.question.clone());
        let choices = prediction.choices.iter();
        shown.extend(choices.flat_map(|it| {
            [Some(it.text.clone()), it.answer.clone()]
                .into_iter()
                .flatten()
        }));
    }
    if let Some(Task::Goal(goal)) = &step.task {
        shown.push(goal.ask.clone());
    }
    for node in &tree.current_path()[before..] {
        // The first node is the beginning, to which no step leads.
        if let Some(step) = tree.step(*node) {
            shown.push(step.status_line());
            shown.extend(step.sent_text().map(str::to_owned));
        }
        let store = tree.world_at(*node)?.server().store();
        let all = store.range("/registry/");
        shown.extend(all.map(|(_, version, object)| format!("{version} {object}")));
    }
    let text = shown.join("\n");
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Chooses each choice of the first question, and walks the lesson to its end.
pub fn each_choice(
    source: &str,
    lesson: &Arc<Lesson>,
    hearing: &mut Hearing,
    conditions: &Conditions<Believed>,
) -> Option<()> {
    let question = lesson.belief.as_ref()?.question.as_ref()?;
    let shown: Option<Vec<String>> = (0..lesson.steps.len())
        .map(|page| shown(lesson, page))
        .collect();
    let shown = shown.expect("each page can be opened");
    for (chosen, choice) in question.choices.iter().enumerate() {
        let refuted = choice.refuted.as_ref();
        let about = Believed {
            chosen,
            right: called_right(source),
            named: refuted.map_or_else(Vec::new, |it| named(&it.answer)),
            shown: shown.clone(),
        };
        let text = match refuted {
            None => Some(label::belief_right()),
            Some(refuted) => refuted.page.map(|page| label::belief_page(&(page + 1))),
        };
        if let Some(text) = text {
            hearing.hear(&text, conditions, &about, &|| {
                format!("   {}: {} {:?}", lesson.title, choice.text, about.named)
            });
        }
    }
    Some(())
}
