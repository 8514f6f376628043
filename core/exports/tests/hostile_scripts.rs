//! The exported script and the commands of the kubectl tab never run text of a session.
//! `PROPTEST_CASES=100000 cargo test -p optimist-exports --release --test all hostile_scripts` tries more.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use optimist_apiserver::server::Resources;
use optimist_client::{Strategy, Write};
use optimist_code::{ClientRequest, kubectl};
use optimist_exports::script;
use optimist_simulation::{Action, ActorId, ByHand, HistoryTree, Operation, Start, World};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Strategy as _;
use serde_json::{Value, json};

use super::program_file::write_program;

/// A folder with stubs in the places of kubectl and curl, and the command that must not run.
struct Stubs(PathBuf);

/// Stubs of their own for each test, for the tests run at the same time.
fn stubs(test: &str) -> Stubs {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["kubectl", "curl", "sleep", "canary"] {
        let file = folder.join(name);
        let sang = folder.join("sang");
        let body = match name {
            "canary" => format!("#!/bin/sh\n: > '{}'\n", sang.display()),
            _ => "#!/bin/sh\ncase \"$*\" in *jsonpath*) echo 7;; *'@-'* | *'-f -'*) cat;; esac\n"
                .to_owned(),
        };
        write_program(&file, &body);
    }
    Stubs(folder)
}

impl Stubs {
    /// Returns whether the forbidden command ran in this script.
    fn sings(&self, shell: &str, text: &str) -> bool {
        let file = self.0.join(format!("script.{shell}"));
        let sang = self.0.join("sang");
        let _ = std::fs::remove_file(&sang);
        std::fs::write(&file, text).unwrap();
        let path = format!("{}:/usr/bin:/bin", self.0.display());
        let run = Command::new(shell)
            .arg(&file)
            .env("PATH", path)
            .current_dir(Path::new("/"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        run.unwrap_or_else(|error| panic!("{shell}: {error}"));
        sang.exists()
    }

    /// Returns whether a shell can read it to the end, so that no mistake in it hides what comes
    /// after.
    fn parses(&self, shell: &str, text: &str) -> bool {
        let file = self.0.join(format!("read.{shell}"));
        std::fs::write(&file, text).unwrap();
        let mut check = Command::new(shell);
        let check = check.arg("-n").arg(&file).stderr(Stdio::null()).status();
        check
            .unwrap_or_else(|error| panic!("{shell}: {error}"))
            .success()
    }

    fn check(&self, text: &str) {
        for shell in ["sh", "bash"] {
            assert!(self.parses(shell, text), "{shell} does not read:\n{text}");
            assert!(
                !self.sings(shell, text),
                "{shell} ran the canary in:\n{text}"
            );
        }
    }
}

/// Text made of what shells, here-documents, YAML and the script's own words are made of.
fn hostile() -> impl proptest::strategy::Strategy<Value = String> {
    let part = select(vec![
        "canary",
        "$(canary)",
        "`canary`",
        ";canary;",
        "\ncanary\n",
        "\r\ncanary\r\n",
        "'",
        "''",
        "\"",
        "\\",
        "\\'",
        "&canary&",
        "|canary",
        "||canary",
        "EOF",
        "\nEOF\ncanary\n",
        "\nE\0OF\ncanary\n",
        "EOF_",
        "\nSTEP\ncanary\n",
        "\nSTE\0P\ncanary\n",
        "STEP",
        "#",
        " ",
        "$IFS",
        "${x:=canary}",
        "<(canary)",
        "<<EOF",
        "@rv100@",
        "@uid1@",
        "--",
        "-",
        "~",
        "*",
        "!",
        "!canary",
        "\t",
        "\0",
        "\u{1b}[2J",
        "\u{202e}",
        "é",
        "/",
        "&",
        "e canary",
        ")",
        "}",
        "done;",
        ": |\n",
        "---",
        "a",
    ]);
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

/// Those of its characters that a path may have, so that more of them come through.
fn in_a_path(text: &str) -> String {
    let allowed = |c: &char| c.is_ascii_graphic() && !"<>\\^`?#".contains(*c);
    text.chars().filter(allowed).collect()
}

/// A session with a hostile text wherever a session has text.
fn session(texts: &[String]) -> Option<HistoryTree> {
    let mut texts = texts.iter().cycle();
    let mut text = || texts.next().cloned().unwrap_or_default();
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "team", "annotations": {"a": text()}},
        "data": {"a": text(), "b": format!("{}\n", text())},
    });
    let comment = format!("# {}\n", text().replace('\n', " "));
    let manager = text();
    let start = Start {
        manifests: format!("{comment}{object}"),
        created_by: Some(manager).filter(|text| text.chars().all(|c| c.is_ascii_graphic())),
        ..Start::default()
    };
    let (mut world, _) = World::from_start(start.into()).ok()?;
    for id in ActorId::ALL {
        world.actor_mut(id).name = text().into();
        world.actor_mut(id).manager = text().into();
    }
    let mut tree = HistoryTree::new(world);
    let mut act = |id, action| tree.act(Operation::Act(id, action)).is_some();
    act(ActorId::A, Action::Get);
    for strategy in Strategy::ALL {
        let write = Write {
            manager: Some(text()),
            body: Some(
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name":
                "settings", "labels": {text(): text()}}, "data": {"c": text(), text(): "d"}})
                .to_string(),
            ),
            ..Write::usual(strategy)
        };
        act(ActorId::A, Action::Send(write));
    }
    for method in ByHand::METHODS {
        let target = match method {
            "POST" => "/api/v1/namespaces/team/configmaps".to_owned() + &in_a_path(&text()),
            _ => format!(
                "/api/v1/namespaces/{}/configmaps/{}",
                in_a_path(&text()),
                in_a_path(&text())
            ),
        };
        let query = in_a_path(&text()).replace('#', "");
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": text()},
            "data": {text(): text()}});
        let by_hand = ByHand {
            method: method.to_owned(),
            target: format!("{target}?fieldManager={query}"),
            content_type: text(),
            body: if query.len().is_multiple_of(2) {
                body.to_string()
            } else {
                text()
            },
        };
        act(ActorId::B, Action::Request(by_hand));
    }
    Some(tree)
}

