//! A preview equals what happens: random objects that several clients wrote, and random manifests. All of
//! them are applied to a server here, by requests of this file alone, and the objects before and after
//! are compared without the code of the preview.

use std::collections::{BTreeMap, BTreeSet};

use crate::written::{histories, number, object_of, runner, tell};
use http::Request;
use optimist_apiserver::server::{ApiServer, Release, Selector};
use optimist_client::Preset;
use optimist_diagnose::preview::{
    DeliveryTool, FieldChangeKind, Preview, PreviewInput, PreviewOutcome, PreviewRow, Pruning,
    Trouble,
};
use optimist_diagnose::ways::ReleaseMethod;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Value, json};

/// Objects of a cluster, and what is written.
#[derive(Debug)]
struct Chart {
    live: Vec<Value>,
    next: Vec<Value>,
    tool: DeliveryTool,
}

fn rename(mut object: Value, at: usize) -> Value {
    object["metadata"]["name"] = format!("o{at}").into();
    object
}

/// The label of a member of an ApplySet, and the set.
const PART_OF: (&str, &str) = ("applyset.kubernetes.io/part-of", "applyset-a-v1");

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn tool(runner: &mut proptest::test_runner::TestRunner) -> Option<DeliveryTool> {
    let tools = [
        (Preset::Helm4, Pruning::None),
        (Preset::Terraform, Pruning::None),
        (
            Preset::KubectlApplyServerSide,
            Pruning::ApplySet {
                id: PART_OF.1.to_owned(),
            },
        ),
        // kubectl takes a selector only with client-side apply. What it deletes does not depend on how it writes.
        (
            Preset::KubectlApplyServerSide,
            Pruning::Selected(Selector::parse("app=shop", "").ok()?),
        ),
    ];
    let chosen = (0..tools.len()).new_tree(runner).ok()?.current();
    let (preset, prune) = tools.into_iter().nth(chosen)?;
    Some(DeliveryTool {
        force: any::<bool>().new_tree(runner).ok()?.current(),
        last_release: Some(ReleaseMethod::ServerSide),
        manager: preset.is_kubectl().then(|| "deployer".to_owned()),
        prune,
        ..DeliveryTool::new(preset)
    })
}

fn chart(runner: &mut proptest::test_runner::TestRunner) -> Option<Chart> {
    let tool = tool(runner)?;
    let how_many = (1..5usize).new_tree(runner).ok()?.current();
    let (mut live, mut next) = (Vec::new(), Vec::new());
    for at in 0..how_many {
        let (writes, last) = histories().new_tree(runner).ok()?.current();
        let kind = (0..5u8).new_tree(runner).ok()?.current();
        let object = object_of(&writes)?;
        let mut object = rename((**object.object()?).clone(), at);
        object["metadata"]["uid"] = format!("u{at}").into();
        object["metadata"]["resourceVersion"] = (5000 + at * 10).to_string().into();
        let mut manifest = rename(last.manifest, at);
        if tool.preset.is_kubectl() {
            // kubectl would send a patch of the owners first.
            if object.to_string().contains(LAST_APPLIED) {
                return None;
            }
            let marks = any::<[bool; 4]>().new_tree(runner).ok()?.current();
            mark(&mut object, &mut manifest, marks);
        }
        if kind == 0 && tool.preset == Preset::Helm4 {
            // The server refuses it, and Helm stops.
            manifest["metadata"]["labels"]["a b"] = "".into();
        }
        if kind != 0 {
            live.push(object);
        }
        if kind != 1 {
            next.push(manifest);
        }
    }
    Some(Chart { live, next, tool })
}

/// Gives an object and its manifest some of the labels and annotations by which kubectl decides what it writes and
/// deletes.
fn mark(object: &mut Value, manifest: &mut Value, marks: [bool; 4]) {
    let [app, of_manifest, of_set, applied] = marks;
    if app {
        object["metadata"]["labels"]["app"] = "shop".into();
    }
    if of_manifest {
        manifest["metadata"]["labels"]["app"] = "shop".into();
    }
    if of_set || !app {
        let set = if of_set { PART_OF.1 } else { "applyset-b-v1" };
        object["metadata"]["labels"][PART_OF.0] = set.into();
    }
    // Without owners, the first apply would make an owner of it, which kubectl would migrate.
    let has_owners = !object["metadata"]["managedFields"]
        .as_array()
        .is_none_or(Vec::is_empty);
    if applied && has_owners {
        object["metadata"]["annotations"][LAST_APPLIED] = "{}".into();
    }
}

/// Returns whether the tool writes a manifest.
fn writes(tool: &DeliveryTool, manifest: &Value) -> bool {
    !matches!(tool.prune, Pruning::Selected(_)) || manifest["metadata"]["labels"]["app"] == "shop"
}

