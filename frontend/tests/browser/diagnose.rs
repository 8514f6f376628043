//! Diagnose, used as someone who has a problem with a real cluster uses it.

use wasm_bindgen_test::wasm_bindgen_test;

use crate::page::Page;

const CASE: &str = "The case";
const RESULTS: &str = "Results";
const OWNERS: &str = "Who owns what";
const LINES: &str = "The object, line by line, with the owners";
const PASTE: &str = "Paste here";
const QUESTIONS: &str = "What do you want to know?";

const WATCH: &str = include_str!("../../state/examples/fight.json");
const LIVE: &str = include_str!("../../state/examples/deployment.yaml");
const UPGRADE: &str = include_str!("../../state/examples/upgrade.yaml");
const MESSAGE: &str = include_str!("../../state/examples/conflict.txt");

async fn diagnose() -> Page {
    Page::open_at("#/diagnose").await
}

async fn bring(page: &Page, text: &str) {
    page.write(PASTE, text).await;
    page.press(CASE, "Add").await;
    page.at_rest().await;
}

#[wasm_bindgen_test]
async fn an_upgrade_is_previewed_with_a_row_for_each_object() {
    let page = diagnose().await;
    page.press(QUESTIONS, "Try an example: What will this upgrade do?")
        .await;
    let refused = "This write is refused on 2 of 4 objects.";
    page.until("the preview is there", |page| {
        page.all_text().contains(refused)
    })
    .await;
    page.press(OWNERS, "ConfigMap flags").await;
    page.at_rest().await;
    let says = page.text(RESULTS);
    assert!(says.contains("beta"), "{says}");
    page.press(OWNERS, "1 created").await;
    let shown = page.text(OWNERS);
    assert!(shown.contains("HorizontalPodAutoscaler web"), "{shown}");
    assert!(!shown.contains("ConfigMap flags"), "{shown}");
}

#[wasm_bindgen_test]
async fn who_keeps_resetting_replicas_is_said_of_a_watch() {
    let page = diagnose().await;
    bring(&page, WATCH).await;
    let says = page.text(RESULTS);
    assert!(
        says.contains("helm and web-operator fight over .spec.replicas."),
        "{says}"
    );
    assert!(says.contains("6 flips"), "{says}");
    page.close().await;
}

#[wasm_bindgen_test]
async fn each_line_of_a_live_object_names_its_owners_and_one_owner_can_be_chosen() {
    let page = diagnose().await;
    bring(&page, LIVE).await;
    let lines = page.text(LINES);
    assert!(
        lines.contains("replicas: 5kube-controller-manager · /scale"),
        "{lines}"
    );
    page.press(OWNERS, "kube-controller-manager · /scale").await;
    assert_eq!(
        page.text(LINES),
        "replicas: 5kube-controller-manager · /scale"
    );
    page.press(OWNERS, "kube-controller-manager · /scale").await;
    assert_eq!(page.text(LINES), lines);
    page.close().await;
}

#[wasm_bindgen_test]
async fn a_message_alone_leads_to_a_command_that_settles_it() {
    let page = diagnose().await;
    bring(&page, MESSAGE).await;
    let case = page.text(CASE);
    assert!(case.contains("Apply failed with 2 conflicts"), "{case}");
    let owners = page.text(OWNERS);
    assert!(owners.contains("Rebuilt from the message"), "{owners}");
    assert!(
        owners.contains("kube-controller-manager · /scale"),
        "{owners}"
    );
    let outs = page.text("Ways out");
    for says in [
        "Leave the fields out",
        "This settles the conflict",
        "helm upgrade RELEASE CHART",
        "Try it first. This stores nothing:",
    ] {
        assert!(outs.contains(says), "{says}: {outs}");
    }
    let command = "kubectl get Deployment.apps web -n live -o yaml --show-managed-fields";
    assert!(page.text(RESULTS).contains(command));
    page.close().await;
}

#[wasm_bindgen_test]
async fn an_object_that_has_been_modified_leads_to_next_writes_that_keep_both_changes() {
    let page = diagnose().await;
    let message = "Operation cannot be fulfilled on deployments.apps \"web\": the object has been \
                   modified; please apply your changes to the latest version and try again";
    bring(&page, message).await;
    let lost = "The answer is 200, and the other client's change is lost.";
    page.until("the next writes", |page| page.all_text().contains(lost))
        .await;
    let next = page.text("What to do now");
    assert_eq!(next.matches("Both changes are in the object.").count(), 3);
    assert!(next.contains("retry.RetryOnConflict"), "{next}");
    page.press(
        RESULTS,
        "Step through it: Not this: Update without the resourceVersion",
    )
    .await;
    page.at_rest().await;
    assert!(page.text("What happened").contains("lost"));
    page.close().await;
}

#[wasm_bindgen_test]
async fn hostile_texts_get_a_clear_word_and_stay() {
    let page = diagnose().await;
    for text in [
        "<img src=x onerror=alert(1)>".to_owned(),
        "x".repeat(1_000_000),
        "[".repeat(20_000),
        "kind: {{{{".to_owned(),
        "{\"type\":\"ERROR\",\"object\":{}}".to_owned(),
    ] {
        bring(&page, &text).await;
        let case = page.text(CASE);
        assert!(case.contains("Not recognized"), "{case:.400}");
        page.press(CASE, "Remove Not recognized").await;
        assert!(!page.text(CASE).contains("Not recognized"));
    }
    page.close().await;
}

