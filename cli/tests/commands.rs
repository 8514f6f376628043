//! The program's output and its exit codes.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[path = "../../core/exports/tests/program_file.rs"]
mod program_file;

use program_file::write_program;

fn file(name: &str) -> String {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    files.join(name).to_str().unwrap().to_owned()
}

fn run_with(arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_optimist"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that reads nothing closes its end.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    run_with(arguments, "")
}

#[test]
fn three_live_objects_and_their_chart_are_answered_in_one_command() {
    let (live, next) = (file("live.yaml"), file("next.yaml"));
    let arguments = ["preview", "--live", &live, "--next", &next, "--as", "helm4"];
    let (code, out, err) = run(&arguments);
    assert_eq!((code, err.as_str()), (1, ""));
    let first = "Helm 4 cannot write spec.replicas of Deployment shop/web: kube-controller-manager \
                 (Update, /scale) owns it. 1 way out settles the conflict.\n\
                 4 objects. 409 refused: 1, kept for now: 1, changed: 1, created: 1 (helm4)\n";
    assert!(out.starts_with(first), "{out}");
    assert!(
        !out.contains('\u{1b}'),
        "no colours where the output is no terminal"
    );
    for part in [
        "409 refused   Deployment shop/web",
        ".spec.replicas: 7, wants 2. Owner: kube-controller-manager (Update, /scale)",
        "kept for now  ConfigMap shop/old",
        "The tool deletes it when no other object is refused before.",
        ".data.colour: green → blue",
        "created       ConfigMap shop/new",
        "Leave the fields to their owners. This settles the conflict.",
        "-   replicas: 2",
        "# Try it first. This stores nothing:",
        "--dry-run=server",
        "The tool's own option forces every object that it writes.",
    ] {
        assert!(out.contains(part), "{part}:\n{out}");
    }
}

/// A preview of the live objects on standard input.
fn live_against<'a>(next: &'a str, tool: &'a str) -> [&'a str; 7] {
    ["preview", "--live", "-", "--next", next, "--as", tool]
}

#[test]
fn a_namespace_that_yaml_reads_as_a_boolean_is_not_taken_for_no_namespace() {
    let next = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: y}\n";
    let next_file = file("next.yaml");
    for arguments in [
        &["preview", "--next", "-", "--as", "kubectl"][..],
        &live_against(&next_file, "helm4"),
        &["owners", "-"],
    ] {
        let (code, out, err) = run_with(arguments, next);
        assert_eq!((code, out.as_str()), (2, ""));
        let said = "optimist: standard input:1: metadata.namespace is the boolean true: without quotes, YAML reads y, \
                    yes, on and true so. Put the value in quotes. kubectl and Helm refuse the object: json: cannot \
                    unmarshal bool into Go struct field ObjectMeta.metadata.namespace of type string\n";
        assert_eq!(err, said);
    }
}

#[test]
fn a_new_object_shows_what_the_server_fills_in_and_an_invalid_one_what_is_wrong() {
    let of = |tool: &str, replicas: &str| {
        let next = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec:\n  {replicas}\n  \
            selector: {{matchLabels: {{app: a}}}}\n  template: {{metadata: {{labels: {{app: a}}}}, spec: {{containers: \
            [{{name: web, image: a}}]}}}}\n"
        );
        run_with(&["preview", "--next", "-", "--as", tool], &next)
    };
    for tool in ["kubectl", "kubectl-server-side"] {
        let (code, out, _) = of(tool, "paused: false");
        assert_eq!(code, 0);
        let filled_in = ".spec.replicas: 1, filled in by the server";
        assert!(out.contains(filled_in), "{out}");
        // kubectl writes it.
        assert!(!out.contains("last-applied"), "{out}");
    }
    let (code, out, _) = of("kubectl-server-side", "replicas: -1");
    assert_eq!(code, 1);
    let says = "kubectl apply --server-side cannot write Deployment shop/web. The API server finds it invalid: \
                spec.replicas: Invalid value: -1: must be greater than or equal to 0\n";
    assert!(out.starts_with(says), "{out}");
    assert!(!out.contains("wants"), "{out}");
}

