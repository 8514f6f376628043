//! What the watch of a followed object means, wherever its bytes are cut.

use http::Request;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, Watch};
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::remote::{
    FollowedPart, Following, NotAnswered, RemoteAnswer, RemoteKind, RemoteRequest, WatchReading,
};
use serde_json::{Value, json};

const PATH: &str = "/api/v1/namespaces/default/configmaps";

fn kind() -> RemoteKind {
    RemoteKind {
        kind: "ConfigMap".to_owned(),
        group: String::new(),
        version: "v1".to_owned(),
        plural: "configmaps".to_owned(),
        is_namespaced: true,
    }
}

fn object(version: &str, word: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "web", "namespace": "default", "uid": "u", "resourceVersion": version},
        "data": {"word": word}})
}

fn event(of: &str, object: &Value) -> String {
    format!("{}\n", json!({"type": of, "object": object}))
}

fn following() -> Following {
    Following::new(&kind(), &object("4", "one"), false)
}

/// What all parts say together.
fn read(following: &mut Following, parts: &[&[u8]]) -> FollowedPart {
    let mut all = FollowedPart::default();
    for part in parts {
        let part = following.read(part);
        all.lines.push_str(&part.lines);
        all.problem = all.problem.or(part.problem);
    }
    all
}

/// The version from which the next watch goes on.
fn after(following: &Following) -> Option<String> {
    let request = following.request(WatchReading::Stream)?;
    let query = request.target().split_once("&resourceVersion=")?.1;
    Some(query.split('&').next()?.to_owned())
}

#[test]
fn a_watch_is_the_same_wherever_it_is_cut() {
    let text = [
        event("MODIFIED", &object("7", "zwölf €")),
        event("DELETED", &object("9", "zwölf €")),
        event("ADDED", &object("11", "😀")),
    ]
    .concat();
    let bytes = text.as_bytes();
    let whole = read(&mut following(), &[bytes]);
    assert_eq!(whole.problem, None);
    let Ok(Input::Versions { versions, .. }) = detect(&whole.lines) else {
        panic!("{}", whole.lines);
    };
    assert_eq!(versions.len(), 3);
    for at in 0..=bytes.len() {
        let mut following = following();
        let (first, second) = bytes.split_at(at);
        assert_eq!(read(&mut following, &[first, second]), whole, "{at}");
        assert_eq!(after(&following).as_deref(), Some("11"), "{at}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(&mut following(), &single), whole);
    let answer = |text: &str| RemoteAnswer {
        code: 200,
        warning: String::new(),
        body: text.to_owned(),
    };
    assert_eq!(following().whole(&answer(&text)), whole);
    assert_eq!(following().whole(&answer(text.trim_end())), whole);
}

#[test]
fn a_line_that_broke_off_is_told_again_and_a_last_one_without_its_end_is_told() {
    let line = event("MODIFIED", &object("7", "two"));
    let mut following = following();
    let half = following.read(&line.as_bytes()[..line.len() / 2]);
    assert_eq!(half, FollowedPart::default());
    assert_eq!(following.ended(), FollowedPart::default());
    assert_eq!(
        after(&following).as_deref(),
        Some("4"),
        "it is asked for again"
    );
    assert_eq!(following.read(line.trim_end().as_bytes()).lines, "");
    assert_eq!(following.ended().lines, line);
    assert_eq!(after(&following).as_deref(), Some("7"));
}

#[test]
fn a_bookmark_is_no_version_of_the_object_and_moves_the_watch_on() {
    let mut following = following();
    let bookmark =
        json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"resourceVersion": "90"}});
    let part = following.read(event("BOOKMARK", &bookmark).as_bytes());
    assert_eq!(part, FollowedPart::default());
    assert_eq!(after(&following).as_deref(), Some("90"));
}

fn gone() -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410,
        "message": "too old resource version: 4 (90)"})
}

fn answered(code: u16, body: &Value) -> RemoteAnswer {
    RemoteAnswer {
        code,
        warning: String::new(),
        body: body.to_string(),
    }
}

fn list(version: &str, items: &[Value]) -> RemoteAnswer {
    let list = json!({"kind": "ConfigMapList", "apiVersion": "v1",
        "metadata": {"resourceVersion": version}, "items": items});
    answered(200, &list)
}

#[test]
fn versions_that_the_server_no_longer_has_are_listed_and_the_gap_is_said() {
    // In the stream, and as the code of the answer.
    let expired: [fn(&mut Following) -> FollowedPart; 2] = [
        |following| following.read(event("ERROR", &gone()).as_bytes()),
        |following| following.refused(&answered(410, &gone())),
    ];
    for expire in expired {
        let mut following = following();
        assert_eq!(expire(&mut following), FollowedPart::default());
        assert!(following.lists());
        let request = following.request(WatchReading::Stream).unwrap();
        assert_eq!(
            request.target(),
            format!("{PATH}?fieldSelector=metadata.name%3Dweb")
        );
        let newer = object("95", "other");
        let part = following.listed(&list("99", std::slice::from_ref(&newer)));
        assert!(part.has_gap && part.problem.is_none(), "{part:?}");
        assert_eq!(part.lines, event("MODIFIED", &newer));
        assert_eq!(after(&following).as_deref(), Some("99"));
        // A server that lacks what it has just listed is asked no more.
        let part = expire(&mut following);
        assert!(
            matches!(part.problem, Some(NotAnswered::Refused { code: 410, .. })),
            "{part:?}"
        );
    }
}

