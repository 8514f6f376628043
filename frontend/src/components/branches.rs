//! All branches of the session: two of them side by side, their results first; named and deleted.

use optimist_client::{ValueChange, dotted};
use optimist_messages::{self as messages, label};
use optimist_simulation::{BranchOutcome, BranchPoint, NodeId, Outcome};
use web_sys::HtmlInputElement;
use yew::{Event, Html, TargetCast, classes, html};

use super::dialog::Modal;
use crate::browser;
use crate::state::{Sends, SessionMsg, StateHandle};

/// The style of these parts alone.
const STYLE: &str = include_str!("../style/branches.css");

/// The branches with their names, each named differently.
type BranchNames = Vec<(NodeId, String)>;

pub(crate) fn branches_dialog(store: &StateHandle) -> Html {
    browser::adopt_style(STYLE);
    let tree = &store.session.tree;
    let names = messages::branch_names(tree);
    let ends: Vec<NodeId> = names.iter().map(|(end, _)| *end).collect();
    let (first, second) = store.session.compared(&ends);
    let point = tree.compare(first, second);
    let point = point.filter(|_| ends.len() > 1);
    html! {
        <Modal store={store.clone()} title={label::branches_title()} begin="dialog-close">
            <div class="dialog-body branches">
                if let Some(point) = point {
                    { choice(store, &names, [first, second]) }
                    { results(store, &names, &point, [first, second]) }
                    { sides(store, &names, &point, [first, second]) }
                } else {
                    <div class="sides">{ side(store, &names, first, &[], 0) }</div>
                    <p class="muted">{ label::branches_one() }</p>
                }
            </div>
        </Modal>
    }
}

fn name(names: &BranchNames, end: NodeId) -> String {
    let named = names.iter().find(|(other, _)| *other == end);
    named.map(|(_, name)| name.clone()).unwrap_or_default()
}

/// All branches: a click compares one.
fn choice(store: &StateHandle, names: &BranchNames, compared: [NodeId; 2]) -> Html {
    html! {
        <div class="branch-choice" role="group" aria-labelledby="branch-choose">
            <h3 id="branch-choose">{ label::branch_choose() }</h3>
            { for names.iter().map(|(end, name)| html! {
                <button
                    key={*end}
                    type="button"
                    class="button small"
                    aria-pressed={compared.contains(end).to_string()}
                    aria-label={label::branch_compare(name)}
                    onclick={store.sends(SessionMsg::Compare(*end))}
                >
                    { name }
                </button>
            }) }
        </div>
    }
}

/// The fields that differ in the end.
fn results(
    store: &StateHandle,
    names: &BranchNames,
    point: &BranchPoint,
    ends: [NodeId; 2],
) -> Html {
    let version = |end: NodeId| {
        let world = store.session.tree.world_at(end);
        let stored = world.and_then(|world| world.stored());
        stored.map_or_else(|| "–".to_owned(), |(revision, _)| revision.to_string())
    };
    html! {
        <>
            <h3>{ label::branch_in_the_end() }</h3>
            if point.differs.is_empty() {
                <p class="muted">{ messages::compared_ends(point) }</p>
            } else {
                <table>
                    <thead>
                        <tr>
                            <th scope="col">{ label::compared_field() }</th>
                            { for ends.map(|end| html! { <th scope="col">{ name(names, end) }</th> }) }
                        </tr>
                    </thead>
                    <tbody>
                        { for point.differs.iter().map(difference) }
                        <tr>
                            <th scope="row">{ "metadata.resourceVersion" }</th>
                            { for ends.map(|end| html! { <td>{ version(end) }</td> }) }
                        </tr>
                    </tbody>
                </table>
                <p class="muted">{ label::branch_left_out() }</p>
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

fn sides(store: &StateHandle, names: &BranchNames, point: &BranchPoint, ends: [NodeId; 2]) -> Html {
    let steps = store.session.tree.path(point.fork).len();
    let steps = steps.saturating_sub(1);
    let parts = match steps {
        0 => label::branch_begins(),
        steps => label::branch_parts(&steps),
    };
    html! {
        <>
            <h3>{ parts }</h3>
            <div class="sides">
                { side(store, names, ends[0], &point.first, steps) }
                { side(store, names, ends[1], &point.second, steps) }
            </div>
        </>
    }
}

/// Shows one branch: its steps after both part, and its controls. `before` is the number of steps
/// that both share.
fn side(
    store: &StateHandle,
    names: &BranchNames,
    end: NodeId,
    nodes: &[NodeId],
    before: usize,
) -> Html {
    let tree = &store.session.tree;
    let name = name(names, end);
    let outcome = nodes.first().map(|&node| tree.outcome_of(node));
    let tone = match outcome {
        Some(BranchOutcome::Lost) => "lost",
        Some(BranchOutcome::Refused(_)) => "refused",
        _ => "plain",
    };
    let count = tree.path(end).len().saturating_sub(1);
    let count = if tree.current_path().last() == Some(&end) {
        label::branch_steps_here(&count)
    } else {
        label::branch_steps(&count)
    };
    let steps = nodes.iter().filter_map(|&node| tree.step(node));
    html! {
        <section class={classes!("side", tone)} aria-label={name.clone()}>
            <h4>{ &name }</h4>
            <p class="muted">{ count }</p>
            <ol start={(before + 1).to_string()}>
                { for steps.map(|step| {
                    let refused = step.outcome() == Outcome::Refused;
                    html! {
                        <li class={classes!(super::step_row::slug(step), refused.then_some("refused"))}>
                            { messages::summary(step, store.world()) }
                        </li>
                    }
                }) }
            </ol>
            if nodes.is_empty() && names.len() > 1 {
                <p class="muted">{ label::branch_no_more() }</p>
            }
            { side_buttons(store, end, &name, names.len() > 1) }
        </section>
    }
}

/// `deletable` if it is not the only branch.
fn side_buttons(store: &StateHandle, end: NodeId, name: &str, deletable: bool) -> Html {
    let onchange = store.on(move |event: Event| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        SessionMsg::NameBranch(end, input.map(|input| input.value()).unwrap_or_default())
    });
    let more = if deletable {
        label::branch_rename_or_delete()
    } else {
        label::branch_rename()
    };
    html! {
        <div class="buttons">
            <button
                type="button"
                class="button small"
                aria-label={label::branch_open(&name)}
                onclick={store.sends(SessionMsg::OpenBranch(end))}
            >
                { label::branch_go_on() }
            </button>
            <details>
                <summary class="link">{ more }</summary>
                <input
                    key={end}
                    aria-label={label::branch_name_label(&name)}
                    value={store.session.tree.name(end).unwrap_or_default().to_owned()}
                    placeholder={name.to_owned()}
                    maxlength="60"
                    {onchange}
                />
                if deletable {
                    <button
                        type="button"
                        class="button small"
                        aria-label={label::branch_delete(&name)}
                        onclick={store.sends(SessionMsg::DeleteBranch(end))}
                    >
                        { label::delete() }
                    </button>
                }
            </details>
        </div>
    }
}
