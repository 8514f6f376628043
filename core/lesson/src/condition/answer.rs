//! Conditions on the last request and its answer.

use std::fmt;

use optimist_apiserver::object::text as text_of;
use optimist_apiserver::yaml::{Content, Located};
use optimist_simulation::Exchange;
use serde_json::Value;

use super::{Assertion, Condition, Past, ShownValue, has, places, value_at};
use crate::FieldPath;
use crate::fields::{LessonError, LessonResult, number, text};

/// The status code of the last answer; `None`: there was no answer.
#[derive(Debug)]
struct AnswerCode(Option<u16>);

/// The reason in the last answer's Status.
#[derive(Debug)]
struct Reason(String);

/// The last answer's message has this text in it.
#[derive(Debug)]
struct AnswerMessage(String);

/// The last request's body has this value at a path; `None`: it has no value there.
#[derive(Debug)]
struct RequestField(FieldPath, Option<Value>);

/// The last answer's body has this value at a path; `None`: it has no value there.
#[derive(Debug)]
struct AnswerField(FieldPath, Option<Value>);

pub(super) fn code(value: &Located) -> LessonResult<Vec<Condition>> {
    let code = match &value.content {
        Content::Scalar(Value::String(none), _) if none == "none" => None,
        _ => Some(status_code(value)?),
    };
    Ok(vec![Condition::new(AnswerCode(code))])
}

pub(super) fn status_code(value: &Located) -> LessonResult<u16> {
    u16::try_from(number(value)?)
        .ok()
        .filter(|code| (100..600).contains(code))
        .ok_or_else(|| LessonError::new(value.line, "a status code is needed here: 200, 409"))
}

pub(super) fn reason(value: &Located) -> LessonResult<Vec<Condition>> {
    Ok(vec![Condition::new(Reason(text(value)?))])
}

pub(super) fn message(value: &Located) -> LessonResult<Vec<Condition>> {
    Ok(vec![Condition::new(AnswerMessage(text(value)?))])
}

pub(super) fn sent(value: &Located) -> LessonResult<Vec<Condition>> {
    let places = places(value)?.into_iter();
    let sent = places.map(|(path, value)| Condition::new(RequestField(path, value)));
    Ok(sent.collect())
}

pub(super) fn received(value: &Located) -> LessonResult<Vec<Condition>> {
    let places = places(value)?.into_iter();
    let received = places.map(|(path, value)| Condition::new(AnswerField(path, value)));
    Ok(received.collect())
}

impl Assertion for AnswerCode {
    fn holds(&self, past: Past<'_>) -> bool {
        past.last().map(|last| last.code) == self.0
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(past.last()?.code.to_string())
    }
}

impl fmt::Display for AnswerCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(code) => write!(f, "the answer is {code}"),
            None => f.write_str("there is no answer"),
        }
    }
}

impl Assertion for Reason {
    fn holds(&self, past: Past<'_>) -> bool {
        let last = past.last();
        last.is_some_and(|last| text_of(&last.received, "reason") == self.0)
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(text_of(&past.last()?.received, "reason").to_owned())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the reason is {}", self.0)
    }
}

impl Assertion for AnswerMessage {
    fn holds(&self, past: Past<'_>) -> bool {
        let message = past.last().and_then(Exchange::message);
        message.is_some_and(|message| message.contains(&self.0))
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(past.last()?.message().unwrap_or("no message").to_owned())
    }
}

impl fmt::Display for AnswerMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the message says “{}”", self.0)
    }
}

impl Assertion for RequestField {
    fn holds(&self, past: Past<'_>) -> bool {
        let sent = past.last().map(|last| last.sent.as_ref());
        has(sent, &self.0, self.1.as_ref())
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(value_at(Some(&past.last()?.sent), &self.0))
    }
}

impl fmt::Display for RequestField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in the request is {}",
            self.0,
            ShownValue(self.1.as_ref())
        )
    }
}

impl Assertion for AnswerField {
    fn holds(&self, past: Past<'_>) -> bool {
        let received = past.last().map(|last| &last.received);
        received.is_some_and(|received| has(Some(received), &self.0, self.1.as_ref()))
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(value_at(Some(&past.last()?.received), &self.0))
    }
}

impl fmt::Display for AnswerField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in the answer is {}",
            self.0,
            ShownValue(self.1.as_ref())
        )
    }
}
