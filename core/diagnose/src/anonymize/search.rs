//! Finds the values that have to stay, so that a case gives the same answers without the others.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::answers::{AnonymizedAnswer, AnswerProgress, Answers};
use super::{CaseSettings, CaseValues, LeafValue, StandIns, StayReason};
use crate::input::Input;
use crate::without_private::PrivateSearch;

/// The most times that the answers of a case are computed. Values that are not decided by then
/// stay.
const MAX_ATTEMPTS: usize = 400;

/// A case without values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WithoutValues {
    /// Its texts.
    pub texts: Vec<String>,
    /// The values that stay, and why.
    #[serde(with = "pairs")]
    pub stays: BTreeMap<LeafValue, StayReason>,
    /// The number of different values that are left out.
    pub left_out: usize,
    /// `true` if its answers are the same. If not, no value is left out, and something else is: a text
    /// that is too long, or parts of a log.
    pub same: bool,
    /// The number of texts that are error messages: their readable lines stay.
    pub messages: usize,
    /// The number of texts that are audit logs: the parts of a request that the crate reads stay.
    pub requests: usize,
    /// The number of texts that are definitions of custom resources. They stay.
    pub definitions: usize,
    /// The number of texts that are left out, because they are not detected.
    pub undetected: usize,
}

/// A map whose keys are no texts, as a list of pairs: JSON has only texts as keys.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::{LeafValue, StayReason};

    pub(super) fn serialize<S: Serializer>(
        map: &BTreeMap<LeafValue, StayReason>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<LeafValue, StayReason>, D::Error> {
        let pairs = Vec::<(LeafValue, StayReason)>::deserialize(deserializer)?;
        Ok(pairs.into_iter().collect())
    }
}

/// Leaves out the values of a case, and compares the answers without them to those with them. Where
/// they differ, it looks for the values that have to stay: first those whose stand-ins a message names,
/// then by halves.
#[derive(Clone, Debug)]
pub struct ValueSearch {
    values: CaseValues,
    settings: CaseSettings,
    /// The answers of the case with its values.
    answers: Vec<AnonymizedAnswer>,
    stage: SearchStage,
    kept: BTreeSet<LeafValue>,
    /// Groups of values that may be left out, once messages say no more.
    groups: Vec<Vec<LeafValue>>,
    /// The group that is tried; `None` while messages are followed.
    group: Option<Vec<LeafValue>>,
    attempts: usize,
    same: bool,
    /// The number of texts that were left out before anything else.
    undetected: usize,
}

#[derive(Clone, Debug)]
enum SearchStage {
    /// The texts that are not read yet. Values that look private are left out first.
    Texts(Box<PrivateSearch>),
    /// The answers with all values.
    Original(Box<Answers>),
    /// The texts with these stand-ins.
    Rewritten(Vec<String>, StandIns),
    /// The answers with these stand-ins, and the position of the next.
    Attempt(Box<Answers>, StandIns, usize),
    Done,
}

impl ValueSearch {
    /// Begins with the texts of a case. Nothing is read yet.
    pub fn new(texts: &[String], settings: &CaseSettings) -> Self {
        Self {
            stage: SearchStage::Texts(Box::new(PrivateSearch::new(texts))),
            undetected: 0,
            values: CaseValues::read(&[]),
            settings: settings.clone(),
            answers: Vec::new(),
            kept: BTreeSet::new(),
            groups: Vec::new(),
            group: None,
            attempts: 0,
            same: true,
        }
    }

