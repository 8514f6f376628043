//! What is on the stage as a link or a file, and sessions from files.

use optimist_text::export::{markdown, mermaid, script};
use optimist_text::share::LONGEST_LINK;
use yew::{Html, html};

use super::dialog::Modal;
use super::file_button::file_button;
use super::snippet::Copy;
use crate::browser;
use crate::state::{Msg, Page, Store};

/// `812 characters`, `1.4 kB`.
fn weight(text: &str) -> String {
    match text.len() {
        length @ ..1000 => format!("{length} characters"),
        length => format!("{}.{} kB", length / 1000, length % 1000 / 100),
    }
}

#[inline(never)] // not on the first screen
pub(crate) fn share_dialog(store: &Store) -> Html {
    let session = store.shared();
    let text = session.to_text();
    let page = match store.page {
        Page::Learn if session.learning.is_none() => Page::Play,
        page => page,
    };
    let explored = page == Page::Explore;
    let (title, what) = if explored {
        (
            "Share this search",
            "The edits and how they are sent, not what came of it. Whoever opens it searches again."
                .to_owned(),
        )
    } else {
        let steps = session.steps();
        let what = format!(
            "{steps} steps, in all branches: what was done, not what came of it. Whoever opens it \
             does it again, at the step where you are."
        );
        ("Share this session", what)
    };
    let link = format!("{}{}?s={text}", browser::address(), page.fragment());
    let fits = link.len() <= LONGEST_LINK;
    let title = match store.opening.problem {
        Some(_) => "This session cannot be opened",
        None => title,
    };
    html! {
        <Modal store={store.clone()} {title} begin="share-link">
            <div class="dialog-body share">
                if let Some(problem) = &store.opening.problem {
                    <div class="problem" role="alert">
                        <p><b>{ "Not opened. " }</b>{ problem.clone() }</p>
                        <p class="muted">{ "Your session is as it was." }</p>
                    </div>
                }
                <p class="muted">{ what }</p>
                if fits {
                    <label class="share-link">
                        <span>{ format!("Link, {}", weight(&link)) }</span>
                        <input id="share-link" readonly=true value={link.clone()} />
                    </label>
                } else {
                    <p id="share-link" tabindex="-1">
                        { format!("As a link it would be {} long, more than browsers and chats carry. Take the file.", weight(&link)) }
                    </p>
                }
                <div class="dialog-actions">
                    if fits {
                        <Copy text={link.clone()} />
                    }
                    <a
                        class="button"
                        download="session.optimist"
                        href={format!("data:text/plain,{text}")}
                    >
                        { "Save as a file" }
                    </a>
                    <span class="spring" />
                    { file_button(store, "Open a file", ".optimist,text/plain", Msg::OpenSession) }
                </div>
                if !explored {
                    { exports(store) }
                }
            </div>
        </Modal>
    }
}

/// The history in the words of others.
fn exports(store: &Store) -> Html {
    html! {
        <>
            <h3>{ "This history up to here, for elsewhere" }</h3>
            <div class="dialog-actions">
                { export("history.md", "Markdown for an issue", &markdown(&store.tree)) }
                { export("history.mmd", "Mermaid diagram", &mermaid(&store.tree)) }
                { export("history.sh", "kubectl script", &script(&store.tree)) }
            </div>
            <p class="muted">
                { "The script sends the same requests to the cluster that kubectl talks to, with \
                   the versions that it gives there." }
            </p>
        </>
    }
}

fn export(file: &'static str, label: &'static str, text: &str) -> Html {
    let text = String::from(js_sys::encode_uri_component(text));
    html! {
        <a class="button" download={file} href={format!("data:text/plain;charset=utf-8,{text}")}>
            { label }
        </a>
    }
}
