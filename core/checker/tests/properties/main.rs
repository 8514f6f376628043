//! Searches: each flaw is found from a program that has it, and is absent with its fix. The tests
//! name the threads in which people met the flaw.

mod asked;
mod brute_force;
mod child_maker;
mod faults;
mod programs;
mod run;
mod start;
mod status_writer;
