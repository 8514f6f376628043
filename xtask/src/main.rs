//! Set-up, play, test, dist and size.
fn main() {}
