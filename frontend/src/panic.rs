//! A mistake in the program must not look like a page that merely hangs.

use crate::browser;

/// From now on a panic is written to the console and said on the page.
pub fn tell_on_the_page() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        if let (Some(place), Some(message)) = (
            browser::element("stopped"),
            browser::element("stopped-message"),
        ) {
            message.set_text_content(Some(&info.to_string()));
            if let (Some(file), Some(session)) = (
                browser::element("stopped-session"),
                browser::kept(crate::state::kept::OWN),
            ) {
                // The text is safe in an address: it is made for links.
                let address = format!("data:text/plain,{session}");
                let _ = file.set_attribute("href", &address);
                let _ = file.remove_attribute("hidden");
            }
            // The attribute may already be gone; there is nothing else to be done here.
            let _ = place.remove_attribute("hidden");
        }
    }));
}
