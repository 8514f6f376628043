//! The lines before the first token of a document: directives, comments and blank lines.

/// Finds a mistake before the first token of the first document that the parser here lets pass: the line,
/// counted from 0, and the problem (`yaml_parser_fetch_next_token`, `yaml_parser_scan_directive`,
/// `yaml_parser_process_directives`).
pub(super) fn mistake(text: &str) -> Option<(usize, &'static str)> {
    for (line, given) in text.lines().enumerate() {
        let rest = given.trim_start_matches(' ');
        if rest.starts_with('\t') {
            return Some((line, "tabs disallowed in this context"));
        }
        if let Some(directive) = given.strip_prefix('%') {
            if let Some(problem) = directive_problem(directive) {
                return Some((line, problem));
            }
            continue;
        }
        let after_marker = given.strip_prefix("---").map(str::trim_start);
        let left = after_marker.unwrap_or(rest);
        if !left.is_empty() && !left.starts_with('#') {
            return None;
        }
    }
    None
}

/// The problem of a directive that the parser here ignores.
fn directive_problem(directive: &str) -> Option<&'static str> {
    let is_named = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let name = directive.trim_start_matches(is_named);
    let (name, value) = directive.split_at(directive.len() - name.len());
    match name {
        "" | "TAG" => None,
        "YAML" => {
            let version = value.split_whitespace().next()?;
            let (major, minor) = version.split_once('.')?;
            let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
            ((major, minor) != (1, 1)).then_some("found incompatible YAML document")
        }
        _ => Some("found unknown directive name"),
    }
}

/// Returns the first line that begins with a tab, counted from 0: no token begins so.
pub(super) fn line_of_tab(text: &str) -> Option<usize> {
    let mut lines = text.lines();
    lines.position(|line| line.trim_start_matches(' ').starts_with('\t'))
}
