//! The effects of the page besides drawing: it listens to the browser, and changes it when the
//! state changes. The effects of single messages are in [`crate::state`].

use gloo_events::{EventListener, EventListenerOptions};
use gloo_timers::callback::{Interval, Timeout};
use wasm_bindgen::JsCast;
use web_sys::KeyboardEvent;
use yew::{hook, use_effect_with};

use crate::names::{page_name, page_title};
use crate::state::{Lane, Msg, Page, PersistenceMsg, Sends, SessionMsg, StateHandle, Theme};
use crate::{browser, focus, jobs, keyboard};

/// The time between two steps while playing, in milliseconds.
const PACE: u32 = 1100;

/// The time between a change and the keeping of the session, in milliseconds: a burst of changes is
/// kept once.
const KEEPING: u32 = 400;

/// Keys, wherever the keyboard is.
#[hook]
pub(crate) fn use_keys(store: &StateHandle) {
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

/// The address, when it changes.
#[hook]
pub(crate) fn use_address(store: &StateHandle) {
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

/// A step after the other while the session plays.
#[hook]
pub(crate) fn use_playing(store: &StateHandle) {
    let dispatcher = store.dispatcher();
    use_effect_with(store.session.playing, move |playing| {
        let ticks = playing.then(|| Interval::new(PACE, move || dispatcher.send(SessionMsg::Tick)));
        move || drop(ticks)
    });
}

/// The reports of jobs, as messages.
#[hook]
pub(crate) fn use_jobs(store: &StateHandle) {
    let dispatcher = store.dispatcher();
    use_effect_with((), move |()| {
        jobs::report_to(move |id, report| dispatcher.dispatch(Msg::Job(id, report)));
        jobs::forget_page
    });
}

/// The session is kept soon after a change, and when the page goes.
#[hook]
pub(crate) fn use_persistence(store: &StateHandle) {
    let dispatcher = store.dispatcher();
    use_effect_with(store.changes(), move |changes| {
        let soon = (*changes > 0)
            .then(|| Timeout::new(KEEPING, move || dispatcher.send(PersistenceMsg::Save)));
        move || drop(soon)
    });
    let dispatcher = store.dispatcher();
    use_effect_with((), move |()| {
        let listener = browser::window().map(|window| {
            EventListener::new(&window, "pagehide", move |_| {
                dispatcher.send(PersistenceMsg::Save);
            })
        });
        move || drop(listener)
    });
}

/// Menus close when something else is pressed.
#[hook]
pub(crate) fn use_menus() {
    use_effect_with((), |()| {
        let listeners = browser::document().map(|document| {
            ["pointerdown", "click", "keydown"]
                .map(|kind| EventListener::new(&document, kind, browser::close_menus))
        });
        move || drop(listeners)
    });
}

/// Keeps the keyboard from falling to nothing when the element that has it goes.
#[hook]
pub(crate) fn use_focus(store: &StateHandle) {
    use_effect_with((), |()| {
        let listeners = browser::document().map(|document| {
            let noted = EventListener::new(&document, "focusin", focus::record_holder);
            // A part of the page may have a state of its own.
            [
                noted,
                EventListener::new(&document, "click", |_| focus::mend()),
            ]
        });
        move || drop(listeners)
    });
    use_effect_with(store.changes(), |changes| {
        if *changes > 0 {
            focus::mend();
        }
    });
}

/// The style knows whether the page stands in another one, and the theme.
#[hook]
pub(crate) fn use_style(theme: Theme) {
    use_effect_with((), |()| {
        if browser::is_embedded() {
            browser::set_root_attribute("data-embed", Some(""));
        }
    });
    use_effect_with(theme, |theme| {
        browser::set_root_attribute(
            "data-theme",
            match theme {
                Theme::System => None,
                Theme::Light => Some("light"),
                Theme::Dark => Some("dark"),
            },
        );
    });
}

/// Scrolls to the current step, to its object and to the head of the open lane.
#[hook]
pub(crate) fn use_current_step_in_sight(store: &StateHandle) {
    let tree = &store.session.tree;
    let actor = tree.step(tree.current()).and_then(|step| step.actor());
    use_effect_with(
        (
            (store.session.number, tree.current(), actor),
            (store.page, store.view.lane),
        ),
        |&((_, node, editor), _)| {
            browser::reveal(&format!("#step-{node}"), 8.0);
            browser::reveal_in_row(".lane-tabs", "[aria-pressed=\"true\"]", 10.0);
            let slug = editor.map(|editor| Lane::Editor(editor).slug());
            if let Some(slug) = slug {
                reveal_content(slug);
            }
            // Last: the cards scroll together, and what was changed is what the step is about.
            for slug in slug.into_iter().chain(["server"]) {
                let changed = format!("#card-{slug} :is(.meant, .marked:has(> .fold))");
                browser::reveal(&changed, 24.0);
            }
        },
    );
}

/// Scrolls to an addition to a working copy: it does not always stand where it was typed.
#[hook]
pub(crate) fn use_addition_in_sight(store: &StateHandle) {
    use_effect_with(store.editing.added.clone(), |added| {
        if let Some((editor, pointer)) = added {
            let slug = Lane::Editor(*editor).slug();
            let inside = pointer.replace('\\', "\\\\").replace('"', "\\\"");
            browser::reveal(&format!("#card-{slug} [id^=\"{slug}{inside}\"]"), 48.0);
        }
    });
}

/// Scrolls a working copy so far that the fields that people edit are in sight, not only its
/// metadata.
fn reveal_content(slug: &str) {
    let not = ["apiVersion", "kind", "metadata"]
        .map(|field| format!(":not([id^=\"{slug}/{field}\"])"))
        .concat();
    browser::reveal(&format!("#card-{slug} button.value{not}"), 48.0);
}

/// Sets the title of the browser's tab.
#[hook]
pub(crate) fn use_title(store: &StateHandle) {
    let course = store.learn.course.as_ref();
    let title = match course.filter(|_| store.page == Page::Learn) {
        Some(course) => format!("{} · Optimist", course.walk.lesson().title),
        None => format!(
            "{}: {} · Optimist",
            page_name(store.page),
            page_title(store.page)
        ),
    };
    use_effect_with(title, |title| browser::set_title(title));
}