#[test]
fn a_manifest_without_a_name_has_a_row_in_every_form_and_does_not_end_the_preview() {
    let next = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\n---\n\
                apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: migrate-, namespace: shop}\n";
    for format in ["text", "json", "markdown", "junit", "sarif"] {
        let arguments = [
            "preview", "--next", "-", "--as", "kubectl", "--format", format,
        ];
        let (code, out, err) = run_with(&arguments, next);
        assert_eq!((code, err.as_str()), (1, ""), "{format}");
        for part in [
            "migrate-*",
            "from migrate-: cannot use generate name with apply",
        ] {
            assert!(out.contains(part), "{format} {part}:\n{out}");
        }
    }
    // Flux builds all manifests first.
    for (format, said) in [
        ("text", "not reached  ConfigMap shop/settings"),
        ("text", "When no other object is refused, it is created."),
        ("json", "\"later\": \"created\""),
        ("markdown", "not reached, the tool stops before it"),
        ("junit", "<system-out>the tool stops before it"),
        ("sarif", "\"ruleId\": \"notReached\""),
    ] {
        let arguments = ["preview", "--next", "-", "--as", "flux", "--format", format];
        let (_, out, _) = run_with(&arguments, next);
        assert!(out.contains(said), "{format} {said}:\n{out}");
    }
    let live = "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}\n";
    let (code, _, err) = run_with(&live_against(&file("next.yaml"), "helm3"), live);
    assert!(code == 2 && err.contains("no metadata.name"), "{err}");
}

#[test]
fn a_hook_is_said_to_be_one_in_every_form() {
    let next = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: migrate\n  namespace: shop\n  annotations: \
                {helm.sh/hook: pre-upgrade}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n";
    for format in ["text", "json", "markdown", "junit"] {
        let arguments = [
            "preview", "--next", "-", "--as", "helm3", "--format", format,
        ];
        let (code, out, _) = run_with(&arguments, next);
        assert_eq!(code, 0, "{format}");
        let said = match format {
            "json" => "\"action\": \"recreated\"",
            _ => "When it runs, the tool deletes the object of this name, and creates it again.",
        };
        assert!(
            out.contains(said) && out.contains("pre-upgrade"),
            "{format}:\n{out}"
        );
    }
}

#[test]
fn a_chart_that_changes_nothing_ends_with_0_and_the_standard_input_is_a_file() {
    let live = file("live.yaml");
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {colour: green}\n";
    let arguments = [
        "preview",
        "--live",
        &live,
        "--next",
        "-",
        "--as",
        "kubectl-server-side",
        "--manager",
        "helm",
    ];
    let (code, out, _) = run_with(&arguments, manifest);
    assert_eq!(code, 0, "{out}");
    assert!(
        out.contains("unchanged    ConfigMap shop/settings"),
        "{out}"
    );
    let twice = ["preview", "--live", "-", "--next", "-", "--as", "flux"];
    let (code, _, err) = run_with(&twice, manifest);
    assert_eq!(
        (code, err.as_str()),
        (2, "optimist: the standard input can be read once\n")
    );
}

#[test]
fn the_same_preview_is_json_markdown_and_junit() {
    let (live, next) = (file("live.yaml"), file("next.yaml"));
    let of = |format: &str| {
        let arguments = [
            "preview", "--live", &live, "--next", &next, "--as", "helm4", "--format", format,
        ];
        let (code, out, _) = run(&arguments);
        assert_eq!(code, 1);
        out
    };
    let json: serde_json::Value = serde_json::from_str(&of("json")).unwrap();
    assert_eq!(json["rows"][0]["outcome"], "conflict");
    assert_eq!(json["rows"][0]["fields"][0]["field"], ".spec.replicas");
    assert_eq!(json["outcomes"]["created"], 1);
    let markdown = of("markdown");
    assert!(
        markdown.contains("| `Deployment shop/web` | 409 refused | `.spec.replicas` |"),
        "{markdown}"
    );
    let junit = of("junit");
    assert!(junit.contains("tests=\"4\" failures=\"1\""), "{junit}");
    assert!(
        junit.contains("<failure message=\"409 refused\">"),
        "{junit}"
    );
}

