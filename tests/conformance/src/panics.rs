//! A panic of the core is a failure of one step, not the end of the replay.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Replaces the printing of panics by remembering the last one with its place, for the replay.
pub fn remember() {
    panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map_or_else(String::new, |at| format!("{}:{}: ", at.file(), at.line()));
        LAST.set(Some(format!("{place}{}", text_of(info.payload()))));
    }));
}

/// Runs a function that may panic. The error is the panic message.
pub(super) fn catch<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(f)).map_err(|payload| {
        let text = LAST
            .take()
            .unwrap_or_else(|| text_of(payload.as_ref()).to_owned());
        format!("the server panicked: {text}")
    })
}

fn text_of(payload: &(dyn std::any::Any + Send)) -> &str {
    match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "no message",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message() {
        let error = catch(|| panic!("no {}", "luck")).unwrap_err();
        assert_eq!(error, "the server panicked: no luck");
    }
}
