//! The options of a deletion (`metav1.DeleteOptions`), from the body or the query
//! (`k8s.io/apiserver/pkg/endpoints/handlers/delete.go`).

use serde_json::json;

use crate::go;
use crate::json::{Node, Raw};
use crate::object::{GroupName, text};
use crate::server::list_options::{go_int64, is_true};
use crate::server::patching::foreign;
use crate::server::{RequestInfo, Resource, body};
use crate::status::{FieldError, Refusal, Status};

/// `metav1.DeleteOptions`.
#[derive(Clone, Debug, Default)]
pub(super) struct DeleteOptions {
    pub(super) grace_period_seconds: Option<i64>,
    pub(super) uid: Option<String>,
    pub(super) resource_version: Option<String>,
    pub(super) orphan_dependents: Option<bool>,
    pub(super) propagation_policy: Option<String>,
    pub(super) dry_run: Vec<String>,
}

impl DeleteOptions {
    /// From the body, or from the query if there is no body.
    pub(super) fn read(info: &RequestInfo, bytes: &[u8]) -> Result<Self, Refusal> {
        let options = Self::decode(info, bytes)?;
        options.validate()?;
        Ok(options)
    }

    /// The options before they are checked.
    pub(super) fn decode(info: &RequestInfo, bytes: &[u8]) -> Result<Self, Refusal> {
        body::check_size(bytes)?;
        if bytes.is_empty() {
            Self::from_query(info)
        } else {
            let spelled = || spelled_period(&body::spelled(info, bytes)?);
            Self::from_body(&body::decode_options(info, bytes)?, &spelled)
        }
    }

    /// An empty uid or version is none (`Convert_url_Values_To_v1_DeleteOptions`).
    fn from_query(info: &RequestInfo) -> Result<Self, Refusal> {
        let query = |name| info.query(name);
        let named = |name| query(name).filter(|text| !text.is_empty());
        let grace_period_seconds = query("gracePeriodSeconds").map(go_int64);
        let grace_period_seconds = grace_period_seconds
            .transpose()
            .map_err(Status::bad_request)?;
        Ok(Self {
            grace_period_seconds,
            uid: named("uid").map(str::to_owned),
            resource_version: named("resourceVersion").map(str::to_owned),
            orphan_dependents: query("orphanDependents").map(is_true),
            propagation_policy: query("propagationPolicy").map(str::to_owned),
            dry_run: info.queries("dryRun").map(str::to_owned).collect(),
        })
    }

    /// From a document, and the period as it is spelled there, which shows in an error.
    fn from_body(node: &Node, period: &dyn Fn() -> Option<String>) -> Result<Self, Refusal> {
        if matches!(node, Node::Null) {
            return Ok(Self::default());
        }
        let head = body::interpreted(node);
        if let Some(error) = foreign::uninterpretable(&head) {
            return Err(Status::bad_request(error));
        }
        let named = |field| Some(text(&head, field)).filter(|text| !text.is_empty());
        if let Some(error) = named("kind")
            .and_then(|kind| foreign::other_options(named("apiVersion"), kind, "DeleteOptions"))
        {
            return Err(Status::bad_request(error));
        }
        let options = StructFields("DeleteOptions", "", node);
        let preconditions = node.get("preconditions").unwrap_or(&Node::Null);
        let conditions = StructFields("Preconditions", "preconditions.", preconditions);
        let read = |field: &str, found: &mut Self| -> Result<(), Refusal> {
            match field {
                GRACE_PERIOD => {
                    found.grace_period_seconds = options.seconds(GRACE_PERIOD, period)?
                }
                "preconditions" if !matches!(preconditions, Node::Null | Node::Object(_)) => {
                    return Err(options.wrong(field, preconditions, "v1.Preconditions"));
                }
                "preconditions" => {
                    (found.uid, found.resource_version) = conditions.preconditions()?
                }
                "orphanDependents" => {
                    found.orphan_dependents = options.read(field, "bool", |node| match node {
                        Node::Bool(orphan) => Some(*orphan),
                        _ => None,
                    })?;
                }
                "propagationPolicy" => {
                    found.propagation_policy = options.text(field, "v1.DeletionPropagation")?;
                }
                "dryRun" => found.dry_run = options.texts(field)?,
                _ => {}
            }
            Ok(())
        };
        let mut found = Self::default();
        // The first mistake of the document is told (`decodeState.saveError`).
        if let Node::Object(members) = node {
            for (field, _) in members {
                read(field, &mut found)?;
            }
        }
        Ok(found)
    }

    /// Returns the warning of a kind for a deletion that does not name the fate of dependents.
    pub(super) fn unsaid(&self, resource: &Resource) -> Option<String> {
        let said = self.propagation_policy.is_some() || self.orphan_dependents.is_some();
        resource.preserves().filter(|_| !said).map(str::to_owned)
    }

    /// `ValidateDeleteOptions`.
    pub(super) fn validate(&self) -> Result<(), Refusal> {
        let mut errors = Vec::new();
        if let (Some(policy), Some(_)) = (&self.propagation_policy, self.orphan_dependents) {
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid(
                "propagationPolicy",
                &policy.as_str().into(),
                detail,
            ));
        }
        if let Some(policy) = &self.propagation_policy
            && !matches!(policy.as_str(), "Foreground" | "Background" | "Orphan")
        {
            errors.push(FieldError::not_supported(
                "propagationPolicy",
                &policy.as_str().into(),
                &["Foreground", "Background", "Orphan", "nil"],
            ));
        }
        if self.dry_run.iter().any(|value| value != "All") {
            let value = json!(self.dry_run);
            errors.push(FieldError::not_supported("dryRun", &value, &["All"]));
        }
        if errors.is_empty() {
            return Ok(());
        }
        let kind = GroupName::new("meta.k8s.io", "DeleteOptions");
        Err(Status::invalid(&kind, "", &errors))
    }
}

