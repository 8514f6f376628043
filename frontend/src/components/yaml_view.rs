//! An object as YAML lines, with folds, marks and values that can be edited in place.

use std::rc::Rc;
use std::sync::Arc;

use optimist_client::{
    AlignedRow, AlignedRows, Fold, ItemNotation, Line, STORED, Token, ValueChange, dotted,
};
use optimist_messages::{self as messages, label};
use optimist_simulation::ActorId;
use serde_json::Value;
use yew::{Callback, Html, KeyboardEvent, MouseEvent, Properties, classes, component, html};

use super::fold::{holds, is_quiet, size};
use super::value_input::ValueInput;
use super::value_text::{cut, text, was};
use crate::browser;
use crate::state::{Dispatcher, EditMsg, Editing, Folds, ObjectView, Sends, Typing, ViewMsg};

/// Everything that a view shows, so that one that looks the same is not drawn again.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct YamlViewProps {
    pub(crate) dispatcher: Dispatcher,
    /// The rows of all cards, and which of the copies this one shows.
    pub(crate) aligned: Rc<AlignedRows>,
    pub(crate) copy: usize,
    /// Begins the ids of its lines.
    pub(crate) id: &'static str,
    pub(crate) label: String,
    pub(crate) object: Arc<Value>,
    /// Places that are marked, and what was there.
    pub(crate) marks: Vec<ValueChange>,
    /// The colour of the marks.
    pub(crate) tone: &'static str,
    pub(crate) toggled: Folds,
    /// Whose edits go where, and what they are called; `None` if nothing can be edited.
    pub(crate) editor: Option<(ActorId, Arc<str>)>,
    /// The paths of the fields that an apply declares unchanged; `None` if the actor does not apply
    /// edits.
    #[prop_or_default]
    pub(crate) declared: Option<Vec<String>>,
    /// What is being typed in it.
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
        self.aligned.line(row, self.copy)
    }

    /// What the server has now at a place that an editor read otherwise.
    fn now(&self, row: &AlignedRow, line: &Line, mark: Option<&ValueChange>) -> Option<String> {
        let (Some(_), Some(own)) = (&self.editor, &line.value) else {
            return None;
        };
        let bookkeeping = row.key.starts_with("/metadata/") && row.key.matches('/').count() == 2;
        if self.aligned.lines[STORED].is_empty() || bookkeeping || !own.scalar {
            return None;
        }
        let stored = self.aligned.line(row, STORED);
        let stored = stored.map(|line| line.value.as_ref().filter(|token| token.scalar));
        // What the editor read there.
        let read = match mark.map(|change| (change.pointer == line.pointer, &change.before)) {
            None => Some(own.plain.clone()),
            Some((true, Some(Value::String(text)))) => Some(text.clone()),
            Some((true, before)) => before.as_ref().map(Value::to_string),
            Some((false, _)) => return None,
        };
        match stored {
            None => read.map(|_| messages::now(None)),
            Some(Some(stored)) => {
                let differs = Some(&stored.plain) != read.as_ref() && stored.plain != own.plain;
                differs.then(|| messages::now(Some(&cut(&stored.text))))
            }
            Some(None) => None,
        }
    }

    /// What is being typed at a place.
    fn typed(&self, typing: Typing, pointer: &str) -> Option<&Editing> {
        let editing = self.editing.as_ref();
        editing.filter(|editing| editing.typing == typing && editing.pointer == pointer)
    }

    fn declares(&self, line: &Line) -> bool {
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
    let all = &props.aligned.rows;
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
        let within = all.get(i..i + row.below).unwrap_or_default();
        match props.line(row) {
            _ if matches!(row.fold, Fold::Quiet(_) | Fold::Defaults(_)) => {
                rows.push(members_row(props, row, within, open));
            }
            None => rows.push(gap(row)),
            Some(line) if line.below == 0 => {
                rows.push(value_row(props, row, line));
                rows.extend(addition(props, &line.pointer, line.indent + 2));
                let item = item_begun(line).filter(|_| !grows(line));
                rows.extend(item.and_then(|item| addition(props, item, line.indent + 2)));
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
    if let Some((editor, _)) = props.editor {
        rows.push(match addition(props, "", 0) {
            Some(typing) => typing,
            None => html! {
                <div class="line" key="add">{ add(props, editor, "", "add a field") }</div>
            },
        });
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

fn is_list(props: &YamlViewProps, pointer: &str) -> bool {
    props.object.pointer(pointer).is_some_and(Value::is_array)
}

/// How far a line is indented, and the room that its tools need beside it.
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

/// Whether something can be added to what a line holds.
fn grows(line: &Line) -> bool {
    line.below > 0 || line.value.as_ref().is_some_and(|token| !token.scalar)
}

/// The list item that a line begins, if it is more than the line.
fn item_begun(line: &Line) -> Option<&String> {
    line.items.last().filter(|item| **item != line.pointer)
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

/// The row that folds members together: defaults, or what few people look at.
fn members_row(props: &YamlViewProps, row: &AlignedRow, within: &[AlignedRow], open: bool) -> Html {
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
                aria-expanded={open.to_string()}
                onclick={props.toggle(row)}
            >
                <span class="hidden-part">
                    { format!("… {}", messages::folded(&row.fold).unwrap_or_default()) }
                </span>
            </button>
        </div>
    }
}

fn value_row(props: &YamlViewProps, row: &AlignedRow, line: &Line) -> Html {
    let mark = props.mark(line);
    let now = props.now(row, line, mark);
    let meant = mark.is_some_and(|change| !change.is_bookkeeping());
    let was = mark
        .filter(|change| change.pointer == line.pointer && !change.is_bookkeeping())
        .map(|change| match &change.before {
            Some(Value::String(text)) => format!("was {}", was(text, change.after.as_ref())),
            Some(value) if value.is_object() || value.is_array() => "changed".to_owned(),
            Some(value) => format!("was {value}"),
            None => "new".to_owned(),
        });
    let start = line
        .value
        .as_ref()
        .and_then(|token| start_edit(props, line, token));
    // Otherwise a click on the name would restart the input.
    let typed = props.typed(Typing::Value, &line.pointer).is_some();
    let on_name = start.clone().filter(|_| !typed);
    html! {
        <div
            class={classes!("line", mark.is_some().then_some("marked"), meant.then_some("meant"))}
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
            if let Some(token) = &line.value {
                { value(props, line, token, start) }
            }
            if let Some(was) = was {
                <span class="was">{ was }</span>
            } else if props.declares(line) {
                <span class="was">{ "applied unchanged" }</span>
            }
            if let Some(now) = now {
                <span class="now">{ now }</span>
            }
            if mark.is_none() {
                { own(props, line) }
            }
            { tools(props, line) }
        </div>
    }
}

/// What begins to edit a value in place; `None` if it cannot be.
fn start_edit(props: &YamlViewProps, line: &Line, token: &Token) -> Option<EditMsg> {
    // What Send does with the version is chosen beside Send, not typed.
    let fixed = !token.scalar || line.pointer == "/metadata/resourceVersion";
    let (editor, _) = props.editor.as_ref().filter(|_| !fixed)?;
    let (pointer, plain) = (line.pointer.clone(), token.plain.clone());
    Some(EditMsg::Start(*editor, Typing::Value, pointer, plain))
}

fn value(props: &YamlViewProps, line: &Line, token: &Token, start: Option<EditMsg>) -> Html {
    let Some(((editor, name), start)) = props.editor.as_ref().zip(start) else {
        return html! { <span class="value">{ text(token) }</span> };
    };
    let place = dotted(&line.pointer);
    let id = format!("{}{}", props.id, line.pointer);
    if let Some(editing) = props.typed(Typing::Value, &line.pointer) {
        return html! {
            <ValueInput
                dispatcher={props.dispatcher.clone()}
                editing={editing.clone()}
                label={format!("{name}: {place}")}
                back_to={id}
            />
        };
    }
    let onkeydown = line_keys(props, *editor, line);
    html! {
        <button
            type="button"
            class="value"
            {id}
            {onkeydown}
            aria-label={format!("{place}: {}, edit as {name}", text(token))}
            onclick={props.dispatcher.sends(start)}
        >
            { text(token) }
        </button>
    }
}

/// What can be done with a line of an editor: add to it, take it out. For the pointer and for those
/// who use a screen reader; the keyboard has `+` and Delete on the line itself.
#[inline(never)] // not on the first screen
fn tools(props: &YamlViewProps, line: &Line) -> Html {
    let Some((editor, _)) = props.editor else {
        return Html::default();
    };
    if props.typed(Typing::Value, &line.pointer).is_some() {
        return Html::default();
    }
    let item = item_begun(line);
    let fields = |item: &String| props.object.pointer(item).is_some_and(Value::is_object);
    let remove = |pointer: &str, word: &'static str| {
        let place = match word {
            "×" => dotted(pointer),
            _ => format!("item {}", dotted(pointer)),
        };
        html! {
            <button
                type="button"
                class="tool"
                tabindex="-1"
                aria-label={format!("Remove {place}")}
                title={format!("Remove {place}")}
                onclick={props.dispatcher.sends(EditMsg::Remove(editor, pointer.to_owned()))}
            >
                { word }
            </button>
        }
    };
    if !grows(line) {
        return html! {
            <>
                <span class="tools before">{ remove(&line.pointer, "×") }</span>
                if let Some(item) = item {
                    <span class="tools">
                        if fields(item) {
                            { add(props, editor, item, "+") }
                        }
                        { remove(item, "× item") }
                    </span>
                }
            </>
        };
    }
    html! {
        <span class="tools">
            { add(props, editor, &line.pointer, "+") }
            { remove(&line.pointer, "×") }
            if let Some(item) = item {
                { remove(item, "× item") }
            }
        </span>
    }
}

/// Declares a value that is not changed, so that an apply comes to own it.
#[inline(never)] // not on the first screen
fn own(props: &YamlViewProps, line: &Line) -> Html {
    let scalar = line.value.as_ref().is_some_and(|token| token.scalar);
    let (Some((editor, name)), Some(_)) = (&props.editor, &props.declared) else {
        return Html::default();
    };
    if !scalar || is_quiet(&line.pointer) || line.pointer.starts_with("/status") {
        return Html::default();
    }
    let place = dotted(&line.pointer);
    let owned = props.declares(line);
    let label = if owned {
        format!("Do not apply {place} of {name}")
    } else {
        format!("Apply {place} unchanged, to own it")
    };
    html! {
        <span class="tools">
            <button
                type="button"
                class="tool"
                tabindex="-1"
                aria-pressed={owned.to_string()}
                aria-label={label.clone()}
                title={label}
                onclick={props.dispatcher.sends(EditMsg::Own(*editor, line.pointer.clone()))}
            >
                { if owned { "× own" } else { "own" } }
            </button>
        </span>
    }
}

/// Delete takes the line out, `+` adds to what it holds or stands in.
fn line_keys(props: &YamlViewProps, editor: ActorId, line: &Line) -> Callback<KeyboardEvent> {
    let grows = grows(line);
    let pointer = line.pointer.clone();
    let dispatcher = props.dispatcher.clone();
    let region = format!("{}-yaml", props.id);
    Callback::from(move |event: KeyboardEvent| {
        let around = pointer.rsplit_once('/').map_or("", |(around, _)| around);
        let msg = match event.key().as_str() {
            "Delete" | "Backspace" => EditMsg::Remove(editor, pointer.clone()),
            "+" => {
                let place = if grows { pointer.as_str() } else { around };
                EditMsg::Start(editor, Typing::Addition, place.to_owned(), String::new())
            }
            _ => return,
        };
        event.prevent_default();
        let removes = matches!(msg, EditMsg::Remove(..));
        dispatcher.send(msg);
        if removes {
            // What had the keyboard is gone.
            browser::focus_soon(region.clone());
        }
    })
}

fn add(props: &YamlViewProps, editor: ActorId, pointer: &str, word: &'static str) -> Html {
    let place = if pointer.is_empty() {
        "the object".to_owned()
    } else {
        dotted(pointer)
    };
    let start = EditMsg::Start(editor, Typing::Addition, pointer.to_owned(), String::new());
    html! {
        <button
            type="button"
            class="tool"
            id={format!("{}{pointer}+", props.id)}
            tabindex={if pointer.is_empty() { "0" } else { "-1" }}
            aria-label={if pointer.is_empty() { word.to_owned() } else { format!("Add to {place}") }}
            title={format!("Add to {place}")}
            onclick={props.dispatcher.sends(start)}
        >
            { word }
        </button>
    }
}

/// The field in which an addition is typed, if one is typed there.
#[inline(never)] // not on the first screen
fn addition(props: &YamlViewProps, pointer: &str, indent: usize) -> Option<Html> {
    let (_, name) = props.editor.as_ref()?;
    let editing = props.typed(Typing::Addition, pointer)?;
    let list = is_list(props, pointer);
    let placeholder = match (editing.notation, list) {
        (Some(ItemNotation::NameAndValue), _) => label::add_name_and_value(),
        (None, true) => label::add_item(),
        (None, false) => label::add_member(),
    };
    let place = if pointer.is_empty() {
        "the object".to_owned()
    } else {
        dotted(pointer)
    };
    Some(html! {
        <div class="line marked" style={format!("--indent:{indent}ch")} key={format!("addition{pointer}")}>
            if list {
                <span class="dashes">{ "- " }</span>
            }
            <ValueInput
                dispatcher={props.dispatcher.clone()}
                editing={editing.clone()}
                label={format!("{name}: add to {place}")}
                {placeholder}
                back_to={format!("{}{pointer}+", props.id)}
            />
        </div>
    })
}
