//! An object as YAML lines, with folds, marks and values that can be edited in place.

use optimist_core::render::{Change, Line, Token, lines};
use optimist_core::sim::ActorId;
use serde_json::Value;
use yew::{Classes, Html, classes, html};

use super::fold::{QUIET, folded_at_first, holds, is_quiet, size, visible_lines};
use super::value_input::ValueInput;
use crate::state::{Msg, Sends, Store, View};

/// Longer values are cut; the whole of it is in the field that edits it.
const LONGEST: usize = 160;

/// What is drawn, and how.
pub(crate) struct YamlView<'a> {
    pub(crate) store: &'a Store,
    pub(crate) view: View,
    /// Begins the ids of its lines.
    pub(crate) id: &'static str,
    pub(crate) label: String,
    pub(crate) object: &'a Value,
    /// Places that are marked, and what was there.
    pub(crate) marks: Vec<Change>,
    /// The colour of the marks.
    pub(crate) tone: &'static str,
    /// Whose edits go where; `None` if nothing can be edited.
    pub(crate) editor: Option<ActorId>,
}

impl YamlView<'_> {
    fn is_open(&self, pointer: &str, folded_at_first: bool) -> bool {
        self.store.is_toggled(self.view, pointer) == folded_at_first
    }

    fn toggle(&self, pointer: &str) -> yew::Callback<yew::MouseEvent> {
        self.store.sends(Msg::Toggle(self.view, pointer.to_owned()))
    }

    fn mark(&self, line: &Line) -> Option<&Change> {
        self.marks.iter().find(|change| {
            holds(&change.pointer, &line.pointer)
                || line.items.iter().any(|item| holds(&change.pointer, item))
        })
    }
}

/// Draws an object.
pub(crate) fn yaml_view(props: &YamlView<'_>) -> Html {
    let all = lines(props.object);
    let visible = visible_lines(&all);
    let quiet = all.iter().filter(|line| is_quiet(&line.pointer)).count();
    let quiet_open = props.is_open(QUIET, true);
    let mut rows = Vec::with_capacity(all.len());
    let mut i = 0;
    while let Some(line) = all.get(i) {
        i += 1;
        if quiet > 1 && is_quiet(&line.pointer) && !quiet_open {
            continue;
        }
        if line.below == 0 {
            rows.push(value_row(props, line));
        } else {
            let open = props.is_open(&line.pointer, folded_at_first(line, visible));
            let hidden = props.object.pointer(&line.pointer).map(size);
            let label = line.key.as_deref().unwrap_or_default();
            let mut classes = classes!("line");
            let inside = |change: &&Change| holds(&line.pointer, &change.pointer);
            if !open && props.marks.iter().any(|change| inside(&change)) {
                classes.push("marked");
            }
            if props.mark(line).is_some() {
                classes.push("marked");
            }
            rows.push(fold_row(props, classes, line, label, open, hidden));
            if !open {
                i += line.below;
            }
        }
        if line.pointer == "/metadata" && quiet > 1 {
            rows.push(quiet_row(props, quiet, quiet_open));
        }
    }
    let gone = props
        .marks
        .iter()
        .filter(|change| change.after.is_none() && !change.is_bookkeeping());
    html! {
        <div
            class={classes!("yaml", props.tone)}
            role="region"
            tabindex="0"
            aria-label={props.label.clone()}
            id={format!("{}-yaml", props.id)}
        >
            { for rows }
            { for gone.map(|change| html! {
                <div class="line marked gone" key={format!("gone{}", change.pointer)}>
                    <span class="was">{ format!("removed {}", dotted(&change.pointer)) }</span>
                </div>
            }) }
        </div>
    }
}

fn indented(line: &Line) -> String {
    format!("--indent:{}ch", line.indent)
}

fn fold_row(
    props: &YamlView<'_>,
    classes: Classes,
    line: &Line,
    label: &str,
    open: bool,
    hidden: Option<String>,
) -> Html {
    html! {
        <div class={classes} style={indented(line)} key={line.pointer.clone()}>
            if !line.dashes.is_empty() {
                <span class="dashes">{ line.dashes.clone() }</span>
            }
            <button
                type="button"
                class="fold"
                aria-expanded={open.to_string()}
                onclick={props.toggle(&line.pointer)}
            >
                <span class="key">{ label.to_owned() }</span>{ ":" }
                if !open {
                    <span class="hidden-part">{ format!(" … {}", hidden.unwrap_or_default()) }</span>
                }
            </button>
        </div>
    }
}

fn quiet_row(props: &YamlView<'_>, count: usize, open: bool) -> Html {
    let text = if open {
        "show less".to_owned()
    } else {
        format!("… {count} more fields")
    };
    html! {
        <div class="line" style="--indent:2ch" key={QUIET}>
            <button
                type="button"
                class="fold"
                aria-expanded={open.to_string()}
                onclick={props.toggle(QUIET)}
            >
                <span class="hidden-part">{ text }</span>
            </button>
        </div>
    }
}

fn value_row(props: &YamlView<'_>, line: &Line) -> Html {
    let mark = props.mark(line);
    let meant = mark.is_some_and(|change| !change.is_bookkeeping());
    let was = mark
        .filter(|change| change.pointer == line.pointer && !change.is_bookkeeping())
        .map(|change| match &change.before {
            Some(Value::String(text)) => format!("was {}", cut(text)),
            Some(value) if value.is_object() || value.is_array() => "changed".to_owned(),
            Some(value) => format!("was {value}"),
            None => "new".to_owned(),
        });
    html! {
        <div
            class={classes!("line", mark.is_some().then_some("marked"), meant.then_some("meant"))}
            style={indented(line)}
            key={line.pointer.clone()}
        >
            if !line.dashes.is_empty() {
                <span class="dashes">{ line.dashes.clone() }</span>
            }
            if let Some(key) = &line.key {
                <span class="key">{ key.clone() }</span>{ ": " }
            }
            if let Some(token) = &line.value {
                { value(props, line, token) }
            }
            if let Some(was) = was {
                <span class="was">{ was }</span>
            }
        </div>
    }
}

fn value(props: &YamlView<'_>, line: &Line, token: &Token) -> Html {
    // What Send does with the version is chosen beside Send, not typed.
    let fixed = !token.scalar || line.pointer == "/metadata/resourceVersion";
    let Some(editor) = props.editor.filter(|_| !fixed) else {
        return html! { <span class="value">{ cut(&token.text) }</span> };
    };
    let place = dotted(&line.pointer);
    let id = format!("{}{}", props.id, line.pointer);
    let editing = props.store.editing.as_ref();
    if let Some(editing) =
        editing.filter(|editing| editing.editor == editor && editing.pointer == line.pointer)
    {
        return html! {
            <ValueInput
                store={props.store.clone()}
                editing={editing.clone()}
                label={format!("{}: {place}", props.store.name(editor))}
                back_to={id}
            />
        };
    }
    let start = Msg::StartEdit(editor, line.pointer.clone(), token.plain.clone());
    html! {
        <button
            type="button"
            class="value"
            {id}
            aria-label={format!("{place}: {}, edit as {}", cut(&token.plain), props.store.name(editor))}
            onclick={props.store.sends(start)}
        >
            { cut(&token.text) }
        </button>
    }
}

/// `spec.replicas` for `/spec/replicas`.
pub(crate) fn dotted(pointer: &str) -> String {
    pointer
        .trim_start_matches('/')
        .replace('/', ".")
        .replace("~1", "/")
        .replace("~0", "~")
}

fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let head: String = text.chars().take(LONGEST).collect();
    format!("{head}…")
}
