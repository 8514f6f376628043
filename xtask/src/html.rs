//! Changes the page for the release: inlines the styles, names the second file of the program, and
//! allows only the page's own scripts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256, Sha384};

use crate::failure::{Failure, StageResult};
use crate::offline::Files;

/// The policy for scripts during development, when Trunk adds its own.
pub const SCRIPTS_WHILE_WORKING: &str = "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'";
/// The policy for styles during development.
pub const STYLES_WHILE_WORKING: &str = "style-src 'self' 'unsafe-inline'";

/// The page with a `<style>` in the place of its first link to a style, and no other such links.
///
/// # Errors
/// The error of `read` for a style.
pub fn set_styles_in(
    html: &str,
    mut read: impl FnMut(&str) -> StageResult<String>,
) -> StageResult<String> {
    let (mut before, mut styles, mut after) = (String::new(), String::new(), html);
    let mut place = None;
    while let Some((text, (link, rest))) = after
        .split_once("<link ")
        .and_then(|(text, link)| Some((text, link.split_once('>')?)))
    {
        before.push_str(text);
        after = rest;
        let href = link.split(' ').find_map(|part| part.strip_prefix("href="));
        match href.filter(|_| link.contains("rel=stylesheet")) {
            Some(href) => {
                place.get_or_insert(before.len());
                styles.push_str(&read(href.trim_matches('"'))?);
            }
            None => before.push_str(&format!("<link {link}>")),
        }
    }
    before.push_str(after);
    if let Some(place) = place {
        before.insert_str(place, &format!("<style>{styles}</style>"));
    }
    Ok(before)
}

/// The page with the addresses of the program's later files, in the order in which it loads them, and the hashes of
/// their contents (<https://www.w3.org/TR/sri-2/>): before its first script, which reads them.
///
/// # Errors
/// If there is no script.
pub fn name_parts(html: &str, parts: &Files) -> StageResult<String> {
    let tags = parts.iter().map(|(name, bytes)| {
        let integrity = integrity(bytes);
        format!("<meta name=\"optimist-part\" content=\"./{name}\" data-integrity=\"{integrity}\">")
    });
    before_script(html, &tags.collect::<String>())
}

/// Puts tags before the first script.
fn before_script(html: &str, tags: &str) -> StageResult<String> {
    let place = html
        .find("<script")
        .ok_or_else(|| unexpected("no script"))?;
    let (before, after) = html.split_at(place);
    Ok(format!("{before}{tags}{after}"))
}

/// The hash of a content, as a page names it (<https://www.w3.org/TR/sri-2/>).
pub fn integrity(content: &[u8]) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(content)))
}

/// The page with the addresses of the manifest and of the worker that keeps the site.
///
/// # Errors
/// If there is no script.
pub fn name_worker(html: &str, manifest: &str, worker: &str) -> StageResult<String> {
    let tags = format!(
        "<link rel=\"manifest\" href=\"./{manifest}\">\
        <meta name=\"optimist-worker\" content=\"./{worker}\">"
    );
    before_script(html, &tags)
}

/// The page with the address of the script that runs the program in a worker.
///
/// # Errors
/// If there is no script.
pub fn name_task(html: &str, name: &str) -> StageResult<String> {
    before_script(
        html,
        &format!("<meta name=\"optimist-task\" content=\"./{name}\">"),
    )
}

/// The page with the address of the page that people save (`saved_page`).
///
/// # Errors
/// If there is no script.
pub fn name_saved_page(html: &str, name: &str) -> StageResult<String> {
    before_script(
        html,
        &format!("<meta name=\"optimist-saved\" content=\"./{name}\">"),
    )
}

/// The page with a policy that allows its own scripts and styles, by their hashes, and files of its own
/// host; no text becomes a script (<https://www.w3.org/TR/CSP3/>,
/// <https://www.w3.org/TR/trusted-types/>). The only texts that become addresses of scripts are those of the two
/// workers (`start.js`, `frontend/src/jobs.rs`). The program writes `style` attributes, which the policy allows.
///
/// # Errors
/// If the policy is not that of `index.html`.
pub fn allow_own(html: &str) -> StageResult<String> {
    let scripts = hashes(html, "script");
    let styles = hashes(html, "style");
    let while_working = [SCRIPTS_WHILE_WORKING, STYLES_WHILE_WORKING];
    let known = while_working.map(|policy| html.matches(policy).count());
    if known != [1, 1] || scripts.is_empty() {
        return Err(unexpected("not the policy that index.html has"));
    }
    let scripts = format!(
        "script-src 'self'{scripts} 'wasm-unsafe-eval'; worker-src 'self'; manifest-src 'self'; \
        require-trusted-types-for 'script'; trusted-types optimist-worker optimist-task"
    );
    let styles = format!("style-src 'self'{styles}; style-src-attr 'unsafe-inline'");
    Ok(html
        .replace(SCRIPTS_WHILE_WORKING, &scripts)
        .replace(STYLES_WHILE_WORKING, &styles))
}

