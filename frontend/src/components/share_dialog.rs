//! Shares the stage as a link or a file, and opens sessions from files.

use std::rc::Rc;

use js_sys::Array;
use optimist_client::visible;
use optimist_diagnose::case::ObjectId;
use optimist_exports::{mermaid, report, script};
use optimist_links::MAX_LINK_LENGTH;
use optimist_masking::Private;
use optimist_messages::label;
use optimist_simulation::HistoryTree;
use yew::{AttrValue, Event, Html, html};

use super::dialog::Modal;
use super::file_button::file_button;
use super::save_page::SavePage;
use super::share_case;
use super::snippet::Copy;
use crate::browser::{self, ticked};
use crate::names::page_name;
use crate::saved_page::{self, save_file};
use crate::state::{
    Dialog, MAX_SAVED, Page, ReplayState, Sends, ShareMsg, StateHandle, ViewMsg, Withheld,
    session_fragment,
};

/// `812 characters`, `1.4 kB`.
pub(super) fn weight(text: &str) -> String {
    match text.len() {
        length @ ..1000 => format!("{length} characters"),
        length => format!("{}.{} kB", length / 1000, length % 1000 / 100),
    }
}

pub(crate) fn share_dialog(store: &StateHandle) -> Html {
    let page = store.shared_page();
    let text = store.shared_text();
    let explored = page == Page::Explore;
    let diagnosed = page == Page::Diagnose;
    let what = match page {
        Page::Explore => label::share_search(),
        Page::Diagnose => label::share_case(),
        Page::Play | Page::Learn => label::share_steps(&store.shared_steps()),
    };
    let title = match (&store.share.opening.problem, page) {
        (Some(_), _) => label::share_title_not_opened(),
        (None, Page::Explore) => label::share_title_search(),
        (None, Page::Diagnose) => label::share_title_case(),
        (None, Page::Play | Page::Learn) => label::share_title(),
    };
    let private = &store.share.private;
    html! {
        <Modal store={store.clone()} {title} begin="share-link">
            <div class="dialog-body share">
                { problem(store) }
                <p class="muted">{ what }</p>
                if diagnosed {
                    { share_case::values(store) }
                } else if !private.is_empty() {
                    { warning(store, private) }
                }
                if let Some(text) = text {
                    { leaving(store, page, &text) }
                }
                if diagnosed {
                    { share_case::markdown(store) }
                } else if !explored {
                    { exported(store) }
                }
            </div>
        </Modal>
    }
}

/// The ways in which the text of a session leaves the page.
fn leaving(store: &StateHandle, page: Page, text: &str) -> Html {
    let fragment = session_fragment(page, text);
    let link = format!("{}{fragment}", browser::address());
    html! {
        <>
            { link_and_file(store, &link, text) }
            if saved_page::can_be_saved() {
                if fragment.len() > MAX_SAVED {
                    <p class="muted">{ label::share_html_too_large(&weight(&fragment)) }</p>
                } else {
                    <SavePage title={saved_title(store, page)} {fragment} />
                }
            }
        </>
    }
}

/// Returns the title of the page that is saved as a file, from its content.
fn saved_title(store: &StateHandle, page: Page) -> String {
    let subject = store.world().subject();
    let object = ObjectId {
        group: String::new(),
        kind: subject.resource().kind.to_string(),
        namespace: subject.namespace().to_owned(),
        name: subject.name().to_owned(),
    };
    let course = store.learn.course.as_ref();
    let what = match page {
        Page::Play => object.to_string(),
        Page::Explore => label::saved_title_search(&object),
        Page::Learn => match course {
            Some(course) => course.walk.lesson().title.clone(),
            None => object.to_string(),
        },
        Page::Diagnose => match store.diagnose.reading() {
            Some(reading) => reading.title().to_string(),
            None => page_name(page),
        },
    };
    label::saved_title(&visible(&what))
}

/// Shows why the last session was not opened.
fn problem(store: &StateHandle) -> Html {
    let opening = &store.share.opening;
    let Some(problem) = &opening.problem else {
        return Html::default();
    };
    let kept = if opening.still_kept {
        label::share_still_kept()
    } else {
        label::share_unchanged()
    };
    html! {
        <div class="problem" role="alert">
            <p><b>{ label::share_not_opened() }{ " " }</b>{ problem.clone() }</p>
            <p class="muted">{ kept }{ " " }{ label::share_below() }</p>
        </div>
    }
}

