//! How long the main thread of the page is held by what people bring: `held SITE [WORD]`, with a
//! release site (`cargo xtask dist`). With a word, only the cases run that have it in their names.
//!
//! A task is what the browser does without a pause: it delivers no input and paints no frame meanwhile.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use http::Request;
use optimist_apiserver::server::ApiServer;
use optimist_client::edit_scalar;
use optimist_links::Session;
use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
use optimist_tests::page::{Browser, Site, session_to_search};
use serde_json::{Value, json};

/// The variables of each container. With [`CONTAINERS`], the live object has some 590 kB as JSON.
const VARIABLES: usize = 105;

/// The containers of the large Deployment.
const CONTAINERS: usize = 37;

/// Notes each task of more than 50 ms from now on.
const OBSERVE: &str = "
    window.held = [];
    window.observer?.disconnect();
    window.observer = new PerformanceObserver(list => {
        for (const task of list.getEntries()) window.held.push(Math.round(task.duration));
    });
    window.observer.observe({type: 'longtask'});
    window.began = performance.now();";

/// Keeps the arguments of what is measured. To get a long text from the driver is a long task itself.
const GIVE: &str = "window.given = [...arguments]; window.rests = 0";

/// The tasks that were noted, once nothing is under way any more and three frames are painted.
const NOTED: &str = "
    const took = performance.now() - window.began;
    const frame = () => new Promise(done => requestAnimationFrame(done));
    return (async () => {
        for (let i = 0; i < 3; i++) await frame();
        await new Promise(done => setTimeout(done, 300));
        return {held: window.held, took: Math.round(took)};
    })()";

/// Pastes a text where texts of a case are pasted.
const PASTE: &str = "
    const data = new DataTransfer();
    data.setData('text/plain', window.given[0]);
    const event = new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true});
    document.querySelector('#bring').dispatchEvent(event);";

/// Nothing of Diagnose is under way.
const AT_REST: &str = "
    const rests = document.querySelectorAll(arguments[1]).length >= arguments[0]
        && !document.querySelector('.diagnose progress');
    // One work may follow another.
    window.rests = rests ? (window.rests ?? 0) + 1 : 0;
    return window.rests > 10";

/// The card of a thing of the case.
const CARD: &str = ".case-cards > *";

/// What is said first of a case.
const HEADLINE: &str = ".diagnose .headline";

/// No search of Explore is under way.
const SEARCHED: &str = "
    return Boolean(document.querySelector('.explore:not(.running)'))";

/// The shared text is known: nothing is under way in the dialog.
const SHARED: &str = "
    const dialog = document.querySelector('dialog[open]');
    return Boolean(dialog?.querySelector('#share-link'))
        && !dialog.querySelector('p.muted[role=status]:not(.share-stays, #save-page-told)')";

/// Clicks on the first element of a selector.
const CLICK: &str = "document.querySelector(window.given[0]).click()";

/// All steps of a session are there.
const ALL_STEPS: &str =
    "return document.querySelector('.position')?.textContent.endsWith(arguments[0]) ?? false";

/// Searches every order of a controller.
const PRESS_ORDERS: &str = "
    [...document.querySelectorAll('button')]
        .find(it => it.textContent.trim() === 'Search every order').click()";

/// The search says what it varied.
const ORDERED: &str =
    "return document.querySelector('.orders')?.innerText.includes('Varied') ?? false";

struct Measured<'a> {
    browser: &'a Browser,
    site: &'a Site,
    word: String,
}

