//! A body as JSON: important members are bold, others are folded.

use optimist_client::visible;
use optimist_messages::label;
use serde_json::{Map, Value};
use yew::{Html, classes, html};

use super::fold::{holds, size};
use crate::state::{ObjectView, Sends, StateHandle, ViewMsg};

/// The JSON to draw, and its view.
pub(crate) struct JsonView<'a> {
    pub(crate) store: &'a StateHandle,
    pub(crate) view: ObjectView,
    pub(crate) label: &'a str,
    pub(crate) body: &'a Value,
    /// The places that matter.
    pub(crate) emphasis: Vec<String>,
    pub(crate) refused: bool,
}

/// Bodies up to this many lines are shown whole.
const SHORT: usize = 26;

/// Longer texts wrap over too many lines to be looked through.
const MAX_LENGTH: usize = 600;

/// Draws a body.
pub(crate) fn json_view(props: &JsonView<'_>) -> Html {
    let mut printer = Printer {
        props,
        short: line_count(props.body) <= SHORT,
        rows: Vec::new(),
    };
    printer.value(None, props.body, "", 0, "");
    html! {
        <div
            class={classes!("json", props.refused.then_some("refused"))}
            role="region"
            tabindex="0"
            aria-label={props.label.to_owned()}
        >
            { for printer.rows }
        </div>
    }
}

fn line_count(value: &Value) -> usize {
    match value {
        Value::Array(list) if !list.is_empty() => 2 + list.iter().map(line_count).sum::<usize>(),
        Value::Object(map) if !map.is_empty() => {
            let shown = map.iter().filter(|(key, _)| *key != "managedFields");
            2 + shown.map(|(_, value)| line_count(value)).sum::<usize>()
        }
        _ => 1,
    }
}

struct Printer<'a> {
    props: &'a JsonView<'a>,
    short: bool,
    rows: Vec<Html>,
}

