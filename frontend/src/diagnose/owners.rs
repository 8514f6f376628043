//! The object of the case line by line, with the owners of each line.

use std::rc::Rc;

use gloo_timers::callback::Timeout;
use optimist_apiserver::object::Metadata;
use optimist_client::{shorten, visible};
use optimist_diagnose::observed::FieldChange;
use optimist_diagnose::ownership::{ManagerEntry, ObjectOwnership, OwnedLine, Unowned};
use optimist_messages::lanes::was;
use optimist_messages::{diagnose as messages, label};
use yew::{
    Callback, Html, Properties, UseStateHandle, classes, component, html, use_effect_with,
    use_state_eq,
};

use super::recorded::number_of;
use crate::components::CopyMade;
use crate::state::{CaseReading, DiagnoseMsg, Dispatcher, OwnerFilter, Sends, StepObject};

/// The number of lines that are drawn before anything is pressed, and that each press of the button below them adds.
const LINES: usize = 400;

/// The number of lines that are drawn at once. The others take as long again.
const FIRST_LINES: usize = 150;

/// An object with more lines is folded to those with a conflict.
const FOLDED: usize = 12;

/// The longest value that is drawn, in characters.
const MAX_VALUE: usize = 240;

/// The tones and the patterns of managers repeat after this number.
const LOOKS: usize = 6;

/// An object with its owners, compared by where it is: it never changes.
#[derive(Clone)]
pub(super) enum OwnedObject {
    /// The newest version in the input.
    Newest(Rc<CaseReading>),
    /// The object at a step of a recorded history.
    AtStep(Rc<StepObject>),
}