impl Measured<'_> {
    fn fresh(&self, fragment: &str) {
        // The tab has kept the case before.
        self.browser.go(&self.site.url());
        self.browser.run("sessionStorage.clear()", &[]);
        self.browser.go("about:blank");
        self.browser.go(&format!("{}#/{fragment}", self.site.url()));
        let drawn = "return !document.getElementById('loading') && !window.left";
        self.browser.wait("the page", drawn, &[]);
        // What the page does after it is drawn is not measured.
        thread::sleep(Duration::from_millis(1500));
    }

    /// Runs a script, waits until something holds, and says how long tasks were.
    fn case(&self, name: &str, act: (&str, &[Value]), done: (&str, &[Value])) {
        self.browser.run(GIVE, act.1);
        self.browser.run(OBSERVE, &[]);
        self.browser.run(act.0, &[]);
        // The large cases take minutes on a busy machine.
        while self.browser.run(done.0, done.1) != Value::Bool(true) {
            thread::sleep(Duration::from_millis(20));
        }
        let noted = self.browser.run(NOTED, &[]);
        let tasks = noted["held"].as_array().cloned().unwrap_or_default();
        let mut tasks: Vec<i64> = tasks.iter().filter_map(Value::as_i64).collect();
        tasks.sort_unstable_by_key(|task| std::cmp::Reverse(*task));
        let longest: Vec<String> = tasks.iter().take(6).map(i64::to_string).collect();
        println!(
            "{name}: {} tasks above 50 ms, the longest {} ms; {} ms in all",
            tasks.len(),
            longest.join(", "),
            noted["took"]
        );
    }

    fn runs(&self, name: &str) -> bool {
        name.contains(&self.word)
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: held SITE [WORD]");
        std::process::exit(2);
    };
    let site = Site::serve(&folder);
    let browser = Browser::start();
    browser.resize(1440, 900);
    let all = Measured {
        browser: &browser,
        site: &site,
        word: arguments.next().unwrap_or_default(),
    };
    if all.runs("case") {
        cases(&all);
    }
    if all.runs("log") {
        logs(&all);
    }
    if all.runs("explore") {
        all.fresh("play");
        let go = "location.hash = '#/explore'";
        all.case("explore, the first preset", (go, &[]), (SEARCHED, &[]));
    }
    if all.runs("orders") {
        orders(&all);
    }
    for steps in [1_000, 5_000] {
        if all.runs(&format!("steps {steps}")) {
            session(&all, steps);
        }
    }
}

/// A large object, with its manifest, and shared.
fn cases(all: &Measured<'_>) {
    let (live, manifest) = large_case();
    all.fresh("diagnose");
    let name = format!("case: an object of {} kB", live.len() / 1000);
    all.case(
        &name,
        (PASTE, &[live.into()]),
        (AT_REST, &[1.into(), CARD.into()]),
    );
    let (paste, rest): (Value, Value) = (manifest.into(), 2.into());
    all.case(
        "case: with a manifest",
        (PASTE, &[paste]),
        (AT_REST, &[rest, CARD.into()]),
    );
    let share: Value = ".share-button".into();
    all.case("case: shared", (CLICK, &[share]), (SHARED, &[]));
    let without: Value = ".share-values label:nth-of-type(2) input".into();
    all.case("case: without values", (CLICK, &[without]), (SHARED, &[]));
}

/// Audit logs in which two managers fight over ten fields, of a small and of a large object, and a log of a program.
fn logs(all: &Measured<'_>) {
    for (writes, others) in [(16, 0), (80, 300)] {
        let log = fights(writes, others);
        all.fresh("diagnose");
        let name = format!("log: ten fights in {} kB", log.len() / 1000);
        let rest = [1.into(), HEADLINE.into()];
        all.case(&name, (PASTE, &[log.into()]), (AT_REST, &rest));
    }
    let line =
        "2026-11-28T07:00:00Z INFO reconciling deployment=web namespace=default result=requeue\n";
    let error = "error: Apply failed with 1 conflict: conflict with \"helm\" using apps/v1: .spec.replicas\n";
    let half = line.repeat(2_400_000 / line.len());
    let text = [&half, error, &half].concat();
    all.fresh("diagnose");
    let name = format!("log: an error message in {} kB", text.len() / 1000);
    let rest = [1.into(), CARD.into()];
    all.case(&name, (PASTE, &[text.into()]), (AT_REST, &rest));
}

/// An audit log: two managers apply other values of ten variables in turn, beside variables that stay.
fn fights(writes: usize, others: usize) -> String {
    let mut server = ApiServer::default();
    let path = "/apis/apps/v1/namespaces/default/deployments/web";
    let events = (0..writes).map(|at| {
        let manager = ["tool-a", "tool-b"][at % 2];
        let own = (0..10).map(|name| json!({"name": format!("FOUGHT_{name}"), "value": manager}));
        let rest = (0..others).map(|name| {
            json!({"name": format!("SETTING_{name}"), "value": "as the chart sets it"})
        });
        let env: Vec<Value> = own.chain(rest).collect();
        let body = json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "web:1", "env": env}]},
            }},
        });
        let uri = format!("{path}?fieldManager={manager}&force=true");
        let answer = send(&mut server, &uri, "apply-patch+yaml", &body);
        let time = format!("2026-11-22T06:{:02}:{:02}.000000Z", at / 60, at % 60);
        let event = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": at.to_string(),
            "stage": "ResponseComplete", "requestURI": uri, "verb": "patch",
            "user": {"username": manager}, "userAgent": format!("{manager}/1.0"),
            "objectRef": {"resource": "deployments", "namespace": "default", "name": "web", "apiGroup": "apps",
                "apiVersion": "v1"},
            "responseStatus": {"code": 200}, "requestObject": body, "responseObject": answer,
            "requestReceivedTimestamp": time, "stageTimestamp": time,
        });
        format!("{event}\n")
    });
    events.collect()
}

