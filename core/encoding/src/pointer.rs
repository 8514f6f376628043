//! Names as parts of JSON pointers (RFC 6901).

/// A name as a part of a JSON pointer: `example.com/team` is `example.com~1team`.
pub fn escape(name: &str) -> String {
    if name.contains(['~', '/']) {
        name.replace('~', "~0").replace('/', "~1")
    } else {
        name.to_owned()
    }
}

/// The name in a part of a JSON pointer: `~1` is a slash and `~0` a tilde; any other
/// tilde is itself.
pub fn unescape(part: &str) -> String {
    if part.contains('~') {
        part.replace("~1", "/").replace("~0", "~")
    } else {
        part.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_from_a_pointer_and_other_tildes_stay() {
        for name in ["", "replicas", "a/b", "~1", "~0/~", "~~01"] {
            assert_eq!(unescape(&escape(name)), name);
        }
        assert_eq!(escape("a/~b"), "a~1~0b");
        assert_eq!(unescape("~01~~1~2"), "~1~/~2");
    }
}