const GRACE_PERIOD: &str = "gracePeriodSeconds";

/// The period in a document, if it is a number.
fn spelled_period(document: &Raw) -> Option<String> {
    let Raw::Object(members) = document else {
        return None;
    };
    let found = members.iter().rev().find(|(name, _)| name == GRACE_PERIOD);
    match found {
        Some((_, Raw::Scalar(text))) => Some(text.clone()),
        _ => None,
    }
}

/// The fields of a Go struct with this name, at this place, as they are decoded (`encoding/json`).
struct StructFields<'a>(&'static str, &'static str, &'a Node);

impl StructFields<'_> {
    /// A field; `None` if it is absent or `null`.
    fn read<T>(
        &self,
        field: &str,
        ty: &str,
        read: impl Fn(&Node) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        match self.2.get(field) {
            None | Some(Node::Null) => Ok(None),
            Some(node) => match read(node) {
                Some(value) => Ok(Some(value)),
                None => Err(self.wrong(field, node, ty)),
            },
        }
    }

    /// A number as Go reads it: by its digits.
    fn seconds(
        &self,
        field: &str,
        spelled: &dyn Fn() -> Option<String>,
    ) -> Result<Option<i64>, Refusal> {
        let Some(node @ (Node::Number(_) | Node::HugeNumber(_))) = self.2.get(field) else {
            return self.read(field, "int64", |_| None);
        };
        let text = match node {
            Node::Number(n) if n.is_i64() => return Ok(n.as_i64()),
            Node::Number(n) => spelled().unwrap_or_else(|| go::json(&n.clone().into())),
            Node::HugeNumber(text) => text.clone(),
            _ => String::new(),
        };
        match text.parse() {
            Ok(seconds) => Ok(Some(seconds)),
            Err(_) => Err(self.mistyped(field, &format!("number {text}"), "int64")),
        }
    }

    fn text(&self, field: &str, ty: &str) -> Result<Option<String>, Refusal> {
        self.read(field, ty, |node| match node {
            Node::String(text) => Some(text.clone()),
            _ => None,
        })
    }

    fn texts(&self, field: &str) -> Result<Vec<String>, Refusal> {
        let items = match self.2.get(field) {
            None | Some(Node::Null) => return Ok(Vec::new()),
            Some(Node::Array(items)) => items,
            Some(node) => return Err(self.wrong(field, node, "[]string")),
        };
        let texts = items.iter().map(|item| match item {
            Node::String(text) => Ok(text.clone()),
            Node::Null => Ok(String::new()),
            node => Err(self.wrong(field, node, "string")),
        });
        texts.collect()
    }

    /// The uid and the version of preconditions, in their order.
    fn preconditions(&self) -> Result<(Option<String>, Option<String>), Refusal> {
        let (mut uid, mut version) = (None, None);
        if let Node::Object(members) = self.2 {
            for (field, _) in members {
                match field.as_str() {
                    "uid" => uid = self.text(field, "types.UID")?,
                    "resourceVersion" => version = self.text(field, "string")?,
                    _ => {}
                }
            }
        }
        Ok((uid, version))
    }

    fn wrong(&self, field: &str, node: &Node, ty: &str) -> Refusal {
        self.mistyped(field, node.go_kind(), ty)
    }

    fn mistyped(&self, field: &str, what: &str, ty: &str) -> Refusal {
        let Self(owner, path, _) = self;
        Status::bad_request(format!(
            "json: cannot unmarshal {what} into Go struct field {owner}.{path}{field} of type {ty}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn read(body: &str) -> Result<DeleteOptions, String> {
        let node = json::parse(body.as_bytes()).unwrap();
        let spelled = || spelled_period(&Raw::parse(body.as_bytes()).ok()?);
        DeleteOptions::from_body(&node, &spelled).map_err(|refusal| refusal.message)
    }

    #[test]
    fn what_is_no_object_deletes_nothing() {
        for (body, kind) in [
            ("644e6", "number"),
            ("\"x\"", "string"),
            ("[]", "array"),
            ("true", "bool"),
        ] {
            let error = read(body).unwrap_err();
            let start = format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal {kind} into Go value"
            );
            assert!(error.starts_with(&start), "{error}");
        }
        assert!(read("null").is_ok() && read("{}").is_ok());
    }

    #[test]
    fn a_field_of_another_type_deletes_nothing() {
        for (body, error) in [
            (
                r#"{"gracePeriodSeconds": "0"}"#,
                "string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
            ),
            (
                r#"{"dryRun": "All"}"#,
                "string into Go struct field DeleteOptions.dryRun of type []string",
            ),
            (
                r#"{"preconditions": {"resourceVersion": 7}}"#,
                "number into Go struct field Preconditions.preconditions.resourceVersion of type string",
            ),
        ] {
            assert_eq!(
                read(body).unwrap_err(),
                format!("json: cannot unmarshal {error}")
            );
        }
        for spelled in ["1e0", "1E1", "99999999999999999999"] {
            let body = format!(r#"{{"gracePeriodSeconds": {spelled}}}"#);
            let error = read(&body).unwrap_err();
            assert!(error.contains(&format!("number {spelled} into")), "{error}");
        }
        let least = read(r#"{"gracePeriodSeconds": -0}"#).unwrap();
        assert_eq!(least.grace_period_seconds, Some(0));
        let options = read(r#"{"dryRun": ["All"], "preconditions": {"uid": "u"}}"#).unwrap();
        assert_eq!(
            (options.dry_run, options.uid),
            (vec!["All".to_owned()], Some("u".to_owned()))
        );
    }
}
