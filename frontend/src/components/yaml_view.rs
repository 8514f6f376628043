//! An object as YAML lines, with folds, marks and values that can be edited in place.

use std::sync::Arc;

use optimist_client::{AlignedRow, COPIES, Fold, Line, STORED, Token, ValueChange, dotted};
use optimist_messages::{self as messages, label};
use optimist_simulation::ActorId;
use serde_json::Value;
use yew::{Callback, Html, MouseEvent, Properties, classes, component, html};

use super::cards::CardRows;
use super::fold::{holds, size};
use super::line_focus::line_to_line;
use super::line_tools::{
    addition, addition_to_object, additions, grows, is_list, item_begun, line_keys, own, tools,
};
use super::value_input::ValueInput;
use super::value_text::{brief, cut, end_in_sight, tail, was};
use crate::state::{Dispatcher, EditMsg, Editing, Folds, ObjectView, Sends, Typing, ViewMsg};

/// Everything that a view shows, so that one that looks the same is not drawn again.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct YamlViewProps {
    pub(crate) dispatcher: Dispatcher,
    /// The rows of all cards, and which of the copies this one shows.
    pub(crate) rows: CardRows,
    pub(crate) copy: usize,
    /// Begins the ids of its lines.
    pub(crate) id: &'static str,
    pub(crate) label: String,
    pub(crate) object: Arc<Value>,
    /// Places that are marked, with their former values.
    pub(crate) marks: Vec<ValueChange>,
    /// The colour of the marks.
    pub(crate) tone: &'static str,
    pub(crate) toggled: Folds,
    /// The editor whose edits are displayed, and its name; `None` if nothing can be edited.
    pub(crate) editor: Option<(ActorId, Arc<str>)>,
    /// The paths of the fields that an apply declares unchanged; `None` if the actor does not apply
    /// edits.
    #[prop_or_default]
    pub(crate) declared: Option<Vec<String>>,
    /// `true` if the object is the Scale of the one that is stored.
    #[prop_or_default]
    pub(crate) is_scale: bool,
    /// The edit that the user types in it.
    pub(crate) editing: Option<Editing>,
}

impl YamlViewProps {
    fn is_open(&self, row: &AlignedRow) -> bool {
        self.toggled.contains(ObjectView::Cards, &row.key) == row.is_folded_at_first()
    }

    fn toggle(&self, row: &AlignedRow) -> Callback<MouseEvent> {
        let toggle = ViewMsg::Toggle(ObjectView::Cards, row.key.clone());
        self.dispatcher.sends(toggle)
    }

    /// The line that a row has in this card.
    fn line(&self, row: &AlignedRow) -> Option<&Line> {
        self.rows.aligned.line(row, self.copy)
    }

    /// Returns the current value on the server if the editor has read another one, and the sentence
    /// about it.
    fn now(
        &self,
        row: &AlignedRow,
        line: &Line,
        mark: Option<&ValueChange>,
    ) -> Option<(&str, String)> {
        let (Some(_), Some(own)) = (&self.editor, &line.value) else {
            return None;
        };
        // The other fields of a Scale are none of the object.
        if self.is_scale && row.key != "/spec/replicas" {
            return None;
        }
        let bookkeeping = row.key.starts_with("/metadata/") && row.key.matches('/').count() == 2;
        if self.rows.aligned.lines[STORED].is_empty() || bookkeeping || !own.scalar {
            return None;
        }
        let stored = self.rows.aligned.line(row, STORED);
        let stored = stored.map(|line| line.value.as_ref().filter(|token| token.scalar));
        // What the editor read there.
        let read = match mark.map(|change| (change.pointer == line.pointer, &change.before)) {
            None => Some(own.plain.clone()),
            Some((true, Some(Value::String(text)))) => Some(text.clone()),
            Some((true, before)) => before.as_ref().map(Value::to_string),
            Some((false, _)) => return None,
        };
        match stored {
            None => read.map(|_| ("", messages::now(None))),
            Some(Some(stored)) => {
                let differs = Some(&stored.plain) != read.as_ref() && stored.plain != own.plain;
                let said = || messages::now(Some(&cut(&stored.text)));
                differs.then(|| (stored.plain.as_str(), said()))
            }
            Some(None) => None,
        }
    }

