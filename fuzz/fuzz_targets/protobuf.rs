//! The bytes of an object: the first one chooses the kind. Nothing may make the decoder panic, and what it
//! reads is the same after it is written and read again.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use optimist_protobuf::{Envelope, decode, encode, kinds};
use serde_json::Value;

static KINDS: LazyLock<Vec<(String, &str)>> = LazyLock::new(|| kinds().collect());

fuzz_target!(|data: &[u8]| {
    let Some((first, bytes)) = data.split_first() else {
        return;
    };
    let (version, kind) = &KINDS[usize::from(*first) % KINDS.len()];
    let read = |bytes: &[u8]| decode(&Envelope::read(bytes).ok()?, version, kind).ok();
    let Some(mut object) = read(bytes) else {
        return;
    };
    object["apiVersion"] = version.as_str().into();
    object["kind"] = (*kind).into();
    let write = |object: &Value| encode(object, &|_, value| value.to_string());
    let written = write(&object).expect("a kind with a message");
    let mut again = read(&written).expect("what was written can be read");
    again["apiVersion"] = version.as_str().into();
    again["kind"] = (*kind).into();
    assert_eq!(write(&again), Some(written));
});
