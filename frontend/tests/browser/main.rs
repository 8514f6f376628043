//! Tests that mount the page in a browser and use it as a person does. They are one program, because
//! each program includes the whole page and starts a browser. They run one after the other, in one
//! browser tab.

mod branches;
mod cards;
mod controller;
mod diagnose;
mod editing;
mod explore;
mod inspector;
mod kept;
mod language;
mod layout;
mod learn;
mod page;
mod play;
mod watch;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
