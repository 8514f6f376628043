//! A case of Diagnose in the share dialog: which values are left out, and the case as Markdown.

use std::rc::Rc;

use optimist_messages::label;
use optimist_report::case_markdown;
use optimist_text::share::Private;
use yew::{AttrValue, Html, Properties, component, html, use_memo};

use super::share_dialog::{export, named};
use super::snippet::Copy;
use crate::state::{DiagnoseState, Sends, ShareMsg, StateHandle, Withheld};

/// Which values are left out.
pub(super) fn values(store: &StateHandle, private: &[Private]) -> Html {
    let now = match &store.share.redacted {
        Some(_) => Withheld::Private,
        None => Withheld::Nothing,
    };
    let choice = |what: Withheld, name: String, says: Option<String>| {
        html! {
            <label class="check share-choice">
                <input
                    type="radio"
                    name="withheld"
                    checked={now == what}
                    onchange={store.sends(ShareMsg::Withhold(what))}
                />
                <span>
                    { name }
                    if let Some(says) = says.filter(|_| now == what) {
                        <span class="muted">{ says }</span>
                    }
                </span>
            </label>
        }
    };
    let found = named(private);
    let (left_out, read) = if private.is_empty() {
        (label::share_found_nothing(), label::share_look_yourself())
    } else {
        (
            format!(
                "{} {found} {}",
                label::share_left_out(),
                label::share_look()
            ),
            format!("{} {found}", label::share_private()),
        )
    };
    html! {
        <fieldset class="share-values">
            <legend>{ label::share_values() }</legend>
            { choice(Withheld::Private, label::share_without_private(), Some(left_out)) }
            { choice(Withheld::Nothing, label::share_everything(), Some(read)) }
        </fieldset>
    }
}

/// The case as Markdown, once everything has run.
pub(super) fn markdown(store: &StateHandle) -> Html {
    let case = &store.diagnose;
    if case.items.is_empty() {
        return Html::default();
    }
    html! {
        <>
            <h3>{ label::share_report() }</h3>
            if case.is_working() {
                <p class="muted" role="status">{ label::report_not_ready() }</p>
            } else {
                <CaseMarkdown case={SharedCase(Rc::clone(case))} />
            }
        </>
    }
}

/// A case, compared by where it is: every change makes another one.
#[derive(Clone)]
struct SharedCase(Rc<DiagnoseState>);

impl PartialEq for SharedCase {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Clone, PartialEq, Properties)]
struct CaseMarkdownProps {
    case: SharedCase,
}

/// Buttons that copy and save the Markdown.
#[component]
fn CaseMarkdown(props: &CaseMarkdownProps) -> Html {
    let text = use_memo(props.case.clone(), |case| {
        AttrValue::from(case_markdown(&case.0))
    });
    html! {
        <>
            <div class="dialog-actions">
                <Copy text={(*text).clone()} label={Some(AttrValue::from(label::copy_markdown()))} />
                { export("case.md", label::share_save_markdown(), &text) }
            </div>
            <p class="muted">{ label::share_report_says() }</p>
        </>
    }
}
