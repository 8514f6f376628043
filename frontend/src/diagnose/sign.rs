//! Signs of the input.

use optimist_diagnose::input::{Input, NotDetected};
use yew::{Html, html};

/// The sign of a thing; it says nothing to those who cannot see it.
pub(super) fn sign(content: &Result<Input, NotDetected>) -> Html {
    let path = match content {
        Ok(Input::Live(_) | Input::Several(_)) => {
            "M2.5 5 8 2l5.5 3v6L8 14l-5.5-3zM2.5 5 8 8l5.5-3M8 8v6"
        }
        Ok(Input::Manifest(_) | Input::Definition(_)) => "M4 2h5l3 3v9H4zM6 8h4M6 10.5h4",
        Ok(Input::Errors(_)) => "m4 4 8 8M12 4l-8 8",
        Ok(Input::Versions { .. } | Input::AuditLog(_)) => {
            "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 5v3l2.2 1.4"
        }
        Err(_) => "M5.5 5.8a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.1.9-1.1 1.7M8 12.5v.1",
    };
    html! {
        <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d={path} /></svg>
    }
}
