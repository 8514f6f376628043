//! The `continue` token of a list (`k8s.io/apiserver/pkg/storage/continue.go`).
//!
//! It is JSON in URL-safe base64 without padding: the version of the list and the first key that
//! has not been returned, relative to where the list looks.

use serde_json::Value;

use crate::go;
use crate::json::{self, Node};
use crate::storage::Revision;

/// The position after which a list continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContinueToken {
    /// The version of the list; `None` to continue with the newest one.
    pub(super) version: Option<Revision>,
    /// The full key to start from.
    pub(super) start: String,
}

const API_VERSION: &str = "meta.k8s.io/v1";

impl ContinueToken {
    /// The token as clients see it, for a list that looks below `prefix`.
    pub(super) fn encode(&self, prefix: &str) -> String {
        let start = self.start.strip_prefix(prefix).unwrap_or(&self.start);
        let version = match self.version {
            Some(version) => version.to_string(),
            None => "-1".to_owned(),
        };
        let start = go::json(&Value::from(start));
        let text = format!(r#"{{"v":"{API_VERSION}","rv":{version},"start":{start}}}"#);
        encode_base64(text.as_bytes())
    }

    /// Reads a token of a list that looks below `prefix`, which ends with a slash.
    ///
    /// # Errors
    /// The problem of the token, in the server's words.
    pub(super) fn decode(token: &str, prefix: &str) -> Result<Self, String> {
        let bad = |why: String| format!("continue key is not valid: {why}");
        let bytes = decode_base64(token)
            .map_err(|at| bad(format!("illegal base64 data at input byte {at}")))?;
        let node = json::parse(&bytes).map_err(|error| bad(error.message))?;
        let (mut api_version, mut version, mut start) = (String::new(), 0i64, String::new());
        match &node {
            Node::Null => {}
            Node::Object(members) => {
                for (name, value) in members {
                    let read = match name.to_ascii_lowercase().as_str() {
                        "v" => read_string(value, &mut api_version),
                        "rv" => read_int64(value, &mut version),
                        "start" => read_string(value, &mut start),
                        _ => Ok(()),
                    };
                    read.map_err(|wrong| {
                        bad(format!(
                            "json: cannot unmarshal {} into Go struct field continueToken.{} of type {}",
                            wrong.found,
                            name.to_ascii_lowercase(),
                            wrong.wanted
                        ))
                    })?;
                }
            }
            other => {
                return Err(bad(format!(
                    "json: cannot unmarshal {} into Go value of type storage.continueToken",
                    other.go_kind()
                )));
            }
        }
        if api_version != API_VERSION {
            return Err(bad(format!(
                "server does not recognize this encoded version {api_version}"
            )));
        }
        if version == 0 {
            return Err(bad(format!(
                "incorrect encoded start resourceVersion (version {API_VERSION})"
            )));
        }
        if start.is_empty() {
            return Err(bad(format!(
                "encoded start key empty (version {API_VERSION})"
            )));
        }
        // A key cannot leave the collection by dots and slashes.
        let relative = start.strip_prefix('/').unwrap_or(&start);
        if !is_clean(relative) {
            return Err(bad(start));
        }
        Ok(Self {
            version: Revision::try_from(version).ok(),
            start: format!("{prefix}{relative}"),
        })
    }
}

/// Returns whether Go's `path.Clean` would leave `/` and this path as they are.
fn is_clean(relative: &str) -> bool {
    relative.is_empty()
        || relative
            .split('/')
            .all(|part| !matches!(part, "" | "." | ".."))
}

struct TokenTypeError {
    found: String,
    wanted: &'static str,
}

fn read_string(node: &Node, into: &mut String) -> Result<(), TokenTypeError> {
    match node {
        Node::Null => Ok(()),
        Node::String(text) => {
            into.clone_from(text);
            Ok(())
        }
        other => Err(TokenTypeError {
            found: other.go_kind().to_owned(),
            wanted: "string",
        }),
    }
}

fn read_int64(node: &Node, into: &mut i64) -> Result<(), TokenTypeError> {
    let found = match node {
        Node::Null => return Ok(()),
        Node::Number(number) => match number.as_i64() {
            Some(number) => {
                *into = number;
                return Ok(());
            }
            None => format!("number {number}"),
        },
        other => other.go_kind().to_owned(),
    };
    let wanted = "int64";
    Err(TokenTypeError { found, wanted })
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn encode_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..=chunk.len() {
            let six = bits >> (18 - 6 * i) & 63;
            text.push(char::from(ALPHABET[six as usize]));
        }
    }
    text
}

