//! In which form a client wants an answer: JSON, YAML or protobuf, whole, only the metadata, or a table
//! (`k8s.io/apiserver/pkg/endpoints/handlers/negotiation`, `handlers/response.go`).

use std::collections::BTreeMap;

use http::{HeaderMap, header};
use serde_json::{Value, json};

use super::RequestInfo;
use super::resource::{Definition, Resource};
use super::table::{self, Include, MetaVersion};
use crate::environment::Timestamp;
use crate::object::{Metadata, text};
use crate::status::{Refusal, Status};

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The shape of the answer.
    pub shape: ResponseForm,
    /// In which version of `meta.k8s.io` it is shown.
    pub version: MetaVersion,
    /// The format in which it is written.
    pub format: Format,
    /// The part of their objects that rows of a table include.
    pub include: Include,
}

/// The format in which an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    #[default]
    Json,
    /// YAML.
    Yaml,
    /// Protobuf.
    #[cfg(feature = "protobuf")]
    Protobuf,
}

/// The shape in which an answer shows its objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseForm {
    /// All of it.
    #[default]
    Whole,
    /// Only the metadata of one object.
    Metadata,
    /// A list whose items show only their metadata.
    MetadataList,
    /// A table with a row for each object.
    Table,
}

/// The group of tables and of metadata.
const META: &str = "meta.k8s.io";

/// The media types that the server writes. It says so of protobuf too, as a real one does.
pub(super) const WRITTEN: &str =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
/// The media types of the events of a watch.
pub(super) const STREAMED: &str =
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

impl View {
    /// Reads the `Accept` header. The path of a collection answers with streams too
    /// (`registerResourceHandlers`).
    ///
    /// # Errors
    /// 406 if it names nothing that the server can answer with.
    pub(super) fn read(
        headers: &HeaderMap,
        include: Option<&str>,
        resource: &Resource,
        streams: bool,
    ) -> Result<Self, Refusal> {
        let accept = accept(headers);
        let builtin = matches!(resource.definition, Definition::Builtin(_));
        if builtin && !is_routable(accept, WRITTEN) {
            return Err(match streams {
                true => Status::unroutable_accept(&format!("{WRITTEN}, {STREAMED}")),
                false => Status::unroutable_accept(WRITTEN),
            });
        }
        Self::negotiate(accept, include, builtin)
    }

    /// Reads the `Accept` header for objects that are not stored.
    ///
    /// # Errors
    /// 406 if it names nothing that the server can answer with.
    pub(super) fn of_unstored(headers: &HeaderMap, include: Option<&str>) -> Result<Self, Refusal> {
        Self::negotiate(accept(headers), include, true)
    }

    fn negotiate(accept: &str, include: Option<&str>, builtin: bool) -> Result<Self, Refusal> {
        let mut view = negotiated(accept, builtin).ok_or_else(nothing_accepted)?;
        view.include = match include {
            Some("None") => Include::None,
            Some("Object") => Include::Object,
            _ => Include::Metadata,
        };
        Ok(view)
    }

    /// Returns the format of a document that is no object of a resource, such as a refusal. It is
    /// no table and no metadata, so a media type that asks for these does not count
    /// (`responsewriters.ErrorNegotiated`).
    pub(super) fn plain_format(headers: &HeaderMap) -> Format {
        let accept = headers.get(header::ACCEPT);
        let accept = accept.and_then(|value| value.to_str().ok());
        let view = clauses(accept.unwrap_or_default())
            .into_iter()
            .find_map(|clause| {
                of_clause(clause, true).filter(|view| view.shape == ResponseForm::Whole)
            });
        view.unwrap_or_default().format
    }

    /// Returns the format of a document of discovery, which has no other shape
    /// (`k8s.io/apiserver/pkg/endpoints/handlers/negotiation/negotiate.go DefaultEndpointRestrictions`, v1.36).
    ///
    /// # Errors
    /// 406 if the `Accept` header names nothing that the server can answer with.
    pub(super) fn of_document(headers: &HeaderMap) -> Result<Format, Refusal> {
        let clauses = clauses(accept(headers)).into_iter();
        // No version of the server's types can be chosen (`emptyEndpointRestrictions`).
        let is_plain = |clause: &&str| is_empty(&parameters(clause), "sv");
        let mut views = clauses
            .filter(is_plain)
            .filter_map(|clause| of_clause(clause, true));
        let view = views.find(|view| view.shape == ResponseForm::Whole);
        view.map(|view| view.format).ok_or_else(nothing_accepted)
    }

