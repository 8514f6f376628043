//! The object of the case line by line, with the owners of each line.

use std::rc::Rc;

use optimist_apiserver::object::Metadata;
use optimist_client::visible;
use optimist_diagnose::ownership::{ManagerEntry, ObjectOwnership, OwnedLine, Unowned};
use optimist_messages::{diagnose as messages, label};
use yew::{AttrValue, Html, Properties, classes, component, html, use_effect_with, use_state_eq};

use crate::components::Copy;
use crate::state::{CaseReading, DiagnoseMsg, Dispatcher, OwnerFilter, Sends};

/// How many lines are drawn at first, and with each press of the button below them.
const LINES: usize = 400;

/// The longest value that is drawn, in characters.
const MAX_VALUE: usize = 240;

/// The tones and the patterns of managers repeat after this number.
const LOOKS: usize = 6;

/// What is known of an object, compared by where it is: it never changes.
#[derive(Clone)]
pub(super) struct Shared(Rc<CaseReading>);

impl From<&Rc<CaseReading>> for Shared {
    fn from(shared: &Rc<CaseReading>) -> Self {
        Self(Rc::clone(shared))
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct OwnersProps {
    pub(super) reading: Shared,
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

/// The owners of the lines.
#[component]
pub(super) fn Owners(props: &OwnersProps) -> Html {
    let reading = &props.reading.0;
    let shown = use_state_eq(|| LINES);
    {
        let shown = shown.clone();
        use_effect_with((props.reading.clone(), props.filter), move |_| {
            shown.set(LINES);
        });
    }
    let Some(ownership) = &reading.ownership else {
        return Html::default();
    };
    let fits = |line: &&OwnedLine| match props.filter {
        None => true,
        Some(OwnerFilter::Manager(number)) => line.owners.contains(&number),
        Some(OwnerFilter::NoOwner) => is_free(line),
    };
    let lines: Vec<&OwnedLine> = ownership.lines.iter().filter(fits).collect();
    let more = lines.len().saturating_sub(*shown);
    let onmore = {
        let shown = shown.clone();
        move |_| shown.set(*shown + LINES)
    };
    html! {
        <>
            <p class="says">
                { visible(&title(reading)).into_owned() }
            </p>
            { notes(reading) }
            if !ownership.managers.is_empty() {
                { chips(props, ownership) }
            }
            <div class="owned-lines" role="region" tabindex="0" aria-label={label::owners_lines()}>
                { for lines.iter().take(*shown).map(|line| {
                    let contested = props.contested.contains(&line.line.pointer);
                    row(ownership, line, contested)
                }) }
                if more > 0 {
                    <button type="button" class="button" onclick={onmore}>
                        { label::owners_more(&more.min(LINES)) }
                    </button>
                }
            </div>
            <div class="dialog-actions">
                <Copy
                    text={AttrValue::from(ownership.to_text())}
                    label={Some(AttrValue::from(label::owners_copy()))}
                />
                <Copy
                    text={AttrValue::from(ownership.to_markdown())}
                    label={Some(AttrValue::from(label::owners_copy_markdown()))}
                />
            </div>
        </>
    }
}

/// `Deployment live/web, version 28589`.
fn title(reading: &CaseReading) -> String {
    let live = reading.case.live.as_ref();
    let version = live.map_or("", |live| live.resource_version());
    label::owners_of(&reading.case.id, &version)
}

/// What was added to the object, or is not known of it.
fn notes(reading: &CaseReading) -> Html {
    let notes = reading.installed.as_ref().map(|installed| &installed.notes);
    let notes = notes.into_iter().flatten();
    html! {
        { for notes.map(|note| html! { <p class="says note">{ messages::note(note) }</p> }) }
    }
}

/// Whether a line has a value that has no owner, although it could have one.
fn is_free(line: &OwnedLine) -> bool {
    matches!(line.unowned, Some(Unowned::Default | Unowned::NoEntry))
}

/// The managers, to show the lines of one alone.
fn chips(props: &OwnersProps, ownership: &ObjectOwnership) -> Html {
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
            html! { <span class={classes!("owner", look(number))} /> },
            messages::owner(&entry.manager),
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

fn row(ownership: &ObjectOwnership, owned: &OwnedLine, contested: bool) -> Html {
    let line = &owned.line;
    let names = names(ownership, owned);
    let value = line.value.as_ref().map(|token| {
        let mut short: String = token.text.chars().take(MAX_VALUE).collect();
        if short.len() < token.text.len() {
            short.push('…');
        }
        short
    });
    let first = owned.owners.first().map(|number| look(*number));
    html! {
        <div
            class={classes!("owned-line", first, contested.then_some("contested"))}
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
            </span>
            <span class="line-owners">
                { for owned.owners.iter().map(|number| html! {
                    <span class={classes!("owner", look(*number))} />
                }) }
                { visible(&names).into_owned() }
            </span>
        </div>
    }
}

/// The owners of a line, in words.
fn names(ownership: &ObjectOwnership, owned: &OwnedLine) -> String {
    match owned.unowned {
        Some(Unowned::Default) => return label::owners_default(),
        Some(Unowned::NoEntry) => return label::owners_no_owner(),
        Some(Unowned::NeverOwned | Unowned::NotPrinted) => return String::new(),
        None => {}
    }
    let managers = owned.owners.iter();
    let managers = managers.filter_map(|number| ownership.managers.get(*number));
    let names: Vec<String> = managers.map(|it| messages::owner(&it.manager)).collect();
    names.join(", ")
}
