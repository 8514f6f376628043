//! Tests of the public items of this crate.

mod actors;
mod beside_controller;
mod controlled;
mod controller;
mod explanation;
mod lockstep;
mod ready_question;
mod retries;
mod widget;