fn config(cases: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if asked { usual.cases } else { cases },
        failure_persistence: None,
        ..usual
    }
}

#[test]
fn the_canary_sings_where_a_text_is_not_quoted() {
    let stubs = stubs("canary");
    for shell in ["sh", "bash"] {
        for text in [
            "curl -X x;canary '/'",
            "kubectl get -f - <<'EOF'\nEOF\ncanary\n",
            "a $(canary)",
        ] {
            assert!(stubs.sings(shell, text), "{shell}: {text}");
        }
        assert!(!stubs.sings(shell, "kubectl get 'canary'\n"));
    }
}

/// A kubectl that answers every question for a version or uid with the same text.
fn answering(stubs: &Stubs, answer: &str) {
    let file = stubs.0.join("kubectl");
    let text = stubs.0.join("answer");
    std::fs::write(&text, answer).unwrap();
    let body = format!(
        "#!/bin/sh\ncase \"$*\" in *jsonpath*) cat '{}';; esac\n",
        text.display()
    );
    std::fs::write(&file, body).unwrap();
}

#[test]
fn no_answer_of_a_cluster_is_run_by_a_script() {
    let stubs = stubs("answers");
    let texts: Vec<String> = (0..12).map(|i| format!("text{i}")).collect();
    let script = script(&session(&texts).unwrap());
    for answer in [
        "1/g;1i canary #",
        "1/g;1i canary;",
        "7\n1/g;1i canary #",
        "1/g;1i\\\ncanary\n",
        "7\n1i canary",
        "1/g\n1i canary\n",
        "canary/e;s/x/",
        "&canary&",
        "\\ncanary\\n",
        "$(canary)",
        "`canary`",
        "';canary;'",
        "\";canary;\"",
        "",
    ] {
        answering(&stubs, answer);
        stubs.check(&script);
    }
    let mut runner = proptest::test_runner::TestRunner::new(config(4));
    let outcome = runner.run(&hostile(), |answer| {
        answering(&stubs, &answer);
        stubs.check(&script);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn no_text_of_a_session_is_run_by_its_script_or_its_commands() {
    let stubs = stubs("hostile");
    let resources = Resources::builtin();
    let config_maps = resources.by_kind("v1", "ConfigMap").unwrap();
    let texts = prop::collection::vec(hostile(), 12..24);
    let mut runner = proptest::test_runner::TestRunner::new(config(6));
    let (tried, opened) = (Cell::new(0), Cell::new(0));
    let outcome = runner.run(&texts, |texts| {
        tried.set(tried.get() + 1);
        if let Some(tree) = session(&texts) {
            opened.set(opened.get() + 1);
            stubs.check(&script(&tree));
        }
        let at = |i: usize| texts[i % texts.len()].as_str();
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": at(0)},
            "data": {at(1): at(2)}});
        let target = format!("/api/v1/namespaces/{}/configmaps/{}", at(3), at(4));
        let odd = format!("/{}", at(5));
        let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", at(6)];
        let mut commands = String::new();
        for (method, target, content_type, body) in methods
            .iter()
            .flat_map(|method| [(method, &target), (method, &odd)])
            .flat_map(|(m, t)| {
                let merge = "application/merge-patch+json";
                [(m, t, at(7), &body), (m, t, merge, &body)]
            })
            .chain([(&methods[0], &target, "", &Value::Null)])
        {
            for attempts in [1, 3] {
                commands.push_str(&kubectl(&ClientRequest {
                    method,
                    target,
                    content_type,
                    user_agent: at(8),
                    body,
                    resource: Some(config_maps),
                    edits: None,
                    attempts,
                    reads_again: false,
                    migrates: false,
                }));
            }
        }
        stubs.check(&commands);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let (tried, opened) = (tried.get(), opened.get());
    // Of few cases, chance decides how many are most.
    let enough = if tried < 50 { 1 } else { tried / 2 };
    assert!(opened >= enough, "{opened} of {tried} sessions open");
}
