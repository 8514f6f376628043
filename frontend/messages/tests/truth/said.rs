//! Heard messages with their arguments, instead of texts. The catalogue takes a language whose text
//! of each message is its name and its arguments, so that no code of the page knows that it is
//! heard.

use optimist_messages::{Message, catalogue, choose};

// Characters of a private use area: no text of Kubernetes has them.
const BEGIN: char = '\u{e000}';
const ARGUMENT: char = '\u{e001}';
const END: char = '\u{e002}';

/// A part of a text.
#[derive(Clone, Debug)]
pub enum Part {
    Text(String),
    Said(Said),
}

/// A message that was said.
#[derive(Clone, Debug)]
pub struct Said {
    pub message: &'static Message,
    /// In the order of the message's arguments.
    arguments: Vec<Vec<Part>>,
}

/// Lets this thread say messages by their names.
pub fn by_name() {
    let mut language = String::new();
    for message in catalogue() {
        language.push_str(&format!("{} = {BEGIN}{}", message.name, message.name));
        for argument in message.arguments {
            language.push_str(&format!("{ARGUMENT}{{{argument}}}"));
        }
        language.push(END);
        language.push('\n');
    }
    choose(&language);
}

/// The parts of a text that was said by name.
pub fn parts(text: &str) -> Vec<Part> {
    read(&mut text.chars().peekable())
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn read(text: &mut Chars<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    while let Some(&next) = text.peek() {
        match next {
            ARGUMENT | END => break,
            BEGIN => {
                text.next();
                if !plain.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                }
                parts.push(Part::Said(said(text)));
            }
            other => {
                text.next();
                plain.push(other);
            }
        }
    }
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    parts
}

fn said(text: &mut Chars<'_>) -> Said {
    let mut name = String::new();
    while let Some(next) = text.next_if(|next| *next != ARGUMENT && *next != END) {
        name.push(next);
    }
    let mut arguments = Vec::new();
    while text.next_if_eq(&ARGUMENT).is_some() {
        arguments.push(read(text));
    }
    assert_eq!(text.next(), Some(END), "the text of {name} was cut");
    let mut known = catalogue().filter(|message| message.name == name);
    let message = known.next().unwrap_or_else(|| panic!("no message {name}"));
    Said { message, arguments }
}

/// The messages of a text, those inside others too.
pub fn all(parts: &[Part]) -> Vec<&Said> {
    let mut found = Vec::new();
    for part in parts {
        if let Part::Said(said) = part {
            found.push(said);
            found.extend(said.arguments.iter().flat_map(|parts| all(parts)));
        }
    }
    found
}

/// A text in English.
pub fn english(parts: &[Part]) -> String {
    let text = parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Said(said) => said.english(),
    });
    text.collect()
}

impl Said {
    pub fn name(&self) -> &'static str {
        self.message.name
    }

    /// The parts of an argument.
    pub fn parts(&self, name: &str) -> &[Part] {
        let at = self.message.arguments.iter().position(|it| *it == name);
        let at = at.unwrap_or_else(|| panic!("{} has no argument {name}", self.name()));
        &self.arguments[at]
    }

    /// An argument in English.
    pub fn text(&self, name: &str) -> String {
        english(self.parts(name))
    }

    /// An argument that is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.text(name).parse().ok()
    }

    /// The message that an argument is.
    pub fn inner(&self, name: &str) -> Option<&Said> {
        match self.parts(name) {
            [Part::Said(said)] => Some(said),
            _ => None,
        }
    }

    /// The sentence in English.
    pub fn english(&self) -> String {
        let mut text = String::new();
        let mut rest = self.message.english;
        while let Some((before, from)) = rest.split_once('{') {
            let (place, after) = from.split_once('}').unwrap_or((from, ""));
            text.push_str(before);
            let mut forms = place.split('|');
            let argument = self.text(forms.next().unwrap_or_default());
            let forms: Vec<&str> = forms.collect();
            text.push_str(match (&forms[..], argument.as_str()) {
                ([], argument) => argument,
                ([one, ..], "1") => one,
                ([.., other], _) => other,
            });
            rest = after;
        }
        text + rest
    }
}