#[test]
fn sarif_names_the_line_of_the_manifest_that_is_refused() {
    let (live, next) = (file("live.yaml"), file("next.yaml"));
    let of = |next: &str, input: &str| {
        let arguments = [
            "preview", "--live", &live, "--next", next, "--as", "helm4", "--format", "sarif",
        ];
        let (code, out, _) = run_with(&arguments, input);
        assert_eq!(code, 1);
        serde_json::from_str::<serde_json::Value>(&out).unwrap()
    };
    let run = &of(&next, "")["runs"][0];
    let results = run["results"].as_array().unwrap();
    let of_rule = |rule: &str| results.iter().find(|it| it["ruleId"] == rule).unwrap();
    let refused = of_rule("conflict");
    assert_eq!(refused["level"], "error");
    let said = refused["message"]["text"].as_str().unwrap();
    assert!(said.contains("Owner: kube-controller-manager"), "{said}");
    let place = &refused["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], next);
    let text = std::fs::read_to_string(&next).unwrap();
    let line = place["region"]["startLine"].as_u64().unwrap();
    let document: Vec<&str> = text
        .lines()
        .skip(usize::try_from(line).unwrap() - 1)
        .collect();
    let document = document.join("\n");
    let document = document.split("\n---").next().unwrap();
    assert!(document.contains("kind: Deployment"), "{document}");
    // Nobody wrote a line about what is deleted later.
    let deleted = of_rule("deletedLater");
    assert_eq!(deleted["level"], "warning");
    assert!(deleted["locations"][0]["physicalLocation"].is_null());
    let ids: Vec<_> = run["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert!(
        results
            .iter()
            .all(|it| ids.iter().any(|id| id["id"] == it["ruleId"]))
    );
    let of_input = &of("-", &text)["runs"][0]["results"][0]["locations"][0];
    assert!(of_input["physicalLocation"].is_null(), "{of_input}");
}

#[test]
fn no_form_of_a_preview_has_a_secret() {
    let encoded = ["Y2FuYXJ5LTE=", "Y2FuYXJ5LTI="];
    let live = format!(
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata:\n    name: key\n    namespace: shop\n    \
        uid: u1\n    resourceVersion: '7'\n    managedFields:\n    - {{manager: vault, operation: Update, apiVersion: v1, \
        fieldsType: FieldsV1, fieldsV1: {{'f:data': {{'f:password': {{}}}}}}}}\n  data: {{password: {}}}\n\
        - apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: settings\n    namespace: shop\n    uid: u2\n    \
        resourceVersion: '8'\n    managedFields:\n    - {{manager: vault, operation: Update, apiVersion: v1, \
        fieldsType: FieldsV1, fieldsV1: {{'f:data': {{'f:DB_PASSWORD': {{}}}}}}}}\n  data: {{DB_PASSWORD: canary-3}}\n",
        encoded[0]
    );
    let next = "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: shop}\nstringData: {password: canary-2}\n---\n\
        apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {DB_PASSWORD: canary-4}\n---\n\
        apiVersion: v1\nkind: Pod\nmetadata: {name: bad, namespace: shop}\nspec:\n  containers:\n  - {name: a, image: a, \
        imagePullPolicy: Perhaps, env: [{name: API_TOKEN, value: canary-5}]}\n";
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("with-secrets.yaml");
    std::fs::write(&path, live).unwrap();
    let live = path.to_str().unwrap();
    for format in ["text", "json", "markdown", "junit", "sarif", "script"] {
        let usual = ["preview", "--live", live, "--next", "-", "--as", "helm4"];
        let (code, out, err) = run_with(&[&usual[..], &["--format", format]].concat(), next);
        assert_eq!(code, 1, "{format}: {err}");
        assert!(out.contains("settings"), "{format}: {out}");
        for secret in ["canary"].iter().chain(&encoded) {
            assert!(!out.contains(secret), "{format}: {out}");
        }
    }
}

#[test]
fn kubectl_prunes_by_labels_or_an_apply_set_and_only_if_it_is_told_which() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new, namespace: shop, labels: {app: a}}\n";
    let set = "applyset-XRRA0uiRo7TnOJZqTQ3wnrSNMOAEYX32wS75feSFUxI-v1";
    let live = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: old\n  namespace: shop\n  uid: u1\n  resourceVersion: '7'\n  \
        labels: {{app: a, applyset.kubernetes.io/part-of: {set}}}\n  annotations: {{kubectl.kubernetes.io/last-applied-configuration: '{{}}'}}\n"
    );
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = directory.join("pruned.yaml");
    std::fs::write(&path, live).unwrap();
    let with = |options: &[&str]| {
        let live = path.to_str().unwrap();
        let usual = ["preview", "--live", live, "--next", "-", "--as", "kubectl"];
        run_with(&[&usual[..], options].concat(), manifest)
    };
    for (options, outcome) in [
        (&[][..], "not touched"),
        (&["--prune", "-l", "app=a"], "deleted"),
        (&["--prune", "--all"], "deleted"),
        (
            &["--prune", "--applyset", "my-set", "-n", "shop"],
            "deleted",
        ),
        (
            &["--prune", "--applyset", "configmaps/my-set", "-n", "shop"],
            "not touched",
        ),
    ] {
        let (_, out, err) = with(options);
        let line = out.lines().find(|line| line.contains("shop/old"));
        assert!(
            line.unwrap_or(&err).starts_with(outcome),
            "{options:?}: {out}{err}"
        );
    }
    for options in [
        &["--prune"][..],
        &["--prune", "--applyset", "my-set"],
        &["-l", "app=a"],
    ] {
        assert_eq!(with(options).0, 2, "{options:?}");
    }
    // kubectl refuses to prune by labels after a server-side apply.
    let live = path.to_str().unwrap();
    let server_side = [
        "preview",
        "--live",
        live,
        "--next",
        "-",
        "--as",
        "kubectl-server-side",
        "--prune",
    ];
    let by = |options: &[&str]| run_with(&[&server_side[..], options].concat(), manifest).0;
    assert_eq!(by(&["--all"]), 2);
    assert_eq!(by(&["--applyset", "my-set", "-n", "shop"]), 0);
}