    /// Returns an answer in the shape that the client wants.
    ///
    /// # Errors
    /// 406 if the metadata of one object was asked for and this is a list, or the other way round;
    /// 400 for an unknown `includeObject`.
    pub(super) fn apply(
        self,
        info: &RequestInfo,
        body: &Value,
        now: Timestamp,
    ) -> Result<Option<Value>, Refusal> {
        if self.shape == ResponseForm::Whole || text(body, "kind") == "Status" {
            return Ok(None);
        }
        if self.shape == ResponseForm::Table {
            table::check_include(info.query("includeObject"))?;
        }
        let items = body.get("items").and_then(Value::as_array);
        let mut metadata = body["metadata"].clone();
        // Only lists of custom resources show that there is nothing more.
        if let Value::Object(map) = &mut metadata
            && map.get("continue").is_some_and(|token| token == "")
        {
            map.remove("continue");
        }
        Ok(Some(match (self.shape, items) {
            (ResponseForm::Metadata, None) => {
                table::metadata_of(&info.resource, body, self.version)
            }
            (ResponseForm::MetadataList, Some(items)) => json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": self.version.api_version(),
                "metadata": metadata,
                // Of nothing it makes no list.
                "items": match items.as_slice() {
                    [] => Value::Null,
                    items => items
                        .iter()
                        .map(|item| table::metadata_of(&info.resource, item, self.version))
                        .collect(),
                },
            }),
            (ResponseForm::Metadata, Some(_)) => {
                return Err(Status::not_acceptable(&format!(
                    "you requested PartialObjectMetadata, but the requested object is a list ({})",
                    go_type(&info.resource, "List")
                )));
            }
            (ResponseForm::MetadataList, None) if !info.resource.is_builtin() => {
                return Err(Status::internal("content is not a list"));
            }
            (ResponseForm::MetadataList, None) => {
                return Err(Status::not_acceptable(&format!(
                    "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
                    go_type(&info.resource, "")
                )));
            }
            (ResponseForm::Table, Some(items)) => {
                let shown = (self.version, self.include);
                table::table(&info.resource, metadata, items.clone(), shown, now)
            }
            (ResponseForm::Table, None) => self.row(&info.resource, body, now),
            (ResponseForm::Whole, _) => return Ok(None),
        }))
    }

    /// A table of one object.
    fn row(self, resource: &Resource, object: &Value, now: Timestamp) -> Value {
        let metadata = json!({"resourceVersion": object.resource_version()});
        let shown = (self.version, self.include);
        table::table(resource, metadata, vec![object.clone()], shown, now)
    }

    /// The object of a watch event; only the first table of a watch has the definitions.
    pub(super) fn of_event(
        self,
        resource: &Resource,
        object: &Value,
        first: bool,
        now: Timestamp,
    ) -> Option<Value> {
        match self.shape {
            ResponseForm::Whole | ResponseForm::MetadataList => None,
            ResponseForm::Metadata => Some(table::metadata_of(resource, object, self.version)),
            ResponseForm::Table => {
                let mut table = self.row(resource, object, now);
                if !first {
                    table["columnDefinitions"] = Value::Null;
                }
                Some(table)
            }
        }
    }
}

/// The name of the internal type that the server holds an object in.
fn go_type(resource: &Resource, list: &str) -> String {
    match resource.definition {
        Definition::Custom(_) => format!("*unstructured.Unstructured{list}"),
        Definition::Builtin(_) => {
            let package = match resource.group_version.group.split('.').next() {
                Some("" | "events") | None => "core",
                Some(first) => first,
            };
            format!("*{package}.{}{list}", resource.kind)
        }
    }
}

fn nothing_accepted() -> Refusal {
    Status::not_acceptable(&format!(
        "only the following media types are accepted: {WRITTEN}"
    ))
}

