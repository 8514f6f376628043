//! A challenge about a controller: its switches, and the search of every history with them.

use optimist_controller::program::Switch;
use optimist_lesson::{SwitchChallenge, SwitchFinding};
use optimist_messages::controller::{switch, witness};
use optimist_messages::{ask, label};
use optimist_simulation::HistoryTree;
use yew::{Html, classes, html};

use crate::components::icon::{Icon, icon};
use crate::state::{Course, LearnMsg, Sends, StateHandle};

/// Shows the switches of the program, the button that searches, and the results.
pub(super) fn switches(store: &StateHandle, course: &Course, challenge: &SwitchChallenge) -> Html {
    let program = SwitchChallenge::program(course.walk.lesson());
    let all = program.map_or(&[][..], |ready| ready.name.switches());
    let chosen = course.switches.chosen(challenge);
    let row = |one: &Switch| {
        html! {
            <li>
                <label>
                    <input
                        type="checkbox"
                        checked={chosen.contains(one)}
                        onchange={store.sends(LearnMsg::Switch(*one))}
                    />
                    { switch(*one) }
                </label>
            </li>
        }
    };
    let searching = store.learn.is_searching();
    let primary = (!course.walk.solved()).then_some("primary");
    html! {
        <>
            <ul class="switches">{ for all.iter().map(row) }</ul>
            <button
                type="button"
                class={classes!("button", "check-orders", primary)}
                disabled={searching}
                onclick={store.sends(LearnMsg::Search)}
            >
                { if searching { label::switches_trying() } else { label::switches_try() } }
            </button>
            if let Some(found) = &course.switches.found {
                { finding(&found.0, found.1.as_ref()) }
            }
        </>
    }
}

fn finding(finding: &SwitchFinding, tree: Option<&HistoryTree>) -> Html {
    let met = finding.is_met();
    let class = classes!(if met { "ok" } else { "lost" }, (!met).then_some("against"));
    let steps = tree.into_iter().flat_map(|tree| {
        let steps = tree
            .current_path()
            .iter()
            .filter_map(|node| tree.step(*node));
        steps.map(|step| ask(step, tree.world()))
    });
    html! {
        <div class="found" role="status">
            <p>{ label::switches_states(&finding.states) }</p>
            <ul>
                <li {class}>
                    { icon(if met { Icon::Check } else { Icon::Cross }) }
                    { witness(finding.witness.as_ref(), finding.complete, &finding.needless) }
                </li>
            </ul>
            if tree.is_some() {
                <ol class="switch-history">{ for steps.map(|step| html! { <li>{ step }</li> }) }</ol>
            }
        </div>
    }
}
