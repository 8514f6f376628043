//! All branches of the session: named, compared side by side, deleted.

use optimist_client::{ValueChange, dotted};
use optimist_messages::label;
use optimist_simulation::{BranchPoint, NodeId, Outcome};
use web_sys::HtmlInputElement;
use yew::{Event, Html, TargetCast, classes, html};

use super::dialog::Modal;
use crate::state::{Sends, SessionMsg, StateHandle};

/// Returns the name of a branch, or its number if it has none.
fn called(store: &StateHandle, end: NodeId, number: usize) -> String {
    let name = store.session.tree.name(end);
    name.map_or_else(|| label::branch_numbered(&(number + 1)), str::to_owned)
}

pub(crate) fn branches_dialog(store: &StateHandle) -> Html {
    let tree = &store.session.tree;
    let ends = tree.ends();
    let (first, second) = store.session.compared(&ends);
    let called = |end: NodeId| {
        let number = ends.iter().position(|other| *other == end);
        called(store, end, number.unwrap_or(0))
    };
    html! {
        <Modal store={store.clone()} title={label::branches_title()} begin="dialog-close">
            <div class="dialog-body branches">
                <ol>{ for ends.iter().map(|&end| row(store, end, called(end), ends.len() > 1)) }</ol>
                if ends.len() < 2 {
                    <p class="muted">{ label::branches_one() }</p>
                } else if let Some(branch_point) = tree.compare(first, second) {
                    { compared(store, &branch_point, [called(first), called(second)]) }
                }
            </div>
        </Modal>
    }
}

/// A branch in the list. `deletable` if it is not the only one.
fn row(store: &StateHandle, end: NodeId, name: String, deletable: bool) -> Html {
    let tree = &store.session.tree;
    let here = tree.current_path().last() == Some(&end);
    let steps = tree.path(end).len().saturating_sub(1);
    let last = tree.step(end);
    let last = last.map(|step| optimist_messages::summary(step, store.world()));
    let onchange = store.on(move |event: Event| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        SessionMsg::NameBranch(end, input.map(|input| input.value()).unwrap_or_default())
    });
    let steps = if here {
        label::branch_steps_here(&steps)
    } else {
        label::branch_steps(&steps)
    };
    html! {
        <li key={end} class={classes!(here.then_some("here"))}>
            <input
                aria-label={label::branch_name_label(&name)}
                value={tree.name(end).unwrap_or_default().to_owned()}
                placeholder={name.clone()}
                maxlength="60"
                {onchange}
            />
            <span class="muted">{ steps }</span>
            { row_buttons(store, end, &name, deletable) }
            if let Some(last) = last {
                <span class="last">{ label::branch_ends(&last) }</span>
            }
        </li>
    }
}

fn row_buttons(store: &StateHandle, end: NodeId, name: &str, deletable: bool) -> Html {
    let (first, second) = store.session.compared(&store.session.tree.ends());
    let side = |chosen: bool, second: bool, side: &'static str| {
        html! {
            <button
                type="button"
                class="button small"
                aria-pressed={chosen.to_string()}
                aria-label={label::branch_compare_as(&name, &side)}
                onclick={store.sends(SessionMsg::Compare(second, end))}
            >
                { side }
            </button>
        }
    };
    html! {
        <span class="buttons">
            { side(end == first, false, "left") }
            { side(end == second, true, "right") }
            <button
                type="button"
                class="button small"
                aria-label={label::branch_open(&name)}
                onclick={store.sends(SessionMsg::OpenBranch(end))}
            >
                { label::open() }
            </button>
            <button
                type="button"
                class="button small"
                aria-label={label::branch_delete(&name)}
                disabled={!deletable}
                onclick={store.sends(SessionMsg::DeleteBranch(end))}
            >
                { label::delete() }
            </button>
        </span>
    }
}

fn compared(store: &StateHandle, branch_point: &BranchPoint, names: [String; 2]) -> Html {
    let steps = store.session.tree.path(branch_point.fork).len();
    let steps = steps.saturating_sub(1);
    let parts = match steps {
        0 => label::branch_begins(),
        steps => label::branch_parts(&steps),
    };
    let [left, right] = names;
    html! {
        <>
            <p>{ parts }</p>
            <div class="sides">
                { side(store, &left, &branch_point.first, steps) }
                { side(store, &right, &branch_point.second, steps) }
            </div>
            <h3>{ label::branch_in_the_end() }</h3>
            if branch_point.differs.is_empty() {
                <p class="muted">{ label::branch_the_same() }</p>
            } else {
                <table>
                    <thead>
                        <tr><th scope="col">{ label::compared_field() }</th><th scope="col">{ left }</th><th scope="col">{ right }</th></tr>
                    </thead>
                    <tbody>{ for branch_point.differs.iter().map(difference) }</tbody>
                </table>
            }
        </>
    }
}

/// The steps of one branch after both part.
fn side(store: &StateHandle, name: &str, nodes: &[NodeId], before: usize) -> Html {
    let steps = nodes
        .iter()
        .filter_map(|&node| store.session.tree.step(node));
    html! {
        <section aria-label={name.to_owned()}>
            <h3>{ name.to_owned() }</h3>
            <ol start={(before + 1).to_string()}>
                { for steps.map(|step| {
                    let refused = step.outcome() == Outcome::Refused;
                    html! {
                        <li class={classes!(super::step_row::slug(step), refused.then_some("refused"))}>
                            { optimist_messages::summary(step, store.world()) }
                        </li>
                    }
                }) }
            </ol>
            if nodes.is_empty() {
                <p class="muted">{ label::branch_no_more() }</p>
            }
        </section>
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