/// The `Accept` header of a request; everything is accepted without one.
pub(super) fn accept(headers: &HeaderMap) -> &str {
    let accept = headers.get(header::ACCEPT);
    let accept = accept.and_then(|value| value.to_str().ok());
    match accept.unwrap_or_default().trim() {
        "" => "*/*",
        accept => accept,
    }
}

/// Returns whether a router finds one of the types that its route writes: it looks at the types only, and knows no
/// patterns but `*/*`.
pub(super) fn is_routable(accept: &str, written: &str) -> bool {
    accept.split(',').any(|clause| {
        let media_type = clause.split(';').next().unwrap_or_default().trim();
        media_type == "*/*" || written.split(", ").any(|written| written == media_type)
    })
}

/// The first clause that the server can answer.
fn negotiated(accept: &str, builtin: bool) -> Option<View> {
    let mut clauses = clauses(accept).into_iter();
    clauses.find_map(|clause| of_clause(clause, builtin))
}

/// The clauses, by weight and then by how exact they are.
fn clauses(accept: &str) -> Vec<&str> {
    let mut clauses: Vec<(f64, u8, &str)> = accept
        .split(',')
        .map(|clause| {
            let weight = clause
                .split(';')
                .find_map(|part| part.trim().strip_prefix("q="));
            let weight = weight.and_then(|q| q.parse().ok()).unwrap_or(1.0);
            let media_type = clause.split(';').next().unwrap_or_default().trim();
            let exact = match media_type.split_once('/') {
                Some(("*", _)) => 0,
                Some((_, "*")) => 1,
                _ => 2,
            };
            (weight, exact, clause)
        })
        .collect();
    clauses.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    clauses.into_iter().map(|(_, _, clause)| clause).collect()
}

/// The parameters of a clause. The last of those with one name counts, and one whose value has a `=` is passed over
/// (`goautoneg.ParseAccept`).
fn parameters(clause: &str) -> BTreeMap<&str, &str> {
    let parts = clause.split(';').skip(1);
    let pairs = parts.filter_map(|part| part.trim().split_once('='));
    pairs.filter(|(_, value)| !value.contains('=')).collect()
}

/// Returns whether a parameter is not there, or has no value.
fn is_empty(parameters: &BTreeMap<&str, &str>, name: &str) -> bool {
    parameters.get(name).is_none_or(|value| value.is_empty())
}

