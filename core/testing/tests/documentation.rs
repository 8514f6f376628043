//! The documentation of the crate: `cargo test --doc` runs its examples, and this says that none is missing.

use std::path::Path;

const FILES: [&str; 6] = [
    "body.rs",
    "client.rs",
    "exchange.rs",
    "failure.rs",
    "rule.rs",
    "server.rs",
];

/// Returns whether a line begins an item that users of the crate see.
fn is_public(line: &str) -> bool {
    ["pub fn ", "pub struct ", "pub enum "]
        .iter()
        .any(|begin| line.trim_start().starts_with(begin))
}

#[test]
fn every_public_item_has_an_example() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut items, mut without) = (0, Vec::new());
    for file in FILES {
        let text = std::fs::read_to_string(source.join(file)).unwrap();
        let mut documentation = String::new();
        for line in text.lines() {
            if line.trim_start().starts_with("///") {
                documentation.push_str(line);
            } else if !line.trim_start().starts_with("#[") {
                if is_public(line) {
                    items += 1;
                    if !documentation.contains("```") {
                        without.push(format!("{file}: {}", line.trim()));
                    }
                }
                documentation.clear();
            }
        }
    }
    assert!(items > 30, "{items}");
    assert!(without.is_empty(), "{}", without.join("\n"));
}
