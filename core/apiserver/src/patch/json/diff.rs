//! The JSON patch (RFC 6902) that makes one document of another.

use serde_json::{Value, json};

/// Returns the operations that change `read` into `edited`. Lists are edited by index: their equal
/// beginnings and ends are left alone. With `tests`, the patch first tests every value that it
/// replaces or removes, and as a whole every list that it makes longer or shorter, against the
/// values that were read.
pub fn json_diff(read: &Value, edited: &Value, tests: bool) -> Value {
    let mut diff = Diff::default();
    diff.value(read, edited, "");
    let mut operations = if tests { diff.tests } else { Vec::new() };
    operations.append(&mut diff.changes);
    Value::Array(operations)
}

#[derive(Default)]
struct Diff {
    tests: Vec<Value>,
    changes: Vec<Value>,
}

impl Diff {
    fn value(&mut self, before: &Value, after: &Value, path: &str) {
        match (before, after) {
            (before, after) if before == after => {}
            (Value::Object(old), Value::Object(new)) => {
                for (key, before) in old {
                    let path = child(path, key);
                    match new.get(key) {
                        Some(after) => self.value(before, after, &path),
                        None => {
                            self.test(before, &path);
                            self.remove(&path);
                        }
                    }
                }
                for (key, after) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                    self.add(after, &child(path, key));
                }
            }
            (Value::Array(old), Value::Array(new)) => self.list(old, new, path),
            (before, after) => {
                self.test(before, path);
                self.changes
                    .push(json!({"op": "replace", "path": path, "value": after}));
            }
        }
    }

    fn list(&mut self, old: &[Value], new: &[Value], path: &str) {
        if old.len() != new.len() {
            self.test(&Value::from(old), path);
        }
        let alike = |(a, b): &(&Value, &Value)| a == b;
        let head = old.iter().zip(new).take_while(alike).count();
        let (old, new) = (&old[head..], &new[head..]);
        let tail = old.iter().rev().zip(new.iter().rev()).take_while(alike);
        let tail = tail.count();
        let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
        let at = |i: usize| format!("{path}/{}", head + i);
        let tested = self.tests.len();
        for (i, (before, after)) in old.iter().zip(new).enumerate() {
            self.value(before, after, &at(i));
        }
        if old.len() != new.len() {
            // The list as a whole is tested already.
            self.tests.truncate(tested);
        }
        let both = old.len().min(new.len());
        for i in (both..old.len()).rev() {
            self.remove(&at(i));
        }
        for (i, after) in new.iter().enumerate().skip(both) {
            self.add(after, &at(i));
        }
    }

    fn test(&mut self, before: &Value, path: &str) {
        self.tests
            .push(json!({"op": "test", "path": path, "value": before}));
    }

    fn remove(&mut self, path: &str) {
        self.changes.push(json!({"op": "remove", "path": path}));
    }

    fn add(&mut self, after: &Value, path: &str) {
        self.changes
            .push(json!({"op": "add", "path": path, "value": after}));
    }
}

fn child(path: &str, key: &str) -> String {
    format!("{path}/{}", crate::pointer::escape(key))
}
