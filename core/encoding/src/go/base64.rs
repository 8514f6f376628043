//! Base64 as Go reads it (`encoding/base64`): line breaks are skipped, and an error names the byte.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Decodes text and encodes it again, which is how the server writes it.
///
/// # Errors
/// Go's error text.
pub fn canonical(text: &str) -> Result<String, String> {
    decode(text.as_bytes())
        .map(|bytes| encode(&bytes))
        .map_err(|at| format!("illegal base64 data at input byte {at}"))
}

/// The bytes that a text stands for; none if it is not base64.
pub fn bytes(text: &str) -> Vec<u8> {
    decoded(text).unwrap_or_default()
}

/// The bytes that a text stands for. `None` if it is not base64.
pub fn decoded(text: &str) -> Option<Vec<u8>> {
    decode(text.as_bytes()).ok()
}

/// Encodes bytes.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

fn value(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

/// The bytes, or where the first mistake is (`decodeQuantum`).
fn decode(text: &[u8]) -> Result<Vec<u8>, usize> {
    let breaks = |at: &mut usize| {
        while matches!(text.get(*at), Some(b'\n' | b'\r')) {
            *at += 1;
        }
    };
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut at = 0;
    loop {
        let (mut bits, mut count) = (0, 0);
        while count < 4 {
            let Some(&byte) = text.get(at) else {
                return if count == 0 { Ok(out) } else { Err(at - count) };
            };
            at += 1;
            if let Some(value) = value(byte) {
                bits = bits << 6 | value;
                count += 1;
                continue;
            }
            match (byte, count) {
                (b'\n' | b'\r', _) => continue,
                (b'=', 2) => {
                    breaks(&mut at);
                    match text.get(at) {
                        None => return Err(text.len()),
                        Some(b'=') => at += 1,
                        Some(_) => return Err(at - 1),
                    }
                }
                (b'=', 3) => {}
                _ => return Err(at - 1),
            }
            breaks(&mut at);
            let last = bits << (6 * (4 - count));
            out.extend_from_slice(&last.to_be_bytes()[1..count]);
            return if at < text.len() { Err(at) } else { Ok(out) };
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decoded_is_encoded_again() {
        assert_eq!(canonical(""), Ok(String::new()));
        assert_eq!(canonical("AQ\nI=\r\n"), Ok("AQI=".to_owned()));
        assert_eq!(canonical("AQI="), Ok("AQI=".to_owned()));
        assert_eq!(canonical("AR=="), Ok("AQ==".to_owned()));
    }

    #[test]
    fn an_error_names_the_byte() {
        for (text, at) in [
            ("!!", 0),
            ("AQI", 0),
            ("AQ=", 3),
            ("AQI=x", 4),
            ("AAAA!", 4),
        ] {
            let expected = format!("illegal base64 data at input byte {at}");
            assert_eq!(canonical(text), Err(expected), "{text}");
        }
    }
}
