//! Values that look private are found everywhere in a session, and can be removed from it.

use crate::session::{edit, reopened};
use optimist_client::Write;
use optimist_links::Session;
use optimist_simulation::{Action, ActorId, ByHand, HistoryTree, Operation, World};
use proptest::prelude::*;

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: web
        args: [--token=t0psecret, --port=80]
        env:
        - {name: DB_PASSWORD, value: hunter2}
        - {name: DB_PASSWORD_FILE, value: /run/secrets/db}
        - {name: DB_URL, value: 'postgres://web:tr0ub4dor@db/web'}
        - name: FROM
          valueFrom: {secretKeyRef: {name: db-secret, key: password}}
      imagePullSecrets: [{name: registry}]
";

fn tree(manifest: &str) -> HistoryTree {
    HistoryTree::new(World::load(manifest).unwrap().0)
}

fn fields(session: &Session) -> Vec<String> {
    let (_, found) = session.without_private();
    let found = found.iter();
    found
        .map(|it| format!("{}: {}", it.field, it.looks_like))
        .collect()
}

/// Everything that a text of a session says.
fn said(session: &Session) -> String {
    let tree = Session::parse(&session.to_text())
        .unwrap()
        .replay()
        .finish()
        .unwrap();
    let steps = (0..tree.len()).filter_map(|id| tree.step(id));
    let steps: Vec<String> = steps.map(|step| format!("{step:?}")).collect();
    format!("{:?} {}", tree.world().start(), steps.join("\n"))
}

#[test]
fn what_names_and_shapes_betray_is_found_and_what_only_refers_to_it_is_not() {
    let session = Session::from_tree(&tree(DEPLOYMENT));
    let mut found = fields(&session);
    found.sort();
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[0], "DB_PASSWORD: a password");
    assert!(
        found[1].ends_with(": a password") && found[1].contains("DB_URL"),
        "{found:?}"
    );
    assert_eq!(found[2], "token: a token");
    assert!(fields(&Session::from_tree(&tree(optimist_simulation::NGINX))).is_empty());
}

#[test]
fn what_is_left_out_is_nowhere_and_the_history_goes_the_same_way() {
    let mut tree = tree(DEPLOYMENT);
    let a = ActorId::A;
    tree.act(Operation::Act(a, Action::Get));
    edit(&mut tree, a, |object| {
        object["metadata"]["annotations"]["api-key"] = "abcdefgh".into();
    });
    tree.act(Operation::Act(a, Action::Send(Write::default())));
    let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let body = format!(
        "{{\"metadata\": {{\"labels\": {{\"x\": \"y\"}}, \"annotations\": {{\"note\": \"use {token}\"}}}}}}"
    );
    tree.act(Operation::Act(
        a,
        Action::Request(ByHand {
            method: "PATCH".to_owned(),
            target: "/apis/apps/v1/namespaces/default/deployments/web".to_owned(),
            content_type: "application/merge-patch+json".to_owned(),
            body,
        }),
    ));
    let session = Session::from_tree(&tree);
    let (without, found) = session.without_private();
    assert_eq!(found.len(), 5, "{found:?}");
    let said = said(&without);
    for private in ["hunter2", "tr0ub4dor", "t0psecret", "abcdefgh", token] {
        assert!(!said.contains(private), "{private} is in {said}");
    }
    assert_eq!(without.without_private().1, [], "nothing is left");
    let again = Session::parse(&without.to_text())
        .unwrap()
        .replay()
        .finish()
        .unwrap();
    let codes = |tree: &HistoryTree| -> Vec<_> {
        let steps = (0..tree.len()).filter_map(|id| tree.step(id)?.exchange.as_ref());
        steps.map(|exchange| exchange.code).collect()
    };
    assert_eq!(codes(&again), codes(&tree));
    assert_eq!(codes(&again), [200, 200, 200]);
    assert_eq!(
        Session::from_tree(&reopened(&again)),
        Session::from_tree(&again)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever characters a password has, however YAML has to quote it.
    #[test]
    fn no_password_stays_in_what_it_is_left_out_of(password in "[ -~é\n\t]{1,24}") {
        let config = serde_json::json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"},
            "data": {"password": password, "colour": "blue"},
        });
        let session = Session::from_tree(&tree(&config.to_string()));
        let left = session.without_private().0;
        let tree = Session::parse(&left.to_text()).unwrap().replay().finish().unwrap();
        let (_, object) = tree.world().stored().unwrap();
        prop_assert_eq!(&object["data"]["colour"], "blue");
        let now = object["data"]["password"].as_str().unwrap();
        // References, switches and what is masked already are no passwords.
        let none = ["$(", "${", "{{", "<", "{}", "***"].iter().any(|it| password.trim().starts_with(it))
            || ["on", "off", "no", "yes", "nil", "null", "none", "true", "false", "~"]
                .contains(&password.trim());
        prop_assert!(now != password || none, "{}", now);
    }
}

const SECRET: &str = "apiVersion: v1
kind: Secret
metadata: {name: login}
data: {word: aHVudGVyMg==}
";

#[test]
fn texts_that_a_page_adds_are_searched_too_also_a_watch() {
    let event = |word: &str| {
        serde_json::json!({"type": "MODIFIED", "object": {"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "login"}, "data": {"word": word}}})
    };
    let watch = format!("{}\n{}\n", event("aHVudGVyMg=="), event("aHVudGVyMw=="));
    let mut session = Session::from_tree(&tree(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    ));
    session.extra = serde_json::json!({"texts": [SECRET, watch, "No object at all"]});
    let without = session.without_private().0;
    let texts = without.extra["texts"].as_array().unwrap();
    let all = without.extra.to_string();
    assert!(
        !all.contains("aHVudGVyM") && !all.contains("hunter"),
        "{all}"
    );
    let words = |text: &str| -> Vec<String> {
        let documents = serde_json::Deserializer::from_str(text).into_iter();
        let documents = documents.map(|it: serde_json::Result<serde_json::Value>| it.unwrap());
        documents
            .map(|it| it["object"]["data"]["word"].to_string())
            .collect()
    };
    // The watch is still one, and different values stay different.
    let words = words(texts[1].as_str().unwrap());
    assert_eq!(words.len(), 2);
    assert_ne!(words[0], words[1]);
    assert_eq!(texts[2], "No object at all");
}
