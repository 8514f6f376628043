//! The catalogue in English: every message, its arguments and its text, in a file for each part of
//! the page.
//!
//! To add a message, add a row to one of the files. To add a language, write a file with a line
//! `message = text` for each row (`messages/README.md`): the page passes its text to
//! [`choose`](crate::choose).

mod audit;
mod caption;
mod cards;
mod controller;
mod diagnose;
mod etcd;
mod explore;
mod inspector;
mod lanes;
mod learn;
mod play;
mod preview;
mod property;
mod remote;
mod report;
mod share;
mod steps;
mod watch;

pub use audit::*;
pub use caption::*;
pub use cards::*;
pub use controller::*;
pub use diagnose::*;
pub use etcd::*;
pub use explore::*;
pub use inspector::*;
pub use lanes::*;
pub use learn::*;
pub use play::*;
pub use preview::*;
pub use property::*;
pub use remote::*;
pub use report::*;
pub use share::*;
pub use steps::*;
pub use watch::*;

/// Every message of every file.
pub(crate) const ENGLISH: &[&[crate::catalogue::Message]] = &[
    audit::ENGLISH,
    caption::ENGLISH,
    cards::ENGLISH,
    controller::ENGLISH,
    diagnose::ENGLISH,
    etcd::ENGLISH,
    explore::ENGLISH,
    inspector::ENGLISH,
    lanes::ENGLISH,
    learn::ENGLISH,
    play::ENGLISH,
    preview::ENGLISH,
    property::ENGLISH,
    remote::ENGLISH,
    report::ENGLISH,
    share::ENGLISH,
    steps::ENGLISH,
    watch::ENGLISH,
];
