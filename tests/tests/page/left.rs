//! A browser that a test leaves to the next one.

use optimist_tests::page::{Browser, Site, dist};
use serde_json::json;

/// What a test can leave behind, as the next one would find it.
const LEFT: &str = "
    const caught = async () => [
        localStorage.length, sessionStorage.length, document.cookie.includes('left'), navigator.onLine,
        matchMedia('(prefers-color-scheme: dark)').matches, matchMedia('(forced-colors: active)').matches,
        innerWidth < 500, (await caches.keys()).includes('left'),
    ];
    return caught()";

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn a_browser_that_a_test_leaves_is_as_new_for_the_next_one() {
    let site = Site::serve(&dist());
    let first = Browser::start();
    first.go(&site.url());
    let new = first.run(LEFT, &[]);
    let used = Browser::start();
    used.resize(390, 844);
    used.go(&site.url());
    used.prefer(true);
    let dark = used.run(LEFT, &[])[4].clone();
    used.force_colours();
    let leave = "
        localStorage.setItem('left', 'x');
        sessionStorage.setItem('left', 'x');
        document.cookie = 'left=x; max-age=1000';
        return caches.open('left').then(() => true)";
    used.run(leave, &[]);
    used.offline(true);
    let mut found = used.run(LEFT, &[]);
    // Forced colours are light.
    found[4] = dark;
    assert_eq!(
        found,
        json!([1, 1, true, false, true, true, true, true]),
        "the test leaves something of everything"
    );
    drop(used);
    let next = Browser::start();
    next.go(&site.url());
    assert_eq!(next.run(LEFT, &[]), new);
    assert_eq!(new, json!([0, 0, false, true, false, false, false, false]));
}
