//! A dry run beside the prediction of the core.

use std::rc::Rc;

use js_sys::Array;
use optimist_client::visible;
use optimist_masking::masked_text;
use optimist_messages::label;
use serde_json::Value;
use yew::{Callback, Html, html};

use super::state::ComparedDryRun;
use crate::saved_page::save_file;

/// The most characters of a value that are shown.
const SHOWN: usize = 300;

/// The most differences that are shown.
const MAX_LISTED: usize = 50;

/// Draws the comparison.
pub(super) fn compared(compared: &Rc<ComparedDryRun>) -> Html {
    let count = compared.differences.len();
    let headline = match count {
        0 => label::remote_same(&compared.code),
        count => label::remote_differs(&count),
    };
    let tone = if count == 0 { "ok" } else { "refused" };
    let about = label::remote_about(&compared.method, &compared.target);
    html! {
        <div class="remote-compared" role="status">
            <p><b class={tone}>{ headline }</b></p>
            <p class="says">{ visible(&about).into_owned() }</p>
            if count > 0 {
                { differences(compared) }
            }
            if let Some(release) = &compared.release {
                <p class="says">{ label::remote_as_release(release) }</p>
            }
            if compared.left_out > 0 {
                <p class="says">{ label::remote_first_only(&compared.left_out) }</p>
            }
            <p class="says">{ label::remote_ignored() }</p>
            if count > 0 && !compared.is_secret {
                { save(Rc::clone(compared)) }
                <p class="says">{ label::remote_save_says() }</p>
            }
        </div>
    }
}

fn differences(compared: &ComparedDryRun) -> Html {
    let more = compared.differences.len().saturating_sub(MAX_LISTED);
    html! {
        <>
            <table class="case-table">
                <thead>
                    <tr>
                        <th scope="col">{ label::remote_part() }</th>
                        <th scope="col">{ label::remote_cluster() }</th>
                        <th scope="col">{ label::remote_core() }</th>
                    </tr>
                </thead>
                <tbody>
                    { for compared.differences.iter().take(MAX_LISTED).map(|it| html! {
                        <tr>
                            <th scope="row" class="code">{ visible(&it.pointer).into_owned() }</th>
                            <td class="code">{ value(it.recorded.as_ref()) }</td>
                            <td class="code">{ value(it.core.as_ref()) }</td>
                        </tr>
                    }) }
                </tbody>
            </table>
            if more > 0 {
                <p class="says">{ label::upgrade_more(&more) }</p>
            }
        </>
    }
}

/// A value as JSON, without what looks private.
fn value(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return label::remote_absent();
    };
    let text = masked_text(&value.to_string());
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    visible(&shown).into_owned()
}

/// A button that saves the recording.
fn save(compared: Rc<ComparedDryRun>) -> Html {
    let onclick = Callback::from(move |_| {
        // It fails in a browser without files alone.
        let parts = Array::of1(&compared.recording.as_str().into());
        let _ = save_file(&parts, "application/json", "dry-run.json");
    });
    html! {
        <button type="button" class="button small" {onclick}>{ label::remote_save() }</button>
    }
}
