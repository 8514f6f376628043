//! The button that saves the open page as one HTML file, and its progress.

use std::rc::Rc;

use optimist_messages::label;
use wasm_bindgen_futures::spawn_local;
use yew::{
    AttrValue, Html, Properties, component, html, use_effect_with, use_mut_ref, use_state_eq,
};

use crate::saved_page::{SaveProblem, SavedFile, save};

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct SavePageProps {
    /// The title of the page.
    pub(crate) title: AttrValue,
    /// The fragment that opens the saved state.
    pub(crate) fragment: AttrValue,
}

/// The progress of saving.
#[derive(Clone, Debug, PartialEq)]
enum Saving {
    NotBegun,
    /// The number of parts that are done, and the number of all.
    Running(usize, usize),
    Ended(Result<SavedFile, SaveProblem>),
}

#[component]
pub(crate) fn SavePage(props: &SavePageProps) -> Html {
    let saving = use_state_eq(|| Saving::NotBegun);
    // The fragment that people want to save; `None` after the dialog is closed.
    let wanted = use_mut_ref(|| None::<AttrValue>);
    {
        let (saving, wanted) = (saving.clone(), Rc::clone(&wanted));
        use_effect_with(props.fragment.clone(), move |fragment| {
            wanted.replace(Some(fragment.clone()));
            saving.set(Saving::NotBegun);
            move || drop(wanted.take())
        });
    }
    let running = matches!(*saving, Saving::Running(..));
    let onclick = {
        let (saving, props) = (saving.clone(), props.clone());
        move |_| {
            let (saving, props, wanted) = (saving.clone(), props.clone(), Rc::clone(&wanted));
            saving.set(Saving::Running(0, 1));
            spawn_local(async move {
                // Who chooses to leave values out does not get a file with them.
                let is_wanted = || wanted.borrow().as_ref() == Some(&props.fragment);
                let goes_on = |done, all| {
                    let wanted = is_wanted();
                    if wanted {
                        saving.set(Saving::Running(done, all));
                    }
                    wanted
                };
                let ended = save(&props.title, &props.fragment, goes_on).await;
                if let Some(ended) = ended.transpose().filter(|_| is_wanted()) {
                    saving.set(Saving::Ended(ended));
                }
            });
        }
    };
    let (class, told) = match &*saving {
        Saving::NotBegun => ("muted", label::share_html_hint()),
        Saving::Running(done, all) => ("muted", label::share_html_reading(done, all)),
        Saving::Ended(Ok(file)) => (
            "muted",
            label::share_html_saved(&file.name, &megabytes(file.size)),
        ),
        Saving::Ended(Err(problem)) => ("problem", why_not(problem)),
    };
    html! {
        <>
            <div class="dialog-actions">
                <button type="button" id="save-page" class="button" disabled={running} {onclick}>
                    { label::share_html() }
                </button>
            </div>
            <p {class} id="save-page-told" role="status">{ told }</p>
        </>
    }
}

/// `2.5 MB`.
fn megabytes(bytes: f64) -> String {
    format!("{:.1} MB", bytes / 1e6)
}

fn why_not(problem: &SaveProblem) -> String {
    match problem {
        SaveProblem::NotLoaded(file) => label::share_html_not_loaded(file),
        SaveProblem::TooLarge(size) => label::share_html_too_large(&format!("{} kB", size / 1000)),
        SaveProblem::Refused => label::share_html_refused(),
    }
}
