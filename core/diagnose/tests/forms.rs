//! Texts in forms that hold no object, and objects with what a terminal or a web page put around
//! them. And: reading in slices gives the same as reading at once.

use crate::detect_file;
use optimist_diagnose::input::{Detection, Input, NotDetected, TextForm, detect};
use proptest::prelude::*;

const LIVE: &str = include_str!("live/deployment.yaml");
const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n";

fn form(text: &str) -> (TextForm, usize) {
    match detect(text) {
        Err(NotDetected::Form { form, line }) => (form, line),
        other => panic!("{other:?} of {text:.200}"),
    }
}

fn command(text: &str) -> (String, usize) {
    match form(text) {
        (
            TextForm::Table(object) | TextForm::Description(object) | TextForm::Diff(object),
            line,
        ) => (object.command(), line),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_kubectl_prints_for_people_names_the_command_that_prints_the_object() {
    let rest = " -o yaml --show-managed-fields";
    for (text, line, expected) in [
        (
            "NAME   READY   UP-TO-DATE   AVAILABLE   AGE\nweb    3/3     3            3           5d\n",
            1,
            "kubectl get KIND web",
        ),
        (
            "$ kubectl get all -A\nNAMESPACE   NAME                  READY   AGE\nlive        deployment.apps/web   3/3     5d\n",
            2,
            "kubectl get deployment.apps web -n live",
        ),
        ("\nNAME   DATA   AGE\n", 2, "kubectl get KIND NAME"),
        ("NAME   AGE\n$(reboot)   5d\n", 1, "kubectl get KIND NAME"),
        (
            "Name:         web\nNamespace:    live\nLabels:       app=web\nAnnotations:  <none>\nAPI Version:  demo.example.com/v1\nKind:         Backup\nSpec:\n",
            1,
            "kubectl get Backup web -n live",
        ),
        (
            "$ kubectl diff -f web.yaml\ndiff -u -N /tmp/LIVE-12/apps.v1.Deployment.shop.web /tmp/MERGED-34/apps.v1.Deployment.shop.web\n\
             --- /tmp/LIVE-12/apps.v1.Deployment.shop.web\t2026-01-01\n+++ /tmp/MERGED-34/apps.v1.Deployment.shop.web\t2026-01-01\n\
             @@ -6,7 +6,7 @@\n   name: web\n spec:\n-  replicas: 3\n+  replicas: 5\n",
            2,
            "kubectl get Deployment.apps web -n shop",
        ),
        (
            "--- /tmp/LIVE-1/demo.example.com.v1beta1.Backup..nightly.b\n+++ /tmp/MERGED-2/x\n@@ -0,0 +1,3 @@\n+kind: Backup\n",
            1,
            "kubectl get Backup.demo.example.com nightly.b",
        ),
        (
            "--- web.yaml\n+++ new.yaml\n@@ -1 +1 @@\n-kind: Pod\n+kind: Job\n",
            1,
            "kubectl get KIND NAME",
        ),
    ] {
        assert_eq!(command(text), (format!("{expected}{rest}"), line), "{text}");
    }
}

#[test]
fn an_answer_about_objects_is_no_object_and_names_the_command_that_prints_the_object() {
    let rest = "-o yaml --show-managed-fields";
    let metadata =
        r#""metadata": {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "5"}"#;
    let row = format!(
        r#"{{"cells": ["web"], "object": {{"kind": "PartialObjectMetadata", {metadata}}}}}"#
    );
    let v1 = r#""apiVersion": "meta.k8s.io/v1", "kind""#;
    for (text, kind, command) in [
        (
            format!(r#"{{{v1}: "Table", "rows": [{row}]}}"#),
            "Table",
            "kubectl get KIND web -n shop",
        ),
        (
            format!(r#"{{{v1}: "Table", "rows": null}}"#),
            "Table",
            "kubectl get KIND NAME",
        ),
        (
            format!(r#"{{{v1}: "PartialObjectMetadata", {metadata}}}"#),
            "PartialObjectMetadata",
            "kubectl get KIND web -n shop",
        ),
    ] {
        let Err(NotDetected::AboutObjects {
            document: 1,
            kind: found,
            object,
        }) = detect(&text)
        else {
            panic!("{:?} of {text}", detect(&text));
        };
        assert_eq!(
            (&*found, object.command()),
            (kind, format!("{command} {rest}")),
            "{text}"
        );
    }
}

#[test]
fn a_form_that_holds_no_object_is_named_with_its_line() {
    let smart = "{\"apiVersion\": \"v1\",\n\"kind\": \u{201c}Pod\u{201d}}";
    for (text, expected, line) in [
        (
            "No resources found in live namespace.\n",
            TextForm::NoResources,
            1,
        ),
        (
            "\n<!DOCTYPE html>\n<p>apiVersion</p>\n",
            TextForm::Markup,
            2,
        ),
        (
            "{\"apiVersion\": \"v1\",\n\"kind\": \"Pod\", \"spec\": {",
            TextForm::CutJson,
            2,
        ),
        (
            "{\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}\n{\"type\":\"MODI",
            TextForm::CutJson,
            2,
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n",
            TextForm::Template,
            4,
        ),
        (smart, TextForm::QuotationMark('\u{201c}'), 2),
        ("a: 1\nb: \u{0}\n", TextForm::ControlCharacter('\u{0}'), 2),
    ] {
        assert_eq!(form(text), (expected, line), "{text}");
    }
    for list in [
        "apiVersion: v1\nkind: List\nitems: []\n",
        "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": []}",
        "apiVersion: v1\nitems: null\nkind: List\nmetadata:\n  resourceVersion: \"\"\n",
        "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMapList\", \"items\": null}",
        "[]",
    ] {
        assert_eq!(detect(list), Err(NotDetected::EmptyList), "{list}");
    }
    for (file, format) in [
        (&b"\x1f\x8b\x08\x00"[..], "gzip"),
        (b"PK\x03\x04..", "ZIP"),
        (b"\x89PNG\r\n", "PNG"),
    ] {
        let form = TextForm::File(format);
        let expected = Err(NotDetected::Form { form, line: 0 });
        assert_eq!(detect_file(file), expected);
    }
}

#[test]
fn what_a_terminal_or_a_page_puts_around_an_object_is_left_out() {
    let numbered = |separator: &str| -> String {
        let lines = CONFIG.lines().enumerate();
        let lines = lines.map(|(at, line)| format!("{:>6}{separator}{line}\n", at + 1));
        lines.collect()
    };
    let coloured: String = CONFIG
        .lines()
        .map(|line| format!("\u{1b}[1;32m{line}\u{1b}[0m\n"))
        .collect();
    let quoted: String = CONFIG.lines().map(|line| format!("> {line}\n")).collect();
    for text in [
        &format!("$ kubectl get cm a -o yaml\n{CONFIG}me@host:~/x$"),
        &format!("me@host:~/x$ kubectl get cm a -o yaml\n{CONFIG}"),
        &format!("PS C:\\x> kubectl get cm a -o yaml\r\n{CONFIG}"),
        &format!("This is it:\n\n```yaml\n{CONFIG}```\nHelp: it flips\n"),
        &coloured,
        &quoted,
        &numbered("\t"),
        &numbered(" "),
        &numbered(":"),
        &numbered(" \u{2502} "),
        &CONFIG.replace("  ", "\u{a0}\u{a0}"),
    ] {
        assert_eq!(detect(text), detect(CONFIG), "{text}");
    }
    let two = format!("```\n{CONFIG}```\nand\n```yaml\n{LIVE}```\n");
    assert!(
        matches!(detect(&two), Ok(Input::Several(all)) if all.len() == 2),
        "{:?}",
        detect(&two)
    );
    // The line of a mistake is that of the text as it was brought.
    let wrong = format!("$ kubectl get cm a -o yaml\n{CONFIG} x\n");
    assert!(
        matches!(detect(&wrong), Err(NotDetected::Syntax { line: 8 | 9, .. })),
        "{:?}",
        detect(&wrong)
    );
}

#[test]
fn utf_16_without_a_mark_is_read() {
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let file: Vec<u8> = CONFIG.encode_utf16().flat_map(bytes).collect();
        assert_eq!(detect_file(&file), detect(CONFIG));
    }
}

#[test]
fn nesting_anchors_and_numbers_without_an_end_are_refused() {
    let brackets = "[".repeat(100_000);
    let keys: String = (0..3000)
        .map(|at| format!("{}a:\n", " ".repeat(at)))
        .collect();
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for at in 1..30 {
        let alias = format!("*a{}", at - 1);
        bomb += &format!("a{at}: &a{at} [{}]\n", vec![alias; 9].join(", "));
    }
    for text in [
        &brackets,
        &format!("{{\"a\": {brackets}"),
        &"{\"a\":".repeat(50_000),
        &keys,
        &format!("{CONFIG}{bomb}"),
        "{\"apiVersion\": \"v1\", \"kind\": \"\\ud800\"}",
    ] {
        assert!(detect(text).is_err(), "{text:.80}");
    }
}

/// The pieces that are put into a text.
const PIECES: [&str; 14] = [
    "```\n",
    "$ kubectl x\n",
    "\u{1b}[",
    "\u{1b}]",
    "\u{1b}",
    "1 ",
    "> ",
    "\u{a0}",
    "\u{201c}",
    "---\n",
    "NAME  AGE\n",
    "<",
    "}{",
    "\u{0}",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_in_slices_gives_the_same(
        which in 0..4usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0..PIECES.len()), 0..4),
        bytes in 1..3000usize,
    ) {
        let texts = [LIVE, CONFIG, include_str!("fight.json"), include_str!("live/audit.log")];
        let mut text = texts[which].to_owned();
        for (at, piece) in changes {
            let mut at = at.index(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            text.insert_str(at, PIECES[piece]);
        }
        let mut detection = Detection::new(text.as_str().into());
        let mut parts = 0;
        while detection.advance(bytes) {
            parts += 1;
            // A text without structure is read once for each beginning of a message.
            prop_assert!(parts <= text.len() + 300);
        }
        prop_assert_eq!(detection.finish(), detect(&text));
    }
}
