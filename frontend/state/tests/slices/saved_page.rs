//! A session as one HTML file: its texts.

use optimist_state::{
    NeededFile, SavedContent, escaped, file_name, needed_files, saved_file, saved_page,
};

const PAGE: &str = "<title>{{title}}</title><meta name=\"optimist-files\" \
    content=\"a.wasm sha384-1 lessons/b.yaml sha384-2\"><meta content=\"{{shown}}\">\
    <meta content=\"{{address}}\"><body>{{note}}<p>text</p>{{files}}</body>";

const CONTENT: SavedContent<'_> = SavedContent {
    title: "Deployment shop/web",
    shown: "#/diagnose?s=abc",
    address: "https://example.com/",
    note: "<p>note</p>",
};

#[test]
fn a_saved_page_has_each_text_in_its_place() {
    let [before, after] = saved_page(PAGE, &CONTENT).expect("it has all places");
    assert!(before.starts_with("<title>Deployment shop/web</title>"));
    assert!(before.contains("<meta content=\"#/diagnose?s=abc\">"));
    assert!(before.ends_with("<body><p>note</p><p>text</p>"));
    assert_eq!(after, "</body>");
    let files = needed_files(PAGE).expect("it names files");
    let [a, b] = ["a.wasm", "lessons/b.yaml"];
    let hashed = [(a, "sha384-1"), (b, "sha384-2")];
    let expected = hashed.map(|(name, integrity)| NeededFile { name, integrity });
    assert_eq!(files, expected);
}

#[test]
fn what_is_saved_cannot_become_markup_and_cannot_be_a_place() {
    let title = "</title><script>alert(1)</script>'\"&{{note}}";
    let hostile = SavedContent {
        title,
        shown: "\"><script>",
        ..CONTENT
    };
    let [before, after] = saved_page(PAGE, &hostile).expect("it has all places");
    assert!(!before.contains("<script"), "{before}");
    assert_eq!(before.matches('<').count(), 10, "{before}");
    assert_eq!(before.matches("{{note}}").count(), 1, "only in the title");
    assert_eq!(after, "</body>");
    assert_eq!(escaped("a<b>&\"'"), "a&#60;b&#62;&#38;&#34;&#39;");
}

#[test]
fn another_page_is_not_one_to_save() {
    for other in ["", "<title>Not here</title>", "{{title}}{{shown}}"] {
        assert!(saved_page(other, &CONTENT).is_none(), "{other}");
        assert!(needed_files(other).is_none(), "{other}");
    }
    // A page that ended too early.
    assert!(saved_page(&PAGE[..PAGE.len() - 16], &CONTENT).is_none());
    let odd = "<meta name=\"optimist-files\" content=\"a.wasm\">";
    assert!(needed_files(odd).is_none());
}

#[test]
fn a_file_in_a_saved_page_says_how_it_is_coded() {
    let markup = saved_file("a.wasm", true, b"program");
    let expected =
        "<script type=\"text/plain\" data-file=\"a.wasm\" data-coding=\"gzip\">JT>GZO4.W<";
    assert!(markup.starts_with(expected), "{markup}");
    assert!(saved_file("a", false, b"").contains("data-coding=\"\"></"));
}

#[test]
fn every_byte_of_a_file_is_in_a_saved_page_and_none_is_markup() {
    let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_be_bytes).collect();
    for length in (0..28).chain([bytes.len() - 1, bytes.len()]) {
        let markup = saved_file("a", false, &bytes[bytes.len() - length..]);
        let (_, text) = markup.split_once('>').unwrap();
        let (text, _) = text.split_once('<').unwrap();
        let mut read = Vec::new();
        let mut bits = String::new();
        for part in text.as_bytes().chunks(2) {
            let digit = |byte: &u8| match byte {
                b'~' => 25,
                byte => u32::from(byte - b'#'),
            };
            match part {
                [high, low] => bits.push_str(&format!("{:013b}", digit(high) * 91 + digit(low))),
                part => bits.push_str(&format!("{:06b}", digit(&part[0]))),
            }
        }
        for byte in bits.as_bytes().chunks_exact(8) {
            let byte = str::from_utf8(byte).unwrap();
            read.push(u8::from_str_radix(byte, 2).unwrap());
        }
        assert!(read == bytes[bytes.len() - length..], "{length} bytes");
    }
}

#[test]
fn the_name_of_a_saved_page_says_what_it_is_and_is_safe_on_every_system() {
    let name = file_name("Deployment shop/checkout – Optimist");
    assert_eq!(name, "deployment-shop-checkout-optimist.html");
    assert_eq!(file_name("../..\\:*?\"<>|\u{202e}"), "optimist.html");
    assert_eq!(file_name("Überall"), "berall.html");
    let long = file_name(&"web ".repeat(100));
    assert!(long.len() <= 80 + ".html".len(), "{long}");
}