/// `builtin`: whether it is asked for a built-in kind; custom resources are not written as protobuf.
#[cfg_attr(not(feature = "protobuf"), allow(unused_variables))]
fn of_clause(clause: &str, builtin: bool) -> Option<View> {
    let format = match clause.split(';').next()?.trim() {
        "application/json" | "application/*" | "*/*" => Format::Json,
        "application/yaml" => Format::Yaml,
        #[cfg(feature = "protobuf")]
        super::protobuf::MEDIA_TYPE => Format::Protobuf,
        _ => return None,
    };
    let parameters = parameters(clause);
    let value = |name| parameters.get(name).copied().unwrap_or_default();
    // YAML has no serializer for streams (`acceptMediaTypeOptions`).
    match value("stream") {
        "watch" if format == Format::Yaml => return None,
        "" | "watch" => {}
        _ => return None,
    }
    if !matches!(value("sv"), "" | "v1") {
        return None;
    }
    let (name, group, version) = (value("as"), value("g"), value("v"));
    // A part of a type asks for a conversion, and there is none to a type without a name.
    let converts = [name, group, version].iter().any(|part| !part.is_empty());
    let shape = match (name, group) {
        _ if !converts => ResponseForm::Whole,
        ("Table", META) => ResponseForm::Table,
        ("PartialObjectMetadata", META) => ResponseForm::Metadata,
        ("PartialObjectMetadataList", META) => ResponseForm::MetadataList,
        _ => return None,
    };
    #[cfg(feature = "protobuf")]
    match (format, shape) {
        (Format::Protobuf, ResponseForm::Table) => return None,
        (Format::Protobuf, ResponseForm::Whole) if !builtin => return None,
        _ => {}
    }
    let version = match shape {
        ResponseForm::Whole => MetaVersion::default(),
        _ => MetaVersion::parse(version)?,
    };
    Some(View {
        shape,
        version,
        format,
        include: Include::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::ApiServer;
    use http::Request;

    #[test]
    fn the_best_clause_that_the_server_has_is_taken() {
        for (accept, shape, format) in [
            ("*/*", ResponseForm::Whole, Format::Json),
            (
                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
                ResponseForm::Table,
                Format::Json,
            ),
            (
                "application/json;as=Table;v=v9;g=meta.k8s.io, application/json",
                ResponseForm::Whole,
                Format::Json,
            ),
            (
                "application/json;q=0.5, application/yaml",
                ResponseForm::Whole,
                Format::Yaml,
            ),
            ("*/*, application/yaml", ResponseForm::Whole, Format::Yaml),
        ] {
            let view = negotiated(accept, true).unwrap();
            assert_eq!((view.shape, view.format), (shape, format), "{accept}");
        }
        let protobuf = "application/vnd.kubernetes.protobuf";
        assert_eq!(negotiated(protobuf, false), None);
        let has_protobuf = cfg!(feature = "protobuf");
        assert_eq!(negotiated(protobuf, true).is_some(), has_protobuf);
        assert_eq!(negotiated("application/json;stream=other", true), None);
        assert_eq!(negotiated("application/yaml;stream=watch", true), None);
        assert_eq!(negotiated("application/json;v=v1", true), None);
        assert!(negotiated("application/json;as=", true).is_some());
    }

    #[test]
    fn the_last_parameter_of_a_name_counts_and_one_with_two_signs_does_not() {
        for accepted in ["stream=x;stream=watch", "v=a=b", "sv=v1", "sv="] {
            let accept = format!("application/json;{accepted}");
            assert!(negotiated(&accept, true).is_some(), "{accept}");
        }
        assert_eq!(negotiated("application/json;sv=v2", true), None);
        let (code, _) = list("application/json;sv=v1", "/api/v1");
        assert_eq!(code, 406, "a document has no version to choose");
    }

    fn list(accept: &str, path: &str) -> (u16, Value) {
        let mut server = ApiServer::default();
        let request = Request::get(path).header(header::ACCEPT, accept);
        let response = server.handle(request.body(Vec::new()).unwrap());
        let body = serde_json::from_slice(response.body()).unwrap();
        (response.status().as_u16(), body)
    }

    #[test]
    fn a_list_can_be_seen_as_metadata_only() {
        let accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
        let (_, list) = list(accept, "/api/v1/namespaces");
        assert_eq!(list["kind"], "PartialObjectMetadataList");
        assert_eq!(list["items"][0]["kind"], "PartialObjectMetadata");
        assert_eq!(list["items"][0]["metadata"]["name"], "default");
        assert_eq!(list["items"][0].get("spec"), None);
    }

    /// CBOR is off unless the feature gate `CBORServingAndStorage` is on.
    #[test]
    fn cbor_is_neither_read_nor_written() {
        let cbor = "application/cbor";
        assert_eq!(list(cbor, "/api/v1/namespaces").0, 406);
        let either = "application/cbor, application/json;q=0.5";
        assert_eq!(list(either, "/api/v1/namespaces").0, 200);
        let mut server = ApiServer::default();
        let maps = "/api/v1/namespaces/default/configmaps";
        let post = Request::post(maps).header(header::CONTENT_TYPE, cbor);
        let answer = server.handle(post.body(b"\xd9\xd9\xf7\xa0".to_vec()).unwrap());
        assert_eq!(answer.status(), 415);
        let status: Value = serde_json::from_slice(answer.body()).unwrap();
        assert_eq!(status["reason"], "UnsupportedMediaType");
    }

    #[test]
    fn what_cannot_be_shown_so_is_refused() {
        let accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
        let (code, status) = list(accept, "/api/v1/namespaces");
        assert_eq!(code, 406);
        assert_eq!(
            status["message"],
            "you requested PartialObjectMetadata, but the requested object is a list (*core.NamespaceList)"
        );
        let (code, status) = list("text/html", "/api/v1/namespaces");
        assert_eq!(
            (code, status["reason"].as_str()),
            (406, Some("NotAcceptable"))
        );
    }
}
