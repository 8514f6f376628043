//! Changes the page for the release: inlines the styles, names the second file of the program, and
//! allows only the page's own scripts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256, Sha384};

use crate::failure::{Failure, StageResult};

/// The policy during development, when Trunk adds its own scripts.
const WHILE_WORKING: &str = "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'";

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

/// The page with the address of the program's second file, and the hash of its content
/// (<https://www.w3.org/TR/sri-2/>): before its first script, which reads it.
///
/// # Errors
/// If there is no script.
pub fn name_rest(html: &str, name: &str, rest: &[u8]) -> StageResult<String> {
    let place = html
        .find("<script")
        .ok_or_else(|| unexpected("no script"))?;
    let integrity = format!("sha384-{}", STANDARD.encode(Sha384::digest(rest)));
    let (before, after) = html.split_at(place);
    Ok(format!(
        "{before}<meta name=\"optimist-rest\" content=\"./{name}\" data-integrity=\"{integrity}\">{after}"
    ))
}

/// The page with a policy that runs its own scripts, by their hashes, and files of its own host; no
/// text becomes a script (<https://www.w3.org/TR/CSP3/>, <https://www.w3.org/TR/trusted-types/>).
///
/// # Errors
/// If the policy is not that of `index.html`.
pub fn allow_own_scripts(html: &str) -> StageResult<String> {
    let hashes: String = inline_scripts(html)
        .map(|script| format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(script))))
        .collect();
    if html.matches(WHILE_WORKING).count() != 1 || hashes.is_empty() {
        return Err(unexpected("not the policy that index.html has"));
    }
    let policy = format!(
        "script-src 'self'{hashes} 'wasm-unsafe-eval'; require-trusted-types-for 'script'; trusted-types 'none'"
    );
    Ok(html.replace(WHILE_WORKING, &policy))
}

fn inline_scripts(html: &str) -> impl Iterator<Item = &str> {
    html.split("<script").skip(1).filter_map(|after| {
        let (attributes, after) = after.split_once('>')?;
        let own = !attributes
            .split_whitespace()
            .any(|it| it.starts_with("src="));
        Some(after.split_once("</script>")?.0).filter(|_| own)
    })
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

fn unexpected(what: &str) -> Failure {
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
    fn the_policy_allows_the_scripts_of_the_page_by_their_hashes_and_no_other_text() {
        let page = "<meta content=\"default-src 'none';script-src 'self' 'unsafe-inline' \
            'wasm-unsafe-eval';style-src 'self'\"><script>1</script><script src=a.js></script>\
            <script type=module>2</script>";
        // printf 1 | openssl dgst -sha256 -binary | openssl base64
        let expected = "default-src 'none';script-src 'self' \
            'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s=' \
            'sha256-1HNeOiZeFu7gP1lxi5tdAwGcB9i2xR+Q2jpmbuwTqzU=' 'wasm-unsafe-eval'; \
            require-trusted-types-for 'script'; trusted-types 'none';style-src 'self'\"";
        let allowed = allow_own_scripts(page).unwrap_or_default();
        assert!(allowed.contains(expected), "{allowed}");
        assert!(allow_own_scripts("<script>1</script>").is_err());
    }

    #[test]
    fn the_second_file_is_named_before_the_first_script() {
        let page = "<title>O</title><script>1</script>";
        let named = name_rest(page, "a_rest.wasm", b"\0asm").unwrap_or_default();
        let expected = "<title>O</title><meta name=\"optimist-rest\" content=\"./a_rest.wasm\" \
            data-integrity=\"sha384-";
        assert!(named.starts_with(expected), "{named}");
        assert!(named.ends_with("\"><script>1</script>"), "{named}");
        assert!(name_rest("<title>O</title>", "a_rest.wasm", b"").is_err());
    }

    #[test]
    fn another_content_has_another_name() {
        assert_eq!(fingerprint(&[b"a", b"b"]).len(), 16);
        assert_ne!(fingerprint(&[b"a", b"b"]), fingerprint(&[b"a", b"c"]));
    }
}
