//! The script of the program, as wasm-bindgen writes it.

/// Returns the script without indentation and without lines that are only a comment. The page is smaller
/// without them, and so is each page that people save. A script with a text over several lines stays as it is:
/// its spaces can be a part of the text.
pub fn without_indentation(script: String) -> String {
    let is_whole =
        |line: &str| line.matches('`').count().is_multiple_of(2) && !line.ends_with('\\');
    if !script.lines().all(is_whole) {
        return script;
    }
    let lines = script.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(script: &str) -> String {
        without_indentation(script.to_owned())
    }

    #[test]
    fn indentation_and_comments_go_and_lines_stay() {
        let script = "function a() {\n    // why\n    return 1 // one\n\n}\nexport { a };\n";
        let short = "function a() {\nreturn 1 // one\n}\nexport { a };\n";
        assert_eq!(shortened(script), short);
    }

    #[test]
    fn a_text_over_several_lines_keeps_its_spaces() {
        for script in ["a(`one\n  two`);\n", "a('one\\\n  two');\n"] {
            assert_eq!(shortened(script), script);
        }
        assert_eq!(shortened("  a(`one`, `two`);\n"), "a(`one`, `two`);\n");
    }
}
