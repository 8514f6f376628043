//! A step's request as a command or as code that sends it, to take away.

use optimist_client::visible;
use optimist_simulation::Step;
use optimist_text::render::{Call, Snippet, client_go, kube_rs, kubectl};
use yew::{AttrValue, Html, Properties, component, html, use_effect_with, use_state_eq};

use crate::browser;
use crate::state::StateHandle;

/// What a request can be shown as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Kubectl,
    Go,
    Rust,
}

/// Draws the request of a step.
#[inline(never)] // not on the first screen
pub(crate) fn snippet(store: &StateHandle, step: &Step, language: Language) -> Html {
    let Some(call) = Call::of_step(store.world(), step) else {
        return html! {
            <div class="empty"><p>{ "No request of the API: there is nothing to type." }</p></div>
        };
    };
    let (label, Snippet { imports, code }) = match language {
        Language::Kubectl => (
            "kubectl command",
            Snippet {
                imports: String::new(),
                code: kubectl(&call),
            },
        ),
        Language::Go => ("Go with client-go", client_go(&call)),
        Language::Rust => ("Rust with kube-rs", kube_rs(&call)),
    };
    let (imports, code) = (imports.trim_end().to_owned(), code.trim_end().to_owned());
    let whole = if imports.is_empty() {
        format!("{code}\n")
    } else {
        format!("{imports}\n\n{code}\n")
    };
    html! {
        <>
            <div class="snippet-head">
                <span class="muted">{ label }</span>
                <Copy text={whole} />
            </div>
            <pre class="snippet" role="region" tabindex="0" aria-label={label}>
                if !imports.is_empty() {
                    <span class="muted">{ imports }{ "\n\n" }</span>
                }
                { visible(&code).into_owned() }
            </pre>
        </>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct CopyProps {
    pub(crate) text: AttrValue,
}

/// How long a button says that it has copied.
const SAID: u32 = 1600;

/// Copies a text, and shows a message.
#[component]
pub(crate) fn Copy(props: &CopyProps) -> Html {
    let said = use_state_eq(|| None::<bool>);
    {
        let said = said.clone();
        use_effect_with(props.text.clone(), move |_| said.set(None));
    }
    let onclick = {
        let (said, text) = (said.clone(), props.text.clone());
        move |_| {
            let said = said.clone();
            browser::copy(text.to_string(), move |copied| {
                said.set(Some(copied));
                gloo_timers::callback::Timeout::new(SAID, move || said.set(None)).forget();
            });
        }
    };
    let word = match *said {
        None => "Copy",
        Some(true) => "Copied",
        Some(false) => "Select it to copy",
    };
    html! {
        <button type="button" class="button small" {onclick}>{ word }</button>
    }
}
