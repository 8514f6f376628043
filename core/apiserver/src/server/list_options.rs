//! The query of a list or watch: `metav1.ListOptions`, its defaults
//! (`pkg/apis/meta/internalversion/defaults.go`) and its checks
//! (`pkg/apis/meta/internalversion/validation`).

use super::RequestInfo;
use super::selector::Selector;
use crate::go;
use crate::object::GroupName;
use crate::status::{FieldError, Refusal, Status};
use crate::storage::Revision;

/// The options of a list or watch.
#[derive(Clone, Debug)]
pub(super) struct ListOptions {
    /// The selector of the objects.
    pub(super) selector: Selector,
    /// `true` if the query asks to watch; a path can ask for it too.
    pub(super) watch: bool,
    /// `true` if the watch may send bookmarks.
    pub(super) bookmarks: bool,
    /// `sendInitialEvents`, where given or implied.
    pub(super) initial_events: Option<bool>,
    /// After how many seconds a watch ends.
    pub(super) timeout_seconds: Option<i64>,
    /// `resourceVersion` as given; empty if not.
    pub(super) version: String,
    /// The relation of the list to that version.
    pub(super) version_match: VersionMatch,
    /// The most items of a list; 0 or less for all.
    pub(super) limit: i64,
    /// The `continue` token of an earlier list; empty at the start.
    pub(super) continue_token: String,
}

/// `resourceVersionMatch`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum VersionMatch {
    /// Not said.
    #[default]
    Unset,
    /// The state at exactly that version.
    Exact,
    /// The state at that version or a later one.
    NotOlderThan,
}

impl ListOptions {
    /// Reads the query.
    ///
    /// # Errors
    /// 400 for a value that cannot be read, 422 for a combination that is not allowed.
    pub(super) fn read(info: &RequestInfo) -> Result<Self, Refusal> {
        let text = |name| info.query(name).unwrap_or_default();
        let flag = |name| info.query(name).map(is_true);
        let number = |name| match info.query(name) {
            Some(value) => go_int64(value).map(Some).map_err(Status::bad_request),
            None => Ok(None),
        };
        let timeout_seconds = number("timeoutSeconds")?;
        let limit = number("limit")?.unwrap_or_default();
        let fields = text("fieldSelector");
        let mut selector = Selector::parse(text("labelSelector"), fields)?;
        if !info.name.is_empty() {
            if fields.is_empty() {
                selector = selector.named(&info.name);
            } else if selector.requires("metadata.name") != Some(&info.name) {
                let why = "fieldSelector metadata.name doesn't match requested name";
                return Err(Status::bad_request(why));
            }
        }
        let mut options = Self {
            selector,
            watch: flag("watch").unwrap_or_default(),
            bookmarks: flag("allowWatchBookmarks").unwrap_or_default(),
            initial_events: flag("sendInitialEvents"),
            timeout_seconds,
            version: text("resourceVersion").to_owned(),
            version_match: VersionMatch::Unset,
            limit,
            continue_token: text("continue").to_owned(),
        };
        let mut asked = text("resourceVersionMatch");
        // A watch from now or from any version starts with the stored objects.
        let from_anywhere = matches!(options.version.as_str(), "" | "0");
        if options.watch && from_anywhere && options.initial_events.is_none() && asked.is_empty() {
            options.initial_events = Some(true);
            asked = "NotOlderThan";
        }
        let errors = if options.watch {
            options.errors_of_watch(asked)
        } else {
            options.errors_of_list(asked)
        };
        if !errors.is_empty() {
            let kind = GroupName::new("meta.k8s.io", "ListOptions");
            return Err(Status::invalid(&kind, "", &errors));
        }
        options.selector.check_fields(&info.resource)?;
        options.version_match = match asked {
            "Exact" => VersionMatch::Exact,
            "NotOlderThan" => VersionMatch::NotOlderThan,
            _ => VersionMatch::Unset,
        };
        Ok(options)
    }

    fn errors_of_list(&self, asked: &str) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut forbid = |detail: &str| {
            errors.push(FieldError::forbidden("resourceVersionMatch", detail));
        };
        if !asked.is_empty() {
            if self.version.is_empty() {
                forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
            }
            if !self.continue_token.is_empty() {
                forbid("resourceVersionMatch is forbidden when continue is provided");
            }
            if asked == "Exact" && self.version == "0" {
                forbid("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
            }
            if !matches!(asked, "Exact" | "NotOlderThan") {
                errors.push(FieldError::not_supported(
                    "resourceVersionMatch",
                    &asked.into(),
                    &["Exact", "NotOlderThan", ""],
                ));
            }
        }
        if self.initial_events.is_some() {
            let detail = "sendInitialEvents is forbidden for list";
            errors.push(FieldError::forbidden("sendInitialEvents", detail));
        }
        errors
    }

    fn errors_of_watch(&self, asked: &str) -> Vec<FieldError> {
        const MATCH: &str = "resourceVersionMatch";
        let mut errors = Vec::new();
        if self.initial_events.is_some() && asked != "NotOlderThan" {
            let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            errors.push(FieldError::forbidden(MATCH, detail));
        }
        if asked.is_empty() {
            return errors;
        }
        if self.initial_events.is_none() {
            let detail =
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.push(FieldError::forbidden(MATCH, detail));
        }
        if asked != "NotOlderThan" {
            let supported = ["NotOlderThan"];
            errors.push(FieldError::not_supported(MATCH, &asked.into(), &supported));
        }
        if !self.continue_token.is_empty() {
            let detail = "resourceVersionMatch is forbidden when continue is provided";
            errors.push(FieldError::forbidden(MATCH, detail));
        }
        errors
    }
}

/// Returns whether a boolean query parameter is true: every value except `0` and `false`, also the empty
/// one (`k8s.io/apimachinery/pkg/runtime/conversion.go Convert_Slice_string_To_bool`, v1.36).
pub fn is_true(value: &str) -> bool {
    value != "0" && !value.eq_ignore_ascii_case("false")
}

/// Reads a version as `APIObjectVersioner.ParseResourceVersion` does; absent and `0` are 0.
///
/// # Errors
/// The text of the error, which the callers wrap differently.
pub(super) fn parse_version(text: &str) -> Result<Revision, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let problem = match text.parse() {
        Ok(version) if digits => return Ok(version),
        _ if digits => "value out of range",
        _ => "invalid syntax",
    };
    let parsing = format!("strconv.ParseUint: parsing {}: {problem}", go::quote(text));
    Err(FieldError::invalid("resourceVersion", &text.into(), parsing).to_string())
}

/// An integer as `strconv.ParseInt` reads it.
///
/// # Errors
/// The text of Go's error.
pub(super) fn go_int64(text: &str) -> Result<i64, String> {
    text.parse().map_err(|error: std::num::ParseIntError| {
        use std::num::IntErrorKind::{NegOverflow, PosOverflow};
        let problem = match error.kind() {
            PosOverflow | NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("strconv.ParseInt: parsing {}: {problem}", go::quote(text))
    })
}