impl Printer<'_> {
    fn open_at_first(&self, pointer: &str, depth: usize) -> bool {
        let spoken = self.props.body.pointer("/details/causes").is_some();
        if pointer.ends_with("/managedFields") || (pointer == "/details" && !spoken) {
            return false;
        }
        let emphasis = &self.props.emphasis;
        depth == 0 || self.short || emphasis.iter().any(|place| holds(pointer, place))
    }

    /// Returns whether a member of a long body has no meaning for this request.
    fn is_quiet(&self, pointer: &str, depth: usize) -> bool {
        let told = ["/metadata/name", "/metadata/managedFields"].contains(&pointer);
        !self.short
            && !told
            && depth > 1
            && !self.open_at_first(pointer, depth)
            && !self.matters(pointer)
    }

    fn matters(&self, pointer: &str) -> bool {
        let mut emphasis = self.props.emphasis.iter();
        emphasis.any(|place| holds(place, pointer))
    }

    /// The fold for members that say nothing about this request.
    fn rest(&mut self, pointer: &str, hidden: usize, open: bool, depth: usize) {
        let toggle = ViewMsg::Toggle(self.props.view, pointer.to_owned());
        let text = if open {
            label::json_less()
        } else {
            label::json_more(&hidden)
        };
        self.row(
            None,
            depth,
            html! {
                <button
                    type="button"
                    class="fold"
                    aria-expanded={open.to_string()}
                    onclick={self.props.store.sends(toggle)}
                >
                    { text }
                </button>
            },
        );
    }

    fn value(&mut self, key: Option<&str>, value: &Value, pointer: &str, depth: usize, end: &str) {
        let (open, close) = match value {
            Value::Array(list) if !list.is_empty() => ("[", "]"),
            Value::Object(map) if !map.is_empty() => ("{", "}"),
            scalar => return self.scalar(key, scalar, pointer, depth, end),
        };
        let at_first = self.open_at_first(pointer, depth);
        let unfolded = self.is_toggled(pointer) != at_first;
        if depth > 0 {
            let shown = if unfolded {
                html! { open }
            } else {
                html! { <>{ open }<span class="hidden-part">{ " … " }</span>{ close }{ end.to_owned() }</> }
            };
            self.opener(key, value, pointer, (depth, unfolded), shown);
        } else {
            self.text_row(key, depth, open);
        }
        if !unfolded {
            return;
        }
        match value {
            Value::Array(list) => {
                for (i, item) in list.iter().enumerate() {
                    let end = if i + 1 == list.len() { "" } else { "," };
                    self.value(None, item, &format!("{pointer}/{i}"), depth + 1, end);
                }
            }
            Value::Object(map) => self.members(map, pointer, depth, at_first),
            _ => {}
        }
        self.text_row(None, depth, &format!("{close}{end}"));
    }

    fn is_toggled(&self, pointer: &str) -> bool {
        let toggled = &self.props.store.view.toggled;
        toggled.contains(self.props.view, pointer)
    }

    fn scalar(&mut self, key: Option<&str>, value: &Value, pointer: &str, depth: usize, end: &str) {
        let mut text = visible(&value.to_string()).into_owned();
        if text.chars().count() > MAX_LENGTH {
            text = text.chars().take(MAX_LENGTH).collect();
            text.push('…');
        }
        if self.matters(pointer) {
            // With its name: both are the bytes that matter.
            let key = key.map(named).unwrap_or_default();
            let matters = html! { <span class="matters">{ format!("{key}{text}") }</span> };
            self.line(depth, html! { <>{ matters }{ end.to_owned() }</> });
        } else {
            self.text_row(key, depth, &format!("{text}{end}"));
        }
    }

    /// The row that folds a map or list.
    fn opener(
        &mut self,
        key: Option<&str>,
        value: &Value,
        pointer: &str,
        (depth, unfolded): (usize, bool),
        shown: Html,
    ) {
        let toggle = ViewMsg::Toggle(self.props.view, pointer.to_owned());
        let label = format!("{}, {}", visible(key.unwrap_or("item")), size(value));
        let fold = html! {
            <button
                type="button"
                class="fold"
                aria-expanded={unfolded.to_string()}
                aria-label={label}
                onclick={self.props.store.sends(toggle)}
            >
                { shown }
            </button>
        };
        self.row(key, depth, fold);
    }

    /// The members of a map. Those that say nothing about this request are behind one fold.
    fn members(&mut self, map: &Map<String, Value>, pointer: &str, depth: usize, at_first: bool) {
        let place = |key: &str| {
            let escaped = optimist_apiserver::pointer::escape(key);
            format!("{pointer}/{escaped}")
        };
        let quiet: Vec<bool> = map
            .keys()
            .map(|key| at_first && self.is_quiet(&place(key), depth + 1))
            .collect();
        let hidden = quiet.iter().filter(|quiet| **quiet).count();
        let rest = format!("{pointer}/…");
        let all = hidden < 2 || self.is_toggled(&rest);
        let members = map.iter().zip(quiet);
        let shown = members.filter(|(_, quiet)| all || !quiet);
        let shown: Vec<_> = shown.map(|(member, _)| member).collect();
        for (i, (key, value)) in shown.iter().enumerate() {
            let last = all && i + 1 == shown.len();
            let end = if last { "" } else { "," };
            self.value(Some(key), value, &place(key), depth + 1, end);
        }
        if hidden > 1 {
            self.rest(&rest, hidden, all, depth + 1);
        }
    }

    fn row(&mut self, key: Option<&str>, depth: usize, content: Html) {
        let key = key.map(named);
        self.line(depth, html! { <>{ key }{ content }</> });
    }

    /// Most rows: one text, for there are many of them.
    fn text_row(&mut self, key: Option<&str>, depth: usize, text: &str) {
        let key = key.map(named).unwrap_or_default();
        self.line(depth, html! { { format!("{key}{text}") } });
    }

    fn line(&mut self, depth: usize, content: Html) {
        let style = format!("--indent:{}ch", depth * 2);
        self.rows
            .push(html! { <div class="line" {style}>{ content }</div> });
    }
}

/// `"kind": `
fn named(key: &str) -> String {
    format!("{}: ", visible(&Value::from(key).to_string()))
}