/// The outcome of an object that no manifest names, after writes with these codes.
fn outcome_of_other(chart: &Chart, object: &Value, codes: &[u16]) -> PreviewOutcome {
    let labels = &object["metadata"]["labels"];
    let deletes = match &chart.tool.prune {
        // Everything was in the last release, and in the state. Without its state, nobody can say what Terraform
        // deletes.
        Pruning::None => knows_earlier(chart),
        Pruning::ApplySet { .. } => labels[PART_OF.0] == PART_OF.1,
        // In the namespaces of the manifests.
        _ => {
            !codes.is_empty()
                && labels["app"] == "shop"
                && object["metadata"]["annotations"][LAST_APPLIED].is_string()
        }
    };
    let is_refused = codes.iter().any(|code| *code >= 300);
    match (deletes, is_refused) {
        (false, _) => PreviewOutcome::NotTouched,
        (true, true) if chart.tool.preset != Preset::Terraform => PreviewOutcome::KeptForNow,
        (true, _) => PreviewOutcome::Deleted,
    }
}

fn path(object: &Value) -> String {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    match object["kind"].as_str() {
        Some("Deployment") => format!("/apis/apps/v1/namespaces/shop/deployments/{name}"),
        _ => format!("/api/v1/namespaces/shop/configmaps/{name}"),
    }
}

fn send(
    server: &mut ApiServer,
    method: &str,
    target: &str,
    media: &str,
    body: &Value,
) -> (u16, Value) {
    let body = if method == "GET" {
        Vec::new()
    } else {
        body.to_string().into_bytes()
    };
    let request = Request::builder()
        .method(method)
        .uri(target)
        .header("content-type", media)
        .header("user-agent", "judge");
    let response = server.handle(request.body(body).unwrap());
    let answer = serde_json::from_slice(response.body()).unwrap_or_default();
    (response.status().as_u16(), answer)
}

fn read(server: &mut ApiServer, object: &Value) -> Option<Value> {
    let (code, answer) = send(server, "GET", &path(object), "", &Value::Null);
    (code == 200).then_some(answer)
}

/// The content: without what the server writes itself.
fn content(object: &Value) -> Value {
    let mut object = object.clone();
    for field in [
        "managedFields",
        "resourceVersion",
        "generation",
        "uid",
        "creationTimestamp",
    ] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    object
}

/// The leaves of a value, by the paths that messages print, each with its members of `fieldsV1`.
fn leaves(
    value: &Value,
    at: (String, Vec<String>),
    found: &mut BTreeMap<String, (Value, Vec<String>)>,
) {
    let (printed, members) = at;
    let next = |text: String, member: String| {
        let mut members = members.clone();
        members.push(member);
        (format!("{printed}{text}"), members)
    };
    match value {
        Value::Object(all)
            if !all.is_empty()
                && !printed.ends_with("matchLabels")
                && !printed.ends_with(".selector") =>
        {
            for (name, value) in all {
                leaves(value, next(format!(".{name}"), format!("f:{name}")), found);
            }
        }
        Value::Array(all) if all.iter().all(|it| it["name"].is_string()) && !all.is_empty() => {
            for item in all {
                let key = json!({"name": item["name"]}).to_string();
                let text = format!("[name={}]", item["name"]);
                leaves(item, next(text, format!("k:{key}")), found);
            }
        }
        leaf => drop(found.insert(printed, (leaf.clone(), members))),
    }
}

fn all_leaves(object: &Value) -> BTreeMap<String, (Value, Vec<String>)> {
    let mut found = BTreeMap::new();
    leaves(&content(object), (String::new(), Vec::new()), &mut found);
    found
}

/// Returns whether another manager than the writer owns a field.
fn is_of_another(object: &Value, members: &[String], writer: &str) -> bool {
    let entries = object["metadata"]["managedFields"].as_array();
    entries.into_iter().flatten().any(|entry| {
        let mut at = Some(&entry["fieldsV1"]);
        for member in members {
            at = at.and_then(|at| at.get(member));
        }
        at.is_some() && entry["manager"] != writer
    })
}

/// The fields whose values differ, and those of them that others own.
fn differing(before: &Value, after: &Value, writer: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (old, new) = (all_leaves(before), all_leaves(after));
    let differs = |at: &&String| old.get(*at).map(|it| &it.0) != new.get(*at).map(|it| &it.0);
    let fields: BTreeSet<String> = old
        .keys()
        .chain(new.keys())
        .filter(differs)
        .cloned()
        .collect();
    let of_others = old.iter().filter(|(at, (_, members))| {
        fields.contains(*at) && is_of_another(before, members, writer)
    });
    let of_others = of_others.map(|(at, _)| at.clone()).collect();
    (fields, of_others)
}

