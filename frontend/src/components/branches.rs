//! All histories of the session: named, compared side by side, deleted.

use optimist_client::{ValueChange, dotted};
use optimist_simulation::{BranchPoint, NodeId, Outcome};
use web_sys::HtmlInputElement;
use yew::{Event, Html, TargetCast, classes, html};

use super::dialog::Modal;
use super::fold::counted;
use crate::state::{Sends, SessionMsg, StateHandle};

/// What a history is called: its name, or its number.
fn called(store: &StateHandle, end: NodeId, number: usize) -> String {
    let name = store.session.tree.name(end);
    name.map_or_else(|| format!("History {}", number + 1), str::to_owned)
}

#[inline(never)] // not on the first screen
pub(crate) fn branches_dialog(store: &StateHandle) -> Html {
    let ends = store.session.tree.ends();
    let line = store.session.tree.current_path();
    let here = line.last().copied().unwrap_or(0);
    let (first, second) = store.session.compared(&ends);
    let row = |(number, &end): (usize, &NodeId)| {
        let name = called(store, end, number);
        let steps = store.session.tree.path(end).len().saturating_sub(1);
        let last = store
            .session
            .tree
            .step(end)
            .map(|step| optimist_messages::summary(step, store.world()));
        let onchange = store.on(move |event: Event| {
            let input = event.target_dyn_into::<HtmlInputElement>();
            SessionMsg::NameBranch(end, input.map(|input| input.value()).unwrap_or_default())
        });
        let side = |chosen: bool, second: bool, letter: &'static str| {
            html! {
                <button
                    type="button"
                    class="button small"
                    aria-pressed={chosen.to_string()}
                    aria-label={format!("Compare {name} as {letter}")}
                    onclick={store.sends(SessionMsg::Compare(second, end))}
                >
                    { letter }
                </button>
            }
        };
        html! {
            <li key={end} class={classes!((end == here).then_some("here"))}>
                <input
                    aria-label={format!("Name of {name}")}
                    value={store.session.tree.name(end).unwrap_or_default().to_owned()}
                    placeholder={name.clone()}
                    maxlength="60"
                    {onchange}
                />
                <span class="muted">
                    { counted(steps, "step") }
                    if end == here { { " · you are in it" } }
                </span>
                <span class="buttons">
                    { side(end == first, false, "left") }
                    { side(end == second, true, "right") }
                    <button
                        type="button"
                        class="button small"
                        aria-label={format!("Open {name}")}
                        onclick={store.sends(SessionMsg::OpenBranch(end))}
                    >
                        { "Open" }
                    </button>
                    <button
                        type="button"
                        class="button small"
                        aria-label={format!("Delete {name}")}
                        disabled={ends.len() < 2}
                        onclick={store.sends(SessionMsg::DeleteBranch(end))}
                    >
                        { "Delete" }
                    </button>
                </span>
                if let Some(last) = last {
                    <span class="last">{ format!("ends with {last}") }</span>
                }
            </li>
        }
    };
    let number = |end: NodeId| ends.iter().position(|other| *other == end).unwrap_or(0);
    html! {
        <Modal store={store.clone()} title="Histories" begin="dialog-close">
            <div class="dialog-body branches">
                <ol>{ for ends.iter().enumerate().map(row) }</ol>
                if first == second {
                    <p class="muted">
                        { "There is one history. Step back and do something else: it stays, and \
                           both can be compared here." }
                    </p>
                } else if let Some(branch_point) = store.session.tree.compare(first, second) {
                    { compared(store, &branch_point, [
                        called(store, first, number(first)),
                        called(store, second, number(second)),
                    ]) }
                }
            </div>
        </Modal>
    }
}

fn compared(store: &StateHandle, branch_point: &BranchPoint, names: [String; 2]) -> Html {
    let steps = store
        .session
        .tree
        .path(branch_point.fork)
        .len()
        .saturating_sub(1);
    let parts = match steps {
        0 => "They part at the very beginning.".to_owned(),
        steps => format!("They part after step {steps}."),
    };
    let [left, right] = names;
    let side = |name: &str, nodes: &[NodeId]| {
        html! {
            <section aria-label={name.to_owned()}>
                <h3>{ name.to_owned() }</h3>
                <ol start={(steps + 1).to_string()}>
                    { for nodes.iter().filter_map(|&node| store.session.tree.step(node)).map(|step| {
                        let refused = step.outcome() == Outcome::Refused;
                        html! {
                            <li class={classes!(super::step_row::slug(step), refused.then_some("refused"))}>
                                { format!("{}: {}", optimist_messages::actor(&step.operation, store.world()), step.headline()) }
                                <span class="muted">{ format!(" {}", step.status_line()) }</span>
                            </li>
                        }
                    }) }
                </ol>
            </section>
        }
    };
    html! {
        <>
            <p>{ parts }</p>
            <div class="sides">
                { side(&left, &branch_point.first) }
                { side(&right, &branch_point.second) }
            </div>
            <h3>{ "What is stored in the end" }</h3>
            if branch_point.differs.is_empty() {
                <p class="muted">{ "The same, but for versions and times." }</p>
            } else {
                <table>
                    <thead>
                        <tr><th scope="col">{ "Field" }</th><th scope="col">{ left }</th><th scope="col">{ right }</th></tr>
                    </thead>
                    <tbody>{ for branch_point.differs.iter().map(difference) }</tbody>
                </table>
            }
        </>
    }
}

fn difference(change: &ValueChange) -> Html {
    let shown = |value: &Option<serde_json::Value>| match value {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => "–".to_owned(),
    };
    html! {
        <tr>
            <th scope="row">{ dotted(&change.pointer) }</th>
            <td>{ shown(&change.before) }</td>
            <td>{ shown(&change.after) }</td>
        </tr>
    }
}
