//! The page that people save as one HTML file: the page of the release with its program in itself, and
//! with places for the saved state. The page fills the places (`frontend/state/src/saved_page.rs`).

use crate::failure::StageResult;
use crate::html::{self, SCRIPTS_WHILE_WORKING, STYLES_WHILE_WORKING, unexpected};
use crate::offline::Files;

/// The placeholders that the page fills in, in this order: the title, the fragment that opens the
/// saved content, the address of the site, the line that describes the file, and the files of the
/// release.
const PLACES: [&str; 5] = [
    "{{title}}",
    "{{shown}}",
    "{{address}}",
    "{{note}}",
    "{{files}}",
];

/// The export at the end of the program's script. The script of a saved page must not have it: a
/// module inside a page cannot export.
const EXPORTS: &str = "export { initSync, __wbg_init as default };";

/// A browser may look up the hosts of links before people follow them. It does not for a saved page.
const NO_LOOKUP: &str = "<meta http-equiv=\"x-dns-prefetch-control\" content=\"off\">";

/// The parts of the page's policy that name its own host, and their replacements. A saved page has
/// no host.
const FROM_HOST: [(&str, &str); 2] = [
    ("connect-src 'self'; ", ""),
    ("img-src 'self' data:", "img-src data:"),
];

/// The page to save, made of the page of the release, of a script that comes before all others, and of a
/// style that comes after all others. `files` are all files of the release.
///
/// # Errors
/// If the page or its program does not have the expected form.
pub fn page(html: &str, script: &str, style: &str, files: &Files) -> StageResult<String> {
    let html = without_links(html);
    let html = set_program_in(&html, files)?;
    let html = replace_once(&html, title(&html)?, PLACES[0])?;
    let mut named = String::new();
    for (name, bytes) in files.iter().filter(|(name, _)| is_needed(name)) {
        named.push_str(&format!(" {name} {}", html::integrity(bytes)));
    }
    let place = html
        .find("<script")
        .ok_or_else(|| unexpected("no script"))?;
    let (before, after) = html.split_at(place);
    let [_, shown, address, note, parts] = PLACES;
    let html = format!(
        "{before}<style>{style}</style>{NO_LOOKUP}\
        <meta name=\"optimist-files\" content=\"{}\">\
        <meta name=\"optimist-shown\" content=\"{shown}\">\
        <meta name=\"optimist-address\" content=\"{address}\"><script>{script}</script>{after}",
        named.trim_start()
    );
    let html = replace_once(&html, "</body>", &format!("{note}{parts}</body>"))?;
    if PLACES.iter().any(|place| html.matches(place).count() != 1) {
        return Err(unexpected("a text that looks like a place of a saved page"));
    }
    allow_inline(&html)
}

/// Returns whether the page asks for this file at run time.
fn is_needed(name: &str) -> bool {
    let read = [".wasm", ".yaml", ".txt"];
    read.iter().any(|end| name.ends_with(end)) || name == "licences.html"
}

/// The page without links that make the browser load something before it is needed.
fn without_links(html: &str) -> String {
    let mut parts = html.split("<link ");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (link, after) = part.split_once('>').unwrap_or((part, ""));
        let loads = ["preload", "manifest"].iter().any(|it| link.contains(it));
        if !loads {
            kept.push_str(&format!("<link {link}>"));
        }
        kept.push_str(after);
    }
    kept
}

/// The page with the script of the program in the place of the script that imports it.
fn set_program_in(html: &str, files: &Files) -> StageResult<String> {
    let other = || unexpected("no script that imports the program as Trunk writes it");
    let import = html.find("import init").ok_or_else(other)?;
    let begin = html[..import].rfind("<script").ok_or_else(other)?;
    let end = import + html[import..].find("</script>").ok_or_else(other)?;
    let loader = &html[import..end];
    let quoted = |after: &str| {
        let mut parts = loader.split_once(after)?.1.split(['\'', '"']);
        parts.nth(1)
    };
    let program = quoted("from").ok_or_else(other)?;
    let wasm = quoted("module_or_path:").ok_or_else(other)?;
    let program = program.trim_start_matches("./");
    let found = files.iter().find(|(name, _)| name == program);
    let text = found.and_then(|(_, bytes)| std::str::from_utf8(bytes).ok());
    let text = replace_once(text.ok_or_else(other)?, EXPORTS, "")?;
    let text = text.trim_end();
    // In a page, these would end the script or change how its end is found.
    if text.contains("</script") || text.contains("<!--") {
        return Err(unexpected("a program that cannot be in a page"));
    }
    let (before, after) = (&html[..begin], &html[end..]);
    Ok(format!(
        "{before}<script type=\"module\">{text}\ndispatchEvent(new CustomEvent(\
        \"TrunkApplicationStarted\", {{ detail: {{ wasm: \
        await __wbg_init({{ module_or_path: \"{wasm}\" }}) }} }}));{after}"
    ))
}

