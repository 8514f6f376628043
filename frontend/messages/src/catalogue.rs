//! Messages, their arguments, and the catalogue that is chosen.
//!
//! A template is text with places for arguments: `{name}` is the argument itself;
//! `{count|event|events}` chooses a form by a number, the first for one, the last for all others.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

thread_local! {
    /// The templates of the language that was chosen, by message. Empty: English.
    static CHOSEN: RefCell<BTreeMap<String, String>> = const { RefCell::new(BTreeMap::new()) };
}

/// Chooses a language by its catalogue: a line `message = template` each; empty lines and lines
/// that begin with `#` are skipped. A message that the catalogue does not have appears in English.
/// An empty catalogue chooses English.
pub fn choose(catalogue: &str) {
    let lines = catalogue.lines().map(str::trim);
    let lines = lines.filter(|line| !line.starts_with('#'));
    let templates = lines.filter_map(|line| line.split_once('='));
    let templates =
        templates.map(|(message, text)| (message.trim().to_owned(), text.trim().to_owned()));
    let templates = templates.collect();
    CHOSEN.with(|chosen| chosen.replace(templates));
}

/// A message in the language that was chosen.
pub(crate) fn say(message: &str, english: &str, arguments: &[(&str, &dyn Display)]) -> String {
    CHOSEN.with_borrow(|chosen| {
        let template = chosen.get(message).map_or(english, String::as_str);
        fill(template, arguments)
    })
}

/// A template with its arguments. A place for which there is no argument stays as it is.
fn fill(template: &str, arguments: &[(&str, &dyn Display)]) -> String {
    let mut text = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some((before, (place, after))) = rest
        .split_once('{')
        .and_then(|(before, from)| Some((before, from.split_once('}')?)))
    {
        text.push_str(before);
        let mut forms = place.split('|');
        let name = forms.next().unwrap_or_default();
        match arguments.iter().find(|(known, _)| *known == name) {
            None => {
                let _ = write!(text, "{{{place}}}");
            }
            Some((_, argument)) => {
                let argument = argument.to_string();
                let form = match (forms.next(), argument.as_str()) {
                    (Some(one), "1") => Some(one),
                    (Some(one), _) => Some(forms.next_back().unwrap_or(one)),
                    (None, _) => None,
                };
                text.push_str(form.unwrap_or(&argument));
            }
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

/// A message of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its name, by which a language has its text.
    pub name: &'static str,
    /// The names of its arguments.
    pub arguments: &'static [&'static str],
    /// Its text in English.
    pub english: &'static str,
}

/// Every message of the catalogue. A page that does not call it does not carry the list.
pub fn catalogue() -> impl Iterator<Item = &'static Message> {
    crate::en::ENGLISH.iter().copied().flatten()
}

/// The messages, each with its arguments and its English text: a function each, and `ENGLISH`, the
/// list of all.
macro_rules! messages {
    ($($name:ident($($argument:ident),*) $text:literal;)*) => {
        $(
            #[doc = concat!("“", $text, "”")]
            pub fn $name($($argument: &dyn std::fmt::Display),*) -> String {
                $crate::catalogue::say(
                    stringify!($name),
                    $text,
                    &[$((stringify!($argument), $argument)),*],
                )
            }
        )*

        /// Every message of this part.
        pub(crate) const ENGLISH: &[$crate::catalogue::Message] = &[$($crate::catalogue::Message {
            name: stringify!($name),
            arguments: &[$(stringify!($argument)),*],
            english: $text,
        }),*];
    };
}
pub(crate) use messages;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::en;

    #[test]
    fn a_template_has_its_arguments_where_it_wants_them() {
        let arguments: [(&str, &dyn Display); 2] = [("who", &"A"), ("count", &1)];
        let text = fill(
            "{count} {count|event|events} for {who}, {nobody}",
            &arguments,
        );
        assert_eq!(text, "1 event for A, {nobody}");
        let many = fill("{count} {count|event|events}", &[("count", &2)]);
        assert_eq!(many, "2 events");
        // An argument is text: no place in it is filled.
        assert_eq!(fill("{who} {", &[("who", &"{who}")]), "{who} {");
    }

    #[test]
    fn every_message_has_a_name_of_its_own() {
        let mut names: Vec<&str> = catalogue().map(|message| message.name).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
        assert_eq!(twice, None);
    }

    #[test]
    fn every_message_uses_exactly_its_arguments() {
        for message in catalogue() {
            let places = message.english.split('{').skip(1);
            let places = places.map(|from| from.split(['}', '|']).next().unwrap_or_default());
            let mut places: Vec<&str> = places.collect();
            places.sort_unstable();
            places.dedup();
            let mut arguments = message.arguments.to_vec();
            arguments.sort_unstable();
            assert_eq!(places, arguments, "{}", message.name);
        }
    }

    /// The names that follow `en::` or `label::` in the sources of a folder and below it.
    fn named_in(folder: &std::path::Path, names: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                named_in(&path, names);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                for place in ["en::", "label::"] {
                    names.extend(text.split(place).skip(1).map(|from| {
                        let end = from.find(|c: char| !c.is_alphanumeric() && c != '_');
                        from[..end.unwrap_or(from.len())].to_owned()
                    }));
                }
            }
        }
    }

    #[test]
    fn every_message_is_said_somewhere() {
        let frontend = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        let mut said = BTreeSet::new();
        named_in(&frontend.join("src"), &mut said);
        named_in(&frontend.join("messages/src"), &mut said);
        named_in(&frontend.join("report/src"), &mut said);
        let names = catalogue().map(|message| message.name);
        let unsaid: Vec<&str> = names.filter(|name| !said.contains(*name)).collect();
        assert_eq!(unsaid, [""; 0]);
    }

    #[test]
    fn another_language_is_said_where_its_catalogue_has_the_message() {
        choose("# German\n\nboth_read_title = Beide haben {version} gelesen.\n");
        assert_eq!(en::both_read_title(&7), "Beide haben 7 gelesen.");
        assert_eq!(en::not_found_title(), "The object does not exist.");
        choose("");
        assert_eq!(en::both_read_title(&7), "Both read 7. Nothing is locked.");
    }
}
