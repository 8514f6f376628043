//! The health checks: all of them pass (`k8s.io/apiserver/pkg/server/healthz`).

use http::{Request, Response};

use super::plain;
use crate::server::ApiServer;

/// The checks of a path, in order.
fn checks<'a>(path: &'a str, server: &ApiServer) -> impl Iterator<Item = &'static str> + use<'a> {
    let rbac = server.uses_rbac();
    let rows = include_str!("health.txt").lines();
    rows.filter(|row| !row.starts_with('#'))
        .filter_map(move |row| {
            let mut words = row.split(' ');
            let name = words.next()?;
            let (mut somewhere, mut here) = (false, false);
            for word in words {
                match word {
                    "rbac" if !rbac => return None,
                    "rbac" => {}
                    word => (somewhere, here) = (true, here || word == path),
                }
            }
            (here || !somewhere).then_some(name)
        })
}

/// The paths of all checks.
pub(super) fn paths(server: &ApiServer) -> Vec<String> {
    let all = ["healthz", "livez", "readyz"];
    let of = |path| checks(path, server).map(move |check| format!("/{path}/{check}"));
    all.into_iter().flat_map(of).collect()
}

/// Answers `/livez`, `/livez?verbose&exclude=CHECK` and `/livez/CHECK`; `None` for a check that there is
/// not.
pub(super) fn answer(
    request: &Request<Vec<u8>>,
    parts: &[&str],
    server: &ApiServer,
) -> Option<Response<Vec<u8>>> {
    let (path, check) = parts.split_first()?;
    if !check.is_empty() {
        let check = check.join("/");
        return checks(path, server)
            .any(|known| known == check)
            .then(|| plain("ok"));
    }
    let query = request.uri().query().unwrap_or_default();
    let query: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
    if !query.iter().any(|(name, _)| name == "verbose") {
        return Some(plain("ok"));
    }
    let is_excluded = |check: &str| {
        let mut query = query.iter();
        query.any(|(name, value)| name == "exclude" && value == check)
    };
    let mut text = String::new();
    for check in checks(path, server) {
        let result = if is_excluded(check) {
            "excluded: ok"
        } else {
            "ok"
        };
        text.push_str(&format!("[+]{check} {result}\n"));
    }
    text.push_str(&format!("{path} check passed\n"));
    Some(plain(&text))
}
