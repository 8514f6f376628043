//! Limits for a server that answers within one frame of a page. A real server has more time, and
//! other limits. Here a request beyond these limits is refused before the work, with a message that
//! names the page as the source of the limit.

use serde_json::Value;

use crate::json::{self, Node};
use crate::size::{Excess, MAX_DEPTH, Measured};
use crate::status::{Refusal, Status};

/// The maximum number of values of an object or patch.
pub const MAX_VALUES: usize = 100_000;

/// Refuses an object, or a patch, that has too many values or nests too deep.
///
/// # Errors
/// 413, in words of this page.
pub fn check(value: &Value) -> Result<(), Refusal> {
    refuse(value.measure(MAX_DEPTH, &mut MAX_VALUES.clone()))
}

/// Checks like [`check`], but for a parsed document.
///
/// # Errors
/// 413, in words of this page.
pub fn check_node(node: &Node) -> Result<(), Refusal> {
    refuse(node.measure(MAX_DEPTH, &mut MAX_VALUES.clone()))
}

/// Reads a document that is within the limits and plain JSON; `None` if it may be another one.
pub fn read_plain(text: &[u8]) -> Option<Node> {
    // It has fewer values than bytes, and nothing that nests too deep is read.
    let text = str::from_utf8(text).ok()?;
    (text.len() <= MAX_VALUES).then(|| json::parse_plain(text))?
}

/// Returns the refusal of a document that nests too deep.
pub fn too_deep() -> Refusal {
    Status::too_large(format!(
        "this is too much for Optimist, which takes objects that nest {MAX_DEPTH} deep"
    ))
}

fn refuse(measured: Result<(), Excess>) -> Result<(), Refusal> {
    measured.map_err(|excess| match excess {
        Excess::Deep => too_deep(),
        Excess::Many => Status::too_large(format!(
            "this is too much for Optimist, which takes objects of {MAX_VALUES} values"
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_may_have_so_many_values_and_nest_so_deep() {
        let list = |n: usize| Value::Array(vec![Value::Null; n]);
        assert!(check(&list(MAX_VALUES - 1)).is_ok());
        assert!(check(&list(MAX_VALUES)).is_err());
        let nested = |n: usize| (0..n).fold(Value::Null, |inner, _| json!([inner]));
        assert!(check(&nested(MAX_DEPTH)).is_ok());
        assert!(check(&nested(MAX_DEPTH + 1)).is_err());
        assert!(check_node(&Node::from(nested(MAX_DEPTH + 1))).is_err());
    }

    #[test]
    fn what_is_read_at_once_is_within_the_limits() {
        let read = |value: &Value| read_plain(value.to_string().as_bytes());
        let nested = |n: usize| (0..n).fold(json!({}), |inner, _| json!([inner]));
        for value in [json!({"a": [1, "b"]}), nested(MAX_DEPTH - 1)] {
            let node = read(&value).expect("plain JSON");
            assert!(check_node(&node).is_ok());
            assert_eq!(Value::from(node), value);
        }
        assert!(read(&nested(MAX_DEPTH)).is_none());
        assert!(read(&Value::Array(vec![1.into(); MAX_VALUES])).is_none());
    }
}
