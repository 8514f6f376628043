//! The dialog that adds an actor: another editor, a tool, or an example of a controller.

use optimist_client::Preset;
use optimist_controller::program::ReadyProgramName;
use optimist_messages::diagnose::client_long;
use optimist_messages::{controller_card as messages, label};
use optimist_simulation::ActorId;
use yew::{Callback, Html, MouseEvent, html};

use crate::components::dialog::Modal;
use crate::state::{ControllerMsg, EditMsg, Lane, Msg, Sends, StateHandle, ViewMsg};

pub(crate) fn controllers_dialog(store: &StateHandle) -> Html {
    super::adopt_style();
    let next = store.next_actor();
    html! {
        <Modal store={store.clone()} title={label::third_title()} begin="third-first">
            <div
                class="dialog-body examples"
                id="third-first"
                tabindex="-1"
                role="group"
                aria-label={label::third_title()}
            >
                { for next.map(|actor| editors_and_tools(store, actor)) }
                { controllers(store, next.is_some()) }
            </div>
        </Modal>
    }
}

/// Draws what an actor that is added can be beside a controller.
fn editors_and_tools(store: &StateHandle, actor: ActorId) -> Html {
    let begins = |msg: EditMsg| {
        let store = store.clone();
        Callback::from(move |_: MouseEvent| {
            store.send(ViewMsg::Dialog(None));
            store.send(ViewMsg::Open(Lane::Editor(actor)));
            store.send(msg.clone());
        })
    };
    let tool = |preset: Preset, text: String| {
        preset.write(store.world().resource())?;
        let onclick = begins(EditMsg::Tool(actor, preset));
        Some(html! { <li>{ choice(client_long(preset), text, onclick) }</li> })
    };
    let by_hand = begins(EditMsg::Editor(actor));
    let deletes = begins(EditMsg::Deleter(actor));
    html! {
        <>
            <ul>
                <li>{ choice(label::third_editor(), label::third_editor_text(), by_hand) }</li>
            </ul>
            <h3>{ label::third_clients() }</h3>
            <p class="muted">{ label::third_clients_text() }</p>
            <ul>
                { for tool(Preset::KubectlEdit, label::third_edit_text()) }
                { for tool(Preset::KubectlApply, label::third_apply_text()) }
                { for tool(Preset::KubectlApplyServerSide, label::third_server_side_text()) }
                { for tool(Preset::Helm4, label::third_helm_text()) }
                { for tool(Preset::ArgoCdServerSide, label::third_argo_cd_text()) }
                { for tool(Preset::Flux, label::third_flux_text()) }
                { for tool(Preset::Terraform, label::third_terraform_text()) }
                { for tool(Preset::Autoscaler, label::third_autoscaler_text()) }
                <li>{ choice(label::third_deleter(), label::third_deleter_text(), deletes) }</li>
            </ul>
        </>
    }
}

/// Draws the examples of controllers: for this session if it has a controller and a place for one more, and
/// for a new session.
fn controllers(store: &StateHandle, has_place: bool) -> Html {
    let example = |name: ReadyProgramName, msg: ControllerMsg| {
        let (title, text) = messages::example(name);
        let msg = Msg::from(msg);
        html! {
            <li>
                { choice(title, text, store.on(move |_: MouseEvent| msg.clone())) }
            </li>
        }
    };
    html! {
        <>
            if has_place && store.world().has_controllers() {
                <h3>{ label::third_one_more() }</h3>
                <p class="muted">{ label::third_one_more_text() }</p>
                <ul aria-label={label::third_one_more()}>
                    { for ReadyProgramName::ALL.map(|name| example(name, ControllerMsg::Add(name))) }
                </ul>
            }
            <h3>{ label::third_controllers() }</h3>
            <p class="muted">{ label::third_controllers_text() }</p>
            <ul aria-label={label::third_controllers()}>
                { for ReadyProgramName::ALL.map(|name| example(name, ControllerMsg::Begin(name))) }
            </ul>
        </>
    }
}

/// Draws a choice: what it is, and what it is for.
fn choice(name: String, text: String, onclick: Callback<MouseEvent>) -> Html {
    html! {
        <button type="button" class="example" {onclick}>
            <b>{ name }</b>
            <span>{ text }</span>
        </button>
    }
}
