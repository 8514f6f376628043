//! The cases, by name. What a page does with an answer belongs to them: it shows the object, who
//! owns its fields, code for the request, and keeps the session.

use http::Request;
use optimist_apiserver::apply::Owners;
use optimist_apiserver::server::ApiServer;
use optimist_client::{Write, changes, lines};
use optimist_code::{ClientRequest, client_go, kube_rs, kubectl};
use optimist_exports::{mermaid, report, script};
use optimist_lesson::Lesson;
use optimist_links::Session;
use optimist_simulation::{Action, ActorId, ByHand, HistoryTree, NGINX, Operation, World};
use serde_json::{Value, json};

use super::Steps;
use super::inputs::{SIZE, THINGS, config_map, definition, deployment, filled, thing};

/// Does a case.
pub type Case = fn(&mut Steps);

/// Every case.
pub const ALL: &[(&str, Case)] = &[
    ("aliases of 100 kB, 60,000 times", |s| {
        let aliases = vec!["*a"; 60_000].join(", ");
        let text = "x".repeat(100_000);
        load(
            s,
            &format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n  a: &a {text}\n  b: [{aliases}]\n"
            ),
        );
    }),
    ("schema: alternatives of every item", |s| {
        let one = json!({"type": "integer", "minimum": 7});
        every_item(s, &json!({"anyOf": vec![one; 6_000]}), "\"x\"");
    }),
    ("schema: allowed values of every item", |s| {
        let allowed: Vec<String> = (0..20_000).map(|i| i.to_string()).collect();
        every_item(s, &json!({"type": "string", "enum": allowed}), "\"x\"");
    }),
    ("schema: members that every item must have", |s| {
        let names: Vec<String> = (0..20_000).map(|i| i.to_string()).collect();
        every_item(s, &json!({"type": "object", "required": names}), "{}");
    }),
    ("schema: members that no item has", |s| {
        let members: serde_json::Map<String, Value> = (0..6_000)
            .map(|i| (i.to_string(), json!({"type": "string"})))
            .collect();
        every_item(s, &json!({"type": "object", "properties": members}), "{}");
    }),
    ("schema: a large expression, a long text", |s| {
        let schema = json!({"type": "object", "properties": {
            "t": {"type": "string", "pattern": "^(.?){1000}(.?){1000}x$"}}});
        let spec = json!({"t": "a".repeat(SIZE - 1000)}).to_string();
        self::schema(s, &schema, &spec, &spec);
    }),
    ("schema: large expressions", |s| {
        let members: serde_json::Map<String, Value> = (0..5_000)
            .map(|i| {
                (
                    i.to_string(),
                    json!({"type": "string", "pattern": "(.?){900}"}),
                )
            })
            .collect();
        let spec: serde_json::Map<String, Value> =
            (0..5_000).map(|i| (i.to_string(), "a".into())).collect();
        let spec = Value::from(spec).to_string();
        let schema = json!({"type": "object", "properties": members});
        self::schema(s, &schema, &spec, &spec);
    }),
    ("schema: small expressions", |s| {
        let schema = json!({"type": "object", "properties": {"l": {"type": "array",
            "items": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}}}});
        let spec = filled("{\"l\":[", "]}", ",", |i| format!("\"a-{i}\""));
        self::schema(s, &schema, &spec, &spec);
    }),
    ("documents: 1.25 million of none", |s| {
        load(s, &"---\n".repeat(1_250_000))
    }),
    ("documents: as many as fit", |s| {
        load(s, &filled("", "", "\n---\n", |i| format!("a: {i}")))
    }),
    ("documents: as many objects as fit", |s| {
        load(
            s,
            &filled("", "", "\n---\n", |i| {
                format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x{i}}}")
            }),
        );
    }),
    ("json patch: 9,000 moves over 200,000 items", |s| {
        moves(s, 200_000)
    }),
    ("json patch: 9,000 moves over 90,000 items", |s| {
        moves(s, 90_000)
    }),
    ("json patch: 18 doubling copies", |s| {
        let mut patch = vec![json!({"op": "add", "path": "/spec/a", "value": [[], [], []]})];
        patch.extend((0..18).map(
            |i| json!({"op": "copy", "from": "/spec/a", "path": format!("/spec/a/{}", i % 3)}),
        ));
        on_thing(
            s,
            "{}",
            "PATCH",
            "application/json-patch+json",
            &json!(patch).to_string(),
        );
    }),
    ("json patch: nesting moves", |s| {
        let one = r#"{"op":"add","path":"/spec/n","value":{}},{"op":"move","from":"/spec/a","path":"/spec/n/a"},{"op":"move","from":"/spec/n","path":"/spec/a"}"#;
        on_thing(
            s,
            r#"{"a":1}"#,
            "PATCH",
            "application/json-patch+json",
            &format!("[{}]", vec![one; 3_300].join(",")),
        );
    }),
    ("json patch: 9,000 tests of a large value", |s| {
        let spec = filled(r#"{"a":["#, "]}", ",", |i| i.to_string());
        let one = r#"{"op":"test","path":"/spec/a","value":[]}"#;
        on_thing(
            s,
            &spec,
            "PATCH",
            "application/json-patch+json",
            &format!("[{}]", vec![one; 9_000].join(",")),
        );
    }),
    ("defaults: in each of 20,000 items", |s| defaults(s, 20_000)),
    ("defaults: in each of 100,000 items", |s| {
        defaults(s, 100_000)
    }),
    ("POST of 3,000 containers", |s| {
        let containers: Vec<Value> = (0..3_000)
            .map(|i| json!({"name": format!("c{i}"), "image": "i", "ports": [{"containerPort": 80}]}))
            .collect();
        let pod = format!(r#""containers":{}"#, json!(containers));
        on_deployment(s, "POST", "application/json", &deployment(&pod));
    }),
    ("PUT of as many containers as fit", |s| {
        pod_list(s, "containers", |i| {
            format!(r#"{{"name":"c{i}","image":"i"}}"#)
        });
    }),
    ("apply of 20,000 finalizers", |s| {
        let finalizers: Vec<String> = (0..20_000).map(|i| format!("a.b/{i}")).collect();
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "finalizers": finalizers}});
        on_config_map(
            s,
            1,
            "PATCH",
            "application/apply-patch+yaml",
            &body.to_string(),
        );
    }),
    ("a fragment of 10 MB", |s| {
        let text = format!("1{}", "A".repeat(10 << 20));
        let _ = s.step("parse", || Session::parse(&text));
    }),
    ("a fragment that inflates to 16 MB", |s| {
        let body = format!("{{\"m\":\"{}\"}}", " ".repeat((16 << 20) - 100));
        open(s, &body);
    }),
    ("a link of 20,000 steps", |s| {
        open(
            s,
            &json!({"n": vec![json!(["g", "A"]); 20_000], "i": 20_000}).to_string(),
        );
    }),
    ("10,000 keys", |s| {
        on_config_map(
            s,
            10_000,
            "PATCH",
            "application/merge-patch+json",
            &config_map(10_000).to_string().replace(":\"", ":\"1"),
        );
    }),
    ("10,000 keys applied", |s| {
        on_config_map(
            s,
            10_000,
            "PATCH",
            "application/apply-patch+yaml",
            &config_map(10_000).to_string(),
        );
    }),
    ("brackets", |s| {
        every_body(s, &"[".repeat(super::inputs::SIZE))
    }),
    ("nested maps", |s| {
        every_body(s, &filled("", "", "", |_| r#"{"a":"#.to_owned()))
    }),
    ("scalars", |s| {
        every_body(s, &filled("[", "]", ",", |_| "0".to_owned()))
    }),
    ("keys", |s| {
        every_body(s, &filled("{", "}", ",", |i| format!("\"{i}\":0")))
    }),
    ("one key again and again", |s| {
        every_body(s, &filled("{", "}", ",", |_| "\"a\":0".to_owned()))
    }),
    ("labels", |s| {
        metadata(s, "labels", |i| format!("\"l{i}\":\"\""))
    }),
    ("annotations", |s| {
        metadata(s, "annotations", |i| format!("\"l{i}\":\"\""))
    }),
    ("owners", |s| {
        metadata_list(s, "ownerReferences", |i| {
            format!(r#"{{"apiVersion":"v1","kind":"k","name":"n","uid":"{i}"}}"#)
        })
    }),
    ("managers", |s| {
        metadata_list(s, "managedFields", |i| {
            format!(
                r#"{{"manager":"m{i}","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{{"f:data":{{"f:k{i}":{{}}}}}}}}"#
            )
        })
    }),
    ("variables", |s| {
        container_list(s, "env", |i| format!(r#"{{"name":"A{i}"}}"#))
    }),
    ("equal variables", |s| {
        container_list(s, "env", |_| r#"{"name":"A"}"#.to_owned())
    }),
    ("ports", |s| {
        container_list(s, "ports", |i| format!(r#"{{"containerPort":{i}}}"#))
    }),
    ("equal ports", |s| {
        container_list(s, "ports", |_| r#"{"containerPort":8}"#.to_owned())
    }),
    ("ports of the host", |s| {
        container_list(s, "ports", |i| {
            format!(r#"{{"containerPort":8,"hostPort":{i}}}"#)
        })
    }),
    ("mounts", |s| {
        container_list(s, "volumeMounts", |i| {
            format!(r#"{{"name":"v","mountPath":"/{i}"}}"#)
        })
    }),
    ("volumes", |s| {
        pod_list(s, "volumes", |i| format!(r#"{{"name":"v{i}"}}"#))
    }),
    ("tolerations", |s| {
        pod_list(s, "tolerations", |i| {
            format!(r#"{{"key":"v{i}","operator":"Exists"}}"#)
        })
    }),
    ("host aliases", |s| {
        pod_list(s, "hostAliases", |_| r#"{"ip":"1.1.1.1"}"#.to_owned())
    }),
    ("unknown fields", |s| {
        pod_list(s, "containers", |i| format!(r#"{{"u{i}":1}}"#))
    }),
    ("service ports", |s| {
        let body = filled(
            r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"x"},"spec":{"type":"NodePort","ports":["#,
            "]}}",
            ",",
            |i| format!(r#"{{"name":"p{i}","port":{}}}"#, i % 65_535 + 1),
        );
        let mut tree = tree(NGINX);
        request(
            s,
            &mut tree,
            "POST",
            "/api/v1/namespaces/default/services",
            "application/json",
            &body,
        );
    }),
    ("items of a keyed list", |s| {
        let spec = json!({"type": "object", "properties": {"l": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "properties":
            {"k": {"type": "string"}, "v": {"type": "integer"}}, "required": ["k"]}}}});
        let items = |v: usize| {
            filled(r#"{"l":["#, "]}", ",", |i| {
                format!(r#"{{"k":"k{i}","v":{v}}}"#)
            })
        };
        schema(s, &spec, &items(1), &items(2));
    }),
    ("items of a set", |s| {
        let spec = json!({"type": "object", "properties": {"l": {"type": "array", "x-kubernetes-list-type": "set",
            "items": {"type": "string"}}}});
        let items = |v: &str| filled(r#"{"l":["#, "]}", ",", |i| format!("\"{v}{i}\""));
        schema(s, &spec, &items("a"), &items("b"));
    }),
    ("items that are all mistaken", |s| {
        let spec = json!({"type": "object", "properties": {"l": {"type": "array", "uniqueItems": false,
            "items": {"type": "string"}}}});
        let items = |v: usize| filled(r#"{"l":["#, "]}", ",", |i| format!("{v}{i}"));
        schema(s, &spec, &items(1), &items(2));
    }),
    ("strategic patch of items", |s| {
        let body = |v: &str| {
            filled(
                r#"{"spec":{"template":{"spec":{"containers":["#,
                "]}}}}",
                ",",
                |i| format!(r#"{{"name":"c{i}","image":"{v}"}}"#),
            )
        };
        strategic(s, &body("a"), &body("b"));
    }),
    ("strategic patch that deletes items", |s| {
        let body = |v: &str| {
            filled(
                r#"{"spec":{"template":{"spec":{"containers":["#,
                "]}}}}",
                ",",
                |i| format!(r#"{{"name":"c{i}","{v}":"delete"}}"#),
            )
        };
        strategic(s, &body("image"), &body("$patch"));
    }),
    ("strategic patch of finalizers", |s| {
        let body = |v: &str| {
            filled(r#"{"metadata":{"finalizers":["#, "]}}", ",", |i| {
                format!("\"a/{v}{i}\"")
            })
        };
        strategic(s, &body(""), &body("b"));
    }),
    ("strategic patch of an order", |s| {
        let items = filled(
            r#"{"spec":{"template":{"spec":{"containers":["#,
            "]}}}}",
            ",",
            |i| format!(r#"{{"name":"c{i}","image":"a"}}"#),
        );
        let order = filled(
            r#"{"spec":{"template":{"spec":{"$setElementOrder/containers":["#,
            "]}}}}",
            ",",
            |i| format!(r#"{{"name":"c{}"}}"#, 20_000 - i),
        );
        strategic(s, &items, &order);
    }),
    ("a long selector", |s| {
        let selector = filled("a%20in%20(", ")", ",", |i| i.to_string());
        let mut tree = tree(NGINX);
        let target = format!(
            "/api/v1/namespaces/default/configmaps?labelSelector={}",
            &selector[..selector.len().min(60_000)]
        );
        request(s, &mut tree, "GET", &target, "", "");
    }),
    ("a lesson of brackets", |s| {
        lesson(
            s,
            &filled("title: x\nteaches: ", "", "", |_| "[".to_owned()),
        )
    }),
    ("a lesson of steps", |s| {
        lesson(
            s,
            &filled("title: x\nteaches: y\nsteps:\n", "", "\n", |i| {
                format!("- title: s{i}\n  do: [A: get]")
            }),
        )
    }),
    ("a lesson of keys", |s| {
        lesson(s, &filled("", "", "\n", |i| format!("k{i}: 1")))
    }),
    ("yaml: anchors in anchors", |s| {
        every_body(
            s,
            &(0..90).fold(filled("[", "]", ",", |_| "1".to_owned()), |inner, i| {
                format!("&n{i} [{inner}]")
            }),
        );
    }),
    ("yaml: anchors and aliases", |s| {
        every_body(s, &filled("", "", "\n", |i| format!("- &a{i} 1\n- *a0")))
    }),
    ("yaml: merged keys", |s| {
        every_body(
            s,
            &filled("a: &a {b: 1}\nc:\n", "", "\n", |_| "  <<: *a".to_owned()),
        )
    }),
    ("yaml: question marks", |s| {
        every_body(s, &"? ".repeat(super::inputs::SIZE / 2))
    }),
    ("yaml: dashes", |s| {
        every_body(s, &"- ".repeat(super::inputs::SIZE / 2))
    }),
    ("yaml: an open quote", |s| {
        every_body(s, &filled("a: \"", "", "\n", |_| "x".to_owned()))
    }),
    ("yaml: tabs and breaks", |s| {
        every_body(s, &"\t\n".repeat(super::inputs::SIZE / 2))
    }),
    ("yaml: one long line", |s| {
        every_body(s, &format!("a: {}", "x: ".repeat(super::inputs::SIZE / 3)))
    }),
];

fn tree(manifests: &str) -> HistoryTree {
    let world = World::load(manifests).unwrap_or_else(|error| panic!("{error}"));
    HistoryTree::new(world.0)
}

/// Loads manifests, and works with what comes of them.
fn load(steps: &mut Steps, manifests: &str) {
    if let Ok((world, _)) = steps.step("load", || World::load(manifests)) {
        let mut tree = HistoryTree::new(world);
        shown(steps, &mut tree);
    }
}

/// Opens a link that has this packed in it, a step at a time.
fn open(steps: &mut Steps, json: &str) {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let deflated = miniz_oxide::deflate::compress_to_vec(json.as_bytes(), 6);
    let text = format!("1{}", URL_SAFE_NO_PAD.encode(deflated));
    let Ok(session) = steps.step("parse", || Session::parse(&text)) else {
        return;
    };
    let mut replay = session.replay();
    loop {
        match steps.step("replay", || replay.advance(1)) {
            Ok(None) => {}
            Ok(Some(mut tree)) => return shown(steps, &mut tree),
            Err(_) => return,
        }
    }
}

/// Sends a request by hand as editor B; A reads before and after, and has an edit to send.
fn request(
    steps: &mut Steps,
    tree: &mut HistoryTree,
    method: &str,
    target: &str,
    media: &str,
    body: &str,
) {
    let by_hand = ByHand {
        method: method.to_owned(),
        target: target.to_owned(),
        content_type: media.to_owned(),
        body: body.to_owned(),
    };
    let mut act = |name: &str, actor, action| {
        steps.step(name, || tree.act(Operation::Act(actor, action)));
    };
    act("get", ActorId::A, Action::Get);
    act("request", ActorId::B, Action::Request(by_hand.clone()));
    act("request again", ActorId::B, Action::Request(by_hand));
    act("get again", ActorId::A, Action::Get);
    act("send", ActorId::A, Action::Send(Write::default()));
    shown(steps, tree);
}

/// Does the work by which the page shows and keeps a history.
fn shown(steps: &mut Steps, tree: &mut HistoryTree) {
    let stored = tree.world().stored().map(|(_, object)| object.clone());
    if let Some(object) = &stored {
        let lines = steps.step("lines", || lines(object));
        let owners = steps.step("owners", || {
            Owners::read(object, &tree.world().resource().root)
        });
        steps.step("owners of lines", || {
            lines
                .iter()
                .map(|line| owners.at(&line.pointer).len())
                .sum::<usize>()
        });
        let origin = tree.origin().stored().map(|(_, object)| object.clone());
        if let Some(origin) = origin {
            steps.step("changes", || changes(&origin, object));
        }
    }
    for id in tree.current_path().to_vec() {
        let (Some(step), Some(world)) = (tree.step(id), tree.world_at(id)) else {
            continue;
        };
        if let Some(call) = ClientRequest::of_step(world, step) {
            steps.step("kubectl", || kubectl(&call));
            steps.step("client-go", || client_go(&call));
            steps.step("kube-rs", || kube_rs(&call));
        }
        steps.step("headline", || step.headline().to_string());
    }
    steps.step("markdown", || report(tree));
    steps.step("mermaid", || mermaid(tree));
    steps.step("script", || script(tree));
    let session = steps.step("session", || Session::from_tree(tree));
    steps.step("link", || session.to_text());
}

fn moves(steps: &mut Steps, items: usize) {
    let list: Vec<usize> = vec![0; items];
    let one = r#"{"op":"move","from":"/spec/l/0","path":"/spec/l/-"}"#;
    let patch = format!("[{}]", vec![one; 9_000].join(","));
    let spec = json!({"l": list}).to_string();
    on_thing(steps, &spec, "PATCH", "application/json-patch+json", &patch);
}

fn defaults(steps: &mut Steps, items: usize) {
    let default = json!({"a": "some text that is not short", "b": [1, 2, 3], "c": {"d": true}});
    let schema = json!({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "object",
        "properties": {"d": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "default": default}}}}}});
    let spec = json!({"l": vec![json!({}); items]}).to_string();
    self::schema(steps, &schema, &spec, &spec);
}

/// A request to a Thing whose spec may be anything.
fn on_thing(steps: &mut Steps, spec: &str, method: &str, media: &str, body: &str) {
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let manifests = format!("{}\n---\n{}", definition(&any), thing(spec));
    if let Ok((world, _)) = steps.step("load", || World::load(&manifests)) {
        let mut tree = HistoryTree::new(world);
        request(
            steps,
            &mut tree,
            method,
            &format!("{THINGS}/x"),
            media,
            body,
        );
    }
}

/// Thing has as many items as fit, under a schema of each.
fn every_item(steps: &mut Steps, item: &Value, value: &str) {
    let schema = json!({"type": "object", "properties": {"l": {"type": "array", "items": item}}});
    let spec = filled("{\"l\":[", "]}", ",", |_| value.to_owned());
    self::schema(steps, &schema, &spec, &spec);
}

/// Thing is created, updated and applied under a schema.
fn schema(steps: &mut Steps, schema: &Value, before: &str, after: &str) {
    let manifests = format!("{}\n---\n{}", definition(schema), thing(before));
    if let Ok((world, _)) = steps.step("load", || World::load(&manifests)) {
        let mut tree = HistoryTree::new(world);
        let target = format!("{THINGS}/x");
        request(
            steps,
            &mut tree,
            "PUT",
            &target,
            "application/json",
            &thing(after),
        );
        let apply = "application/apply-patch+yaml";
        let target = format!("{target}?fieldManager=m&force=true");
        request(steps, &mut tree, "PATCH", &target, apply, &thing(before));
    }
}

fn on_config_map(steps: &mut Steps, keys: usize, method: &str, media: &str, body: &str) {
    let manifests = config_map(keys).to_string();
    let mut tree = steps.step("load", || tree(&manifests));
    let target = "/api/v1/namespaces/default/configmaps/x?fieldManager=m&force=true";
    request(steps, &mut tree, method, target, media, body);
}

fn on_deployment(steps: &mut Steps, method: &str, media: &str, body: &str) {
    let mut tree = tree(NGINX);
    let collection = "/apis/apps/v1/namespaces/default/deployments";
    request(steps, &mut tree, method, collection, media, body);
    drop(tree);
    load(steps, body);
    let target = format!("{collection}/x?fieldManager=m&force=true");
    let mut tree = match World::load(body) {
        Ok((world, _)) => HistoryTree::new(world),
        Err(_) => return,
    };
    request(
        steps,
        &mut tree,
        "PUT",
        &format!("{collection}/x"),
        "application/json",
        body,
    );
    request(
        steps,
        &mut tree,
        "PATCH",
        &target,
        "application/apply-patch+yaml",
        body,
    );
    request(
        steps,
        &mut tree,
        "PATCH",
        &target,
        "application/strategic-merge-patch+json",
        body,
    );
}

fn pod_list(steps: &mut Steps, name: &str, item: impl Fn(usize) -> String) {
    let (begin, end) = (format!("\"{name}\":["), "]");
    let others = match name {
        "containers" => "",
        _ => r#","containers":[{"name":"c","image":"i"}]"#,
    };
    let list = filled(&begin, end, ",", item);
    on_deployment(
        steps,
        "POST",
        "application/json",
        &deployment(&format!("{list}{others}")),
    );
}

fn container_list(steps: &mut Steps, name: &str, item: impl Fn(usize) -> String) {
    let list = filled(&format!("\"{name}\":["), "]", ",", item);
    let pod = format!(r#""containers":[{{"name":"c","image":"i",{list}}}]"#);
    on_deployment(steps, "POST", "application/json", &deployment(&pod));
}

fn metadata(steps: &mut Steps, name: &str, item: impl Fn(usize) -> String) {
    with_metadata(steps, &filled(&format!("\"{name}\":{{"), "}", ",", item));
}

fn metadata_list(steps: &mut Steps, name: &str, item: impl Fn(usize) -> String) {
    with_metadata(steps, &filled(&format!("\"{name}\":["), "]", ",", item));
}

fn with_metadata(steps: &mut Steps, member: &str) {
    let body =
        format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"x",{member}}}}}"#);
    load(steps, &body);
    for (method, media) in [
        ("PUT", "application/json"),
        ("PATCH", "application/merge-patch+json"),
        ("PATCH", "application/apply-patch+yaml"),
    ] {
        on_config_map(steps, 1, method, media, &body);
    }
}

/// A strategic merge patch, and another one on its result.
fn strategic(steps: &mut Steps, first: &str, second: &str) {
    let mut tree = tree(NGINX);
    let target = "/apis/apps/v1/namespaces/default/deployments/nginx-deployment";
    for body in [first, second] {
        request(
            steps,
            &mut tree,
            "PATCH",
            target,
            "application/strategic-merge-patch+json",
            body,
        );
    }
}

/// A text as a manifest, a lesson, and the body of every kind of request.
fn every_body(steps: &mut Steps, text: &str) {
    load(steps, text);
    lesson(steps, text);
    let mut server = ApiServer::default();
    let object = config_map(1).to_string();
    let send = |server: &mut ApiServer, method: &str, path: &str, media: &str, body: &str| {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", media);
        if let Ok(request) = request.body(body.as_bytes().to_vec()) {
            server.handle(request);
        }
    };
    let path = "/api/v1/namespaces/default/configmaps";
    send(&mut server, "POST", path, "application/json", &object);
    let one = format!("{path}/x?fieldManager=m&fieldValidation=Strict");
    for (method, media) in [
        ("PUT", "application/json"),
        ("PUT", "application/yaml"),
        ("DELETE", "application/json"),
        ("PATCH", "application/json-patch+json"),
        ("PATCH", "application/merge-patch+json"),
        ("PATCH", "application/strategic-merge-patch+json"),
        ("PATCH", "application/apply-patch+yaml"),
    ] {
        steps.step(media, || {
            send(&mut server.clone(), method, &one, media, text)
        });
    }
}

fn lesson(steps: &mut Steps, text: &str) {
    let _ = steps.step("lesson", || Lesson::parse(text));
}