/// A directory with a page as `cargo xtask dist` makes it, in short.
fn built_page(name: &str) -> std::path::PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let write = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
    write(
        "index.html",
        "<meta name=\"optimist-saved\" content=\"./optimist-1.html\">",
    );
    write(
        "optimist-1.html",
        "<title>{{title}}</title><meta name=\"optimist-files\" content=\"a.wasm sha\">\
        <meta name=\"optimist-shown\" content=\"{{shown}}\"><meta content=\"{{address}}\"><body>{{note}}{{files}}</body>",
    );
    write("a.wasm", "program");
    directory
}

#[test]
fn an_html_file_has_the_page_and_the_case_without_its_secrets() {
    let directory = built_page("built-page");
    let made = directory.join("made.html");
    let next = "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: shop}\nstringData: {password: canary-7}\n";
    let live = file("live.yaml");
    let (made_at, built) = (made.to_str().unwrap(), directory.to_str().unwrap());
    let arguments = [
        "preview", "--live", &live, "--next", "-", "--as", "helm4", "--open", made_at, "--page",
        built,
    ];
    let (_, _, err) = run_with(&arguments, next);
    assert_eq!(err, "");
    let html = std::fs::read_to_string(&made).unwrap();
    let saved = optimist_state::saved_file("a.wasm", false, b"program");
    assert!(html.contains(&saved), "{html}");
    let shown = html.split("optimist-shown\" content=\"").nth(1).unwrap();
    let shown = shown.split('"').next().unwrap();
    let text = shown.split_once("?s=").unwrap().1;
    let session = optimist_links::Session::parse(text).unwrap();
    let case = session.extra.to_string();
    assert!(
        case.contains("kube-controller-manager") && !case.contains("canary"),
        "{case}"
    );
    assert_eq!(session.extra["client"], "helm-4");
    assert_eq!(session.extra["privateLeftOut"], true);
    let (code, _, err) = run_with(&[&arguments[..10], &["/nowhere"]].concat(), next);
    assert_eq!(code, 2);
    assert!(err.contains("/nowhere"), "{err}");
}