#[test]
fn a_list_tells_the_object_only_if_it_is_another_version() {
    let listed = |items: &[Value]| {
        let mut following = following();
        following.read(event("ERROR", &gone()).as_bytes());
        following.listed(&list("99", items)).lines
    };
    assert_eq!(listed(&[object("4", "one")]), "");
    assert_eq!(
        listed(&[]),
        "",
        "nothing is told of an object that is not there"
    );
    let mut again = object("95", "one");
    again.set_meta("uid", "another");
    assert_eq!(listed(std::slice::from_ref(&again)), event("ADDED", &again));
}

#[test]
fn other_errors_and_what_is_no_watch_end_it_with_their_reason() {
    let broken = json!({"kind": "Status", "code": 500, "message": "etcd is gone"});
    let line = event("MODIFIED", &object("7", "two"));
    let part = following().read(format!("{line}{}", event("ERROR", &broken)).as_bytes());
    assert_eq!(part.lines, line, "what came before is told");
    let problem = NotAnswered::Refused {
        code: 500,
        message: "etcd is gone".to_owned(),
    };
    assert_eq!(part.problem, Some(problem));
    let no_watch = Some(NotAnswered::NotAnApiServer);
    for text in [
        "<!DOCTYPE html>\n",
        "{\"kind\":\"ConfigMapList\"}\n",
        "{\"type\":\"NEW\",\"object\":{}}\n",
    ] {
        assert_eq!(
            following().read(text.as_bytes()).problem,
            no_watch,
            "{text}"
        );
    }
    let forbidden = json!({"kind": "Status", "message": "watch is forbidden"});
    let part = following().refused(&answered(403, &forbidden));
    assert!(
        matches!(part.problem, Some(NotAnswered::Refused { code: 403, .. })),
        "{part:?}"
    );
    let endless = vec![b' '; 17 << 20];
    assert_eq!(following().read(&endless).problem, no_watch);
}

#[test]
fn events_of_other_objects_are_not_told() {
    let mut other = object("8", "two");
    other.set_meta("name", "other");
    assert_eq!(
        following().read(event("ADDED", &other).as_bytes()).lines,
        ""
    );
}

fn asked(server: &mut ApiServer, request: &RemoteRequest) -> RemoteAnswer {
    let response = server.handle(request.request().clone());
    RemoteAnswer {
        code: response.status().as_u16(),
        warning: String::new(),
        body: String::from_utf8(response.body().clone()).unwrap(),
    }
}

fn write(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> Value {
    let media = if method == "PATCH" {
        "application/merge-patch+json"
    } else {
        "application/json"
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("Content-Type", media);
    let response = server.handle(request.body(body.to_string().into_bytes()).unwrap());
    assert!(response.status().is_success(), "{response:?}");
    serde_json::from_slice(response.body()).unwrap()
}

#[test]
fn every_version_of_a_server_is_told_and_a_compaction_is_survived() {
    let mut server = ApiServer::default();
    let created = write(
        &mut server,
        "POST",
        PATH,
        &json!({"metadata": {"name": "web"}, "data": {"n": "0"}}),
    );
    write(
        &mut server,
        "POST",
        PATH,
        &json!({"metadata": {"name": "other"}}),
    );
    let mut following = Following::new(&kind(), &created, false);
    let mut told = Vec::new();
    let mut take = |part: FollowedPart| {
        assert_eq!(part.problem, None);
        told.extend(part.lines.lines().map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            format!(
                "{} {}",
                event["type"].as_str().unwrap(),
                event["object"]["data"]["n"]
            )
        }));
    };
    let open = |server: &mut ApiServer, following: &Following| -> Result<Watch, RemoteAnswer> {
        let request = following.request(WatchReading::Stream).unwrap();
        let watch = server.watch(request.request());
        watch.map_err(|response| RemoteAnswer {
            code: response.status().as_u16(),
            warning: String::new(),
            body: String::from_utf8(response.body().clone()).unwrap(),
        })
    };
    let patch = |server: &mut ApiServer, n: usize| {
        write(
            server,
            "PATCH",
            &format!("{PATH}/web"),
            &json!({"data": {"n": n.to_string()}}),
        );
    };
    let mut watch = open(&mut server, &following).unwrap();
    for n in 1..4 {
        patch(&mut server, n);
        for event in watch.poll(&server) {
            take(following.read(event.to_line(server.resources()).as_bytes()));
        }
    }
    drop(watch);
    // While nobody watches, it changes, and the server forgets how.
    patch(&mut server, 4);
    patch(&mut server, 5);
    let newest = server.store().revision();
    server.compact(newest).unwrap();
    server.restart();
    let refused = open(&mut server, &following);
    match refused {
        Err(answer) => take(following.refused(&answer)),
        Ok(mut watch) => {
            for event in watch.poll(&server) {
                take(following.read(event.to_line(server.resources()).as_bytes()));
            }
        }
    }
    assert!(following.lists());
    let request = following.request(WatchReading::Whole).unwrap();
    let answer = asked(&mut server, &request);
    let part = following.listed(&answer);
    assert!(part.has_gap);
    take(part);
    let mut watch = open(&mut server, &following).unwrap();
    write(&mut server, "DELETE", &format!("{PATH}/web"), &json!({}));
    for event in watch.poll(&server) {
        take(following.read(event.to_line(server.resources()).as_bytes()));
    }
    assert_eq!(
        told,
        [
            "MODIFIED \"1\"",
            "MODIFIED \"2\"",
            "MODIFIED \"3\"",
            "MODIFIED \"5\"",
            "DELETED \"5\""
        ]
    );
}
