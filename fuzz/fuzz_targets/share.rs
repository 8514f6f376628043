//! Links: whatever stands in one, it opens or says why not. The first byte chooses whether the rest
//! is a link as it is, or what a link has packed in it.
#![no_main]

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use libfuzzer_sys::fuzz_target;
use optimist_links::Session;

fuzz_target!(|data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else {
        return;
    };
    let text = if kind % 2 == 0 {
        String::from_utf8_lossy(rest).into_owned()
    } else {
        let deflated = miniz_oxide::deflate::compress_to_vec(rest, 1);
        format!("1{}", URL_SAFE_NO_PAD.encode(deflated))
    };
    let Ok(session) = Session::parse(&text) else {
        return;
    };
    if session.steps() > 50 {
        return;
    }
    let Ok(tree) = session.replay().finish() else {
        return;
    };
    // What opened is a session like any other: it becomes a link that opens.
    let again = Session::parse(&Session::from_tree(&tree).to_text());
    assert!(again.is_ok_and(|session| session.replay().finish().is_ok()));
});
