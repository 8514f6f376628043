//! A mock as tests write one by hand: it answers a write with what was sent, and a read with what was written last.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{Method, Request, Response};
use optimist_recordings::subject::{ObjectRef, Opened, Unsupported};
use optimist_recordings::tree::Tree;
use serde_json::{Value, json};

use crate::fake::answer;

/// The name in the table.
pub const NAME: &str = "a mock that answers with what was written";

/// The last body of each path.
#[derive(Default)]
pub struct Echo(BTreeMap<String, Vec<u8>>);

impl ObjectRef for Echo {
    type Watch = ();

    fn handle(&mut self, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
        let path = request.uri().path().to_owned();
        let (method, sent) = (request.method().clone(), request.into_body());
        match method {
            Method::POST => {
                let object: Value = serde_json::from_slice(&sent).unwrap_or_default();
                let name = object.pointer("/metadata/name").and_then(Value::as_str);
                let path = format!("{path}/{}", name.unwrap_or_default());
                self.0.insert(path, sent.clone());
                answer(201, sent)
            }
            Method::PUT | Method::PATCH => {
                self.0.insert(path, sent.clone());
                answer(200, sent)
            }
            Method::DELETE => match self.0.remove(&path) {
                Some(object) => answer(200, object),
                None => not_found(),
            },
            _ => match self.0.get(&path) {
                Some(object) => answer(200, object.clone()),
                None => not_found(),
            },
        }
    }

    fn advance(&mut self, _: Duration) {}

    fn open_watch(&mut self, _: Request<Vec<u8>>) -> Result<Opened<()>, Unsupported> {
        Ok(Opened::Stream(()))
    }

    /// No event ever comes.
    fn read_watch(&mut self, _: &mut (), _: Duration) -> Result<Vec<Tree>, Unsupported> {
        Ok(Vec::new())
    }
}

fn not_found() -> Response<Vec<u8>> {
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404});
    answer(404, status.to_string().into_bytes())
}
