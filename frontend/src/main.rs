//! Starts the page.

fn main() {
    optimist_frontend::start();
}