    /// Does a part of an answer. Returns whether there is more to do.
    pub fn advance(&mut self) -> bool {
        match &mut self.stage {
            SearchStage::Texts(search) => {
                search.advance();
                if let Some(found) = search.result() {
                    let answers = Answers::new(&found.texts, &self.settings);
                    self.values = CaseValues::read(&found.texts);
                    self.undetected = found.undetected;
                    self.stage = SearchStage::Original(Box::new(answers));
                }
            }
            SearchStage::Rewritten(texts, stand_ins) => {
                let answers = Answers::new(texts, &self.settings);
                let stand_ins = std::mem::take(stand_ins);
                self.stage = SearchStage::Attempt(Box::new(answers), stand_ins, 0);
            }
            SearchStage::Original(answers) => match answers.advance() {
                AnswerProgress::More => {}
                AnswerProgress::Next(answer) => self.answers.push(answer),
                AnswerProgress::Done => self.attempt(),
            },
            SearchStage::Attempt(answers, stand_ins, at) => {
                let next = match answers.advance() {
                    AnswerProgress::More => return true,
                    AnswerProgress::Next(answer) => Some(answer),
                    AnswerProgress::Done => None,
                };
                let expected = self.answers.get(*at);
                *at += 1;
                match (next, expected) {
                    (None, None) => self.same(),
                    (Some(found), Some(expected)) if found.says == expected.says => {}
                    (found, _) => {
                        let messages = found.map(|it| it.messages).unwrap_or_default();
                        let named = stand_ins.named_in(&messages);
                        self.differs(named);
                    }
                }
            }
            SearchStage::Done => return false,
        }
        !matches!(self.stage, SearchStage::Done)
    }

    /// The case without values; `None` while there is more to do.
    pub fn result(&self) -> Option<WithoutValues> {
        if !matches!(self.stage, SearchStage::Done) {
            return None;
        }
        let mut stays = self.values.stays().clone();
        for value in &self.kept {
            stays.insert(value.clone(), StayReason::Answer);
        }
        Some(WithoutValues {
            texts: self.values.rewritten(&self.values.stand_ins(&self.kept)),
            stays,
            left_out: self.values.values().len() - self.kept.len(),
            same: self.same,
            messages: self
                .values
                .count(|one| matches!(one, Some(Input::Errors(_)))),
            requests: self
                .values
                .count(|one| matches!(one, Some(Input::AuditLog(_)))),
            definitions: self
                .values
                .count(|one| matches!(one, Some(Input::Definition(_)))),
            undetected: self.undetected + self.values.count(Option::is_none),
        })
    }

    /// Returns the number of times that the answers were computed without values.
    pub fn attempts(&self) -> usize {
        self.attempts
    }

    fn attempt(&mut self) {
        self.attempts += 1;
        let mut kept = self.kept.clone();
        for value in self.group.iter().flatten() {
            kept.remove(value);
        }
        let stand_ins = self.values.stand_ins(&kept);
        let texts = self.values.rewritten(&stand_ins);
        self.stage = SearchStage::Rewritten(texts, stand_ins);
    }

    /// The answers are the same.
    fn same(&mut self) {
        match self.group.take() {
            None => self.stage = SearchStage::Done,
            Some(group) => {
                for value in &group {
                    self.kept.remove(value);
                }
                self.next_group();
            }
        }
    }

    /// An answer differs. Its message names the stand-ins of these values.
    fn differs(&mut self, named: Vec<LeafValue>) {
        match self.group.take() {
            None => {
                let before = self.kept.len();
                self.kept.extend(named);
                if self.kept.len() > before && self.attempts < MAX_ATTEMPTS {
                    return self.attempt();
                }
                let rest = self.values.values().difference(&self.kept);
                // The empty group first: whether the answers are the same with every value.
                self.groups = vec![rest.cloned().collect(), Vec::new()];
                self.kept = self.values.values().clone();
            }
            Some(group) if group.is_empty() => {
                self.same = false;
                self.groups.clear();
            }
            Some(group) if group.len() > 1 => {
                let (first, second) = group.split_at(group.len() / 2);
                self.groups.extend([first.to_vec(), second.to_vec()]);
            }
            Some(_) => {}
        }
        self.next_group();
    }

    fn next_group(&mut self) {
        self.group = self.groups.pop().filter(|_| self.attempts < MAX_ATTEMPTS);
        match &self.group {
            Some(_) => self.attempt(),
            None => self.stage = SearchStage::Done,
        }
    }
}
