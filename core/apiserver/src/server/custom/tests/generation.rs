//! Writes that make `metadata.generation` of a custom resource rise: those that change anything
//! besides `metadata`; if the status has an endpoint of its own, a change of the status does not
//! count (`apiextensions-apiserver/pkg/registry/customresource/strategy.go PrepareForUpdate`,
//! v1.36).

use super::*;

const STATUS: &str = "/apis/example.com/v1/namespaces/default/widgets/w/status";
const SCALE: &str = "/apis/example.com/v1/namespaces/default/widgets/w/scale";
const APPLY: &str = "/apis/example.com/v1/namespaces/default/widgets/w?fieldManager=m&force=true";

fn server(subresources: &Value) -> Server {
    let spec = json!({"type": "object", "properties": {
        "size": {"type": "integer"}, "ratio": {"type": "number"},
        "color": {"type": "string", "default": "red"},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "list": {"type": "array", "items": {"type": "integer"}},
    }});
    let mut server = Server::defining(&spec, subresources);
    let created = json!({"spec": {"size": 2, "ratio": 0.5, "list": []}});
    let Answered(code, body, _) = server.create(created);
    assert_eq!(
        (code, &body["metadata"]["generation"]),
        (201, &json!(1)),
        "{body}"
    );
    server
}

impl Server {
    /// By how much a merge patch raises the generation.
    fn rise_by_merge(&mut self, path: &str, patch: &str) -> i64 {
        self.rise(Method::PATCH, path, "application/merge-patch+json", patch)
    }

    fn rise(&mut self, method: Method, path: &str, media: &str, body: &str) -> i64 {
        let generation = |server: &mut Self| server.get()["metadata"]["generation"].as_i64();
        let before = generation(self);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::CONTENT_TYPE, media)
            .body(body.as_bytes().to_vec());
        let answer = self.0.handle(request.unwrap());
        let text = String::from_utf8_lossy(answer.body());
        assert_eq!(answer.status(), 200, "{body}: {text}");
        generation(self).unwrap() - before.unwrap()
    }

    /// By how much an update raises it that sends what is stored with changes.
    fn rise_by_update(&mut self, change: impl FnOnce(&mut Value)) -> i64 {
        let mut object = self.get();
        change(&mut object);
        self.rise(Method::PUT, W, "application/json", &object.to_string())
    }
}

