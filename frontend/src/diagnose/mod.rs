//! The Diagnose page: the input from a cluster, the owners in it, and its history.

mod audit;
mod card;
mod history;
mod incidents;
mod inputs;
mod lanes;
mod live_editor;
mod messages;
mod next_writes;
mod owners;
mod preview;
mod questions;
mod recorded;
mod remedies;
mod remote;
mod scene;
mod sign;
mod step_card;
mod table;

use std::rc::Rc;

use optimist_apiserver::object::Metadata;
use optimist_client::visible;
use optimist_diagnose::input::MAX_LOG;
use optimist_messages::diagnose::ways_says;
use optimist_messages::label;
use optimist_report::{case_headline, not_installed};
use wasm_bindgen_futures::spawn_local;
use web_sys::{File, FileList};
use yew::{Callback, Classes, DragEvent, Event, Html, Properties, classes, component, html};

use self::recorded::Recorded;
use crate::browser;
use crate::components::more::chosen;
use crate::components::{header, kept_notice};
use crate::state::{CaseSection, DiagnoseMsg, Dispatcher, Sends, StateHandle, StepObject};

/// The style of this page alone.
const STYLE: [&str; 2] = [
    include_str!("../style/diagnose.css"),
    include_str!("../style/lanes.css"),
];

/// The properties of the page.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct DiagnoseProps {
    pub(crate) store: StateHandle,
}

/// The page.
#[component]
pub(crate) fn Diagnose(props: &DiagnoseProps) -> Html {
    STYLE.into_iter().for_each(browser::adopt_style);
    let store = &props.store;
    let case = &store.diagnose;
    let section = |of: CaseSection| section_class(case.section, of);
    let has_outcome = !case.items.is_empty() || case.is_served();
    html! {
        <>
            <a class="skip" href="#owners">{ label::diagnose_skip() }</a>
            <div class="diagnose" ondragover={Callback::from(|event: DragEvent| event.prevent_default())} ondrop={drop_files(store)}>
                { header(store) }
                { kept_notice(store) }
                if let Some(says) = case_headline(case) {
                    <p class="case-headline" role="status">{ visible(&says).into_owned() }</p>
                }
                if has_outcome {
                    { tabs(store) }
                }
                <main class={classes!(
                    "case-body",
                    case.items.is_empty().then_some("start"),
                    case.is_served().then_some("served"),
                    has_lanes(store).then_some("with-lanes"),
                )}>
                    <section class={section(CaseSection::Input)} aria-label={label::diagnose_case()}>
                        { inputs::inputs(store) }
                    </section>
                    <section
                        class={section(CaseSection::Owners)}
                        id="owners"
                        tabindex="-1"
                        aria-label={if case.items.is_empty() {
                            label::question_title()
                        } else {
                            label::owners_title()
                        }}
                    >
                        if case.items.is_empty() {
                            { questions::questions(store) }
                            <incidents::Incidents store={store.clone()} />
                        } else {
                            { middle(store) }
                        }
                    </section>
                    if has_outcome {
                        <section class={section(CaseSection::Outcome)} aria-label={label::diagnose_results()}>
                            { outcome(store) }
                        </section>
                    }
                </main>
            </div>
            <p class="unseen" role="status" aria-live="polite">{ announcement(store) }</p>
        </>
    }
}

/// The class of a part of the page.
fn section_class(open: CaseSection, of: CaseSection) -> Classes {
    classes!(
        "case-part",
        (open == of).then_some("open"),
        match of {
            CaseSection::Input => "case-brought",
            CaseSection::Owners => "case-owners",
            CaseSection::Outcome => "case-outcome",
        }
    )
}

/// Returns whether a recorded history is displayed: its lanes need room.
fn has_lanes(store: &StateHandle) -> bool {
    let case = &store.diagnose;
    case.replay().is_some()
        || case
            .observed()
            .is_some_and(|history| history.versions.len() > 1)
}

/// Draws the tabs that choose a part in a narrow window.
fn tabs(store: &StateHandle) -> Html {
    let tab = |of: CaseSection| {
        let name = match of {
            CaseSection::Input => label::diagnose_case(),
            CaseSection::Owners if store.diagnose.items.is_empty() => label::question_title(),
            CaseSection::Owners => label::owners_title(),
            CaseSection::Outcome => label::diagnose_results(),
        };
        html! {
            <button
                type="button"
                aria-pressed={(store.diagnose.section == of).to_string()}
                onclick={store.sends(DiagnoseMsg::Section(of))}
            >
                { name }
            </button>
        }
    };
    html! {
        <nav class="case-tabs" aria-label={label::diagnose_sections()}>
            { for CaseSection::ALL.map(tab) }
        </nav>
    }
}

fn announcement(store: &StateHandle) -> String {
    let case = &store.diagnose;
    if let Some(object) = &case.step_object {
        return visible(&owners::step_title(object)).into_owned();
    }
    match (case.is_reading(), case.items.len()) {
        (true, _) => label::diagnose_reading(),
        (false, 0) => String::new(),
        (false, count) => label::diagnose_announce(&count),
    }
}

