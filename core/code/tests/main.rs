//! Tests of the public items of this crate.

mod etcdctl;
mod kubectl_output;
mod kubectl_tool;
mod program_files;
mod program_text;
mod programs;
mod snippets;
