//! The page as a whole.

use gloo_events::{EventListener, EventListenerOptions};
use gloo_timers::callback::{Interval, Timeout};
use optimist_simulation::ActorId;
use wasm_bindgen::JsCast;
use web_sys::KeyboardEvent;
use yew::{Html, classes, component, html, use_effect_with, use_reducer_eq};

use crate::browser;
use crate::components::sessions_dialog::called;
use crate::components::{
    Timeline, branches_dialog, caption, editor_card, header, help_dialog, inspector, lane_tabs,
    load_dialog, request_dialog, server_card, sessions_dialog, share_dialog, transport,
};
use crate::explore::Explore;
use crate::keyboard;
use crate::learn::Lessons;
use crate::state::{Dialog, Lane, Msg, Page, Sends, State, StateHandle, Theme};
use crate::words;

/// How long a step stands while playing.
const PACE: u32 = 1100;

/// How long after a change the session is kept, so that a burst of changes is kept once.
const KEEPING: u32 = 400;

/// Scrolls a working copy so far that what people edit is in sight, not only its metadata.
fn reveal_content(slug: &str) {
    let not = ["apiVersion", "kind", "metadata"]
        .map(|field| format!(":not([id^=\"{slug}/{field}\"])"))
        .concat();
    browser::reveal(&format!("#card-{slug} button.value{not}"), 48.0);
}

/// The page.
#[component]
pub fn App() -> Html {
    let store = use_reducer_eq(State::open);

    {
        let store = store.clone();
        use_effect_with((), move |()| {
            let listener = browser::document().map(|document| {
                let options = EventListenerOptions::enable_prevent_default();
                EventListener::new_with_options(&document, "keydown", options, move |event| {
                    let Some(event) = event.dyn_ref::<KeyboardEvent>() else {
                        return;
                    };
                    if let Some(msg) = keyboard::message(&store, event) {
                        event.prevent_default();
                        store.dispatch(msg);
                    }
                })
            });
            move || drop(listener)
        });
    }
    {
        let dispatcher = store.dispatcher();
        use_effect_with((), move |()| {
            let listener = browser::window().map(|window| {
                EventListener::new(&window, "hashchange", move |_| {
                    dispatcher.dispatch(Msg::Address(browser::fragment()));
                })
            });
            move || drop(listener)
        });
    }
    {
        let dispatcher = store.dispatcher();
        use_effect_with(store.playing, move |playing| {
            let ticks =
                playing.then(|| Interval::new(PACE, move || dispatcher.dispatch(Msg::Tick)));
            move || drop(ticks)
        });
    }
    {
        let dispatcher = store.dispatcher();
        use_effect_with(store.is_working(), move |working| {
            let slices = working.then(|| Interval::new(1, move || dispatcher.dispatch(Msg::Work)));
            move || drop(slices)
        });
    }
    {
        let dispatcher = store.dispatcher();
        use_effect_with(store.changes(), move |changes| {
            let soon = (*changes > 0)
                .then(|| Timeout::new(KEEPING, move || dispatcher.dispatch(Msg::Keep)));
            move || drop(soon)
        });
    }
    {
        let dispatcher = store.dispatcher();
        use_effect_with((), move |()| {
            let listener = browser::window().map(|window| {
                EventListener::new(&window, "pagehide", move |_| dispatcher.dispatch(Msg::Keep))
            });
            move || drop(listener)
        });
    }
    use_effect_with((), |()| {
        let listeners = browser::document().map(|document| {
            ["pointerdown", "click", "keydown"]
                .map(|kind| EventListener::new(&document, kind, browser::close_menus))
        });
        move || drop(listeners)
    });
    use_effect_with((), |()| {
        let root = browser::document().and_then(|document| document.document_element());
        if let Some(root) = root.filter(|_| browser::is_embedded()) {
            // Only an invalid attribute name could fail here.
            let _ = root.set_attribute("data-embed", "");
        }
    });
    use_effect_with(store.theme, |theme| {
        let root = browser::document().and_then(|document| document.document_element());
        if let Some(root) = root {
            // Only an invalid attribute name could fail here.
            let _ = match theme {
                Theme::System => root.remove_attribute("data-theme"),
                Theme::Light => root.set_attribute("data-theme", "light"),
                Theme::Dark => root.set_attribute("data-theme", "dark"),
            };
        }
    });
    {
        let read = store
            .tree
            .step(store.tree.current())
            .and_then(|step| step.actor());
        use_effect_with(
            (store.session, store.tree.current(), read, store.page),
            |&(_, node, editor, _)| {
                browser::reveal(&format!("#step-{node}"), 8.0);
                browser::reveal("#card-server .meant", 24.0);
                if let Some(editor) = editor {
                    reveal_content(Lane::Editor(editor).slug());
                }
            },
        );
    }

    use_effect_with(title(&store), |title| browser::set_title(title));

    html! {
        <>
            if store.page == Page::Play {
                { stage(&store, caption(&store)) }
            }
            if store.transfer.opened {
                <Explore store={store.clone()} />
            }
            if store.page == Page::Learn {
                <Lessons store={store.clone()} />
            }
            if store.dialog == Some(Dialog::Load) {
                { load_dialog(&store) }
            }
            if store.dialog == Some(Dialog::Branches) {
                { branches_dialog(&store) }
            }
            if store.dialog == Some(Dialog::Share) {
                { share_dialog(&store) }
            }
            if store.dialog == Some(Dialog::Request) {
                { request_dialog(&store) }
            }
            if store.dialog == Some(Dialog::Sessions) {
                { sessions_dialog(&store) }
            }
            if store.dialog == Some(Dialog::Help) {
                { help_dialog(&store) }
            }
        </>
    }
}