/// Draws the owners: in the selected object, or else in the error messages.
fn middle(store: &StateHandle) -> Html {
    let case = &store.diagnose;
    if let Some(all) = case.preview.as_ref().filter(|_| !case.one_object) {
        return html! {
            <>
                { preview::switch(store) }
                { preview::preview(store, all) }
            </>
        };
    }
    html! {
        <>
            { preview::switch(store) }
            <div class="owners-head">
                <h2>{ label::owners_title() }</h2>
                if case.step_object.is_some() {
                    <button
                        type="button"
                        class="button small"
                        onclick={store.sends(DiagnoseMsg::SelectStep(None))}
                    >
                        { label::recorded_newest() }
                    </button>
                }
            </div>
            { objects(store) }
            { for case.reading().and_then(|reading| {
                Some(scene::scene(store, reading.scene.as_ref()?, &reading.unused_manifests))
            }) }
            {
                match case.reading() {
                    _ if case.step_object.is_some() => html! {
                        { for case.step_object.as_ref().map(|object| at_step(store, object)) }
                    },
                    Some(reading) if reading.ownership.is_some() => html! {
                        <owners::Owners
                            object={owners::OwnedObject::Newest(Rc::clone(reading))}
                            names={case.manager_names()}
                            filter={case.owner}
                            contested={Rc::clone(&case.contested)}
                            sender={store.dispatcher()}
                        />
                    },
                    Some(reading) => html! {
                        <p class="says">{ visible(&not_installed(reading)).into_owned() }</p>
                    },
                    None => messages::of_messages(store),
                }
            }
        </>
    }
}

/// Draws the owners at the selected step.
fn at_step(store: &StateHandle, object: &Rc<StepObject>) -> Html {
    let case = &store.diagnose;
    html! {
        if object.ownership.is_some() {
            <owners::Owners
                object={owners::OwnedObject::AtStep(Rc::clone(object))}
                names={case.manager_names()}
                filter={case.owner}
                contested={Rc::clone(&object.refused)}
                sender={store.dispatcher()}
            />
        } else {
            <p class="says">{ visible(&owners::step_title(object)).into_owned() }</p>
        }
    }
}

/// Draws the choice of the object, if there are several.
fn objects(store: &StateHandle) -> Html {
    let case = &store.diagnose;
    if case.cases.len() < 2 {
        return Html::default();
    }
    let onchange = store.on(|event: Event| DiagnoseMsg::Choose(chosen(&event)));
    html! {
        <label class="field">
            <span>{ label::diagnose_object() }</span>
            <select aria-label={label::diagnose_object()} {onchange}>
                { for case.cases.iter().enumerate().map(|(i, reading)| html! {
                    <option selected={i == case.chosen()}>
                        { visible(&reading.title().to_string()).into_owned() }
                    </option>
                }) }
            </select>
        </label>
    }
}

/// Draws the history, and the effects of a write.
fn outcome(store: &StateHandle) -> Html {
    let case = &store.diagnose;
    let reading = case.reading();
    let history = reading.and_then(|reading| reading.history.as_ref());
    let made = reading.is_some_and(|reading| reading.scene.is_some());
    let live = reading.is_some_and(|reading| reading.case.live.is_some());
    let errors = case.errors().into_iter();
    let next = errors.map(|error| messages::next_step(&case.given.completed(error)));
    let version = reading.and_then(|it| it.case.live.as_ref());
    let version = version.map_or("", |live| live.resource_version());
    html! {
        <>
            if let Some(run) = &case.next_writes {
                { next_writes::next_writes(store, run) }
            }
            if let Some(run) = &case.table {
                { table::disagreements(run) }
                { remedies::remedies(store, run) }
                { table::table(store, run, &ways_says(made, run.made_up, version)) }
            } else if live && !made && history.is_none() && case.audit.is_none() {
                <h2>{ label::ways_title() }</h2>
                <p class="says">{ label::ways_empty() }</p>
            }
            if case.audit.is_some() || case.is_served() {
                { audit::audit(store, case.audit.as_ref()) }
            }
            if let (Some(reading), Some(_)) = (reading, history) {
                <h2>{ visible(&label::happened_to(&reading.title())).into_owned() }</h2>
                { history::history(store, &Recorded::Versions(Rc::clone(reading)), reading) }
            }
            if made || !live {
                { for next }
            }
            { for case.without_scene.iter().map(|(error, why)| messages::no_scene(error, why)) }
        </>
    }
}

fn drop_files(store: &StateHandle) -> Callback<DragEvent> {
    let sender = store.dispatcher();
    Callback::from(move |event: DragEvent| {
        let Some(data) = event.data_transfer() else {
            return;
        };
        event.prevent_default();
        let files = data.files();
        match files.filter(|files| files.length() > 0) {
            Some(files) => take_files(&sender, &files),
            None => {
                if let Ok(text) = data.get_data("text/plain") {
                    sender.send(DiagnoseMsg::Bring(text));
                }
            }
        }
    })
}

/// Reads files into the case.
fn take_files(sender: &Dispatcher, files: &FileList) {
    let all: Vec<File> = (0..files.length()).filter_map(|i| files.get(i)).collect();
    let sender = sender.clone();
    spawn_local(async move {
        for file in all {
            // Before it is read: a file may be larger than the memory of the page.
            sender.send(if file.size() > MAX_LOG as f64 {
                DiagnoseMsg::TooLarge(file.name())
            } else {
                match browser::bytes(&file).await {
                    Some(bytes) => DiagnoseMsg::File(bytes),
                    None => DiagnoseMsg::Unreadable(file.name()),
                }
            });
        }
    });
}