#[wasm_bindgen_test]
async fn a_reload_keeps_the_case() {
    let page = diagnose().await;
    bring(&page, WATCH).await;
    bring(&page, "no idea what this is").await;
    let case = page.text(CASE);
    page.close().await;
    let page = Page::reopen().await;
    page.at_rest().await;
    assert_eq!(page.text(CASE), case);
    page.press(CASE, "Remove all").await;
    assert!(page.text(QUESTIONS).contains("Who keeps changing a field?"));
    page.close().await;
}

#[wasm_bindgen_test]
async fn each_question_has_an_example_that_is_answered() {
    let page = diagnose().await;
    for (question, answer) in [
        (
            "Who keeps changing a field?",
            "helm and web-operator fight over .spec.replicas.",
        ),
        (
            "What would my change do?",
            "Refused for replicas and image. Nothing is written.",
        ),
        (
            "My apply failed with a conflict. What now?",
            "This settles the conflict",
        ),
        (
            "Which requests changed the object?",
            "15 answers the same, 0 different, 0 not run",
        ),
    ] {
        page.press(QUESTIONS, &format!("Try an example: {question}"))
            .await;
        page.at_rest().await;
        let results = page.text(RESULTS);
        assert!(results.contains(answer), "{question}: {results}");
        page.press(CASE, "Remove all").await;
    }
    page.close().await;
}

#[wasm_bindgen_test]
async fn what_a_helm_upgrade_takes_from_the_autoscaler_is_said_before_it_runs() {
    let page = diagnose().await;
    bring(&page, LIVE).await;
    bring(&page, UPGRADE).await;
    let table = page.text("What would happen");
    for says in [
        "Helm 44095 staysnginx:1.28 stays",
        "Refused for replicas and image. Nothing is written.",
        "Helm 4 with force2005 → 2nginx:1.28 → nginx:1.29",
        "kube-controller-manager (a HorizontalPodAutoscaler if there is one) and argocd-controller may write again: a fight.",
        "helm upgrade web CHART -n live --server-side=true --force-conflicts",
        "These requests are as in helm.sh/helm/v4/pkg/kube/client.go",
    ] {
        assert!(table.contains(says), "{says}: {table}");
    }
    page.press("What would happen", "Step through it: Helm 4")
        .await;
    page.at_rest().await;
    let all = page.all_text();
    assert!(all.contains("Apply failed with 2 conflicts"), "{all}");
    page.close().await;
}

#[wasm_bindgen_test]
async fn a_case_is_shared_without_its_values_and_as_markdown() {
    let page = diagnose().await;
    bring(&page, LIVE).await;
    bring(&page, UPGRADE).await;
    page.click(".share-button").await;
    let markdown = |page: &Page| {
        let link = page.attribute("a[download='case.md']", "href");
        String::from(js_sys::decode_uri_component(&link).unwrap())
    };
    page.until("the Markdown is there", |page| {
        page.find("a[download='case.md']").is_some()
    })
    .await;
    let whole = markdown(&page);
    assert!(whole.contains("Refused for replicas and image"), "{whole}");
    assert!(whole.contains("nginx:1.28"), "{whole}");
    page.click(".share-choice:nth-of-type(2) input").await;
    page.until("the values are left out", |page| {
        page.dialog()
            .contains("are left out, and the answers are the same")
            && page.find("a[download='case.md']").is_some()
    })
    .await;
    let says = page.dialog();
    assert!(says.contains("names and namespaces: live, web"), "{says}");
    let without = markdown(&page);
    assert!(
        without.contains("Refused for replicas and image"),
        "{without}"
    );
    assert!(!without.contains("nginx:1.28"), "{without}");
    let link = page.value("#share-link");
    page.close_dialog().await;
    page.close().await;
    let (_, fragment) = link.split_once('#').unwrap();
    let page = Page::open_at(&format!("#{fragment}")).await;
    page.at_rest().await;
    let says = page.text(RESULTS);
    assert!(says.contains("Refused for replicas and image"), "{says}");
    assert!(!page.all_text().contains("nginx:1.28"));
    page.close().await;
}

#[wasm_bindgen_test]
async fn a_recorded_history_is_stepped_through_with_the_keys_and_shows_the_owners_of_then() {
    let page = diagnose().await;
    bring(&page, WATCH).await;
    page.press("Parts of the case", "Results").await;
    page.focus("#lane-row-1").await;
    page.press("Steps, oldest first", "Step 2,").await;
    assert!(page.holds("#lane-row-1"));
    let replicas = |page: &Page| {
        let lines = page.text(LINES);
        let begin = lines.find("replicas: ").expect("it has replicas");
        lines[begin..].chars().take(80).collect::<String>()
    };
    let then = replicas(&page);
    assert!(
        then.starts_with("replicas: 5 web-operator changed it from 2web-operator"),
        "{then}"
    );
    page.key_in_field("ArrowDown").await;
    assert!(page.holds("#lane-row-2"));
    let then = replicas(&page);
    assert!(
        then.starts_with("replicas: 2 helm changed it from 5helm"),
        "{then}"
    );
    let owners = page.text(OWNERS);
    assert!(
        owners.contains("Step 3: Deployment fight/shop, version 92"),
        "{owners}"
    );
    page.key_in_field("Home").await;
    assert!(page.holds("#lane-row-0"));
    page.press(OWNERS, "Back to the newest version").await;
    let owners = page.text(OWNERS);
    assert!(
        owners.contains("Deployment fight/shop, version 98"),
        "{owners}"
    );
    assert!(!owners.contains("Step "), "{owners}");
    page.close().await;
}