#[test]
fn a_man_page_describes_every_option() {
    let (code, out, _) = run(&["man"]);
    assert_eq!(code, 0);
    assert!(out.starts_with(".ie") && out.contains("preview"), "{out}");
    let (_, out, _) = run(&["man", "preview"]);
    assert!(
        out.contains("optimist\\-preview") && out.contains("applyset"),
        "{out}"
    );
    assert_eq!(run(&["man", "nothing"]).0, 2);
}

#[test]
fn bad_input_is_named_with_file_and_line_and_ends_with_2() {
    let next = file("next.yaml");
    for (text, expected) in [
        (
            "kind: ConfigMap\n---\napiVersion: v1\n  kind: x\n",
            "standard input:1: the object has no apiVersion and no metadata.name",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\n  kind: x\n",
            "standard input:6:",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n# none\nkind: Pod\nmetadata: {name: a}\n",
            "standard input:6: the object has no apiVersion",
        ),
    ] {
        let arguments = ["preview", "--live", "-", "--next", &next, "--as", "helm3"];
        let (code, out, err) = run_with(&arguments, text);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(expected), "{expected}: {err}");
    }
    let (code, _, err) = run(&["preview", "--next", "nowhere.yaml", "--as", "helm3"]);
    assert_eq!(code, 2);
    assert!(err.contains("nowhere.yaml: "), "{err}");
    let (code, _, err) = run(&["preview", "--next", &next, "--as", "helm3", "--force"]);
    assert_eq!(
        (code, err.as_str()),
        (2, "optimist: --as helm3 takes no --force\n")
    );
    let of_no_type = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  managedFields: [{manager: m, operation: Update, apiVersion: v1, fieldsType: FieldsV9, fieldsV1: {}}]\n";
    let (code, _, err) = run_with(&["owners", "-"], of_no_type);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("invalid fieldsType \"FieldsV9\""), "{err}");
    for arguments in [
        [
            "preview",
            "--next",
            &next,
            "--as",
            "helm3",
            "--release",
            "1.36",
        ]
        .as_slice(),
        &["serve", "--release", "1.36"],
    ] {
        let (code, _, err) = run(arguments);
        let known = "the release 1.36 is not known; known are v1.36.0 to v1.36.2 and v1.36.3";
        assert_eq!((code, err.contains(known)), (2, true), "{err}");
    }
}

#[test]
fn every_line_has_its_owners_and_no_secret() {
    let (code, out, _) = run(&["owners", &file("live.yaml")]);
    assert_eq!(code, 0);
    let replicas = out
        .lines()
        .find(|line| line.contains("replicas: 7"))
        .unwrap();
    assert!(
        replicas.ends_with("kube-controller-manager (Update, /scale)"),
        "{replicas}"
    );
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: shop, uid: u}\n\
                  data: {password: Y2FuYXJ5LXNlY3JldA==}\n";
    let (_, out, _) = run_with(&["owners", "-"], secret);
    assert!(
        out.contains("password") && !out.contains("Y2FuYXJ5"),
        "{out}"
    );
    // What a file does not say is not printed: no uid, no version and no value that a server fills in.
    let manifest =
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n";
    let (code, out, _) = run_with(&["owners", "-"], manifest);
    let keys = out.lines().filter_map(|line| line.split(':').next());
    let keys: Vec<&str> = keys.map(str::trim_start).collect();
    let said = [
        "# Service web",
        "apiVersion",
        "kind",
        "metadata",
        "name",
        "spec",
        "ports",
        "- port",
        "",
    ];
    assert_eq!((code, keys.as_slice()), (0, said.as_slice()), "{out}");
}