/// A long session, from its link.
fn session(all: &Measured<'_>, steps: usize) {
    let text = Session::from_tree(&history(steps)).to_text();
    all.fresh("play");
    let go = "location.hash = window.given[0]";
    let fragment: Value = format!("#/play?s={text}").into();
    let end: Value = format!("/ {steps}").into();
    let name = format!("open {steps} steps");
    all.case(&name, (go, &[fragment]), (ALL_STEPS, &[end]));
}

/// The search of every order of a controller's steps, from a session in which an editor has an edit to send.
fn orders(all: &Measured<'_>) {
    let text = session_to_search();
    all.fresh(&format!("play?s={text}"));
    all.case(
        "orders of a controller",
        (PRESS_ORDERS, &[]),
        (ORDERED, &[]),
    );
}

/// Both editors read, change replicas and send, in turn: each second write is refused.
fn history(steps: usize) -> HistoryTree {
    let mut tree = HistoryTree::new(World::load(NGINX).expect("it loads").0);
    for round in 0..steps / 4 {
        for editor in ActorId::EDITORS {
            tree.act(Operation::Act(editor, Action::Get));
        }
        for (i, editor) in ActorId::EDITORS.into_iter().enumerate() {
            let copy = tree.world_mut().copy_mut(editor);
            let replicas = (1 + (round * 2 + i) % 90).to_string();
            let edited = copy
                .edited()
                .and_then(|object| edit_scalar(object, "/spec/replicas", &replicas).ok());
            copy.edit(edited.expect("it was read"));
            let send = Action::Send(tree.world().actor(editor).write());
            tree.act(Operation::Act(editor, send));
        }
    }
    tree
}

/// A large live object that Helm applied, and the manifest of the next release.
fn large_case() -> (String, String) {
    let mut server = ApiServer::default();
    let path = "/apis/apps/v1/namespaces/default/deployments/web";
    let apply = format!("{path}?fieldManager=helm&force=true");
    let live = send(&mut server, &apply, "apply-patch+yaml", &deployment("1.27"));
    let scale = format!("{path}/scale?fieldManager=kube-controller-manager");
    let replicas = json!({"spec": {"replicas": 7}});
    send(&mut server, &scale, "merge-patch+json", &replicas);
    let get = request("GET", path, "json", &Value::Null);
    let live = serde_json::from_slice(server.handle(get).body()).unwrap_or(live);
    (live.to_string(), deployment("1.28").to_string())
}

fn send(server: &mut ApiServer, path: &str, media: &str, body: &Value) -> Value {
    let answer = server.handle(request("PATCH", path, media, body));
    let success = answer.status().is_success();
    assert!(success, "{}", String::from_utf8_lossy(answer.body()));
    serde_json::from_slice(answer.body()).expect("the server answers JSON")
}

fn request(method: &str, path: &str, media: &str, body: &Value) -> Request<Vec<u8>> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", format!("application/{media}"));
    let body = body.to_string().into_bytes();
    request.body(body).expect("it is a request")
}

fn deployment(tag: &str) -> Value {
    let containers = (0..CONTAINERS).map(|container| {
        let variables = (0..VARIABLES).map(|at| {
            json!({"name": format!("SETTING_{container}_{at}"),
                "value": format!("value {at} of container {container}, as the chart sets it")})
        });
        json!({
            "name": format!("c{container}"), "image": format!("registry.example.com/shop/c{container}:{tag}"),
            "env": variables.collect::<Vec<_>>(),
        })
    });
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default", "labels": {"app.kubernetes.io/managed-by": "Helm"}},
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": containers.collect::<Vec<_>>()},
            },
        },
    })
}