    /// The value that another card has at a place where this one has its own.
    fn elsewhere(&self, row: &AlignedRow, own: &str) -> Option<&str> {
        let rows = &self.rows;
        rows.changes.get(&row.key)?;
        let lines = (0..COPIES).filter_map(|copy| rows.aligned.line(row, copy)?.value.as_ref());
        let mut others = lines.filter(|token| token.scalar && token.plain != own);
        others.next().map(|token| token.plain.as_str())
    }

    /// Returns the edit that the user types at a place.
    pub(super) fn typed(&self, typing: Typing, pointer: &str) -> Option<&Editing> {
        let editing = self.editing.as_ref();
        editing.filter(|editing| editing.typing == typing && editing.pointer == pointer)
    }

    pub(super) fn declares(&self, line: &Line) -> bool {
        let declared = self.declared.as_ref();
        declared.is_some_and(|declared| declared.contains(&line.pointer))
    }

    fn mark(&self, line: &Line) -> Option<&ValueChange> {
        self.marks.iter().find(|change| {
            holds(&change.pointer, &line.pointer)
                || line.items.iter().any(|item| holds(&change.pointer, item))
        })
    }
}

/// An object as YAML.
#[component]
pub(crate) fn YamlView(props: &YamlViewProps) -> Html {
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
            onkeydown={line_to_line(format!("{}-yaml", props.id))}
        >
            { for rows(props) }
            { for gone.map(|change| html! {
                <div class="line marked gone" key={format!("gone{}", change.pointer)}>
                    <span class="was">{ label::line_removed(&dotted(&change.pointer)) }</span>
                </div>
            }) }
        </div>
    }
}

/// The rows of the object, with the fields in which additions are typed.
fn rows(props: &YamlViewProps) -> Vec<Html> {
    let all = &props.rows.aligned.rows;
    let mut rows = Vec::with_capacity(all.len());
    // A new item is typed where it will be: after the others.
    let mut after: Option<(usize, Html)> = None;
    let mut i = 0;
    while let Some(row) = all.get(i) {
        rows.extend(
            after
                .take_if(|(end, _)| *end <= i)
                .map(|(_, typing)| typing),
        );
        i += 1;
        let open = props.is_open(row);
        match props.line(row) {
            _ if matches!(row.fold, Fold::Quiet(_) | Fold::Defaults(_)) => {
                let within = all.get(i..i + row.below).unwrap_or_default();
                let fold = props.rows.aligned.folded_of(row, within, props.copy);
                rows.push(match fold {
                    Some(fold) => members_row(props, (row, &fold), within, open),
                    None => gap(row),
                });
            }
            None => rows.push(gap(row)),
            Some(line) if line.below == 0 => {
                rows.push(value_row(props, row, line));
                rows.extend(additions(props, line));
            }
            Some(line) => {
                rows.push(fold_row(props, row, line, open));
                match addition(props, &line.pointer, line.indent + 2) {
                    Some(typing) if open && is_list(props, &line.pointer) => {
                        after = Some((i + row.below, typing));
                    }
                    typing => rows.extend(typing),
                }
            }
        }
        if row.fold != Fold::None && !open {
            i += row.below;
        }
    }
    rows.extend(after.map(|(_, typing)| typing));
    rows.extend(addition_to_object(props));
    rows
}

/// Returns the style for the indentation of a line, with room for its tools.
fn indented(props: &YamlViewProps, line: &Line) -> String {
    let room = match (&props.editor, item_begun(line)) {
        (None, _) => 0,
        // Its only tool stands before it.
        (Some(_), None) if !grows(line) => 2,
        (Some(_), None) => 22,
        (Some(_), Some(_)) => 74,
    };
    format!("--indent:{}ch;--tools:{room}px", line.indent)
}

