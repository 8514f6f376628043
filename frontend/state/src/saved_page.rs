//! A session as one HTML file with the whole program in it: the texts of the file. The release has a
//! page with places for them (`xtask/src/saved_page.rs`).

use std::fmt::Write;

/// The places of that page, in its order.
const PLACES: [&str; 5] = [
    "{{title}}",
    "{{shown}}",
    "{{address}}",
    "{{note}}",
    "{{files}}",
];

/// The text before the names of the files that the page needs.
const FILES: &str = "<meta name=\"optimist-files\" content=\"";

/// The longest fragment that opens a saved state, in characters: Firefox refuses an address of 1
/// MiB.
pub const MAX_SAVED: usize = 1_000_000;

/// The most characters of a file name, without its end.
const MAX_NAME: usize = 80;

/// A file that the page needs at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededFile<'a> {
    /// Its address from the page: `lessons/catalogue.yaml`.
    pub name: &'a str,
    /// The hash of its content (<https://www.w3.org/TR/sri-2/>).
    pub integrity: &'a str,
}

/// The content of a saved page. None of it is markup, except the note.
#[derive(Clone, Copy, Debug)]
pub struct SavedContent<'a> {
    /// The title in tabs and lists of files.
    pub title: &'a str,
    /// The query and the fragment of the address that open it.
    pub shown: &'a str,
    /// The address of the site that it is from.
    pub address: &'a str,
    /// The line that describes the file, as markup.
    pub note: &'a str,
}

/// The texts of the line that describes a saved page.
#[derive(Clone, Copy, Debug)]
pub struct SavedNote<'a> {
    /// The name of the line for screen readers.
    pub label: &'a str,
    /// The date and the program that made the file.
    pub told: &'a str,
    /// The name of the link that shows the saved state again.
    pub again: &'a str,
    /// The name of the link to the site.
    pub site: &'a str,
}

impl SavedNote<'_> {
    /// The line as markup. It has a link to the site if the site has an address.
    pub fn markup(&self, address: &str) -> String {
        let site = match address {
            "" => String::new(),
            address => format!(
                "<a href=\"{}\" target=\"_blank\" rel=\"noopener noreferrer\">{}</a>",
                escaped(address),
                escaped(self.site)
            ),
        };
        format!(
            "<aside id=\"saved-note\" aria-label=\"{}\"><span>{}</span>\
            <a id=\"saved-again\" href=\"#\">{}</a>{site}</aside>",
            escaped(self.label),
            escaped(self.told),
            escaped(self.again)
        )
    }
}

/// The files that a page of the release needs; `None` if the text is no such page.
pub fn needed_files(page: &str) -> Option<Vec<NeededFile<'_>>> {
    let (named, _) = page.split_once(FILES)?.1.split_once('"')?;
    let words: Vec<&str> = named.split(' ').collect();
    let pairs = words.chunks(2).map(|pair| match pair {
        [name, integrity] => Some(NeededFile { name, integrity }),
        _ => None,
    });
    pairs.collect()
}

/// Returns the text before the files and the text after them in the saved page; `None` if `page` is
/// no page of the release with placeholders.
pub fn saved_page(page: &str, content: &SavedContent<'_>) -> Option<[String; 2]> {
    let texts = [
        escaped(content.title),
        escaped(content.shown),
        escaped(content.address),
        content.note.to_owned(),
    ];
    let (mut before, mut after) = (String::with_capacity(page.len()), page);
    let [places @ .., files] = PLACES;
    for (place, text) in places.iter().zip(texts) {
        let (part, rest) = after.split_once(place)?;
        before.push_str(part);
        before.push_str(&text);
        after = rest;
    }
    let (part, after) = after.split_once(files)?;
    before.push_str(part);
    Some([before, after.to_owned()])
}

/// The markup of a file in a saved page. `compressed`: by gzip.
pub fn saved_file(name: &str, compressed: bool, bytes: &[u8]) -> String {
    let coding = if compressed { "gzip" } else { "" };
    let name = escaped(name);
    let text = in_base_91(bytes);
    format!(
        "<script type=\"text/plain\" data-file=\"{name}\" data-coding=\"{coding}\">{text}</script>\n"
    )
}

/// Bytes as a text that no markup is in: two characters for 13 bits, the highest digit first. Of 6 bits or fewer at the
/// end, one character. It is 8 % shorter than base64. The script of the saved page reads it (`saved.js`).
fn in_base_91(bytes: &[u8]) -> String {
    let digit = |digit: u32| match char::from(b'#' + digit as u8) {
        '<' => '~',
        other => other,
    };
    let mut text = String::with_capacity(bytes.len().div_ceil(13) * 16);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        count += 8;
        if count >= 13 {
            count -= 13;
            let word = bits >> count;
            text.extend([digit(word / 91), digit(word % 91)]);
            bits &= (1 << count) - 1;
        }
    }
    match count {
        0 => {}
        1..=6 => text.push(digit(bits << (6 - count))),
        _ => {
            let word = bits << (13 - count);
            text.extend([digit(word / 91), digit(word % 91)]);
        }
    }
    text
}

/// A text as markup that says it, also inside quotes.
pub fn escaped(text: &str) -> String {
    let mut markup = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' | '<' | '>' | '"' | '\'' => {
                // Writing to a string cannot fail.
                let _ = write!(markup, "&#{};", u32::from(character));
            }
            _ => markup.push(character),
        }
    }
    markup
}

/// The name of the file with a page of that title: `deployment-shop-web-optimist.html`.
pub fn file_name(title: &str) -> String {
    let mut name = String::new();
    for character in title.chars() {
        let character = character.to_ascii_lowercase();
        if character.is_ascii_alphanumeric() {
            name.push(character);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() == MAX_NAME {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    let name = if name.is_empty() { "optimist" } else { name };
    format!("{name}.html")
}
