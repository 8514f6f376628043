//! The forms in which tools print errors of the server. Each case has the structure of a text that was
//! printed, with other names.

use optimist_apiserver::object::text;
use optimist_diagnose::message::{ObjectHint, PrintedError, ReportedError, reported_errors};
use optimist_diagnose::scene::{GivenParts, NoScene, Scene};
use serde_json::{Value, json};

fn forms() -> Vec<Value> {
    serde_json::from_str(include_str!("messages/forms.json")).expect("the file is a list")
}

/// Returns the error that was read, in the words of the file. Only the parts that the file has of
/// the error itself are compared.
fn read(error: &ReportedError, expected: &Value) -> Value {
    let ReportedError {
        tool,
        object:
            ObjectHint {
                api_version,
                kind,
                group,
                resource,
                namespace,
                is_namespace_of_run: _,
                name,
                subresource,
            },
        error,
        manager,
        address,
        patch,
    } = error;
    let printed = format!("{error:?}");
    let variant = printed.split([' ', '(', '{']).next().unwrap_or_default();
    let mut read = json!({"tool": tool.map(|tool| format!("{tool:?}")), "error": variant,
        "api_version": api_version, "kind": kind, "group": group, "resource": resource, "namespace": namespace,
        "name": name, "subresource": subresource, "manager": manager,
        "address": address, "patch": patch.map(|patch| format!("{patch:?}"))});
    match error {
        PrintedError::Apply(conflicts) => {
            let managers = conflicts.iter().map(|it| it.manager.as_str());
            read["managers"] = managers.collect::<Vec<_>>().into();
            let fields: usize = conflicts.iter().map(|it| it.fields.len()).sum();
            read["fields"] = fields.into();
        }
        PrintedError::Invalid { field, problem } => {
            read["field"] = field.as_str().into();
            if expected.get("problem").is_some() {
                read["problem"] = problem.as_str().into();
            }
        }
        PrintedError::PatchRefused { is_json } if expected.get("is_json").is_some() => {
            read["is_json"] = (*is_json).into();
        }
        PrintedError::Request(problem) => read["problem"] = format!("{problem:?}").into(),
        PrintedError::Tool(problem) => read["problem"] = format!("{problem:?}").into(),
        PrintedError::OtherConflict { reason } if expected.get("reason").is_some() => {
            read["reason"] = reason.as_str().into();
        }
        _ => {}
    }
    if let Some(members) = read.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    read
}

#[test]
fn each_form_names_its_tool_its_object_and_its_error_and_guesses_nothing() {
    let forms = forms();
    assert!(forms.len() >= 60, "{}", forms.len());
    let mut wrong = Vec::new();
    for form in &forms {
        let expected = form["errors"].as_array().expect("it is a list");
        let errors = reported_errors(text(form, "text"));
        let read: Vec<Value> = errors
            .iter()
            .enumerate()
            .map(|(at, error)| read(error, expected.get(at).unwrap_or(&Value::Null)))
            .collect();
        if read != *expected {
            let wanted = Value::from(expected.clone());
            wrong.push(format!(
                "{}\n  {}\n  {wanted}",
                text(form, "form"),
                Value::from(read)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_text_of_the_server_in_any_form_comes_again_or_is_refused_with_a_reason() {
    let (mut again, mut refused) = (0, Vec::new());
    for form in forms() {
        for error in reported_errors(text(&form, "text")) {
            match Scene::rebuild(&error, &GivenParts::default()) {
                Ok(scene) => {
                    let said = reported_errors(scene.message());
                    assert_eq!(said[0].error, error.error, "{}", text(&form, "form"));
                    again += 1;
                }
                Err(
                    NoScene::NotOfTheServer
                    | NoScene::NeedsObjects
                    | NoScene::OtherPart
                    | NoScene::NotOfObject,
                ) => {}
                Err(why) => refused.push(format!("{}: {why}", text(&form, "form"))),
            }
        }
    }
    assert!(again > 50, "{again}");
    // A server of v1.36 answers a PUT to a missing custom resource with 404, and `conditions` of a
    // definition are a keyed list now.
    let reasons: Vec<&str> = refused.iter().map(String::as_str).collect();
    assert_eq!(reasons.len(), 4, "{}", reasons.join("\n"));
    let older =
        |it: &&&str| it.ends_with("not found") || it.contains("Apply failed with 3 conflicts");
    assert_eq!(
        reasons.iter().filter(older).count(),
        4,
        "{}",
        reasons.join("\n")
    );
}