/// The place of a line that this copy does not have.
fn gap(row: &AlignedRow) -> Html {
    html! {
        <div class="line" key={row.key.clone()} style={high(row)} aria-hidden="true">{ "\u{a0}" }</div>
    }
}

/// The height of a row in lines.
fn high(row: &AlignedRow) -> Option<String> {
    (row.height > 1).then(|| format!("--lines:{}", row.height))
}

fn fold_row(props: &YamlViewProps, row: &AlignedRow, line: &Line, open: bool) -> Html {
    let inside = |change: &ValueChange| holds(&line.pointer, &change.pointer);
    let hides = !open && props.marks.iter().any(inside);
    let hidden = props.object.pointer(&line.pointer).map(size);
    let label = line.key.as_deref().unwrap_or_default();
    html! {
        <div
            class={classes!("line", (hides || props.mark(line).is_some()).then_some("marked"))}
            style={indented(props, line)}
            key={row.key.clone()}
        >
            if !line.dashes.is_empty() {
                <span class="dashes">{ line.dashes.clone() }</span>
            }
            <button
                type="button"
                class="fold"
                tabindex="-1"
                aria-expanded={open.to_string()}
                onclick={props.toggle(row)}
                onkeydown={props.editor.as_ref().map(|(editor, _)| line_keys(props, *editor, line))}
            >
                <span class="key">{ format!("{label}:") }</span>
                if !open {
                    <span class="hidden-part">{ format!(" … {}", hidden.unwrap_or_default()) }</span>
                }
            </button>
            { tools(props, line) }
        </div>
    }
}

/// Shows the row that folds members together: defaults, or members that few people look at.
fn members_row(
    props: &YamlViewProps,
    (row, fold): (&AlignedRow, &Fold),
    within: &[AlignedRow],
    open: bool,
) -> Html {
    let changed = |row: &AlignedRow| {
        let mark = props.line(row).and_then(|line| props.mark(line));
        mark.is_some_and(|change| !change.is_bookkeeping())
    };
    let hides = !open && within.iter().any(changed);
    html! {
        <div
            class={classes!("line", hides.then_some("marked"))}
            style={format!("--indent:{}ch", row.indent)}
            key={row.key.clone()}
        >
            <button
                type="button"
                class="fold"
                tabindex="-1"
                aria-expanded={open.to_string()}
                onclick={props.toggle(row)}
            >
                <span class="hidden-part">
                    { format!("… {}", messages::folded(fold).unwrap_or_default()) }
                </span>
            </button>
        </div>
    }
}

fn value_row(props: &YamlViewProps, row: &AlignedRow, line: &Line) -> Html {
    let mark = props.mark(line);
    let meant = mark.is_some_and(|change| !change.is_bookkeeping());
    let start = line
        .value
        .as_ref()
        .and_then(|token| start_edit(props, line, token));
    // Otherwise a click on the name would restart the input.
    let typed = props.typed(Typing::Value, &line.pointer).is_some();
    let on_name = start.clone().filter(|_| !typed);
    let characters = props.rows.changes.get(&row.key).copied();
    html! {
        <div
            class={classes!(
                "line",
                "leaf",
                mark.is_some().then_some("marked"),
                meant.then_some("meant"),
                room(characters),
            )}
            style={format!("{};{}", indented(props, line), high(row).unwrap_or_default())}
            key={row.key.clone()}
        >
            if !line.dashes.is_empty() {
                <span class="dashes">{ line.dashes.clone() }</span>
            }
            if let Some(key) = &line.key {
                <span
                    class={classes!("key", on_name.is_some().then_some("editable"))}
                    onclick={on_name.map(|start| props.dispatcher.sends(start))}
                >
                    { format!("{key}: ") }
                </span>
            }
            { value_and_changes(props, row, line, start) }
            if mark.is_none() {
                { own(props, line) }
            }
            { tools(props, line) }
        </div>
    }
}

