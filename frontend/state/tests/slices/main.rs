//! The state of the page, slice by slice, without a browser.

mod address;
mod cards;
mod controllers;
mod diagnose;
mod editing;
mod explore;
mod in_between;
mod jobs;
mod kept_question;
mod learn;
mod live;
mod page;
mod persistence;
mod recorded;
mod requests;
mod saved_page;
mod session;
mod share;
mod view;