/// The hashes of the elements of that name that have their text in the page.
pub fn hashes(html: &str, element: &str) -> String {
    let (begin, end) = (format!("<{element}"), format!("</{element}>"));
    let texts = html.split(&begin).skip(1).filter_map(|after| {
        let (attributes, after) = after.split_once('>')?;
        let own = !attributes
            .split_whitespace()
            .any(|it| it.starts_with("src="));
        Some(after.split_once(&end)?.0).filter(|_| own)
    });
    let hashes = texts.map(|text| format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(text))));
    hashes.collect()
}

/// A part of a file name that differs for different contents.
pub fn fingerprint(contents: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    contents.iter().for_each(|bytes| hasher.update(bytes));
    let hash = hasher.finalize();
    hash.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

pub fn unexpected(what: &str) -> Failure {
    Failure::new(format!("the built page has {what}"), "cargo xtask dist")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_page_has_its_styles_in_itself() {
        let page = "<title>O</title><link href=icon rel=icon><link href=./a-1.css rel=stylesheet>\
            <link href=./b-1.css integrity=sha384-x rel=stylesheet><script>1</script>";
        let page = set_styles_in(page, |file| Ok(format!("/*{file}*/"))).map_err(|_| ());
        let expected = "<title>O</title><link href=icon rel=icon>\
            <style>/*./a-1.css*//*./b-1.css*/</style><script>1</script>";
        assert_eq!(page, Ok(expected.to_owned()));
    }

    #[test]
    fn the_policy_allows_scripts_and_styles_of_the_page_by_their_hashes_and_no_other_text() {
        let page = "<meta content=\"default-src 'none'; script-src 'self' 'unsafe-inline' \
            'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'\"><style>3</style>\
            <script>1</script><script src=a.js></script><script type=module>2</script>";
        // printf 1 | openssl dgst -sha256 -binary | openssl base64
        let scripts = "default-src 'none'; script-src 'self' \
            'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s=' \
            'sha256-1HNeOiZeFu7gP1lxi5tdAwGcB9i2xR+Q2jpmbuwTqzU=' 'wasm-unsafe-eval'; ";
        let styles = "; style-src 'self' 'sha256-TgdAhWK+24tgzgXB3s/jrRa3IjCWfeAfZAt+Rym0n84='; \
            style-src-attr 'unsafe-inline'\"";
        let allowed = allow_own(page).unwrap_or_default();
        assert!(allowed.contains(scripts), "{allowed}");
        assert!(allowed.contains(styles), "{allowed}");
        assert!(allow_own("<script>1</script>").is_err());
    }

    #[test]
    fn the_worker_and_the_manifest_are_named_before_the_first_script() {
        let named = name_worker("<title>O</title><script>1</script>", "m", "w.js");
        let expected = "<title>O</title><link rel=\"manifest\" href=\"./m\">\
            <meta name=\"optimist-worker\" content=\"./w.js\"><script>1</script>";
        assert_eq!(named.map_err(|_| ()), Ok(expected.to_owned()));
    }

    #[test]
    fn the_script_of_the_worker_for_long_work_is_named_before_the_first_script() {
        let named = name_task("<title>O</title><script>1</script>", "t.js");
        let expected =
            "<title>O</title><meta name=\"optimist-task\" content=\"./t.js\"><script>1</script>";
        assert_eq!(named.map_err(|_| ()), Ok(expected.to_owned()));
    }

    #[test]
    fn the_later_files_are_named_in_their_order_before_the_first_script() {
        let page = "<title>O</title><script>1</script>";
        let parts = ["a_play.wasm", "a_rest.wasm"].map(|name| (name.to_owned(), b"\0asm".to_vec()));
        let named = name_parts(page, &parts.to_vec()).unwrap_or_default();
        let expected = "<title>O</title><meta name=\"optimist-part\" content=\"./a_play.wasm\" \
            data-integrity=\"sha384-";
        assert!(named.starts_with(expected), "{named}");
        assert!(named.contains("\"><meta name=\"optimist-part\" content=\"./a_rest.wasm\" "));
        assert!(named.ends_with("\"><script>1</script>"), "{named}");
        assert!(name_parts("<title>O</title>", &parts.to_vec()).is_err());
    }

    #[test]
    fn another_content_has_another_name() {
        assert_eq!(fingerprint(&[b"a", b"b"]).len(), 16);
        assert_ne!(fingerprint(&[b"a", b"b"]), fingerprint(&[b"a", b"c"]));
    }
}
