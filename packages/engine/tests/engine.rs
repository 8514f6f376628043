//! The engine without JavaScript: text goes in, JSON comes out.

use optimist_engine::{explanation, ownership, prediction};
use serde_json::json;

const SETTINGS: &str = r#"{
  "apiVersion": "v1",
  "kind": "ConfigMap",
  "metadata": {
    "name": "settings",
    "namespace": "default",
    "uid": "11111111-2222-3333-4444-555555555555",
    "resourceVersion": "7",
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "managedFields": [
      {"manager": "helm", "operation": "Apply", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
       "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:color": {}}}},
      {"manager": "kubectl-edit", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
       "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:size": {}}}}
    ]
  },
  "data": {"color": "blue", "size": "5"}
}"#;

const MANIFEST: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {size: \"6\"}\n";

#[test]
fn a_value_names_its_owner_and_no_value_is_returned() {
    let answer = ownership::owners(SETTINGS).unwrap();
    let owner = |pointer: &str| {
        let mut fields = answer["fields"].as_array().unwrap().iter();
        fields.find(|field| field["pointer"] == pointer).unwrap()["owners"].clone()
    };
    assert_eq!(owner("/data/color"), json!([0]));
    assert_eq!(owner("/data/size"), json!([1]));
    assert_eq!(answer["managers"][1]["alone"], json!([".data.size"]));
    assert!(!answer.to_string().contains("blue"));
}

#[test]
fn an_apply_is_refused_by_the_owner_unless_it_forces() {
    let write = json!({"tool": "kubectl-server-side", "manager": "me", "manifest": MANIFEST});
    let refused = prediction::predict(SETTINGS, &write.to_string()).unwrap();
    assert_eq!(
        (&refused["outcome"], &refused["code"]),
        (&json!("conflict"), &json!(409))
    );
    let mut forced = write.clone();
    forced["force"] = json!(true);
    let stored = prediction::predict(SETTINGS, &forced.to_string()).unwrap();
    assert_eq!(stored["outcome"], "changed");
    let created = prediction::predict("", &write.to_string()).unwrap();
    assert_eq!(created["outcome"], "created");
}

#[test]
fn an_option_that_means_nothing_to_a_tool_is_refused() {
    for (write, why) in [
        (json!({"manifest": MANIFEST}), "write.tool is missing"),
        (
            json!({"tool": "make", "manifest": MANIFEST}),
            "write.tool is none of",
        ),
        (
            json!({"tool": "helm3", "force": true, "manifest": MANIFEST}),
            "write.force is not taken",
        ),
        (
            json!({"tool": "flux", "manager": "me", "manifest": MANIFEST}),
            "write.manager is not taken",
        ),
        (
            json!({"tool": "helm4", "manifest": 5}),
            "write.manifest is neither",
        ),
        (
            json!({"tool": "helm4", "manifest": ""}),
            "the text has no object",
        ),
    ] {
        let error = prediction::predict(SETTINGS, &write.to_string()).unwrap_err();
        assert!(error.starts_with(why), "{error}");
    }
}

#[test]
fn a_conflict_of_apply_names_the_owner_and_its_field() {
    let error =
        "error: Apply failed with 1 conflict: conflict with \"kubectl-edit\" using v1: .data.size";
    let answer = explanation::explain(error, Some(SETTINGS)).unwrap();
    assert_eq!(answer["errors"][0]["kind"], "applyConflict");
    assert_eq!(
        answer["errors"][0]["conflicts"][0]["manager"],
        "kubectl-edit"
    );
    assert_eq!(
        answer["errors"][0]["conflicts"][0]["fields"],
        json!([".data.size"])
    );
    assert!(
        answer["markdown"]
            .as_str()
            .unwrap()
            .contains("kubectl-edit")
    );
}

#[test]
fn a_text_that_is_no_error_is_not_explained() {
    assert!(explanation::explain("all is well", None).is_err());
    assert!(explanation::explain(SETTINGS, None).is_err());
}