/// The session as a link, where it fits into one, and as a file.
fn link_and_file(store: &StateHandle, link: &str, text: &str) -> Html {
    let fits = link.len() <= MAX_LINK_LENGTH;
    html! {
        <>
            if fits {
                <label class="share-link">
                    <span>{ label::share_link(&weight(link)) }</span>
                    <input id="share-link" readonly=true value={link.to_owned()} />
                </label>
            } else {
                <p id="share-link" tabindex="-1">{ label::share_too_long(&weight(link)) }</p>
            }
            <div class="dialog-actions">
                if fits {
                    <Copy text={link.to_owned()} />
                }
                <a
                    class="button"
                    download="session.optimist"
                    href={format!("data:text/plain,{text}")}
                >
                    { label::share_save() }
                </a>
                <span class="spring" />
                if !store.persistence.sessions.saved().is_empty() {
                    <button
                        type="button"
                        class="button"
                        onclick={store.sends(ViewMsg::Dialog(Some(Dialog::Sessions)))}
                    >
                        { label::share_kept() }
                    </button>
                }
                { file_button(store, &label::share_open_file(), ".optimist,text/plain", |text| {
                    ShareMsg::Open(text).into()
                }) }
            </div>
        </>
    }
}

/// The maximum number of values that are named.
const MAX_NAMED: usize = 6;

/// The fields whose values look private.
pub(super) fn named(private: &[Private]) -> String {
    let mut named: Vec<String> = Vec::new();
    for one in private {
        let name = format!("{} ({})", one.field, one.looks_like);
        // A value in base64 is found plain too.
        if !named.contains(&name) {
            named.push(name);
        }
    }
    let others = named.len().saturating_sub(MAX_NAMED);
    named.truncate(MAX_NAMED);
    let named = named.join(", ");
    match others {
        0 => label::share_private_all(&named),
        others => label::share_private_more(&named, &others),
    }
}

/// Names the values that look private.
fn warning(store: &StateHandle, private: &[Private]) -> Html {
    let on = store.share.redacted.is_some();
    let named = named(private);
    let onchange = store.on(|event: Event| {
        ShareMsg::Withhold(match ticked(&event) {
            true => Withheld::Private,
            false => Withheld::Nothing,
        })
    });
    html! {
        <div class="problem" role="status">
            <p>
                <b>
                    { if on { label::share_left_out() } else { label::share_private() } }
                    { " " }
                </b>
                { named }
            </p>
            <label class="check">
                <input type="checkbox" id="leave-out" checked={on} {onchange} />
                <span>{ label::share_leave_out() }</span>
            </label>
            <p class="muted">
                { label::share_look() }
            </p>
        </div>
    }
}

/// The exports, or how far they are.
fn exported(store: &StateHandle) -> Html {
    let told = match store
        .share
        .redacted
        .as_deref()
        .map(|redacted| &redacted.replay)
    {
        None => return exports(&store.session.tree),
        Some(ReplayState::Done(tree)) => return exports(tree),
        Some(ReplayState::Running(job)) => {
            let (done, all) = store.jobs.progress(*job).unwrap_or_default();
            label::share_exporting(&done, &all)
        }
        Some(ReplayState::Failed) => label::share_no_exports(),
    };
    html! { <p class="muted" role="status">{ told }</p> }
}

/// The history in the words of others.
fn exports(tree: &HistoryTree) -> Html {
    let text = report(tree);
    html! {
        <>
            <h3>{ label::share_exports() }</h3>
            <div class="dialog-actions">
                { export("history.md", label::share_markdown(), &text) }
                { export("history.mmd", label::share_mermaid(), &mermaid(tree)) }
                { export("history.sh", label::share_script(), &script(tree)) }
                <Copy text={text.clone()} label={Some(AttrValue::from(label::copy_markdown()))} />
            </div>
            <p class="muted">
                { label::share_script_hint() }
            </p>
        </>
    }
}

/// The longest text in the address of a link, in bytes. To draw a longer one holds the page.
const MAX_ADDRESS: usize = 200_000;

/// A link that saves a text as a file. For a long text it is a button, and the file is made when it is pressed.
pub(crate) fn export(file: &'static str, label: String, text: &str) -> Html {
    if text.len() > MAX_ADDRESS {
        let text: Rc<str> = text.into();
        let onclick = move |_| {
            // A browser without files has no dialog for them either.
            let _ = save_file(
                &Array::of1(&(&*text).into()),
                "text/plain;charset=utf-8",
                file,
            );
        };
        return html! { <button type="button" class="button" {onclick}>{ label }</button> };
    }
    let text = String::from(js_sys::encode_uri_component(text));
    html! {
        <a class="button" download={file} href={format!("data:text/plain;charset=utf-8,{text}")}>
            { label }
        </a>
    }
}
