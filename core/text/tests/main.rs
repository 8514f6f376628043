//! Tests of the public items of this crate.

mod changed_texts;
mod controller_links;
mod controller_programs;
mod etcdctl;
mod exports;
mod hostile_scripts;
mod installed_start;
mod kubectl_output;
mod mutations;
mod private;
mod program_text;
mod programs;
mod session;
mod share;
mod snippets;
