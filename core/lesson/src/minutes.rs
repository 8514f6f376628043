//! The minutes that a lesson needs.

use super::model::{Lesson, Task};

/// The words that somebody reads in a minute whose first language is another one.
const WORDS: usize = 180;

/// The seconds for a question, with its choices and the answer to a wrong one.
const QUESTION: usize = 60;

/// The seconds for a task, with its hints.
const TASK: usize = 150;

impl Lesson {
    /// The minutes that a slow reader needs, to the nearest minute: 180 words a minute, one minute for each question
    /// with its choices, and two and a half for each task with its hints. The belief that is asked first is a question,
    /// too. Somebody who reads a page twice needs more.
    pub fn minutes(&self) -> usize {
        let mut seconds = 0;
        let mut read = words(&self.teaches);
        let first = self.belief.as_ref().and_then(|it| it.question.as_ref());
        if let Some(first) = first {
            seconds += QUESTION;
            read += words(&first.ask);
        }
        for step in &self.steps {
            read += words(&step.title) + words(&step.text) + words(&step.after);
            if let Some(prediction) = &step.prediction {
                seconds += QUESTION;
                read += words(&prediction.question);
            }
            if let Some(task) = &step.task {
                seconds += TASK;
                read += task.words();
            }
        }
        (seconds + read * 60 / WORDS + 30) / 60
    }
}

impl Task {
    /// The words of its question and of what is shown when it is done: the texts for everybody, and the longest of the
    /// others.
    fn words(&self) -> usize {
        let told: Vec<(&str, bool)> = match self {
            Self::Goal(goal) => {
                let texts = goal.reached.iter();
                texts.map(|it| (&*it.say, it.when.is_none())).collect()
            }
            Self::Challenge(challenge) => {
                let texts = challenge.reached.iter();
                texts.map(|it| (&*it.say, it.when.is_none())).collect()
            }
            Self::Switches(challenge) => {
                let texts = challenge.reached.iter();
                texts.map(|it| (&*it.say, it.switches.is_empty())).collect()
            }
        };
        let ask = match self {
            Self::Goal(goal) => &goal.ask,
            Self::Challenge(challenge) => &challenge.ask,
            Self::Switches(challenge) => &challenge.ask,
        };
        let all = told.iter().filter(|(_, all)| *all);
        let all: usize = all.map(|(text, _)| words(text)).sum();
        let some = told.iter().filter(|(_, all)| !*all);
        words(ask) + all + some.map(|(text, _)| words(text)).max().unwrap_or(0)
    }
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}