fn title(html: &str) -> StageResult<&str> {
    let title = html
        .split_once("<title>")
        .and_then(|(_, after)| Some(after.split_once("</title>")?.0));
    title.ok_or_else(|| unexpected("no title"))
}

fn replace_once(text: &str, part: &str, with: &str) -> StageResult<String> {
    match text.matches(part).count() {
        1 => Ok(text.replace(part, with)),
        count => Err(unexpected(&format!("{part:?} {count} times"))),
    }
}

/// The page with a policy that allows its own scripts and styles, by their hashes, and no request at
/// all.
fn allow_inline(html: &str) -> StageResult<String> {
    let scripts = format!(
        "script-src{} 'wasm-unsafe-eval'; require-trusted-types-for 'script'; \
        trusted-types 'none'",
        html::hashes(html, "script")
    );
    let styles = format!(
        "style-src{}; style-src-attr 'unsafe-inline'",
        html::hashes(html, "style")
    );
    let mut html = replace_once(html, SCRIPTS_WHILE_WORKING, &scripts)?;
    html = replace_once(&html, STYLES_WHILE_WORKING, &styles)?;
    for (from_host, without) in FROM_HOST {
        html = replace_once(&html, from_host, without)?;
    }
    Ok(html)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<title>O</title><meta content=\"default-src 'none'; script-src 'self' \
        'unsafe-inline' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
        img-src 'self' data:; base-uri 'none'\"><style>1</style><script>2</script>\
        <script type=module>import init, * as bindings from './o.js';\n\
        const wasm = await init({ module_or_path: './o_bg.wasm' });</script>\
        <link href=./o.js rel=modulepreload><link as=fetch href=./o_bg.wasm rel=preload>\
        <link href=data:icon rel=icon><body><p>3</body>";

    fn page_of_files(html: &str, program: &str) -> Option<String> {
        let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
        let files = vec![
            file("lessons/README.md", ""),
            file("lessons/a.yaml", "a"),
            file("o.js", program),
            file("o_bg.wasm", "w"),
        ];
        page(html, "0", "4", &files).ok()
    }

    fn whole() -> String {
        page_of_files(PAGE, &format!("let wasm;\n{EXPORTS}\n")).unwrap_or_default()
    }

    #[test]
    fn a_saved_page_has_its_program_in_itself() {
        let page = whole();
        let program = "<script type=\"module\">let wasm;\ndispatchEvent(new CustomEvent(\
            \"TrunkApplicationStarted\", { detail: { wasm: \
            await __wbg_init({ module_or_path: \"./o_bg.wasm\" }) } }));</script>";
        assert!(page.contains(program), "{page}");
        assert!(!page.contains("import init") && !page.contains("preload"));
        assert!(page.contains("<link href=data:icon rel=icon>"));
        assert!(page.contains("<script>0</script><script>2</script>"));
        let files = page.split("optimist-files").nth(1).unwrap_or_default();
        let files = files.split('"').nth(2).unwrap_or_default();
        let names: Vec<&str> = files.split(' ').step_by(2).collect();
        assert_eq!(names, ["lessons/a.yaml", "o_bg.wasm"]);
    }

    #[test]
    fn the_policy_of_a_saved_page_allows_no_request_and_only_its_own_scripts() {
        let page = whole();
        let policy = page.split("<meta content=\"").nth(1).unwrap_or_default();
        let policy = policy.split('"').next().unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"));
        assert_eq!(policy.matches("'sha256-").count(), 3 + 2, "{policy}");
        assert!(!policy.contains("'self'") && !policy.contains("connect-src"));
        assert_eq!(whole().matches(NO_LOOKUP).count(), 1);
        // Styles may stand in attributes; no script may.
        assert_eq!(policy.matches("'unsafe-inline'").count(), 1);
        assert!(policy.contains("style-src-attr 'unsafe-inline'; img-src data:; base-uri"));
    }

    #[test]
    fn a_page_or_a_program_of_another_form_is_refused() {
        assert!(page_of_files(PAGE, "let wasm;").is_none());
        assert!(page_of_files(PAGE, &format!("'</script>' {EXPORTS}")).is_none());
        assert!(page_of_files(PAGE, &format!("'{{{{note}}}}' {EXPORTS}")).is_none());
        assert!(page_of_files("<script>2</script>", EXPORTS).is_none());
    }
}