/// `base64.RawURLEncoding`: line ends are skipped, bits too many ignored. The error is the place
/// that Go names.
fn decode_base64(text: &str) -> Result<Vec<u8>, usize> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut bits, mut held) = (0u32, 0usize);
    for (at, letter) in text.bytes().enumerate() {
        if matches!(letter, b'\r' | b'\n') {
            continue;
        }
        let six = ALPHABET.iter().position(|&known| known == letter);
        bits = bits << 6 | six.ok_or(at)? as u32;
        held += 1;
        if held == 4 {
            bytes.extend(bits.to_be_bytes().into_iter().skip(1));
            (bits, held) = (0, 0);
        }
    }
    match held {
        0 => {}
        1 => return Err(text.len() - 1),
        held => {
            let bits = bits << (6 * (4 - held));
            bytes.extend(bits.to_be_bytes().into_iter().skip(1).take(held - 1));
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> String {
        ContinueToken::decode(&encode_base64(json.as_bytes()), "/registry/x/").unwrap_err()
    }

    #[test]
    fn a_token_says_where_to_go_on() {
        for version in [Some(7), None] {
            let token = ContinueToken {
                version,
                start: "/registry/x/ns/a\0".to_owned(),
            };
            let text = token.encode("/registry/x/ns/");
            assert_eq!(
                ContinueToken::decode(&text, "/registry/x/ns/"),
                Ok(token.clone())
            );
            // The watch cache leaves the slash in the key.
            let text = token.encode("/registry/x/ns");
            assert_eq!(ContinueToken::decode(&text, "/registry/x/ns/"), Ok(token));
        }
    }

    #[test]
    fn a_token_is_what_a_real_server_makes() {
        let token = ContinueToken {
            version: Some(644),
            start: "/registry/configmaps/ns/b\0".to_owned(),
        };
        assert_eq!(
            token.encode("/registry/configmaps/ns/"),
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NjQ0LCJzdGFydCI6ImJcdTAwMDAifQ"
        );
    }

    #[test]
    fn tampering_is_told_in_the_words_of_the_server() {
        let decode = |token| ContinueToken::decode(token, "/x/").unwrap_err();
        assert_eq!(
            decode("garbage"),
            "continue key is not valid: invalid character '\\u0081' looking for beginning of value"
        );
        assert_eq!(
            decode("ab=="),
            "continue key is not valid: illegal base64 data at input byte 2"
        );
        assert_eq!(
            decode("abcde"),
            "continue key is not valid: illegal base64 data at input byte 4"
        );
        for (json, why) in [
            ("{}", "server does not recognize this encoded version "),
            (
                r#"{"v":"meta.k8s.io/v1","start":"a"}"#,
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ),
            (
                r#"{"v":"meta.k8s.io/v1","rv":1}"#,
                "encoded start key empty (version meta.k8s.io/v1)",
            ),
            (
                r#"{"v":"meta.k8s.io/v1","rv":1,"start":"../secrets"}"#,
                "../secrets",
            ),
            (
                r#"{"v":"meta.k8s.io/v1","rv":"1","start":"a"}"#,
                "json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
            ),
            (
                "[]",
                "json: cannot unmarshal array into Go value of type storage.continueToken",
            ),
        ] {
            assert_eq!(error(json), format!("continue key is not valid: {why}"));
        }
    }

    #[test]
    fn base64_goes_there_and_back() {
        for length in 0..70u8 {
            let bytes: Vec<u8> = (0..length).map(|i| i.wrapping_mul(37)).collect();
            assert_eq!(decode_base64(&encode_base64(&bytes)), Ok(bytes));
        }
    }
}
