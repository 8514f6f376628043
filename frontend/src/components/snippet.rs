//! A step's request as a command or as code that sends it, to copy, and kubectl's output.

use optimist_client::visible;
use optimist_code::{
    ClientRequest, KubectlOutput, Snippet, client_go, kube_rs, kubectl, kubectl_dry_run,
    kubectl_of_tool, kubectl_output, sent_by_tool,
};
use optimist_messages::label;
use optimist_simulation::{Exchange, Step};
use yew::{
    AttrValue, Callback, Html, MouseEvent, Properties, UseStateHandle, classes, component, html,
    use_effect_with, use_state_eq,
};

use crate::browser;
use crate::state::StateHandle;

/// The form in which a request is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Kubectl,
    Go,
    Rust,
}

/// Draws the request of a step. For kubectl, the output in the terminal comes first.
pub(crate) fn snippet(store: &StateHandle, step: &Step, language: Language) -> Html {
    let call = ClientRequest::of_step(store.world(), step);
    let Some((call, exchange)) = call.zip(step.exchange.as_ref()) else {
        let why = match step.exchange {
            Some(_) => label::snippet_no_json(),
            None => label::snippet_none(),
        };
        return html! { <div class="empty"><p>{ why }</p></div> };
    };
    match language {
        Language::Kubectl => of_kubectl(&call, step, exchange),
        Language::Go => {
            let Snippet {
                imports,
                code: text,
            } = client_go(&call);
            code(label::snippet_go(), imports, text)
        }
        Language::Rust => {
            let Snippet {
                imports,
                code: text,
            } = kube_rs(&call);
            code(label::snippet_rust(), imports, text)
        }
    }
}

/// Draws the command that the actor is, else the one that sends the same request.
fn of_kubectl(call: &ClientRequest<'_>, step: &Step, exchange: &Exchange) -> Html {
    if let Some(own) = kubectl_of_tool(call, step) {
        return html! {
            <>
                { for own.output.iter().map(terminal) }
                { code(label::snippet_kubectl(), String::new(), own.command) }
            </>
        };
    }
    let output = kubectl_output(call, exchange);
    html! {
        <>
            if let Some(tool) = sent_by_tool(call, step) {
                <p class="muted">{ label::snippet_of_tool(&tool) }</p>
            }
            if !output.text.is_empty() {
                { terminal(&output) }
            }
            if let Some(first) = kubectl_dry_run(call) {
                <details>
                    <summary>{ label::instruction_try() }</summary>
                    { code(label::instruction_try(), String::new(), first) }
                </details>
            }
            { code(label::snippet_kubectl(), String::new(), kubectl(call)) }
        </>
    }
}

/// Draws the output of the terminal.
fn terminal(output: &KubectlOutput) -> Html {
    let name = if output.is_object {
        label::terminal_object()
    } else {
        label::terminal()
    };
    html! {
        <>
            <p class="muted">{ name.clone() }</p>
            <pre class="snippet terminal" role="region" tabindex="0" aria-label={name}>
                { visible(output.text.trim_end()).into_owned() }
            </pre>
            if output.advice {
                <p class="muted">{ label::terminal_advice() }</p>
            }
        </>
    }
}

/// A text to take away.
fn code(name: String, imports: String, code: String) -> Html {
    let (imports, code) = (imports.trim_end().to_owned(), code.trim_end().to_owned());
    let whole = if imports.is_empty() {
        format!("{code}\n")
    } else {
        format!("{imports}\n\n{code}\n")
    };
    html! {
        <>
            <div class="snippet-head">
                <span class="muted">{ name.clone() }</span>
                <Copy text={whole} />
            </div>
            <pre
                class={classes!("snippet", (!imports.is_empty()).then_some("source"))}
                role="region"
                tabindex="0"
                aria-label={name}
            >
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
    /// The text on the button; the default is `Copy`.
    #[prop_or_default]
    pub(crate) label: Option<AttrValue>,
}

/// The time for which a button says that it has copied, in milliseconds.
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
        move |_| copy(text.to_string(), &said)
    };
    copy_button(*said, props.label.clone(), onclick.into())
}

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct CopyMadeProps {
    /// Makes the text.
    pub(crate) make: Callback<(), String>,
    /// The text on the button.
    pub(crate) label: AttrValue,
}

/// Copies a text that is made when people ask for it: to make a long one takes long.
#[component]
pub(crate) fn CopyMade(props: &CopyMadeProps) -> Html {
    let said = use_state_eq(|| None::<bool>);
    let onclick = {
        let (said, make) = (said.clone(), props.make.clone());
        move |_| copy(make.emit(()), &said)
    };
    copy_button(*said, Some(props.label.clone()), onclick.into())
}

fn copy(text: String, said: &UseStateHandle<Option<bool>>) {
    let said = said.clone();
    browser::copy(text, move |copied| {
        said.set(Some(copied));
        gloo_timers::callback::Timeout::new(SAID, move || said.set(None)).forget();
    });
}

fn copy_button(
    said: Option<bool>,
    label: Option<AttrValue>,
    onclick: Callback<MouseEvent>,
) -> Html {
    let word = match said {
        None => label.unwrap_or_else(|| label::copy().into()),
        Some(true) => label::copied().into(),
        Some(false) => label::copy_refused().into(),
    };
    html! {
        <button type="button" class="button small" {onclick}>{ word }</button>
    }
}
