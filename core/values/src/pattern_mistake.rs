//! Texts that are no regular expressions to Go (`regexp/syntax`).

/// Returns the reason why a text is not a regular expression for Go (`regexp/syntax`), as far as
/// that is certain: brackets that are not closed, looking ahead or back, and references.
pub fn go_mistake(pattern: &str) -> Option<String> {
    let mut open = 0usize;
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let escaped = after.chars().next();
                match escaped {
                    None => return Some("trailing backslash at end of expression: ``".to_owned()),
                    Some(digit @ '1'..='9') => {
                        return Some(format!("invalid escape sequence: `\\{digit}`"));
                    }
                    // Everything up to the end of a quotation is literal.
                    Some('Q') => {
                        rest = after.split_once("\\E").map_or("", |(_, rest)| rest);
                    }
                    Some(escaped) => rest = &after[escaped.len_utf8()..],
                }
                continue;
            }
            '(' => {
                open += 1;
                for look in ["(?=", "(?!", "(?<=", "(?<!"] {
                    if rest.starts_with(look) {
                        let shown = if look.len() == 3 { look } else { "(?<" };
                        return Some(format!("invalid or unsupported Perl syntax: `{shown}`"));
                    }
                }
            }
            ')' if open == 0 => return Some(format!("unexpected ): `{pattern}`")),
            ')' => open -= 1,
            '[' => match after_class(after) {
                Some(after) => {
                    rest = after;
                    continue;
                }
                None => return Some(format!("missing closing ]: `{rest}`")),
            },
            _ => {}
        }
        rest = after;
    }
    (open > 0).then(|| format!("missing closing ): `{pattern}`"))
}

/// The text after a class whose opening bracket has been read; `None` if the class is not closed.
fn after_class(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix('^').unwrap_or(text);
    // A bracket in the first place is literal.
    rest = rest.strip_prefix(']').unwrap_or(rest);
    while let Some(c) = rest.chars().next() {
        if let Some(named) = rest.strip_prefix("[:")
            && let Some((_, after)) = named.split_once(":]")
        {
            rest = after;
            continue;
        }
        let after = &rest[c.len_utf8()..];
        match c {
            ']' => return Some(after),
            '\\' => {
                let escaped = after.chars().next()?;
                rest = &after[escaped.len_utf8()..];
            }
            _ => rest = after,
        }
    }
    None
}
