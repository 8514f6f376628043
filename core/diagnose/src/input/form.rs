//! Texts that hold no object, known by their form; and the decorations of terminals and web pages
//! around a text.

use optimist_apiserver::object::Metadata;
use serde_json::Value;

use super::NotDetected;

/// A form of a text, or of a file, that holds no object that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// The table of `kubectl get` without `-o yaml`. The object of its first row.
    Table(NamedObject),
    /// The output of `kubectl describe` about this object.
    Description(NamedObject),
    /// A unified diff, as `kubectl diff` prints it. The object of its first file.
    Diff(NamedObject),
    /// The words of kubectl if it finds no object.
    NoResources,
    /// HTML or XML.
    Markup,
    /// A template of Helm or of another tool, with places for values: `{{ .Values.name }}`.
    Template,
    /// JSON that ends in the middle.
    CutJson,
    /// A quotation mark of typography in the place of `"`.
    QuotationMark(char),
    /// A control character.
    ControlCharacter(char),
    /// A file that is compressed or no text, in the words of its format: `gzip`.
    File(&'static str),
}

/// The name of an object in a text. Parts that the text does not name are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedObject {
    /// The kind, or the resource with its group: `deployment.apps`.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl NamedObject {
    /// The object that a `PartialObjectMetadata` is about, or the first row of a `Table`. Such a row names no kind.
    pub(super) fn first_of(document: &Value) -> Self {
        let row = document.pointer("/rows/0/object");
        let object = row.unwrap_or(document);
        Self {
            kind: String::new(),
            namespace: word(object.namespace()),
            name: word(object.name()),
        }
    }

    /// The command that prints the whole object, with `KIND` and `NAME` where they are not named.
    pub fn command(&self) -> String {
        let or = |text: &str, other: &str| if text.is_empty() { other } else { text }.to_owned();
        let mut command = format!(
            "kubectl get {} {}",
            or(&self.kind, "KIND"),
            or(&self.name, "NAME")
        );
        if !self.namespace.is_empty() {
            command.push_str(&format!(" -n {}", self.namespace));
        }
        command + " -o yaml --show-managed-fields"
    }
}

/// Returns a word as a part of a command: characters that no name of Kubernetes has are left out.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':');
    let named = text.len() <= 253 && text.chars().all(plain) && !text.starts_with('-');
    if named { text } else { "" }.to_owned()
}

/// The first bytes of formats that are no text.
const FORMATS: [(&[u8], &str); 8] = [
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "ZIP"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"\xfd7zXZ", "xz"),
    (b"BZh", "bzip2"),
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"%PDF-", "PDF"),
];

impl TextForm {
    /// The format of a file that is no text.
    pub(super) fn of_file(file: &[u8]) -> Option<Self> {
        let format = FORMATS.iter().find(|(begin, _)| file.starts_with(begin));
        format.map(|(_, name)| Self::File(name))
    }

    /// The form of a text that is not detected for another reason.
    pub(super) fn detect(text: &str, why: &NotDetected) -> Option<NotDetected> {
        let at = match why {
            NotDetected::Syntax { line, .. } => *line,
            NotDetected::Missing { .. } | NotDetected::NoKnownMessage => 0,
            // The text is larger than YAML may be, for example.
            NotDetected::Content(_) => 0,
            _ => return None,
        };
        let lines = || (1..).zip(text.lines());
        let (line, first) = lines().find(|(_, line)| !line.trim().is_empty())?;
        let found = if let Some(object) = table(text, line) {
            (line, Self::Table(object))
        } else if let Some(object) = description(text, line) {
            (line, Self::Description(object))
        } else if let Some(object) = diff(text, line) {
            (line, Self::Diff(object))
        } else if first.starts_with("No resources found") {
            (line, Self::NoResources)
        } else if is_markup(first) {
            (line, Self::Markup)
        } else if lines().any(|(line, text)| line == at && is_template(text)) {
            (at, Self::Template)
        } else if is_cut_json(text) {
            (text.lines().count(), Self::CutJson)
        } else if let Some(found) = (1..).zip(text.lines()).find_map(control_character) {
            found
        } else {
            let (_, wrong) = lines().find(|(line, _)| *line == at)?;
            let mark = wrong
                .chars()
                .find(|c| "\u{201c}\u{201d}\u{201e}\u{2018}\u{2019}".contains(*c))?;
            (at, Self::QuotationMark(mark))
        };
        let (line, form) = found;
        Some(NotDetected::Form { form, line })
    }
}

