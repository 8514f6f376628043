//! From a session's JSON to a text for links, and back.

use std::fmt;

use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::{DecodeError, Engine};
use miniz_oxide::inflate::{decompress_to_vec_with_limit, decompress_to_vec_zlib_with_limit};
use serde_json::Value;

/// The prefix of a text, before the base64: the version of the format. JSON in the form of zlib (RFC 1950), whose checksum
/// tells a changed text.
const VERSION: char = '2';

/// The version before: deflated (RFC 1951), without a checksum. Links of it are in the world.
const WITHOUT_CHECKSUM: char = '1';

/// The maximum length of a link. Browsers and messengers accept about this length. A longer session
/// is saved as a file.
pub const MAX_LINK_LENGTH: usize = 32_000;

/// The maximum length of a text.
pub(super) const MAX_TEXT_LENGTH: usize = 8 << 20;

/// The maximum size after inflating, in bytes.
pub(super) const MAX_JSON_SIZE: usize = 16 << 20;

/// The problem of a text whose characters are those of a link.
const INCOMPLETE: &str = "its end is missing, or it was changed";

/// The compression level: the page waits for it.
const LEVEL: u8 = 8;

/// The reason why a text cannot be opened as a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareError {
    /// A later version of Optimist made it.
    Newer,
    /// It is damaged, or was never a session. The text says what is wrong.
    Damaged(&'static str),
    /// It is too large, or its session is too large for this page.
    TooLarge,
    /// Its starting objects cannot be loaded any more.
    Start(String),
}

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShareError::Newer => f.write_str("A later version of Optimist made it."),
            ShareError::Damaged(what) => write!(f, "It is damaged or incomplete: {what}."),
            ShareError::TooLarge => f.write_str("It is too large for this page."),
            ShareError::Start(why) => write!(f, "Its starting objects cannot be loaded: {why}"),
        }
    }
}

impl std::error::Error for ShareError {}

pub(super) fn pack(json: &Value) -> String {
    let deflated = miniz_oxide::deflate::compress_to_vec_zlib(json.to_string().as_bytes(), LEVEL);
    let mut text = String::from(VERSION);
    URL_SAFE_NO_PAD.encode_string(deflated, &mut text);
    text
}

pub(super) fn unpack(text: &str) -> Result<Value, ShareError> {
    let text = text.trim();
    if text.len() > MAX_TEXT_LENGTH {
        return Err(ShareError::TooLarge);
    }
    let inflate = match text.chars().next() {
        Some(VERSION) => decompress_to_vec_zlib_with_limit,
        Some(WITHOUT_CHECKSUM) => decompress_to_vec_with_limit,
        Some('3'..='9') => return Err(ShareError::Newer),
        _ => return Err(ShareError::Damaged("it does not start like a session")),
    };
    let deflated = URL_SAFE_NO_PAD
        .decode(&text[VERSION.len_utf8()..])
        .map_err(|error| match error {
            DecodeError::InvalidByte(..) => ShareError::Damaged("it has invalid characters"),
            _ => ShareError::Damaged(INCOMPLETE),
        })?;
    let inflated = inflate(&deflated, MAX_JSON_SIZE).map_err(|error| match error.status {
        miniz_oxide::inflate::TINFLStatus::HasMoreOutput => ShareError::TooLarge,
        _ => ShareError::Damaged(INCOMPLETE),
    })?;
    serde_json::from_slice(&inflated).map_err(|_| ShareError::Damaged("it is not JSON"))
}