#[test]
fn a_way_out_of_a_manifest_with_a_password_names_fields_alone() {
    let text = |image: &str, password: &str, of_cluster: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop{of_cluster}}}\n\
             spec:\n  selector: {{matchLabels: {{a: b}}}}\n  template:\n    metadata: {{labels: {{a: b}}}}\n    \
             spec:\n      containers:\n      - name: web\n        image: {image}\n        args: \
             [\"--password={password}\", \"postgres://ann:{password}@db/x\"]\n"
        )
    };
    let live = text("a:1", "canary-one", ", uid: u, resourceVersion: \"9\"");
    let folder = std::env::temp_dir().join(format!("optimist-password-{}", std::process::id()));
    std::fs::write(&folder, live).unwrap();
    let next = text("a:2", "canary-two", "");
    for format in ["text", "json", "markdown", "junit", "sarif", "script"] {
        let live = folder.to_str().unwrap();
        let arguments = [
            "preview",
            "--live",
            live,
            "--next",
            "-",
            "--as",
            "kubectl-server-side",
            "--format",
            format,
        ];
        let (_, out, _) = run_with(&arguments, &next);
        assert!(!out.contains("canary"), "{format}: {out}");
    }
    std::fs::remove_file(&folder).unwrap();
}

#[test]
fn an_error_from_the_standard_input_is_explained() {
    let error = "error: Apply failed with 1 conflict: conflict with \"helm\": .spec.replicas\n";
    let (code, out, err) = run_with(&["explain"], error);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(
        out.contains("helm") && out.contains(".spec.replicas"),
        "{out}"
    );
    let named = out.contains(" -n default") || out.contains("deployment example");
    assert!(!named && out.contains("-n NAMESPACE"), "{out}");
    let (code, _, err) = run_with(&["explain"], "all is well\n");
    assert_eq!(code, 2, "{err}");
}

#[test]
fn a_message_is_quoted_without_the_colours_of_a_terminal_and_the_line_ends_of_windows() {
    let error = "\u{1b}[31mError: Apply failed with 1 conflict: conflict with \"vault\": .data.k\u{1b}[0m\r\n\
                 Please review the fields above\r\n";
    let (code, out, err) = run_with(&["explain"], error);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("Error: Apply failed with 1 conflict"), "{out}");
    assert!(
        !out.contains("\\u00") && !out.contains(['\u{1b}', '\r']),
        "{out}"
    );
}

#[test]
fn each_line_of_a_value_is_indented_below_its_field() {
    let next = "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}, \
                \"data\": {\"lines\": \"one\\ntwo\\n\"}}";
    let live = std::env::temp_dir().join(format!("optimist-lines-{}.yaml", std::process::id()));
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default, uid: u1, \
                  resourceVersion: '5', managedFields: []}\ndata: {other: x}\n";
    std::fs::write(&live, object).unwrap();
    let live_file = live.to_str().unwrap();
    let arguments = [
        "preview",
        "--live",
        live_file,
        "--next",
        "-",
        "--as",
        "kubectl-server-side",
    ];
    let (_, out, err) = run_with(&arguments, next);
    std::fs::remove_file(&live).unwrap();
    assert!(
        out.contains("    .data.lines: none → one\n      two\n"),
        "{out}{err}"
    );
}

#[test]
fn a_lesson_is_run_and_a_false_claim_ends_with_1() {
    let lesson = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lessons/01-the-lost-update.yaml");
    let lesson = lesson.to_str().unwrap();
    let (code, out, err) = run(&["lesson", lesson]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("everything in it is true"), "{out}");
    let (code, _, err) = run_with(&["lesson", "-"], "title: nothing\n");
    assert_eq!(code, 1);
    assert!(err.starts_with("-:"), "{err}");
}

#[test]
fn completions_name_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let (code, out, _) = run(&["completions", shell]);
        assert_eq!(code, 0);
        for command in ["preview", "owners", "explain", "lesson"] {
            assert!(out.contains(command), "{shell}: {command}");
        }
    }
}

