//! The page of the licences. It has no style and no script.

use std::collections::BTreeMap;

use crate::packages::Contained;

/// A page that lists packages and has each text once.
pub fn render(packages: &[Contained]) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut texts: Vec<&str> = Vec::new();
    let mut list = String::new();
    for package in packages {
        let links = package.texts.iter().map(|text| {
            let number = *numbers.entry(text).or_insert_with(|| {
                texts.push(text);
                texts.len()
            });
            format!(" <a href=\"#text-{number}\">text {number}</a>")
        });
        let links: String = links.collect();
        let source = package.source.as_ref().map(|address| {
            let address = escaped(address);
            format!(" Source: <a href=\"{address}\">{address}</a>.")
        });
        list.push_str(&format!(
            "<li>{}: {};{links}.{}</li>\n",
            escaped(&package.name),
            escaped(&package.licence),
            source.unwrap_or_default(),
        ));
    }
    let texts: String = (1..)
        .zip(&texts)
        .map(|(number, text)| {
            let text = escaped(text);
            format!("<h2 id=\"text-{number}\">Text {number}</h2>\n<pre>{text}</pre>\n")
        })
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
        <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">\n\
        <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
        <meta name=\"color-scheme\" content=\"light dark\">\n\
        <title>Licences: Optimist</title>\n<h1>Licences</h1>\n\
        <p>What the program of this page contains, and under which licence. Where a package names \
        several, joined by OR, any one of them may be chosen.</p>\n\
        <ul>\n{list}</ul>\n{texts}</html>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, texts: &[&str]) -> Contained {
        Contained {
            name: name.to_owned(),
            licence: "MIT".to_owned(),
            source: Some("https://example.com/?a&b".to_owned()),
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
        }
    }

    #[test]
    fn each_text_is_there_once_and_every_package_leads_to_its_own() {
        let page = render(&[
            package("a 1", &["one <a@b>", "two"]),
            package("b 1", &["two"]),
        ]);
        assert_eq!(page.matches("<pre>two</pre>").count(), 1);
        assert!(page.contains("<pre>one &lt;a@b&gt;</pre>"));
        assert!(page.contains("<li>a 1: MIT; <a href=\"#text-1\">text 1</a> <a href=\"#text-2\">"));
        assert!(page.contains("<li>b 1: MIT; <a href=\"#text-2\">text 2</a>."));
        assert!(page.contains("https://example.com/?a&amp;b"));
    }
}