/// Returns whether a text that cannot be read as YAML or JSON looks like an object: it begins with a bracket or with
/// a key alone, or a line of it begins with a field that objects have. Other texts are words: a colon in them is no
/// mistake.
pub(super) fn looks_like_object(text: &str) -> bool {
    const FIELDS: [&str; 8] = [
        "apiVersion",
        "kind",
        "metadata",
        "spec",
        "data",
        "status",
        "items",
        "name",
    ];
    let names_field = |line: &str| {
        let line = line.trim_start_matches([' ', '\t', '-', '"', '\'']);
        FIELDS.iter().any(|field| {
            let behind = line.strip_prefix(field);
            let behind = behind.map(|it| it.trim_start_matches(['"', '\'']).trim_start());
            behind.is_some_and(|it| it.starts_with(':'))
        })
    };
    let text = text.trim_start();
    let first = text.lines().next().unwrap_or_default();
    let begins_with_key = first.split_once(':').is_some_and(|(key, value)| {
        let value = value.trim();
        !key.contains(char::is_whitespace) && (value.is_empty() || value.starts_with(['{', '[']))
    });
    text.starts_with(['{', '[']) || begins_with_key || text.lines().any(names_field)
}

/// The object of the first row of a table: kubectl writes the names of columns in capital letters, at
/// least two spaces apart (`k8s.io/cli-runtime/pkg/printers/tableprinter.go`, v0.36).
fn table(text: &str, line: usize) -> Option<NamedObject> {
    let mut lines = text.lines().skip(line - 1);
    let columns = cells(lines.next()?);
    let is_title = |cell: &&str| {
        let mut letters = cell.chars().filter(|c| c.is_alphabetic());
        letters.all(|c| c.is_ascii_uppercase()) && !cell.contains([':', '"', '{'])
    };
    let name = columns.iter().position(|column| *column == "NAME")?;
    if name > 1 || columns.len() < 2 || !columns.iter().all(is_title) {
        return None;
    }
    let row = cells(
        lines
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default(),
    );
    let named = row.get(name).copied().unwrap_or_default();
    let (kind, named) = named.split_once('/').unwrap_or(("", named));
    let first = columns.first().filter(|first| **first == "NAMESPACE");
    let namespace = first.and_then(|_| row.first()).copied();
    Some(NamedObject {
        kind: word(kind),
        namespace: word(namespace.unwrap_or_default()),
        name: word(named),
    })
}

fn cells(line: &str) -> Vec<&str> {
    let cells = line.split("  ").map(str::trim);
    cells.filter(|cell| !cell.is_empty()).collect()
}

/// The object that `kubectl describe` names in its first lines.
fn description(text: &str, line: usize) -> Option<NamedObject> {
    let mut lines = text.lines().skip(line - 1).take(12);
    let value = |line: &str, field: &str| {
        let value = line.strip_prefix(field)?.strip_prefix(':')?;
        value.starts_with([' ', '\t']).then(|| word(value.trim()))
    };
    let mut object = NamedObject {
        name: value(lines.next()?, "Name")?,
        ..NamedObject::default()
    };
    let mut sure = false;
    for line in lines {
        sure |= value(line, "Labels").is_some() || value(line, "Annotations").is_some();
        if let Some(namespace) = value(line, "Namespace") {
            object.namespace = namespace;
        } else if let Some(kind) = value(line, "Kind") {
            object.kind = kind;
        }
    }
    sure.then_some(object)
}

