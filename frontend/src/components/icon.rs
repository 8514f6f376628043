//! Signs drawn as paths, so that no font decides whether they are there.

use yew::{Html, html};

/// A sign of 16 by 16 pixels.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Icon {
    First,
    Back,
    Forward,
    Last,
    Play,
    Pause,
    Moon,
    Sun,
    Check,
    Cross,
    Branch,
    Undo,
    Redo,
    Up,
    Down,
    Load,
    Share,
    Eye,
    Plus,
}

/// Draws a sign; it says nothing to those who cannot see it.
pub(crate) fn icon(icon: Icon) -> Html {
    let path = match icon {
        Icon::First => "M3.5 3v10M12.5 3.5 8 8l4.5 4.5",
        Icon::Back => "M10.5 3 5.5 8l5 5",
        Icon::Forward => "m5.5 3 5 5-5 5",
        Icon::Last => "M12.5 3v10M3.5 3.5 8 8l-4.5 4.5",
        Icon::Play => "m5 2.5 8.5 5.5L5 13.5z",
        Icon::Pause => "M5 3v10M11 3v10",
        Icon::Moon => "M13 9.8A5.5 5.5 0 0 1 6.2 3 5.5 5.5 0 1 0 13 9.8z",
        Icon::Sun => {
            "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15\
             M3 3l1.2 1.2M11.8 11.8 13 13M13 3l-1.2 1.2M4.2 11.8 3 13"
        }
        Icon::Check => "m3 8.5 3.2 3.2L13 4.8",
        Icon::Cross => "m4 4 8 8M12 4l-8 8",
        Icon::Branch => "M5 2v12M5 10c0-4 6-2 6-6.5M8.8 5.2 11 3l2.2 2.2",
        Icon::Undo => "M6 3 2.5 6.5 6 10M2.5 6.5H10a3.5 3.5 0 0 1 0 7H7",
        Icon::Redo => "M10 3l3.5 3.5L10 10M13.5 6.5H6a3.5 3.5 0 0 0 0 7h3",
        Icon::Up => "m4 10 4-4 4 4",
        Icon::Down => "m4 6 4 4 4-4",
        Icon::Eye => {
            "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z"
        }
        Icon::Share => "M8 10V2M4.8 5.2 8 2l3.2 3.2M3 9v4.5h10V9",
        Icon::Plus => "M8 3v10M3 8h10",
        Icon::Load => "M8 2v8M4.8 6.8 8 10l3.2-3.2M3 13.5h10",
    };
    let filled = icon == Icon::Play;
    html! {
        <svg class={if filled { "icon filled" } else { "icon" }} viewBox="0 0 16 16" aria-hidden="true">
            <path d={path} />
        </svg>
    }
}