impl PartialEq for OwnedObject {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Newest(one), Self::Newest(other)) => Rc::ptr_eq(one, other),
            (Self::AtStep(one), Self::AtStep(other)) => Rc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl OwnedObject {
    fn ownership(&self) -> Option<&ObjectOwnership> {
        match self {
            Self::Newest(reading) => reading.ownership.as_ref(),
            Self::AtStep(step) => step.ownership.as_ref(),
        }
    }

    /// Returns whether it was made from an error message: of its owners, the message names only those of the
    /// lines with a conflict.
    fn is_made_up(&self) -> bool {
        matches!(self, Self::Newest(reading) if reading.scene.is_some())
    }

    /// The change of a line by the step, and whether the line is in a value that the step changed.
    fn change(&self, pointer: &str) -> (Option<&FieldChange>, bool) {
        let Self::AtStep(step) = self else {
            return (None, false);
        };
        let own = step.changed.get(pointer);
        let ends = pointer.match_indices('/').map(|(end, _)| end);
        let mut around = ends.filter_map(|end| pointer.get(..end));
        (
            own,
            own.is_some() || around.any(|one| step.changed.contains_key(one)),
        )
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct OwnersProps {
    pub(super) object: OwnedObject,
    /// The names whose positions choose the colours and patterns of managers.
    pub(super) names: Rc<Vec<String>>,
    pub(super) filter: Option<OwnerFilter>,
    /// The lines with a conflict.
    pub(super) contested: Rc<Vec<String>>,
    pub(super) sender: Dispatcher,
}

/// The colour and the pattern of the manager with a number.
pub(super) fn look(number: usize) -> String {
    let look = number % LOOKS;
    format!("tone-{look} pattern-{look}")
}

/// The colour alone of the manager with a number.
pub(super) fn tone(number: usize) -> String {
    format!("tone-{}", number % LOOKS)
}

/// The owners of the lines.
#[component]
pub(super) fn Owners(props: &OwnersProps) -> Html {
    let shown = use_state_eq(|| FIRST_LINES);
    let whole = use_state_eq(|| false);
    {
        let (shown, whole) = (shown.clone(), whole.clone());
        use_effect_with((props.object.clone(), props.filter), move |_| {
            whole.set(false);
            let rest = Timeout::new(0, move || shown.set(LINES));
            move || drop(rest)
        });
    }
    let Some(ownership) = props.object.ownership() else {
        return Html::default();
    };
    let numbers = numbers(ownership, &props.names);
    let lines = ownership.lines.iter();
    let lines: Vec<&OwnedLine> = lines.filter(|line| fits(line, props.filter)).collect();
    let folds = props.filter.is_none() && lines.len() > FOLDED;
    let matters = |line: &OwnedLine| matters(line, &props.contested);
    let folds = folds && lines.iter().any(|line| matters(line));
    let (lines, left_out) = match folds && !*whole {
        true => folded(&lines, matters),
        false => (lines.into_iter().map(|line| (line, 0)).collect(), 0),
    };
    // A message names owners of the lines with a conflict alone.
    let owners_known = !props.object.is_made_up() || lines.iter().any(|(line, _)| matters(line));
    let lines_class = classes!("owned-lines", (!owners_known).then_some("without-owners"));
    html! {
        <>
            <p class="says">
                { visible(&title(&props.object)).into_owned() }
            </p>
            if let OwnedObject::Newest(reading) = &props.object {
                { notes(reading) }
            }
            if !ownership.managers.is_empty() && !props.object.is_made_up() {
                { chips(props, ownership, &numbers) }
            }
            if folds {
                { fold_switch(&whole, ownership.lines.len()) }
            }
            <div class={lines_class} role="region" tabindex="0" aria-label={label::owners_lines()}>
                { for lines.iter().take(*shown).map(|(line, before)| {
                    let contested = props.contested.contains(&line.line.pointer);
                    html! {
                        <>
                            { left_out_lines(*before) }
                            { row(&props.object, &numbers, line, contested) }
                        </>
                    }
                }) }
                { left_out_lines(left_out) }
                { more_button(&shown, lines.len()) }
            </div>
            { copies(&props.object) }
        </>
    }
}

/// The button that shows more lines, if there are more.
fn more_button(shown: &UseStateHandle<usize>, all: usize) -> Html {
    let more = all.saturating_sub(**shown);
    if more == 0 || **shown < LINES {
        return Html::default();
    }
    let shown = shown.clone();
    let onclick = move |_| shown.set(*shown + LINES);
    html! {
        <button type="button" class="button" {onclick}>
            { label::owners_more(&more.min(LINES)) }
        </button>
    }
}

/// The buttons that copy the owners of all lines.
fn copies(object: &OwnedObject) -> Html {
    let made = |write: fn(&ObjectOwnership) -> String| {
        let object = object.clone();
        Callback::from(move |()| object.ownership().map(write).unwrap_or_default())
    };
    html! {
        <div class="dialog-actions">
            <CopyMade make={made(ObjectOwnership::to_text)} label={label::owners_copy()} />
            <CopyMade
                make={made(ObjectOwnership::to_markdown)}
                label={label::owners_copy_markdown()}
            />
        </div>
    }
}

fn fits(line: &OwnedLine, filter: Option<OwnerFilter>) -> bool {
    match filter {
        None => true,
        Some(OwnerFilter::Manager(number)) => line.owners.contains(&number),
        Some(OwnerFilter::NoOwner) => is_free(line),
    }
}

/// Returns whether a line has a conflict, leads to one, or names the list item of one.
fn matters(line: &OwnedLine, contested: &[String]) -> bool {
    let leads = |pointer: &str| {
        contested.iter().any(|it| {
            let rest = it.strip_prefix(pointer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    leads(&line.line.pointer) || line.identifies.as_deref().is_some_and(leads)
}

/// The lines that matter, each with the number of lines that are left out before it, and the number after the
/// last one.
fn folded<'a>(
    lines: &[&'a OwnedLine],
    matters: impl Fn(&OwnedLine) -> bool,
) -> (Vec<(&'a OwnedLine, usize)>, usize) {
    let (mut kept, mut left_out) = (Vec::new(), 0);
    for line in lines {
        match matters(line) {
            true => kept.push((*line, std::mem::take(&mut left_out))),
            false => left_out += 1,
        }
    }
    (kept, left_out)
}

/// Says how many lines are left out.
fn left_out_lines(count: usize) -> Html {
    match count {
        0 => Html::default(),
        count => html! { <p class="left-out">{ label::owners_left_out(&count) }</p> },
    }
}

/// The switch between the lines with a conflict and the whole object.
fn fold_switch(whole: &UseStateHandle<bool>, all: usize) -> Html {
    let next = !**whole;
    let onclick = {
        let whole = whole.clone();
        move |_| whole.set(next)
    };
    html! {
        <p>
            <button type="button" class="button small" aria-expanded={whole.to_string()} {onclick}>
                { if **whole { label::owners_fold() } else { label::owners_whole(&all) } }
            </button>
        </p>
    }
}

/// `Deployment live/web, version 28589`.
fn title(object: &OwnedObject) -> String {
    match object {
        // No message says the version of the object.
        OwnedObject::Newest(reading) if reading.scene.is_some() => reading.title().to_string(),
        OwnedObject::Newest(reading) => {
            let live = reading.case.live.as_ref();
            let version = live.map_or("", |live| live.resource_version());
            messages::owned_object(&reading.title(), version)
        }
        OwnedObject::AtStep(step) => step_title(step),
    }
}

/// `Step 4: Deployment live/web, version 91, as it was then.`
pub(super) fn step_title(object: &StepObject) -> String {
    let (id, version) = (object.id.as_ref(), object.version.as_deref());
    optimist_messages::lanes::step_title(object.step.row, object.known, id, version)
}

/// The numbers that choose the colours and patterns of the managers of an object.
fn numbers(ownership: &ObjectOwnership, names: &[String]) -> Vec<usize> {
    let entries = ownership.managers.iter().enumerate();
    let number = |(i, entry): (usize, &ManagerEntry)| {
        number_of(names, &entry.manager).unwrap_or(names.len() + i)
    };
    entries.map(number).collect()
}

/// Lists the facts that were added to the object, or are not known about it.
fn notes(reading: &CaseReading) -> Html {
    let notes = reading.installed.as_ref().map(|installed| &installed.notes);
    let notes = notes.into_iter().flatten();
    html! {
        { for notes.map(|note| html! { <p class="says note">{ messages::case_note(note) }</p> }) }
    }
}

/// Returns whether the value of a line could have an owner and has none.
fn is_free(line: &OwnedLine) -> bool {
    matches!(line.unowned, Some(Unowned::Default | Unowned::NoEntry))
}

/// The managers, to show the lines of one alone.
fn chips(props: &OwnersProps, ownership: &ObjectOwnership, numbers: &[usize]) -> Html {
    let chip = |filter: OwnerFilter, mark: Html, name: String, title: String, count: usize| {
        let on = props.filter == Some(filter);
        let next = (!on).then_some(filter);
        html! {
            <button
                type="button"
                class="owner-chip"
                aria-pressed={on.to_string()}
                {title}
                onclick={props.sender.sends(DiagnoseMsg::Owner(next))}
            >
                { mark }
                <span>{ visible(&label::owners_chip(&name, &count)).into_owned() }</span>
            </button>
        }
    };
    let of_manager = |(number, entry): (usize, &ManagerEntry)| {
        chip(
            OwnerFilter::Manager(number),
            html! { <span class={classes!("owner", numbers.get(number).map(|it| look(*it)))} /> },
            messages::entry_owner(ownership, entry),
            messages::manager_entry(entry),
            entry.fields.len(),
        )
    };
    let free = ownership.lines.iter().filter(|line| is_free(line)).count();
    html! {
        <div class="owner-chips" role="group" aria-label={label::owners_filter()}>
            { for ownership.managers.iter().enumerate().map(of_manager) }
            if free > 0 {
                { chip(
                    OwnerFilter::NoOwner,
                    Html::default(),
                    label::owners_no_owner(),
                    label::owners_no_owner_hint(),
                    free,
                ) }
            }
        </div>
    }
}

/// A value; a long one is cut, and opens: then the whole one takes the place of the cut one.
fn value(text: &str) -> Html {
    if text.chars().nth(MAX_VALUE).is_none() {
        return text.to_owned().into();
    }
    html! {
        <details class="long-value">
            <summary>
                <span class="cut">{ shorten(text, MAX_VALUE) }</span>
                <span class="less">{ label::json_less() }</span>
            </summary>
            { text.to_owned() }
        </details>
    }
}

fn row(object: &OwnedObject, numbers: &[usize], owned: &OwnedLine, contested: bool) -> Html {
    let line = &owned.line;
    let names = object
        .ownership()
        .map_or_else(String::new, |it| messages::line_owners(it, owned));
    let (change, changed) = object.change(&line.pointer);
    let look_of = |number: &usize| numbers.get(*number).map(|it| look(*it));
    let value = line.value.as_ref().map(|token| value(&token.text));
    let owners = match object.is_made_up() && !contested {
        true => &[],
        false => owned.owners.as_slice(),
    };
    let names = match owners.is_empty() && object.is_made_up() {
        true => String::new(),
        false => names,
    };
    let first = owners.first().and_then(look_of);
    html! {
        <div
            class={classes!(
                "owned-line",
                first,
                contested.then_some("contested"),
                changed.then_some("changed"),
            )}
            title={contested.then(label::owners_contested)}
            style={format!("--indent:{}ch", line.indent)}>
            <span class="source">
                { line.dashes.clone() }
                if let Some(key) = &line.key {
                    <b>{ format!("{key}:") }</b>
                }
                if let Some(value) = value {
                    { " " }{ value }
                }
                if let Some(change) = change {
                    { " " }<em class="was">{ was(change) }</em>
                }
            </span>
            <span class="line-owners">
                { for owners.iter().map(|number| html! {
                    <span class={classes!("owner", look_of(number))} />
                }) }
                { visible(&names).into_owned() }
            </span>
        </div>
    }
}