/// A notice that goes when it is dismissed.
fn notice(store: &StateHandle, dismiss: Msg, told: Html) -> Html {
    html! {
        <p class="notice" role="status">
            { told }
            <button type="button" class="button small" onclick={store.sends(dismiss)}>
                { "Dismiss" }
            </button>
        </p>
    }
}

/// How far the opening of a session is that takes more than a moment.
#[inline(never)] // not on the first screen
fn opening(store: &StateHandle, (done, all): (usize, usize)) -> Html {
    html! {
        <p class="notice opening">
            <span role="status">{ "Opening a session." }</span>
            <progress aria-label="Steps done" max={all.to_string()} value={done.to_string()} />
            <span>{ format!("{done} of {all} steps") }</span>
            <button type="button" class="button small" onclick={store.sends(Msg::CancelOpening)}>
                { "Cancel" }
            </button>
        </p>
    }
}

/// What there is to say of the address, and of what was kept.
pub(crate) fn kept_notice(store: &StateHandle) -> Html {
    if let Some(progress) = store.progress().filter(|(done, _)| *done > 0) {
        return opening(store, progress);
    }
    if let Some(fragment) = &store.unknown_address {
        let told =
            html! { { format!("There is no page {fragment}. This is {}.", store.page.name()) } };
        return notice(store, Msg::DismissAddress, told);
    }
    if store.full {
        let told = html! {
            { "The last step was not taken: with it this history would be too large to be opened \
               again. Delete a branch, or load the object again." }
        };
        return notice(store, Msg::DismissAddress, told);
    }
    let kept = &store.persistence;
    if kept.refused {
        let told = html! {
            { "This browser keeps nothing: its storage is full or forbidden. Share can save the \
               session as a file." }
        };
        return notice(store, Msg::DismissKept, told);
    }
    if !kept.unreadable.is_empty() {
        let what = kept.unreadable.join(", ");
        let told = html! {
            { format!("Some of what this browser kept cannot be read: {what}. It is left as it is.") }
        };
        return notice(store, Msg::DismissKept, told);
    }
    let mut offered = kept.sessions.offered();
    let (Some(first), Page::Play) = (offered.next(), store.page) else {
        return Html::default();
    };
    let others = offered.count();
    let (told, open, title) = match others {
        0 => (
            "There is a session from before.".to_owned(),
            "Open it",
            called(first),
        ),
        others => (
            format!("There are {} sessions from before.", others + 1),
            "Show them",
            String::new(),
        ),
    };
    let told = html! {
        <>
            { told }
            <button type="button" class="button small" {title} onclick={store.sends(Msg::TakeOffer)}>
                { open }
            </button>
        </>
    };
    notice(store, Msg::DismissKept, told)
}

/// What the browser's tab says.
fn title(store: &StateHandle) -> String {
    let lesson = store
        .learn
        .course
        .as_ref()
        .filter(|_| store.page == Page::Learn);
    match lesson {
        Some(course) => format!("{} · Optimist", course.walk.lesson().title),
        None => format!("{}: {} · Optimist", store.page.name(), store.page.title()),
    }
}

/// The actors, the server and what happened, beside what is told of it.
pub(crate) fn stage(store: &StateHandle, told: Html) -> Html {
    html! {
        <>
            <a class="skip" href="#history">{ "Skip to what happened" }</a>
            <div
                class={classes!("page", store.learn.is_on_stage().then_some("learning"))}
                data-lane={store.lane.slug()}
                data-teaching={store.learn.teaching.then_some("true")}
            >
                { header(store) }
                { kept_notice(store) }
                { told }
                <main class="stage">
                    { lane_tabs(store) }
                    <div class="cards">
                        { editor_card(store, ActorId::A) }
                        { server_card(store) }
                        { editor_card(store, store.right) }
                    </div>
                    <Timeline store={store.clone()} />
                </main>
                { inspector(store) }
                { transport(store) }
            </div>
            <p class="unseen" role="status" aria-live="polite">{ words::announcement(store) }</p>
        </>
    }
}
