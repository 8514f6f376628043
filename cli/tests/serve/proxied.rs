//! The program behind the real `kubectl proxy`, with the command that the page prints.
//!
//! Where no kubectl is installed the tests say so and try nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use optimist_apiserver::object::Metadata;
use optimist_client::{OnOwned, Preset, WantedChange, Way};
use optimist_diagnose::case::Case;
use optimist_diagnose::remote::{
    Following, ProxyCommand, RemoteAnswer, RemoteKind, RemotePrediction, RemoteRequest,
    WatchReading, kinds,
};
use serde_json::{Value, json};

use crate::place;
use crate::program::{Connection, PATIENCE, Program};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

/// A started `kubectl proxy`. It ends with the test.
struct Proxy {
    child: Child,
    authority: String,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Proxy {
    /// Runs the printed command in a shell. `None` if it does not listen.
    fn start(served: &Served, command: &ProxyCommand, directory: &Path) -> Option<Self> {
        let text = command.text(directory.to_str().unwrap(), "/static/");
        let text = format!("exec {} --port={}", text.trim_end(), served.port);
        let mut child = Command::new("sh")
            .args(["-c", &text])
            .env("KUBECONFIG", &served.program.kubeconfig)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut said).unwrap();
        let authority = said.trim().rsplit(' ').next().unwrap_or_default();
        let proxy = Self {
            child,
            authority: authority.to_owned(),
        };
        let listens = proxy.authority.starts_with("127.0.0.1:");
        listens.then_some(proxy)
    }
}

/// A server with a Deployment behind the printed command. `None` if there is no kubectl.
fn proxied(command: &ProxyCommand, directory: &Path) -> Option<(Served, Proxy)> {
    let there = Command::new("kubectl")
        .args(["version", "--client"])
        .output();
    if there.is_err() {
        println!("counted: kubectl proxy: not tried, because kubectl is not installed here");
        return None;
    }
    // The server is told the port of the proxy before the proxy takes it: another test may be faster.
    let mut tries = (0..5).map(|_| with_deployment());
    let listening = tries.find_map(|served| {
        let proxy = Proxy::start(&served, command, directory)?;
        Some((served, proxy))
    });
    Some(listening.expect("kubectl proxy listens"))
}

/// Sends what the page sends, to any server at an address of this machine.
fn ask(authority: &str, request: &RemoteRequest) -> RemoteAnswer {
    let mut headers = vec![format!("Host: {authority}"), "Connection: close".to_owned()];
    if request.method() != "GET" {
        // As a browser does, also to the origin of the page.
        headers.push(format!("Origin: http://{authority}"));
    }
    headers.extend(
        request
            .headers()
            .map(|(name, value)| format!("{name}: {value}")),
    );
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let stream = TcpStream::connect(authority).unwrap();
    let body = request.body().unwrap_or_default().as_bytes();
    let mut connection = Connection::over(stream);
    let (code, body) = connection.send(request.method(), request.target(), &headers, body);
    RemoteAnswer {
        code,
        warning: String::new(),
        body,
    }
}

/// A server that answers pages behind a proxy on a port.
struct Served {
    program: Program,
    port: u16,
}

/// A server with a Deployment.
fn with_deployment() -> Served {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    let program = Program::start(&["--origin", &format!("http://127.0.0.1:{port}")]);
    let labels = json!({"app": "web"});
    let web = json!({
        "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}]}}},
    });
    assert_eq!(program.json("POST", DEPLOYMENTS, &web).0, 201);
    Served { program, port }
}

fn deployment() -> RemoteKind {
    RemoteKind {
        kind: "Deployment".to_owned(),
        group: "apps".to_owned(),
        version: "v1".to_owned(),
        plural: "deployments".to_owned(),
        is_namespaced: true,
    }
}

/// Reads the Deployment, and predicts an apply of three replicas by force.
fn predicted(authority: &str) -> RemotePrediction {
    let kind = deployment();
    let read = RemoteRequest::object(&kind, "default", "web").unwrap();
    let live = ask(authority, &read)
        .objects(&kind, false)
        .unwrap()
        .remove(0);
    assert!(live["metadata"]["managedFields"].is_array(), "{live}");
    let manifest = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 3},
    });
    let way = Way::Client(Preset::KubectlApplyServerSide, OnOwned::Force);
    let change = WantedChange::manifest(manifest);
    RemotePrediction::new(&Case::about(live), &kind, change, way, false).unwrap()
}

fn version(program: &Program) -> String {
    let web = program
        .json("GET", &format!("{DEPLOYMENTS}/web"), &Value::Null)
        .1;
    web.resource_version().to_owned()
}

/// Follows the Deployment through the proxy: its versions come while they are made, and a list is passed on too.
fn follows(authority: &str, program: &Program) {
    let read = RemoteRequest::object(&deployment(), "default", "web").unwrap();
    let object = ask(authority, &read).objects(&deployment(), false);
    let object = object.unwrap().remove(0);
    let mut following = Following::new(&deployment(), &object, false);
    let request = following.request(WatchReading::Stream).unwrap();
    let mut stream = TcpStream::connect(authority).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "GET {} HTTP/1.0\r\nHost: {authority}\r\n\r\n",
        request.target()
    )
    .unwrap();
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert!(line.contains(" 200 "), "{line}");
    while line.trim_end() != "" {
        line.clear();
        stream.read_line(&mut line).unwrap();
    }
    for replicas in [3, 4] {
        let path = format!("{DEPLOYMENTS}/web");
        let patch = json!({"spec": {"replicas": replicas}});
        assert_eq!(program.json("PATCH", &path, &patch).0, 200);
        // The proxy passes it on before the next one is made.
        let mut told = String::new();
        while told.is_empty() {
            let mut bytes = [0; 700];
            let count = stream.read(&mut bytes).unwrap();
            assert!(count > 0, "the watch ended");
            let part = following.read(&bytes[..count]);
            assert_eq!(part.problem, None);
            told.push_str(&part.lines);
        }
        let event: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(event["object"]["spec"]["replicas"], replicas);
        assert_eq!(event["object"].resource_version(), version(program));
    }
    let gone = json!({"kind": "Status", "code": 410, "message": "too old"});
    following.read(format!("{}\n", json!({"type": "ERROR", "object": gone})).as_bytes());
    let list = following.request(WatchReading::Stream).unwrap();
    let part = following.listed(&ask(authority, &list));
    assert_eq!((part.problem, part.lines.as_str()), (None, ""));
}

