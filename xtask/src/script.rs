//! The script of the program, as wasm-bindgen writes it.

/// Returns the script without indentation, without lines that are only a comment, and without a name for what is
/// returned in the next line. The page is smaller without them, and so is each page that people save. A script with a
/// text over several lines stays as it is: its spaces can be a part of the text.
pub fn shortened(script: String) -> String {
    let is_whole =
        |line: &str| line.matches('`').count().is_multiple_of(2) && !line.ends_with('\\');
    if !script.lines().all(is_whole) {
        return script;
    }
    let lines = script.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    let mut short = String::with_capacity(script.len());
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        match line.strip_prefix("const ret = ") {
            Some(value) if lines.next_if_eq(&"return ret;").is_some() => {
                short.push_str("return ");
                short.push_str(value);
            }
            _ => short.push_str(line),
        }
        short.push('\n');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(script: &str) -> String {
        shortened(script.to_owned())
    }

    #[test]
    fn indentation_and_comments_go_and_lines_stay() {
        let script = "function a() {\n    // why\n    return 1 // one\n\n}\nexport { a };\n";
        let expected = "function a() {\nreturn 1 // one\n}\nexport { a };\n";
        assert_eq!(short(script), expected);
    }

    #[test]
    fn a_value_that_is_only_returned_has_no_name() {
        let script = "    const ret = a(b);\n    return ret;\nconst ret = c();\nreturn ret + 1;\n";
        let expected = "return a(b);\nconst ret = c();\nreturn ret + 1;\n";
        assert_eq!(short(script), expected);
    }

    #[test]
    fn a_text_over_several_lines_keeps_its_spaces() {
        for script in ["a(`one\n  two`);\n", "a('one\\\n  two');\n"] {
            assert_eq!(short(script), script);
        }
        assert_eq!(short("  a(`one`, `two`);\n"), "a(`one`, `two`);\n");
    }
}
