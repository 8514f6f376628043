//! A mistake in the program must not look like a page that merely hangs: `start.js` says that the
//! program stopped, and this says why.

use crate::browser;

/// Writes the text of every later panic to the console and into the notice.
pub fn tell_on_the_page() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        if let Some(message) = browser::element("stopped-message") {
            message.set_text_content(Some(&info.to_string()));
        }
    }));
}
