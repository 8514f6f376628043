//! The switches of a ready program: each begins the same history with the other setting.

use optimist_controller::program::{ReadyProgram, Switch};
use optimist_messages::{controller_card as messages, label};
use yew::{Html, html};

use crate::components::icon::{Icon, icon};
use crate::state::{ControllerMsg, Sends, StateHandle};

/// The orders of a controller with a program that somebody wrote: only a property of one's own can be asked.
pub(crate) fn written_orders(store: &StateHandle) -> Html {
    super::adopt_style();
    html! {
        <div class="other-endings switches" role="group" aria-label={label::orders_of_controller()}>
            { super::orders::orders(store) }
            { super::orders::own_property(store) }
        </div>
    }
}

pub(crate) fn switches(store: &StateHandle, ready: &ReadyProgram) -> Html {
    super::adopt_style();
    let switch = |switch: &Switch| {
        let on = ready.is_on(*switch);
        html! {
            <li>
                <button
                    type="button"
                    class="button small switch"
                    aria-pressed={on.to_string()}
                    onclick={store.sends(ControllerMsg::Switch(*switch))}
                >
                    { messages::switch_chip(*switch) }
                    if on {
                        { icon(Icon::Check) }
                    }
                </button>
            </li>
        }
    };
    let searched = store.orders().is_some();
    html! {
        <div class="other-endings switches" role="group" aria-label={label::controller_switches()}>
            <h3>{ label::controller_switches() }</h3>
            <ul>
                { for ready.name.switches().iter().map(switch) }
                if !searched {
                    <li>{ super::orders::orders(store) }</li>
                }
            </ul>
            if searched {
                { super::orders::orders(store) }
            }
            { super::orders::own_property(store) }
        </div>
    }
}
