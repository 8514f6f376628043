//! Resource versions can be compared since Kubernetes 1.35 (KEP-5504).

use std::cmp::Ordering;

/// Compares two resourceVersions: decimal integers without leading zeros, by length and then as
/// text (`k8s.io/apimachinery/pkg/util/resourceversion`, `CompareResourceVersion`). `None` if one
/// of them is not such a number.
pub fn compare_versions(a: &str, b: &str) -> Option<Ordering> {
    let is_number = |text: &str| {
        !text.is_empty() && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    (is_number(a) && is_number(b)).then(|| a.len().cmp(&b.len()).then_with(|| a.cmp(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers_of_any_length() {
        assert_eq!(compare_versions("99", "100"), Some(Ordering::Less));
        assert_eq!(compare_versions("100", "100"), Some(Ordering::Equal));
        let long = "99999999999999999999999999";
        assert_eq!(compare_versions(long, "7"), Some(Ordering::Greater));
    }

    #[test]
    fn what_is_no_version_is_not_compared() {
        for malformed in ["", "0", "007", "x", "-1", "1.5", " 1"] {
            assert_eq!(compare_versions(malformed, "1"), None, "{malformed}");
            assert_eq!(compare_versions("1", malformed), None, "{malformed}");
        }
    }
}
