//! JSON, YAML, base64, times and addresses as a kube-apiserver reads and prints them, letter for
//! letter.
//!
//! An API server answers with texts that Go's standard library and the YAML library of Kubernetes
//! make: an error of a JSON decoder, a quoted string, a struct that is printed with `%v`. This crate
//! makes the same texts. It depends on no other crate of the workspace, and does no input or output.
//!
//! | module | what it does | upstream |
//! |---|---|---|
//! | [`json`] | keeps the order of members and repeated keys; syntax errors as Go prints them | `encoding/json`, `sigs.k8s.io/json` |
//! | [`yaml`] | reads YAML 1.1 through JSON, and writes it as `kubectl get -o yaml` does | `sigs.k8s.io/yaml` |
//! | [`go`] | quotes and prints values, and reads base64, times and IP addresses | `strconv`, `fmt`, `encoding/base64`, `time`, `net/netip` |
//! | [`calendar`] | counts the days of a date, and finds the date of a day | |
//! | [`mod@pointer`] | escapes a name as a part of a JSON pointer | RFC 6901 |
//! | [`size`] | counts the values of a document, and measures how deep it nests | |
//!
//! ```
//! use optimist_encoding::{json, yaml};
//!
//! let document = yaml::parse("replicas: 3\npaused: yes").expect("this is YAML");
//! assert_eq!(serde_json::Value::from(document.node).to_string(), r#"{"paused":true,"replicas":3}"#);
//!
//! let error = json::parse(b"{\"replicas\": }").expect_err("a value is missing");
//! assert_eq!(error.to_string(), "invalid character '}' looking for beginning of value");
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod calendar;
pub mod go;
pub mod json;
pub mod pointer;
pub mod size;
pub mod yaml;
