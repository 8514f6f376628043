//! A case of Diagnose in the share dialog: which values are left out, and the case as Markdown.

use std::rc::Rc;

use optimist_client::visible;
use optimist_messages::{diagnose as messages, label};
use optimist_report::case_markdown;
use optimist_text::share::Private;
use yew::{AttrValue, Html, Properties, component, html, use_memo};

use super::share_dialog::{export, named, weight};
use super::snippet::Copy;
use crate::state::{
    DiagnoseState, MAX_SEARCHED, Sends, ShareMsg, SharedCase, StateHandle, ValuesLeftOut, Withheld,
};

/// The case without values, once it is known which of them stay.
pub(super) fn shared(store: &StateHandle) -> Option<&SharedCase> {
    match store.share.values.as_ref()? {
        ValuesLeftOut::Found(shared) => Some(shared),
        ValuesLeftOut::Searching(_) | ValuesLeftOut::Empty | ValuesLeftOut::TooLarge => None,
    }
}

/// Whether it is known what is left out.
pub(super) fn is_ready(store: &StateHandle) -> bool {
    store.share.values.is_none() || shared(store).is_some()
}

/// Which values are left out.
pub(super) fn values(store: &StateHandle, private: &[Private]) -> Html {
    let now = match (&store.share.values, &store.share.redacted) {
        (Some(_), _) => Withheld::Values,
        (None, Some(_)) => Withheld::Private,
        (None, None) => Withheld::Nothing,
    };
    let choice = |what: Withheld, name: String, says: Html| {
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
                    if now == what {
                        { says }
                    }
                </span>
            </label>
        }
    };
    let muted = |text: String| html! { <span class="muted">{ text }</span> };
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
            { choice(Withheld::Private, label::share_without_private(), muted(left_out)) }
            { choice(Withheld::Values, label::share_without_values(), muted(label::share_stand_ins())) }
            { stays(store) }
            { choice(Withheld::Nothing, label::share_everything(), muted(read)) }
        </fieldset>
    }
}

/// What stays where all values are left out.
fn stays(store: &StateHandle) -> Html {
    match &store.share.values {
        None => Html::default(),
        Some(ValuesLeftOut::Searching(search)) => {
            let says = label::share_comparing(&search.borrow().attempts());
            html! { <p class="muted share-stays" role="status">{ says }</p> }
        }
        Some(ValuesLeftOut::Empty) => {
            html! { <p class="muted share-stays" role="status">{ label::share_nothing_left() }</p> }
        }
        Some(ValuesLeftOut::TooLarge) => {
            let says = label::share_values_too_large(&(MAX_SEARCHED / 1_000_000));
            html! { <p class="muted share-stays" role="status">{ says }</p> }
        }
        Some(ValuesLeftOut::Found(shared)) => html! {
            <div class="muted share-stays">
                <p role="status">{ messages::left_out_values(&shared.found) }</p>
                <ul>
                    { for messages::staying(&shared.found).into_iter().map(|it| html! {
                        <li>{ visible(&it).into_owned() }</li>
                    }) }
                </ul>
            </div>
        },
    }
}

/// The case as Markdown, once everything has run.
pub(super) fn markdown(store: &StateHandle) -> Html {
    let case = match &store.share.values {
        None => Some(&store.diagnose),
        Some(ValuesLeftOut::Empty | ValuesLeftOut::TooLarge) => return Html::default(),
        Some(_) => shared(store).map(|shared| &shared.case),
    };
    if store.diagnose.items.is_empty() {
        return Html::default();
    }
    html! {
        <>
            <h3>{ label::share_report() }</h3>
            {
                match case.filter(|case| !case.is_working()) {
                    None => html! {
                        <p class="muted" role="status">{ label::report_not_ready() }</p>
                    },
                    Some(case) => html! {
                        <CaseMarkdown
                            case={KnownCase(Rc::clone(case))}
                            stand_ins={shared(store).is_some_and(|shared| shared.found.same)}
                        />
                    },
                }
            }
        </>
    }
}

/// The most characters that GitHub takes as the text of an issue.
const MAX_ISSUE: usize = 65_536;

/// A case, compared by where it is: every change makes another one.
#[derive(Clone)]
struct KnownCase(Rc<DiagnoseState>);

impl PartialEq for KnownCase {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Clone, PartialEq, Properties)]
struct CaseMarkdownProps {
    case: KnownCase,
    /// Whether stand-ins are in the place of values.
    stand_ins: bool,
}

/// Buttons that copy and save the Markdown.
#[component]
fn CaseMarkdown(props: &CaseMarkdownProps) -> Html {
    let text = use_memo(
        (props.case.clone(), props.stand_ins),
        |(case, stand_ins)| AttrValue::from(case_markdown(&case.0, *stand_ins)),
    );
    html! {
        <>
            <div class="dialog-actions">
                <Copy text={(*text).clone()} label={Some(AttrValue::from(label::copy_markdown()))} />
                { export("case.md", label::share_save_markdown(), &text) }
            </div>
            <p class="muted">{ label::share_report_says() }</p>
            if text.len() > MAX_ISSUE {
                <p class="muted">{ label::share_report_long(&weight(&text)) }</p>
            }
        </>
    }
}