/// Runs a script with a kubectl that records its arguments, and fails at one of them. The exit code, and
/// one line a command.
fn with_recorded_kubectl(script: &str, arguments: &[&str], fails_at: &str) -> (i32, Vec<String>) {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubectl");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();
    let path = |name: &str| place.join(name);
    let kubectl = format!(
        "#!/bin/sh\ncat > /dev/null\necho \"$*\" >> {}\ncase \"$*\" in *'{fails_at}'*) exit 1 ;; esac\n",
        path("calls").display()
    );
    write_program(&path("kubectl"), &kubectl);
    std::fs::write(path("script"), script).unwrap();
    let old = std::env::var("PATH").unwrap();
    let status = Command::new("bash")
        .arg(path("script"))
        .args(arguments)
        .env("PATH", format!("{}:{old}", place.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    let calls = std::fs::read_to_string(path("calls")).unwrap_or_default();
    let calls = calls.lines().map(str::to_owned).collect();
    (status.code().unwrap(), calls)
}

#[test]
fn the_script_of_the_hand_overs_stores_nothing_without_its_option_and_tries_each_write_first() {
    let (live, next) = (file("live.yaml"), file("next.yaml"));
    let script = |choice: &[&str]| {
        let mut arguments = vec!["preview", "--live", &live, "--next", &next, "--as"];
        arguments.extend(["kubectl-server-side", "--format", "script"]);
        arguments.extend(choice);
        run(&arguments)
    };
    let (code, taken, err) = script(&["--hand-over", "take-over"]);
    assert_eq!((code, err.as_str()), (1, ""), "{taken}");
    let is_dry = |call: &String| call.contains("--dry-run=server");
    let (code, tried) = with_recorded_kubectl(&taken, &[], "nothing");
    assert_eq!(code, 0, "{taken}");
    assert!(!tried.is_empty() && tried.iter().all(is_dry), "{tried:?}");
    let (code, calls) = with_recorded_kubectl(&taken, &["--write"], "nothing");
    assert_eq!(code, 0);
    let writes: Vec<usize> = (0..calls.len()).filter(|at| !is_dry(&calls[*at])).collect();
    assert!(!writes.is_empty(), "{calls:?}");
    for at in writes {
        assert!(at > 0 && is_dry(&calls[at - 1]), "{calls:?}");
    }
    let (code, calls) = with_recorded_kubectl(&taken, &["--write"], "--dry-run=server");
    assert!(
        code != 0 && calls.len() == 1,
        "a refused dry run ends it: {calls:?}"
    );
    // What only people can change is a comment, and objects can differ.
    let (_, left, _) = script(&[
        "--hand-over",
        "leave",
        "--hand-over",
        "Deployment/shop/web=take-over",
    ]);
    assert_eq!(
        left.contains("--force-conflicts"),
        taken.contains("--force-conflicts")
    );
    let (code, _, err) = script(&["--hand-over", "Deployment/shop/absent=leave"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("Deployment/shop/absent has no conflict"),
        "{err}"
    );
}

#[test]
fn a_script_that_only_people_can_follow_does_not_say_that_it_stores() {
    let (live, next) = (file("live.yaml"), file("next.yaml"));
    let arguments = ["preview", "--live", &live, "--next", &next, "--as"];
    let (_, by_hand, _) = run(&[&arguments[..], &["helm4", "--format", "script"]].concat());
    assert!(by_hand.contains("Nothing to run"), "{by_hand}");
    assert!(!by_hand.contains("--write"), "{by_hand}");
}

#[test]
fn a_test_that_fails_is_drawn_in_one_html_file() {
    let directory = built_page("drawn");
    let failed = {
        let (kept, page) = (directory.clone(), directory.clone());
        let test = std::thread::Builder::new().name("module::fails".to_owned());
        test.spawn(move || {
            let server = optimist_testing::TestServer::default()
                .keeping_failures_in(kept)
                .drawing_failures_with(env!("CARGO_BIN_EXE_optimist"), page);
            let map = serde_json::json!({"metadata": {"name": "drawn-map"}});
            let maps = "/api/v1/namespaces/default/configmaps";
            assert_eq!(server.client("alice").send("POST", maps, &map).code, 409);
        })
    };
    assert!(failed.unwrap().join().is_err());
    let html = std::fs::read_to_string(directory.join("module.fails.audit.html")).unwrap();
    let shown = html.split("optimist-shown\" content=\"").nth(1).unwrap();
    let text = shown.split('"').next().unwrap().split_once("?s=").unwrap();
    let session = optimist_links::Session::parse(text.1).unwrap();
    assert!(text.0.ends_with("diagnose"), "{}", text.0);
    let case = session.extra["texts"][0].as_str().unwrap();
    assert!(
        case.contains("drawn-map") && case.contains("alice"),
        "{case}"
    );
}
