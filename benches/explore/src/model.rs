//! The protocol, written by hand for a model checker: who read which version, what is in the
//! object, and a PUT that compares versions. What a real server does besides is left out.

use stateright::{Checker, Model, Property};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    ToRead,
    ToSend,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Editor {
    phase: Phase,
    steps: u8,
    attempts: u8,
    version: u8,
    /// The actors whose edits were in the object that it read, a bit each.
    read: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    version: u8,
    edits: u8,
    editors: Vec<Editor>,
}

/// Editors who GET and PUT with a version, and read again after a conflict.
#[derive(Clone)]
pub struct Protocol {
    pub editors: usize,
    pub attempts: u8,
}

impl Model for Protocol {
    type State = State;
    type Action = usize;

    fn init_states(&self) -> Vec<State> {
        let editor = Editor {
            phase: Phase::ToRead,
            steps: 0,
            attempts: self.attempts,
            version: 0,
            read: 0,
        };
        vec![State {
            version: 0,
            edits: 0,
            editors: vec![editor; self.editors],
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<usize>) {
        actions.extend((0..self.editors).filter(|i| state.editors[*i].phase != Phase::Done));
    }

    fn next_state(&self, state: &State, who: usize) -> Option<State> {
        let mut next = state.clone();
        let editor = &mut next.editors[who];
        editor.steps += 1;
        match editor.phase {
            Phase::ToRead => {
                editor.version = state.version;
                editor.read = state.edits;
                editor.phase = Phase::ToSend;
            }
            Phase::ToSend if editor.version == state.version => {
                next.version += 1;
                next.edits = editor.read | 1 << who;
                editor.phase = Phase::Done;
            }
            Phase::ToSend if editor.attempts > 0 => {
                editor.attempts -= 1;
                editor.phase = Phase::ToRead;
            }
            _ => editor.phase = Phase::Done,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("no edit is lost", |_, state: &State| {
            state.edits.count_ones() == u32::from(state.version)
        })]
    }
}

/// Checks it, and says how many states there are.
pub fn check(protocol: &Protocol) -> usize {
    let checker = protocol.clone().checker().spawn_bfs().join();
    checker.assert_properties();
    checker.unique_state_count()
}
