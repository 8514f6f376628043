//! Tokens of service accounts (`pkg/registry/core/serviceaccount/storage/token.go`,
//! `pkg/registry/authentication/tokenreview`). A token has the claims of a real one, but nothing
//! signs it: this server has no key.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::environment::Timestamp;
use crate::go;
use crate::object::{GroupName, Metadata, text};
use crate::server::kinds::label_selector::list;
use crate::server::{ApiServer, RequestInfo, Trace};
use crate::status::{FieldError, Refusal, Status};

/// The issuer of tokens, and their audience if a request does not name one.
const ISSUER: &str = "https://kubernetes.default.svc";
const SHORTEST: i64 = 600;
const LONGEST: i64 = 1 << 32;

pub(super) fn issue(
    server: &mut ApiServer,
    info: &RequestInfo,
    mut request: Value,
    _: &mut Trace,
) -> Result<Value, Refusal> {
    let name = info.name.as_str();
    let kind = GroupName::new("authentication.k8s.io", "TokenRequest");
    if !matches!(request.name(), "") && request.name() != name {
        let detail = "must match the service account name if specified";
        let error = FieldError::invalid("metadata.name", &request.name().into(), detail);
        return Err(Status::invalid(&kind, name, &[error]));
    }
    let account = stored(server, info, "serviceaccounts", name)?;
    let (uid, own) = (request.uid(), account.uid());
    if !uid.is_empty() && uid != own {
        // `TokenRequestServiceAccountUIDValidation`, on since v1.34.
        let why = format!(
            "the UID in the token request ({uid}) does not match the UID of the service account ({own})"
        );
        return Err(Status::conflict(&kind, name, &why));
    }
    let now = server.environment.now();
    request.set_meta("name", name);
    request.set_meta("creationTimestamp", now.to_string());
    let spec = &mut request["spec"];
    let none = |list: &Value| list.as_array().is_none_or(Vec::is_empty);
    if none(&spec["audiences"]) {
        spec["audiences"] = json!([ISSUER]);
    }
    let seconds = spec["expirationSeconds"].as_i64().unwrap_or(0);
    let detail = match seconds {
        ..SHORTEST => Some("may not specify a duration less than 10 minutes"),
        SHORTEST..=LONGEST => None,
        _ => Some("may not specify a duration larger than 2^32 seconds"),
    };
    if let Some(detail) = detail {
        let error = FieldError::invalid("spec.expirationSeconds", &seconds.into(), detail);
        return Err(Status::invalid(&kind, "", &[error]));
    }
    check_bound(server, info, &request["spec"]["boundObjectRef"])?;
    let ends = Timestamp {
        seconds: now.seconds + seconds.unsigned_abs(),
    };
    let claims = json!({
        "aud": request["spec"]["audiences"], "iss": ISSUER, "iat": now.seconds,
        "nbf": now.seconds, "exp": ends.seconds,
        "sub": format!("system:serviceaccount:{}:{name}", info.namespace),
        "kubernetes.io": {
            "namespace": info.namespace,
            "serviceaccount": {"name": name, "uid": account.uid()},
        },
    });
    request.set_meta("uid", account.uid());
    request["status"] =
        json!({"token": unsigned(&claims), "expirationTimestamp": ends.to_string()});
    Ok(request)
}

/// The object that an account or a token refers to.
fn stored(
    server: &ApiServer,
    info: &RequestInfo,
    plural: &str,
    name: &str,
) -> Result<Arc<Value>, Refusal> {
    let key = match plural {
        "nodes" => format!("/registry/minions/{name}"),
        plural => format!("/registry/{plural}/{}/{name}", info.namespace),
    };
    let found = server.store.get(&key).map(|(_, object)| Arc::clone(object));
    found.ok_or_else(|| Status::not_found(&GroupName::new("", plural), name))
}

/// A token may end with an object.
fn check_bound(server: &ApiServer, info: &RequestInfo, bound: &Value) -> Result<(), Refusal> {
    if bound.is_null() {
        return Ok(());
    }
    let (version, kind) = (text(bound, "apiVersion"), text(bound, "kind"));
    let (group, short) = version.split_once('/').unwrap_or(("", version));
    let plural = match (group, kind) {
        ("", "Pod") => "pods",
        ("", "Node") => "nodes",
        ("", "Secret") => "secrets",
        _ => {
            let why = format!("cannot bind token to object of type {group}/{short}, Kind={kind}");
            return Err(Status::bad_request(why));
        }
    };
    let name = text(bound, "name");
    let object = stored(server, info, plural, name)?;
    if plural == "pods" && text(&object["spec"], "serviceAccountName") != info.name {
        return Err(Status::bad_request(format!(
            "cannot bind token for serviceaccount {} to pod running with different \
             serviceaccount name.",
            go::quote(&info.name)
        )));
    }
    let uid = text(bound, "uid");
    if !uid.is_empty() && uid != object.uid() {
        let why = format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The \
             object might have been deleted and then recreated"
        );
        return Err(Status::conflict(&GroupName::new("", kind), name, &why));
    }
    Ok(())
}

/// A JSON Web Token without a signature (RFC 7519, section 6).
fn unsigned(claims: &Value) -> String {
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.", encode(&json!({"alg": "none"})), encode(claims))
}

/// Returns the claims of a token that this server issued and that is still valid: its account is
/// stored with the same uid, and the token has not expired. Tokens have no signature, so anybody
/// can write one; nothing here is protected by a token.
fn claims_of(server: &ApiServer, token: &str) -> Option<Value> {
    let mut parts = token.split('.');
    let (_, claims, signature) = (parts.next()?, parts.next()?, parts.next()?);
    let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    let of = &claims["kubernetes.io"];
    let (namespace, account) = (text(of, "namespace"), &of["serviceaccount"]);
    let name = text(account, "name");
    let key = format!("/registry/serviceaccounts/{namespace}/{name}");
    let (_, stored) = server.store.get(&key)?;
    let now = server.environment.now().seconds;
    let counts = signature.is_empty()
        && parts.next().is_none()
        && claims["iss"] == ISSUER
        && claims["exp"].as_u64().is_some_and(|end| now < end)
        && stored.uid() == text(account, "uid");
    counts.then_some(claims)
}

/// `TokenReview`: a token that this server did not issue is none.
pub(super) fn review(
    server: &mut ApiServer,
    _: &RequestInfo,
    mut review: Value,
    _: &mut Trace,
) -> Result<Value, Refusal> {
    let token = text(&review["spec"], "token");
    if token.is_empty() {
        let why = "token is required for TokenReview in authentication";
        return Err(Status::bad_request(why));
    }
    let default = json!([ISSUER]);
    let wanted = review["spec"].get("audiences").unwrap_or(&default);
    let claims = claims_of(server, token);
    let audiences: Vec<&Value> = claims
        .iter()
        .flat_map(|claims| list(claims, "aud"))
        .collect();
    let common = wanted.as_array().into_iter().flatten();
    let common: Vec<Value> = common
        .filter(|it| audiences.contains(it))
        .cloned()
        .collect();
    review["status"] = match &claims {
        Some(claims) if !common.is_empty() => {
            let of = &claims["kubernetes.io"];
            let groups = [
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{}", text(of, "namespace")),
                "system:authenticated".to_owned(),
            ];
            let user = json!({"username": claims["sub"], "groups": groups,
                "uid": of["serviceaccount"]["uid"]});
            json!({"authenticated": true, "user": user, "audiences": common})
        }
        _ => json!({"user": {}, "error": "invalid bearer token"}),
    };
    Ok(review)
}