fn fields(row: &PreviewRow, wanted: impl Fn(FieldChangeKind) -> bool) -> BTreeSet<String> {
    let fields = row.fields.iter().filter(|it| wanted(it.change));
    fields.map(|it| it.field.clone()).collect()
}

/// Returns whether both name the same fields. A row can name an item of a list for all its members.
fn same(said: &BTreeSet<String>, leaves: &BTreeSet<String>) -> bool {
    let covers = |said: &String, leaf: &String| {
        let rest = leaf.strip_prefix(said.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    leaves
        .iter()
        .all(|leaf| said.iter().any(|it| covers(it, leaf)))
        && said
            .iter()
            .all(|it| leaves.iter().any(|leaf| covers(it, leaf)))
}

/// Compares a row with what happened to its object.
fn judge(
    row: &PreviewRow,
    before: Option<&Value>,
    after: Option<&Value>,
    sent: &(u16, Value),
    writer: &str,
) -> Result<(), String> {
    let (code, answer) = sent;
    let causes = answer["details"]["causes"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let refused: BTreeSet<String> = causes
        .iter()
        .filter(|it| it["reason"] == "FieldManagerConflict")
        .map(|it| it["field"].as_str().unwrap_or_default().to_owned())
        .collect();
    let expected = match (before, after) {
        _ if *code == 409 && !refused.is_empty() => PreviewOutcome::Conflict,
        _ if [400, 422].contains(code) => PreviewOutcome::Invalid,
        _ if *code >= 300 => PreviewOutcome::Refused,
        (None, Some(_)) => PreviewOutcome::Created,
        (Some(a), Some(b)) if content(a) != content(b) => PreviewOutcome::Changed,
        _ => PreviewOutcome::Unchanged,
    };
    if row.outcome != expected || row.code != Some(*code) {
        return Err(format!(
            "{:?} {:?}, and it is {expected:?} {code}",
            row.outcome, row.code
        ));
    }
    let said = fields(row, |it| it == FieldChangeKind::Refused);
    if said != refused {
        return Err(format!("refused: {refused:?}, said: {said:?}"));
    }
    let (Some(before), Some(after)) = (before, after) else {
        return Ok(());
    };
    let (changed, of_others) = differing(before, after, writer);
    let said = row
        .fields
        .iter()
        .filter(|it| it.before != it.after && it.change != FieldChangeKind::Refused);
    let said: BTreeSet<String> = said.map(|it| it.field.clone()).collect();
    if !same(&said, &changed) {
        return Err(format!("said {said:?}, changed {changed:?}"));
    }
    let overwritten = fields(row, |it| it == FieldChangeKind::Overwritten);
    if !same(&overwritten, &of_others) {
        return Err(format!(
            "overwritten {overwritten:?}, of others {of_others:?}"
        ));
    }
    Ok(())
}

/// Returns whether the last release, or Terraform's state, is given.
fn knows_earlier(chart: &Chart) -> bool {
    match chart.tool.preset {
        Preset::Helm4 => true,
        Preset::Terraform => chart.next.len().is_multiple_of(2),
        _ => false,
    }
}

/// Returns the position from which Helm does not come to the manifests: the one after the first that it cannot create, in
/// its order of kinds. It tries to create all if there is no release.
fn unreached_from(chart: &Chart, order: &[&Value], codes: &[u16], existed: &[bool]) -> usize {
    if chart.tool.preset != Preset::Helm4 || chart.live.is_empty() {
        return order.len();
    }
    let mut refused = codes.iter().zip(existed);
    let refused = refused.position(|(code, existed)| *code >= 300 && !existed);
    refused.map_or(order.len(), |at| at + 1)
}

/// Returns a row as it would be if the tool came to its object, or what is wrong with a row to which it does not come.
fn reached(row: &PreviewRow, is_reached: bool, code: u16) -> Result<PreviewRow, String> {
    let mut reached = row.clone();
    let is_left = row.troubles.contains(&Trouble::NotReached);
    let changes = row.outcome.is_refusal()
        || row.intended() != PreviewOutcome::Unchanged
        || !row.fields.is_empty();
    if is_left != (!is_reached && changes) {
        return Err(format!(
            "left {is_left}, and the tool comes to it: {is_reached}"
        ));
    }
    if let Some(later) = row.later {
        if row.outcome != PreviewOutcome::NotReached || row.code.is_some() || is_reached {
            return Err("later, although the tool comes to it".to_owned());
        }
        (reached.outcome, reached.code) = (later, Some(code));
    }
    Ok(reached)
}

/// Applies the whole set, and compares.
fn check(chart: &Chart) -> Result<Vec<PreviewOutcome>, String> {
    let input = PreviewInput {
        left_out: Vec::new(),
        live: chart.live.clone(),
        next: chart.next.clone(),
        earlier: knows_earlier(chart).then(|| chart.live.clone()),
        tool: chart.tool.clone(),
        namespace: None,
        release: Release::default(),
    };
    let preview = Preview::run(input.clone());
    if Preview::on_threads(input, 3) != preview {
        return Err("several threads make another preview".to_owned());
    }
    let mut server = ApiServer::default();
    let namespace = json!({"metadata": {"name": "shop"}});
    send(
        &mut server,
        "POST",
        "/api/v1/namespaces",
        "application/json",
        &namespace,
    );
    for object in &chart.live {
        server
            .install(object.clone())
            .map_err(|error| error.to_string())?;
    }
    let (writer, strict) = match chart.tool.preset {
        Preset::Helm4 => ("helm", "&fieldValidation=Strict"),
        Preset::Terraform => ("Terraform", ""),
        _ => ("deployer", "&fieldValidation=Strict"),
    };
    let (mut outcomes, mut codes) = (Vec::new(), Vec::new());
    let named = |row: &&PreviewRow, object: &Value| {
        object["kind"] == row.object.kind.as_str()
            && object["metadata"]["name"] == row.object.name.as_str()
    };
    let mut written: Vec<&Value> = chart
        .next
        .iter()
        .filter(|it| writes(&chart.tool, it))
        .collect();
    if chart.tool.preset == Preset::Helm4 {
        // ConfigMaps come before Deployments.
        written.sort_by_key(|it| it["kind"].as_str().map(str::to_owned));
    }
    let mut existed = Vec::new();
    for manifest in &written {
        let mut manifest = (*manifest).clone();
        if matches!(chart.tool.prune, Pruning::ApplySet { .. }) {
            manifest["metadata"]["labels"][PART_OF.0] = PART_OF.1.into();
        }
        let manifest = &manifest;
        let row = preview
            .rows
            .iter()
            .find(|row| named(row, manifest))
            .ok_or("a row for each manifest")?;
        let before = read(&mut server, manifest);
        existed.push(before.is_some());
        let target = format!(
            "{}?fieldManager={writer}&force={}{strict}",
            path(manifest),
            chart.tool.force
        );
        let sent = send(
            &mut server,
            "PATCH",
            &target,
            "application/apply-patch+yaml",
            manifest,
        );
        let after = read(&mut server, manifest);
        codes.push(sent.0);
        let left = unreached_from(chart, &written, &codes, &existed);
        let judged = reached(row, codes.len() <= left, sent.0)
            .and_then(|row| judge(&row, before.as_ref(), after.as_ref(), &sent, writer));
        judged.map_err(|why| format!("{why}\n{row:#?}\nbefore {before:?}\nafter {after:?}"))?;
        outcomes.push(row.outcome);
    }
    for object in &chart.live {
        let row = preview
            .rows
            .iter()
            .find(|row| named(row, object))
            .ok_or("a row for each object")?;
        if written.iter().any(|manifest| named(&row, manifest)) {
            continue;
        }
        let expected = outcome_of_other(chart, object, &codes);
        if row.outcome != expected {
            return Err(format!(
                "{:?} of what only the cluster has, and it is {expected:?}",
                row.outcome
            ));
        }
        outcomes.push(row.outcome);
    }
    Ok(outcomes)
}

#[test]
fn a_preview_equals_applying_everything_and_comparing() {
    let mut runner = runner();
    let wanted = 60 * number("OPTIMIST_CLAIMS", 1);
    let (mut done, mut counts) = (0, BTreeMap::new());
    for _ in 0..wanted * 8 {
        if done == wanted {
            break;
        }
        let Some(chart) = chart(&mut runner) else {
            continue;
        };
        let outcomes = check(&chart).unwrap_or_else(|why| panic!("{chart:#?}\n{why}"));
        for outcome in outcomes {
            *counts.entry(outcome).or_insert(0) += 1;
        }
        done += 1;
    }
    assert_eq!(done, wanted);
    for outcome in [
        PreviewOutcome::Conflict,
        PreviewOutcome::Deleted,
        PreviewOutcome::KeptForNow,
        PreviewOutcome::NotReached,
        PreviewOutcome::Changed,
        PreviewOutcome::Created,
        PreviewOutcome::Unchanged,
        PreviewOutcome::NotTouched,
    ] {
        assert!(
            counts.contains_key(&outcome),
            "{outcome:?} never happened: {counts:?}"
        );
    }
    let counts: Vec<String> = counts
        .iter()
        .map(|(outcome, count)| format!("{outcome:?} {count}"))
        .collect();
    tell(
        "previews of random charts that equal what happened",
        &format!("{done} ({})", counts.join(", ")),
    );
}
