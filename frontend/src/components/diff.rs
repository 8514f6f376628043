//! The object three times: as its editor read it, as the editor wanted it, and as it is stored.

use optimist_client::{to_yaml, visible};
use optimist_messages::{cards, label};
use optimist_simulation::{Step, ThreeWay, ThreeWayRow};
use serde_json::Value;
use yew::{Html, classes, html};

use super::step_row::slug;
use crate::state::StateHandle;

/// A value in a cell of the table.
fn value_text(value: Option<&Value>) -> String {
    let text = match value {
        None => return label::diff_absent(),
        Some(object @ (Value::Object(_) | Value::Array(_))) => to_yaml(object),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    visible(text.trim_end()).into_owned()
}

/// Shows the head of a column: its name, and its version if it has one.
fn head(name: String, version: Option<&String>) -> Html {
    html! {
        <th scope="col">
            { name }
            if let Some(version) = version {
                <span class="muted">{ format!(" {version}") }</span>
            }
        </th>
    }
}

fn row(row: &ThreeWayRow, copy: bool, slug: &'static str) -> Html {
    let place = row.path.to_string();
    let stored = value_text(row.stored.as_ref());
    let was = (row.before != row.stored).then(|| value_text(row.before.as_ref()));
    let wanted = row.wanted != row.read;
    let kept = row.wanted == row.stored;
    html! {
        <tbody>
            <tr class="place"><th colspan="3" scope="rowgroup">{ visible(place.trim_start_matches('.')).into_owned() }</th></tr>
            if copy {
                <tr>
                    <td>{ value_text(row.read.as_ref()) }</td>
                    <td class={classes!(wanted.then_some(slug))}>{ value_text(row.wanted.as_ref()) }</td>
                    <td class={classes!(if kept { "ok" } else { "other" })}>
                        { stored }
                        if let Some(was) = was {
                            <span class="was">{ label::diff_was(&was) }</span>
                        }
                    </td>
                </tr>
            } else {
                <tr>
                    <td>{ value_text(row.before.as_ref()) }</td>
                    <td colspan="2">{ stored }</td>
                </tr>
            }
        </tbody>
    }
}

/// The three objects of the current step.
pub(crate) fn diff(store: &StateHandle, step: &Step) -> Html {
    let tree = &store.session.tree;
    let three = tree.three_way(tree.current()).unwrap_or_default();
    let ThreeWay { read, stored, rows } = &three;
    if rows.is_empty() {
        return html! { <div class="empty"><p>{ cards::no_difference(step, tree.world()) }</p></div> };
    }
    let slug = slug(step);
    html! {
        <table class="three-way">
            <thead>
                if read.is_some() {
                    <tr>
                        { head(label::diff_column_read(), read.as_ref()) }
                        { head(label::diff_column_wanted(), None) }
                        { head(label::diff_column_stored(), stored.as_ref()) }
                    </tr>
                } else {
                    <tr>
                        { head(label::diff_column_before(), None) }
                        <th scope="col" colspan="2">{ label::diff_column_after() }</th>
                    </tr>
                }
            </thead>
            { for rows.iter().map(|each| row(each, read.is_some(), slug)) }
        </table>
    }
}