/// The object of a unified diff: kubectl names its file `LIVE-123/apps.v1.Deployment.shop.web`
/// (`k8s.io/kubectl/pkg/cmd/diff/diff.go InfoObject.Name`, v0.36).
fn diff(text: &str, line: usize) -> Option<NamedObject> {
    let mut lines = text.lines().skip(line - 1).peekable();
    lines.next_if(|line| line.starts_with("diff "));
    let old = lines.next()?.strip_prefix("--- ")?;
    if !lines.next()?.starts_with("+++ ") || !lines.next()?.starts_with("@@ ") {
        return None;
    }
    let file = old.split_whitespace().next().unwrap_or_default();
    let file = file
        .rsplit_once("/LIVE-")
        .and_then(|(_, it)| it.split_once(['/', '\\']));
    Some(
        file.and_then(|(_, file)| of_file_name(file))
            .unwrap_or_default(),
    )
}

/// The object of the name `GROUP.VERSION.KIND.NAMESPACE.NAME`. Only a kind begins with a capital letter.
fn of_file_name(file: &str) -> Option<NamedObject> {
    let parts: Vec<&str> = file.split('.').collect();
    let is_kind = |part: &&str| part.starts_with(|c: char| c.is_ascii_uppercase());
    let kind = parts.iter().position(is_kind)?;
    let group = parts.get(..kind.checked_sub(1)?)?;
    let named: Vec<&str> = parts[kind..=kind].iter().chain(group).copied().collect();
    Some(NamedObject {
        kind: word(&named.join(".")),
        namespace: word(parts.get(kind + 1)?),
        name: word(&parts.get(kind + 2..)?.join(".")),
    })
}

fn is_markup(first: &str) -> bool {
    let first = first.trim_start();
    let named = first.strip_prefix('<');
    named.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic() || "!?/".contains(c))
    })
}

/// Returns whether a line has a place for a value (<https://pkg.go.dev/text/template>).
fn is_template(line: &str) -> bool {
    let behind = line.split_once("{{").map(|(_, behind)| behind);
    behind.is_some_and(|behind| behind.contains("}}"))
}

fn is_cut_json(text: &str) -> bool {
    let json = text.trim_start().starts_with(['{', '[']);
    let read = || serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    json && read().any(|document| document.is_err_and(|error| error.is_eof()))
}

fn control_character((line, text): (usize, &str)) -> Option<(usize, TextForm)> {
    let control = |c: &char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    let found = text.chars().find(control)?;
    Some((line, TextForm::ControlCharacter(found)))
}

/// Returns a text without the decorations of a terminal, a chat or a web page; `None` if there are
/// none. Lines stay where they are: colours of a terminal, the lines around blocks of Markdown,
/// commands after a prompt, line numbers, marks of quoted text, spaces of typography at the
/// beginning of lines.
pub fn plain(text: &str) -> Option<String> {
    let colourless = without_escapes(text);
    let mut lines: Vec<&str> = colourless.lines().collect();
    keep_blocks(&mut lines);
    lines.iter_mut().for_each(|line| {
        if is_command(line) {
            *line = "";
        }
    });
    if let Some(last) = lines.iter_mut().rfind(|line| !line.trim().is_empty())
        && is_prompt(last)
    {
        *last = "";
    }
    strip_quotes(&mut lines);
    strip_numbers(&mut lines);
    let lines: Vec<String> = lines.into_iter().map(with_plain_indent).collect();
    let mut plain = lines.join("\n");
    if text.ends_with('\n') {
        plain.push('\n');
    }
    (plain != text.replace("\r\n", "\n")).then_some(plain)
}

