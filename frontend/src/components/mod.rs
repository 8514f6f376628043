//! The parts of the page, a file each.

mod caption;
mod dialog;
mod diff;
mod editor_card;
mod fold;
mod header;
mod help_dialog;
mod icon;
mod inspector;
mod json_view;
mod lane_tabs;
mod load_dialog;
mod revisions;
mod server_card;
mod step_row;
mod tabs;
mod timeline;
mod transport;
mod value_input;
mod why;
mod wire;
mod yaml_view;

pub(crate) use caption::Caption;
pub(crate) use editor_card::EditorCard;
pub(crate) use header::Header;
pub(crate) use help_dialog::HelpDialog;
pub(crate) use inspector::Inspector;
pub(crate) use lane_tabs::LaneTabs;
pub(crate) use load_dialog::LoadDialog;
pub(crate) use server_card::ServerCard;
pub(crate) use timeline::Timeline;
pub(crate) use transport::Transport;

use yew::Properties;

use crate::state::Store;

/// What most parts need: the state.
#[derive(Clone, PartialEq, Properties)]
pub(crate) struct StoreProps {
    pub(crate) store: Store,
}