#[test]
fn a_change_besides_metadata_counts_once_and_nothing_else_does() {
    let mut server = server(&json!({}));
    for (patch, rise) in [
        (r#"{"spec": {"size": 3}}"#, 1),
        (r#"{"spec": {"size": 3}}"#, 0),
        (r#"{"metadata": {"labels": {"a": "b"}}}"#, 0),
        (r#"{"metadata": {"annotations": {"a": "b"}}}"#, 0),
        (
            r#"{"metadata": {"finalizers": ["example.com/hold"], "generation": 9}}"#,
            0,
        ),
        // What is not declared is pruned before anything is compared.
        (r#"{"spec": {"nothing": 1}, "top": 2}"#, 0),
        (r#"{"spec": {"open": {"any": 1}}}"#, 1),
        // A field that gets its default again is as it was.
        (r#"{"spec": {"color": null}}"#, 0),
        (r#"{"spec": {"color": "blue"}}"#, 1),
        (r#"{"spec": {"color": null}}"#, 1),
        // An empty list is not an absent one.
        (r#"{"spec": {"list": null}}"#, 1),
        (r#"{"spec": {"list": []}}"#, 1),
        // The status is a field as any other without an endpoint of its own.
        (r#"{"status": {"n": 1}}"#, 1),
        (
            r#"{"metadata": {"labels": {"a": "c"}}, "status": {"n": 1}}"#,
            0,
        ),
        (r#"{"status": null}"#, 1),
    ] {
        assert_eq!(server.rise_by_merge(W, patch), rise, "{patch}");
    }
}

#[test]
fn a_status_with_an_endpoint_does_not_count_on_either_path() {
    let mut server = server(&json!({"status": {}}));
    for (path, patch, rise) in [
        (W, r#"{"status": {"n": 1}}"#, 0),
        (STATUS, r#"{"status": {"n": 1}}"#, 0),
        (STATUS, r#"{"status": {"n": 2}, "spec": {"size": 9}}"#, 0),
        (W, r#"{"status": null}"#, 0),
        (W, r#"{"status": {"n": 5}, "spec": {"size": 3}}"#, 1),
        (STATUS, r#"{"status": null}"#, 0),
        (W, r#"{"status": {"n": 5}}"#, 0),
    ] {
        assert_eq!(server.rise_by_merge(path, patch), rise, "{path} {patch}");
    }
    assert_eq!(
        server.rise_by_update(|it| it["status"] = json!({"n": 7})),
        0
    );
}

#[test]
fn a_scale_counts_if_it_changes_the_replicas() {
    let paths = json!({"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n"});
    let mut server = server(&json!({"scale": paths, "status": {}}));
    assert_eq!(
        server.rise_by_merge(SCALE, r#"{"spec": {"replicas": 2}}"#),
        0
    );
    assert_eq!(
        server.rise_by_merge(SCALE, r#"{"spec": {"replicas": 4}}"#),
        1
    );
    assert_eq!(
        server.rise_by_merge(SCALE, r#"{"status": {"replicas": 4}}"#),
        0
    );
}

#[test]
fn an_apply_counts_what_it_changes_and_not_who_owns_it() {
    let mut server = server(&json!({"status": {}}));
    let mut rise = |spec: &str| {
        let body = format!(
            "apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: w}}\nspec: {spec}\n"
        );
        server.rise(Method::PATCH, APPLY, "application/apply-patch+yaml", &body)
    };
    assert_eq!(rise("{size: 2}"), 0, "it is owned now, and as it was");
    assert_eq!(
        rise("{size: 2.0}"),
        0,
        "a number of YAML is read as its JSON"
    );
    assert_eq!(rise("{size: 2, color: red}"), 0);
    assert_eq!(rise("{size: 2, color: blue}"), 1);
    assert_eq!(
        rise("{size: 2}"),
        1,
        "what nobody owns any more gets its default"
    );
    assert_eq!(rise("{size: 2}"), 0);
}

#[test]
fn a_number_of_json_with_a_fraction_is_another_one_than_the_integer_that_is_stored() {
    let mut server = server(&json!({}));
    // apimachinery/pkg/util/json: only a number without fraction and exponent is an int64.
    assert_eq!(server.rise_by_merge(W, r#"{"spec": {"size": 2.0}}"#), 1);
    assert_eq!(server.get()["spec"]["size"], json!(2), "stored as before");
    assert_eq!(server.rise_by_merge(W, r#"{"spec": {"size": 2}}"#), 0);
    assert_eq!(server.rise_by_merge(W, r#"{"spec": {"ratio": 0.50}}"#), 0);
    assert_eq!(server.rise_by_merge(W, r#"{"spec": {"ratio": 5e-1}}"#), 0);
    // An integer that int64 cannot hold is a float from the start.
    let large = r#"{"spec": {"ratio": 18446744073709551615}}"#;
    assert_eq!(server.rise_by_merge(W, large), 1);
    assert_eq!(server.rise_by_merge(W, large), 0);
}

#[test]
fn a_deletion_that_waits_counts_once_and_its_end_does_not() {
    let mut server = server(&json!({}));
    let held = r#"{"metadata": {"finalizers": ["example.com/a", "example.com/b"]}}"#;
    assert_eq!(server.rise_by_merge(W, held), 0);
    let options = "application/json";
    assert_eq!(server.rise(Method::DELETE, W, options, ""), 1);
    assert_eq!(server.rise(Method::DELETE, W, options, ""), 0);
    let less = r#"{"metadata": {"finalizers": ["example.com/a"]}}"#;
    assert_eq!(server.rise_by_merge(W, less), 0);
    assert_eq!(server.rise_by_merge(W, r#"{"spec": {"size": 5}}"#), 1);
}
