//! The tools of a line in a working copy, besides typing over a value: add an item, remove the
//! line, own its value.

use optimist_client::{ItemNotation, Line, dotted};
use optimist_messages::label;
use optimist_simulation::ActorId;
use serde_json::Value;
use yew::{Callback, Html, KeyboardEvent, html};

use super::fold::is_quiet;
use super::value_input::ValueInput;
use super::yaml_view::YamlViewProps;
use crate::browser;
use crate::state::{EditMsg, Sends, Typing};

/// Returns whether there is a list at a place.
pub(super) fn is_list(props: &YamlViewProps, pointer: &str) -> bool {
    props.object.pointer(pointer).is_some_and(Value::is_array)
}

/// Returns whether something can be added to the value of a line.
pub(super) fn grows(line: &Line) -> bool {
    line.below > 0 || line.value.as_ref().is_some_and(|token| !token.scalar)
}

/// The list item that a line begins, if it is more than the line.
pub(super) fn item_begun(line: &Line) -> Option<&String> {
    line.items.last().filter(|item| **item != line.pointer)
}

/// Draws the tools of an editor's line: add to it, remove it. They are for the pointer and for
/// users of a screen reader; the keyboard has `+` and Delete on the line itself.
pub(super) fn tools(props: &YamlViewProps, line: &Line) -> Html {
    let Some((editor, _)) = props.editor else {
        return Html::default();
    };
    if props.typed(Typing::Value, &line.pointer).is_some() {
        return Html::default();
    }
    let item = item_begun(line);
    let fields = |item: &String| props.object.pointer(item).is_some_and(Value::is_object);
    let remove = |place: String, pointer: &str, word: String| {
        let name = label::line_remove(&place);
        html! {
            <button
                type="button"
                class="tool"
                tabindex="-1"
                aria-label={name.clone()}
                title={name}
                onclick={props.dispatcher.sends(EditMsg::Remove(editor, pointer.to_owned()))}
            >
                { word }
            </button>
        }
    };
    if !grows(line) {
        return html! {
            <>
                <span class="tools before">{ remove(dotted(&line.pointer), &line.pointer, "×".to_owned()) }</span>
                if let Some(item) = item {
                    <span class="tools">
                        if fields(item) {
                            { add(props, editor, item, "+".to_owned()) }
                        }
                        { remove(label::line_item(&dotted(item)), item, label::line_remove_item()) }
                    </span>
                }
            </>
        };
    }
    html! {
        <span class="tools">
            { add(props, editor, &line.pointer, "+".to_owned()) }
            { remove(dotted(&line.pointer), &line.pointer, "×".to_owned()) }
            if let Some(item) = item {
                { remove(label::line_item(&dotted(item)), item, label::line_remove_item()) }
            }
        </span>
    }
}

/// The fields with which an apply says what it is about, and which version it needs; the server gives them no owner
/// (`k8s.io/apimachinery/pkg/util/managedfields/internal/stripmeta.go stripSet`, v0.36).
const IDENTIFIES: [&str; 5] = [
    "/apiVersion",
    "/kind",
    "/metadata/name",
    "/metadata/namespace",
    "/metadata/resourceVersion",
];

/// Declares a value that is not changed, so that an apply comes to own it.
pub(super) fn own(props: &YamlViewProps, line: &Line) -> Html {
    let scalar = line.value.as_ref().is_some_and(|token| token.scalar);
    let (Some((editor, name)), Some(_)) = (&props.editor, &props.declared) else {
        return Html::default();
    };
    let typed = props.typed(Typing::Value, &line.pointer).is_some();
    let identifies = IDENTIFIES.contains(&line.pointer.as_str());
    let quiet = is_quiet(&line.pointer) || line.pointer.starts_with("/status");
    if typed || !scalar || identifies || quiet {
        return Html::default();
    }
    let place = dotted(&line.pointer);
    let owned = props.declares(line);
    let title = if owned {
        label::line_disown(&place, name)
    } else {
        label::line_own(&place)
    };
    html! {
        <span class="tools owns">
            <button
                type="button"
                class="tool"
                tabindex="-1"
                aria-pressed={owned.to_string()}
                aria-label={title.clone()}
                {title}
                onclick={props.dispatcher.sends(EditMsg::Own(*editor, line.pointer.clone()))}
            >
                { if owned { label::line_owned() } else { label::line_to_own() } }
            </button>
        </span>
    }
}

/// Handles the keys of a line: Delete removes it, `+` adds to its value or to the value around it.
pub(super) fn line_keys(
    props: &YamlViewProps,
    editor: ActorId,
    line: &Line,
) -> Callback<KeyboardEvent> {
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

fn add(props: &YamlViewProps, editor: ActorId, pointer: &str, word: String) -> Html {
    let title = label::line_add_to(&place_of(pointer));
    let start = EditMsg::Start(editor, Typing::Addition, pointer.to_owned(), String::new());
    html! {
        <button
            type="button"
            class="tool"
            id={format!("{}{pointer}+", props.id)}
            tabindex="-1"
            aria-label={if pointer.is_empty() { word.clone() } else { title.clone() }}
            {title}
            onclick={props.dispatcher.sends(start)}
        >
            { word }
        </button>
    }
}

/// Returns the name of a place; an empty pointer is the whole object.
fn place_of(pointer: &str) -> String {
    match pointer {
        "" => label::the_object(),
        pointer => dotted(pointer),
    }
}

/// Shows the fields for typing an addition to a line, or to the list item that it begins.
pub(super) fn additions(props: &YamlViewProps, line: &Line) -> impl Iterator<Item = Html> {
    let item = item_begun(line).filter(|_| !grows(line));
    let places = [Some(&line.pointer), item].into_iter().flatten();
    places.filter_map(|place| addition(props, place, line.indent + 2))
}

/// Shows the last line of an object that can be edited: a button that adds a field, or the place to
/// type it.
pub(super) fn addition_to_object(props: &YamlViewProps) -> Option<Html> {
    let (editor, _) = props.editor.as_ref()?;
    let typing = addition(props, "", 0);
    Some(typing.unwrap_or_else(|| {
        let add = add(props, *editor, "", label::line_add_field());
        html! { <div class="line" key="add">{ add }</div> }
    }))
}

/// The field in which an addition is typed, if one is typed there.
pub(super) fn addition(props: &YamlViewProps, pointer: &str, indent: usize) -> Option<Html> {
    let (_, name) = props.editor.as_ref()?;
    let editing = props.typed(Typing::Addition, pointer)?;
    let list = is_list(props, pointer);
    let placeholder = match (editing.notation, list) {
        (Some(ItemNotation::NameAndValue), _) => label::add_name_and_value(),
        (None, true) => label::add_item(),
        (None, false) => label::add_member(),
    };
    Some(html! {
        <div class="line marked" style={format!("--indent:{indent}ch")} key={format!("addition{pointer}")}>
            if list {
                <span class="dashes">{ "- " }</span>
            }
            <ValueInput
                dispatcher={props.dispatcher.clone()}
                editing={editing.clone()}
                label={label::line_adding(name, &place_of(pointer))}
                {placeholder}
                back_to={format!("{}{pointer}+", props.id)}
            />
        </div>
    })
}