/// Without the escape sequences of ECMA-48 that terminals print for colours and links.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        let sequence = &rest[at + 1..];
        let end = match sequence.as_bytes().first() {
            Some(b'[') => sequence[1..]
                .find(|c: char| ('@'..='~').contains(&c))
                .map(|end| end + 2),
            Some(b']') => sequence
                .find(['\u{7}', '\u{1b}'])
                .map(|end| end + 1 + usize::from(sequence[end..].starts_with("\u{1b}\\"))),
            _ => Some(0),
        };
        rest = sequence.get(end.unwrap_or(0)..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Keeps the blocks of code of a Markdown text, if it has any. A block after another one is another
/// document.
fn keep_blocks(lines: &mut [&str]) {
    let is_fence = |line: &str| {
        let line = line.trim_start();
        line.starts_with("```") || line.starts_with("~~~")
    };
    if !lines.iter().any(|line| is_fence(line)) {
        return;
    }
    let (mut inside, mut blocks) = (false, 0);
    for at in 0..lines.len() {
        if is_fence(lines[at]) {
            inside = !inside;
            blocks += usize::from(inside);
            let json = |line: &&str| line.trim_start().starts_with('{');
            let separates = inside && blocks > 1 && !lines.get(at + 1).is_some_and(json);
            lines[at] = if separates { "---" } else { "" };
        } else if !inside {
            lines[at] = "";
        }
    }
}

/// The ends of a shell's prompt.
const PROMPTS: [&str; 5] = ["$ ", "# ", "% ", "> ", "\u{276f} "];

/// Returns whether a line is a command, and not a part of its output.
fn is_command(line: &str) -> bool {
    let names = |command: &str| {
        let name = command.split_whitespace().next();
        matches!(name, Some("kubectl" | "oc" | "k" | "k3s" | "microk8s"))
    };
    let after = |prompt: &&str| {
        line.split_once(*prompt)
            .is_some_and(|(before, command)| !before.contains(": ") && names(command))
    };
    line.starts_with("$ ") || line.starts_with("kubectl ") || PROMPTS.iter().any(after)
}

/// Returns whether a line is a prompt without a command: `me@host:~$`.
fn is_prompt(line: &str) -> bool {
    let line = line.trim();
    line == "$" || line.ends_with(['$', '#', '%']) && line.contains('@') && !line.contains(' ')
}

/// Takes out the `>` before every line of a quoted text.
fn strip_quotes(lines: &mut [&str]) {
    let written = || lines.iter().filter(|line| !line.trim().is_empty());
    if written().count() < 2 || !written().all(|line| line.starts_with('>')) {
        return;
    }
    for line in lines {
        let rest = line.strip_prefix('>').unwrap_or_default();
        *line = rest.strip_prefix(' ').unwrap_or(rest);
    }
}

/// Takes out the numbers before every line, if they count the lines.
fn strip_numbers(lines: &mut [&str]) {
    let numbers: Option<Vec<Option<(usize, &str)>>> = lines
        .iter()
        .map(|line| {
            (line.trim().is_empty())
                .then_some(None)
                .or_else(|| numbered(line).map(Some))
        })
        .collect();
    let Some(numbers) = numbers else { return };
    let mut written = (0..)
        .zip(&numbers)
        .filter_map(|(at, line)| Some((at, line.as_ref()?.0)));
    let Some((begin, first)) = written.next() else {
        return;
    };
    let mut count = 1;
    let counts = written.all(|(at, number)| {
        count += 1;
        number == first + (at - begin)
    });
    if !counts || count < 3 {
        return;
    }
    for (line, numbered) in lines.iter_mut().zip(numbers) {
        *line = numbered.map_or("", |(_, rest)| rest);
    }
}

/// A line after its number, as `cat -n`, `grep -n`, `less -N` and `bat` print it.
fn numbered(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start();
    let digits = line
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(line.len());
    let (number, rest) = line.split_at(digits);
    let number = number.parse().ok()?;
    let ruled = rest.trim_start().strip_prefix(['\u{2502}', '|']);
    let rest = match (ruled, rest.strip_prefix([':', '\t'])) {
        (Some(rest), _) => rest.strip_prefix(' ').unwrap_or(rest),
        (None, Some(rest)) => rest,
        (None, None) if rest.is_empty() => rest,
        (None, None) => rest.strip_prefix(' ')?,
    };
    Some((number, rest))
}

/// A line with plain spaces at its beginning.
fn with_plain_indent(line: &str) -> String {
    let is_space = |c: char| c == ' ' || is_typographic(c);
    let end = line.find(|c| !is_space(c)).unwrap_or(line.len());
    let (indent, rest) = line.split_at(end);
    let indent = indent
        .chars()
        .filter(|c| !matches!(c, '\u{200b}' | '\u{feff}'));
    let mut out: String = indent.map(|_| ' ').collect();
    out.push_str(rest);
    out
}

fn is_typographic(c: char) -> bool {
    matches!(
        c,
        '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{3000}' | '\u{feff}'
    )
}