/// The class of a row with changes that need more room than a line of a card has: where cards are narrow,
/// and everywhere.
fn room(characters: Option<usize>) -> Option<&'static str> {
    const NARROW: usize = 28;
    const WIDE: usize = 42;
    match characters? {
        few if few <= NARROW => None,
        some if some <= WIDE => Some("long"),
        _ => Some("long longer"),
    }
}

/// Shows a value, its former value, and the server's value now.
fn value_and_changes(
    props: &YamlViewProps,
    row: &AlignedRow,
    line: &Line,
    start: Option<EditMsg>,
) -> Html {
    let mark = props.mark(line);
    let now = props.now(row, line, mark);
    let change = mark.filter(|change| change.pointer == line.pointer && !change.is_bookkeeping());
    let own = line.value.as_ref().map_or("", |token| token.plain.as_str());
    let before = change.and_then(|change| change.before.as_ref()?.as_str());
    let was = change.map(|change| match &change.before {
        Some(Value::String(text)) => label::line_was(&was(text, change.after.as_ref())),
        Some(value) if value.is_object() || value.is_array() => label::line_changed(),
        Some(value) => label::line_was(&value),
        None => label::line_new(),
    });
    let other = before.or(now.as_ref().map(|(stored, _)| *stored));
    let other = other.or_else(|| props.elsewhere(row, own));
    html! {
        <>
            if let Some(token) = &line.value {
                { value(props, line, token, (start, other)) }
            }
            if let Some(was) = was {
                <span class="was" title={was.clone()}>
                    { end_in_sight(&was, before.map_or(0, str::len), before.map_or(0, |it| tail(it, own))) }
                </span>
            } else if props.declares(line) {
                <span class="was">{ label::line_applied_unchanged() }</span>
            }
            if let Some((stored, now)) = &now {
                <span class="now" title={now.clone()}>{ end_in_sight(now, stored.len(), tail(stored, own)) }</span>
            }
        </>
    }
}

/// Returns the message that begins to edit a value in place; `None` if it cannot be edited.
fn start_edit(props: &YamlViewProps, line: &Line, token: &Token) -> Option<EditMsg> {
    // What Send does with the version is chosen beside Send, not typed.
    let fixed = !token.scalar || line.pointer == "/metadata/resourceVersion";
    let (editor, _) = props.editor.as_ref().filter(|_| !fixed)?;
    let (pointer, plain) = (line.pointer.clone(), token.plain.clone());
    Some(EditMsg::Start(*editor, Typing::Value, pointer, plain))
}

/// Shows a value, which can be edited if `start` is there. `other` is its former value, or that of
/// another copy.
fn value(
    props: &YamlViewProps,
    line: &Line,
    token: &Token,
    (start, other): (Option<EditMsg>, Option<&str>),
) -> Html {
    let shown = brief(token, other);
    let end = other.map_or(0, |other| tail(&shown, other));
    let said = end_in_sight(&shown, shown.len(), end);
    let title = other.map(|_| shown.clone());
    let Some(((editor, name), start)) = props.editor.as_ref().zip(start) else {
        return html! { <span class="value" {title}>{ said }</span> };
    };
    let place = dotted(&line.pointer);
    let id = format!("{}{}", props.id, line.pointer);
    if let Some(editing) = props.typed(Typing::Value, &line.pointer) {
        return html! {
            <ValueInput
                dispatcher={props.dispatcher.clone()}
                editing={editing.clone()}
                label={label::line_typing(name, &place)}
                back_to={id}
            />
        };
    }
    let onkeydown = line_keys(props, *editor, line);
    html! {
        <button
            type="button"
            class="value"
            tabindex="-1"
            {id}
            {onkeydown}
            aria-label={label::line_edit(&place, &shown, name)}
            {title}
            onclick={props.dispatcher.sends(start)}
        >
            { said }
        </button>
    }
}
