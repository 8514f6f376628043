//! The commands in sentences: what to bring, and the object of an error message.

use optimist_apiserver::server::ApiServer;
use optimist_diagnose::input::{NotDetected, TextForm, detect};
use optimist_diagnose::message::reported_errors;
use optimist_messages::{diagnose as messages, label};
use serde_json::Value;

use super::run::{Expected, Tried};

/// Texts with error messages, and the member that has the text.
const MESSAGES: [(&str, &str); 3] = [
    (
        include_str!("../../../../core/diagnose/tests/messages/forms.json"),
        "text",
    ),
    (
        include_str!("../../../../core/diagnose/tests/messages/kubectl.json"),
        "stderr",
    ),
    (
        include_str!("../../../../core/diagnose/tests/messages/other_tools.json"),
        "text",
    ),
];

/// Texts that name an object and do not hold it.
const FORMS: [&str; 4] = [
    "NAME   READY   STATUS\nweb-1  1/1     Running\n",
    "NAMESPACE   NAME   READY\nshop        web    2/2\n",
    "Name:         web\nNamespace:    shop\nLabels:       app=web\n",
    "--- /tmp/LIVE-1/apps.v1.Deployment.shop.web\n+++ /tmp/MERGED-2/x\n@@ -1 +1 @@\n-kind: Pod\n+kind: Job\n",
];

pub fn all() -> Vec<Tried> {
    let mut commands = Vec::new();
    for text in [
        label::question_release_command(),
        label::question_watch_command(),
        label::owners_empty_command(),
        label::happened_watch_command(),
    ] {
        commands.push(format!("timeout 2 {text} || true\n"));
    }
    for (json, member) in MESSAGES {
        let cases: Vec<Value> = serde_json::from_str(json).expect("it is a list");
        for case in cases {
            let errors = reported_errors(case[member].as_str().unwrap_or_default());
            commands.extend(
                errors
                    .iter()
                    .filter_map(|it| messages::get_command(&it.object)),
            );
        }
    }
    for text in FORMS {
        let Err(NotDetected::Form { form, .. }) = detect(text) else {
            panic!("it is a form: {text}");
        };
        let (TextForm::Table(object) | TextForm::Description(object) | TextForm::Diff(object)) =
            form
        else {
            panic!("it names an object: {text}");
        };
        commands.push(object.command());
    }
    commands.sort();
    commands.dedup();
    let tried = commands.into_iter().map(|script| Tried {
        name: "a sentence".to_owned(),
        server: ApiServer::default(),
        script,
        files: Vec::new(),
        expected: Expected::Understood,
    });
    tried.collect()
}
