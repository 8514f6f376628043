//! The integer `-0`, which is 0 in Go (`strconv.ParseInt`), but `-0.0` is a float with a sign.

use std::borrow::Cow;

/// Writes a space for the sign of each `-0` that is an integer: places in the text stay the same.
pub(super) fn without_sign(text: &[u8]) -> Cow<'_, [u8]> {
    let mut changed = Cow::Borrowed(text);
    let (mut is_quoted, mut is_escaped) = (false, false);
    let has_any = text.windows(2).any(|pair| pair == b"-0");
    for (i, byte) in text.iter().enumerate().filter(|_| has_any) {
        if *byte == b'-' && !is_quoted && is_integer_zero(text, i) {
            changed.to_mut()[i] = b' ';
        }
        is_quoted ^= *byte == b'"' && !is_escaped;
        is_escaped = is_quoted && *byte == b'\\' && !is_escaped;
    }
    changed
}

/// Returns whether the number that begins with the sign at this place is `-0`.
fn is_integer_zero(text: &[u8], sign: usize) -> bool {
    let is_in_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let before = sign.checked_sub(1).and_then(|before| text.get(before));
    let after = text.get(sign + 2);
    text.get(sign + 1) == Some(&b'0') && ![before, after].into_iter().flatten().any(is_in_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_integer_loses_its_sign() {
        let text = br#"{"a-0": [-0, -0.0, -0e1, "-0\"-0", 1e-0, -01,-0]}"#;
        let changed = br#"{"a-0": [ 0, -0.0, -0e1, "-0\"-0", 1e-0, -01, 0]}"#;
        assert_eq!(&*without_sign(text), changed);
    }
}
