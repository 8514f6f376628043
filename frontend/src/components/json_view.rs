//! A body as JSON: what matters is bold, what does not is folded.

use std::sync::Arc;

use serde_json::Value;
use yew::{AttrValue, Html, Properties, classes, component, html};

use super::fold::{holds, size};
use crate::state::{Msg, Sends, Store, View};

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct JsonViewProps {
    pub(crate) store: Store,
    pub(crate) view: View,
    pub(crate) label: AttrValue,
    pub(crate) body: Arc<Value>,
    /// The places that matter.
    pub(crate) emphasis: Vec<String>,
    #[prop_or_default]
    pub(crate) refused: bool,
}

/// Bodies up to this many lines are shown whole.
const SHORT: usize = 26;

/// Longer texts wrap over too many lines to be looked through.
const LONGEST: usize = 600;

#[component]
pub(crate) fn JsonView(props: &JsonViewProps) -> Html {
    let mut printer = Printer {
        props,
        short: line_count(&props.body) <= SHORT,
        rows: Vec::new(),
    };
    printer.value(None, &props.body, "", 0, "");
    html! {
        <div
            class={classes!("json", props.refused.then_some("refused"))}
            role="region"
            tabindex="0"
            aria-label={props.label.clone()}
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
    props: &'a JsonViewProps,
    short: bool,
    rows: Vec<Html>,
}

impl Printer<'_> {
    fn open_at_first(&self, pointer: &str, depth: usize) -> bool {
        if pointer.ends_with("/managedFields") {
            return false;
        }
        let emphasis = &self.props.emphasis;
        depth == 0 || self.short || emphasis.iter().any(|place| holds(pointer, place))
    }

    fn value(&mut self, key: Option<&str>, value: &Value, pointer: &str, depth: usize, end: &str) {
        let (open, close) = match value {
            Value::Array(list) if !list.is_empty() => ("[", "]"),
            Value::Object(map) if !map.is_empty() => ("{", "}"),
            scalar => {
                let mut text = scalar.to_string();
                if text.chars().count() > LONGEST {
                    text = text.chars().take(LONGEST).collect();
                    text.push('…');
                }
                let matters = self
                    .props
                    .emphasis
                    .iter()
                    .any(|place| holds(place, pointer));
                let token = html! {
                    <span class={classes!("token", matters.then_some("matters"))}>{ text }</span>
                };
                self.row(key, depth, html! { <>{ token }{ end.to_owned() }</> });
                return;
            }
        };
        let at_first = self.open_at_first(pointer, depth);
        let unfolded = self.props.store.is_toggled(self.props.view, pointer) != at_first;
        if depth > 0 {
            let toggle = Msg::Toggle(self.props.view, pointer.to_owned());
            let shown = if unfolded {
                html! { open }
            } else {
                html! { <>{ open }<span class="hidden-part">{ " … " }</span>{ close }{ end.to_owned() }</> }
            };
            let name = key.unwrap_or("item");
            let label = format!("{name}, {}", size(value));
            self.row(
                key,
                depth,
                html! {
                    <button
                        type="button"
                        class="fold"
                        aria-expanded={unfolded.to_string()}
                        aria-label={label}
                        onclick={self.props.store.sends(toggle)}
                    >
                        { shown }
                    </button>
                },
            );
        } else {
            self.row(key, depth, html! { open });
        }
        if !unfolded {
            return;
        }
        let last = |i: usize, len: usize| if i + 1 == len { "" } else { "," };
        match value {
            Value::Array(list) => {
                for (i, item) in list.iter().enumerate() {
                    let place = format!("{pointer}/{i}");
                    self.value(None, item, &place, depth + 1, last(i, list.len()));
                }
            }
            Value::Object(map) => {
                for (i, (key, value)) in map.iter().enumerate() {
                    let escaped = key.replace('~', "~0").replace('/', "~1");
                    let place = format!("{pointer}/{escaped}");
                    self.value(Some(key), value, &place, depth + 1, last(i, map.len()));
                }
            }
            _ => {}
        }
        self.row(None, depth, html! { <>{ close }{ end.to_owned() }</> });
    }

    fn row(&mut self, key: Option<&str>, depth: usize, content: Html) {
        self.rows.push(html! {
            <div class="line" style={format!("--indent:{}ch", depth * 2)}>
                if let Some(key) = key {
                    <span class="key">{ Value::from(key).to_string() }</span>{ ": " }
                }
                { content }
            </div>
        });
    }
}
