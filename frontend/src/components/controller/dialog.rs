//! The dialog that chooses the third actor: another editor, or an example of a controller.

use optimist_controller::program::ReadyProgramName;
use optimist_messages::{controller_card as messages, label};
use optimist_simulation::ActorId;
use yew::{Html, html};

use crate::components::dialog::Modal;
use crate::state::{ControllerMsg, Lane, Msg, Sends, StateHandle, ViewMsg};

pub(crate) fn controllers_dialog(store: &StateHandle) -> Html {
    super::adopt_style();
    let editor = {
        let store = store.clone();
        move |_| {
            store.send(ViewMsg::Dialog(None));
            store.send(ViewMsg::Open(Lane::Editor(ActorId::C)));
        }
    };
    let has_editor = store.world().controller().is_none();
    let example = |name: ReadyProgramName| {
        let (title, text) = messages::example(name);
        let msg: Msg = ControllerMsg::Begin(name).into();
        html! {
            <li>
                <button type="button" class="example" onclick={store.on(move |_| msg.clone())}>
                    <b>{ title }</b>
                    <span>{ text }</span>
                </button>
            </li>
        }
    };
    html! {
        <Modal store={store.clone()} title={label::third_title()} begin="third-first">
            <div
                class="dialog-body examples"
                id="third-first"
                tabindex="-1"
                role="group"
                aria-label={label::third_title()}
            >
                if has_editor {
                    <ul>
                        <li>
                            <button type="button" class="example" onclick={editor}>
                                <b>{ label::third_editor() }</b>
                                <span>{ label::third_editor_text() }</span>
                            </button>
                        </li>
                    </ul>
                }
                <h3>{ label::third_controllers() }</h3>
                <p class="muted">{ label::third_controllers_text() }</p>
                <ul>{ for ReadyProgramName::ALL.map(example) }</ul>
            </div>
        </Modal>
    }
}
