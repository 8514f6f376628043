//! The parts of the page, a file each.

mod caption;
mod dialog;
mod diff;
mod editor_card;
pub(crate) mod fold;
mod header;
mod help_dialog;
mod icon;
mod inspector;
mod json_view;
mod lane_tabs;
mod load_dialog;
mod more;
mod owners;
mod revisions;
mod server_card;
mod snippet;
mod step_row;
mod tabs;
mod timeline;
mod transport;
mod value_input;
pub(crate) mod watch;
mod why;
mod wire;
mod yaml_view;

pub(crate) use caption::caption;
pub(crate) use editor_card::editor_card;
pub(crate) use header::header;
pub(crate) use help_dialog::help_dialog;
pub(crate) use inspector::inspector;
pub(crate) use lane_tabs::lane_tabs;
pub(crate) use load_dialog::load_dialog;
pub(crate) use server_card::server_card;
pub(crate) use timeline::timeline;
pub(crate) use transport::transport;