#[test]
fn the_printed_proxy_passes_on_what_the_page_asks_and_no_more() {
    let directory = place("proxied");
    std::fs::write(directory.join("index.html"), "the page").unwrap();
    let mut command = ProxyCommand::new();
    command.add_kind(&deployment(), "default", "web");
    let Some((served, reading)) = proxied(&command, &directory) else {
        return;
    };
    let program = &served.program;
    let authority = reading.authority.as_str();
    let host = format!("Host: {authority}");
    let get = |target: &str| {
        let stream = TcpStream::connect(authority).unwrap();
        Connection::over(stream).send("GET", target, &[&host], b"")
    };
    assert_eq!(get("/static/"), (200, "the page".to_owned()));
    let discovery = RemoteRequest::discovery().unwrap();
    let discovery = discovery.map(|it| ask(authority, &it).document().unwrap());
    let listed = kinds(&discovery);
    assert!(listed.contains(&deployment()), "{listed:?}");
    let names = RemoteRequest::names(&deployment(), "default").unwrap();
    let names = ask(authority, &names).names();
    assert_eq!(names, Ok(vec![("default".to_owned(), "web".to_owned())]));
    follows(authority, program);
    for target in [
        "/api/v1/namespaces/default/secrets",
        "/api/v1/namespaces",
        "/apis/apps/v1/namespaces/default/deployments/other",
        "/apis/apps/v1/namespaces/default/deployments/web/status",
        "/apis/apps/v1/deployments",
        "/metrics",
    ] {
        assert_eq!(get(target).0, 403, "{target}");
    }
    let prediction = predicted(authority);
    let refused = ask(authority, prediction.request());
    assert_eq!(refused.code, 403, "a proxy for reads takes no dry run");
}

#[test]
fn a_dry_run_through_the_proxy_is_as_predicted_and_stores_nothing() {
    let directory = place("predicted");
    let mut command = ProxyCommand::new();
    command.add_kind(&deployment(), "default", "web");
    command.add_dry_runs(&deployment(), "default", "web");
    let Some((served, proxy)) = proxied(&command, &directory) else {
        return;
    };
    let program = &served.program;
    let before = version(program);
    let prediction = predicted(&proxy.authority);
    let answer = ask(&proxy.authority, prediction.request());
    assert_eq!(answer.code, 200, "{}", answer.body);
    assert_eq!(answer.document().unwrap()["spec"]["replicas"], 3);
    assert_eq!(prediction.differences(&answer), []);
    assert_eq!(version(program), before);

    for (from, to, pointer) in [
        (
            r#","progressDeadlineSeconds":600"#,
            "",
            "/response/spec/progressDeadlineSeconds",
        ),
        (
            r#""replicas":3"#,
            r#""replicas":2"#,
            "/response/spec/replicas",
        ),
        (
            r#""operation":"Apply""#,
            r#""operation":"Update""#,
            "/response/metadata/managedFields",
        ),
        ("200 ", "409 ", "/status"),
    ] {
        let wrong = wrong_server(proxy.authority.clone(), from, to);
        let found = prediction.differences(&ask(&wrong, prediction.request()));
        let is_caught = found.iter().any(|it| it.pointer.starts_with(pointer));
        assert!(is_caught, "{pointer}: {found:?}");
    }
}

/// A server that is deliberately wrong: it passes one request on, and puts `to` in the place of `from` in the
/// code and the body of the answer.
fn wrong_server(behind: String, from: &'static str, to: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let authority = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let mut client = BufReader::new(client);
        let mut head: Vec<String> = Vec::new();
        loop {
            let mut line = String::new();
            client.read_line(&mut line).unwrap();
            match line.trim_end() {
                "" => break,
                line => head.push(line.to_owned()),
            }
        }
        let length = head
            .iter()
            .find_map(|it| it.strip_prefix("Content-Length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        client.read_exact(&mut body).unwrap();
        let mut first = head[0].split(' ');
        let (method, target) = (first.next().unwrap(), first.next().unwrap());
        let host = format!("Host: {behind}");
        let headers = head.iter().map(String::as_str);
        let mut headers: Vec<&str> = headers
            .filter(|it| it.starts_with("Content-Type") || it.starts_with("Accept"))
            .collect();
        headers.push(&host);
        let stream = TcpStream::connect(&behind).unwrap();
        let (code, body) = Connection::over(stream).send(method, target, &headers, &body);
        let answer = format!("{code} {body}");
        assert!(answer.contains(from), "{answer}");
        let answer = answer.replacen(from, to, 1);
        let (code, body) = answer.split_once(' ').unwrap();
        let length = body.len();
        let mut client = client.into_inner();
        write!(
            client,
            "HTTP/1.1 {code} Altered\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
    });
    authority
}
