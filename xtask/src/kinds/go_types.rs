//! Reads the struct types of a Go file of the Kubernetes API. It supports only the Go syntax of these
//! files.

use std::collections::HashMap;

/// The declarations of one package.
#[derive(Debug, Default)]
pub struct Package {
    /// Types by name.
    pub types: HashMap<String, GoType>,
    /// Imported packages by the name that they have in this file.
    pub imports: HashMap<String, String>,
    /// Constants that are strings.
    pub constants: HashMap<String, String>,
}

/// A declared type.
#[derive(Debug)]
pub struct GoType {
    /// The markers in its comments, which say how it is merged.
    pub markers: Markers,
    /// Its shape.
    pub shape: GoShape,
}

/// A struct, or another name for a type.
#[derive(Debug)]
pub enum GoShape {
    /// A struct with its fields in order.
    Struct(Vec<GoField>),
    /// The type that the alias names.
    Alias(String),
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct GoField {
    /// The name in Go.
    pub name: String,
    /// The number in protobuf, if it has one.
    pub number: Option<u32>,
    /// The type as written.
    pub ty: String,
    /// The name in JSON; empty for an inlined struct.
    pub json: String,
    /// `omitempty`, `omitzero` and the like.
    pub options: Vec<String>,
    /// The tag `patchStrategy`.
    pub patch_strategy: String,
    /// The tag `patchMergeKey`.
    pub patch_merge_key: String,
    /// The markers in its comments, which say how it is merged.
    pub markers: Markers,
}

/// Comments of the form `+name=value`.
#[derive(Clone, Debug, Default)]
pub struct Markers(Vec<(String, String)>);

impl Markers {
    fn read(comments: &[&str]) -> Self {
        let marker = |comment: &&str| {
            let (name, value) = comment.strip_prefix('+')?.split_once('=')?;
            Some((name.to_owned(), value.trim().to_owned()))
        };
        Self(comments.iter().filter_map(marker).collect())
    }

    /// The first value of a marker.
    pub fn get(&self, name: &str) -> Option<&str> {
        let named = self.0.iter().find(|(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    }

    /// All values of a marker.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    }
}

impl Package {
    /// Reads one file of a package into it.
    pub fn read(&mut self, source: &str) {
        // The two nearest comments count for a type, the nearest for a field.
        let (mut before, mut comments): (Vec<&str>, Vec<&str>) = Default::default();
        let mut open: Option<(String, Markers, Vec<GoField>)> = None;
        let mut importing = false;
        for line in source.lines() {
            let text = line.trim();
            if let Some(comment) = text.strip_prefix("//") {
                comments.push(comment.trim());
                continue;
            }
            if let Some((name, markers, mut fields)) = open.take() {
                if line == "}" {
                    let shape = GoShape::Struct(fields);
                    self.types.insert(name, GoType { markers, shape });
                } else {
                    fields.extend(field(text, &comments));
                    open = Some((name, markers, fields));
                }
                comments.clear();
                continue;
            }
            if text.is_empty() {
                if !comments.is_empty() {
                    before = std::mem::take(&mut comments);
                }
                continue;
            }
            if text == "import (" || importing {
                importing = text != ")";
                self.imports.extend(import(text));
            } else if let Some(single) = text.strip_prefix("import ") {
                self.imports.extend(import(single));
            } else if let Some(declared) = line.strip_prefix("type ") {
                let (name, rest) = declared.split_once(' ').unwrap_or((declared, ""));
                before.append(&mut comments);
                let markers = Markers::read(&before);
                match rest {
                    "struct {" => open = Some((name.to_owned(), markers, Vec::new())),
                    "struct{}" => {
                        let shape = GoShape::Struct(Vec::new());
                        self.types
                            .insert(name.to_owned(), GoType { markers, shape });
                    }
                    other => {
                        let shape = GoShape::Alias(other.trim_end_matches("{}").to_owned());
                        self.types
                            .insert(name.to_owned(), GoType { markers, shape });
                    }
                }
            } else if let Some((left, value)) = text.split_once(" = \"") {
                let name = left.split_whitespace().next().unwrap_or_default();
                let value = value.split('"').next().unwrap_or_default();
                self.constants.insert(name.to_owned(), value.to_owned());
            }
            before.clear();
            comments.clear();
        }
    }
}

fn import(line: &str) -> Option<(String, String)> {
    let (alias, rest) = line.split_once('"')?;
    let path = rest.strip_suffix('"')?;
    let last = path.rsplit('/').next().unwrap_or(path);
    let alias = match alias.trim() {
        "" => last,
        alias => alias,
    };
    Some((alias.to_owned(), path.to_owned()))
}

fn field(line: &str, comments: &[&str]) -> Option<GoField> {
    let (declared, rest) = line.split_once('`')?;
    let tags = rest.split('`').next().unwrap_or_default();
    let ty = declared.split_whitespace().last()?.to_owned();
    let mut json = tag(tags, "json")?.split(',');
    let name = json.next().unwrap_or_default();
    if name == "-" {
        return None;
    }
    let mut words = declared.split_whitespace();
    let name_in_go = match (words.next()?, words.next()) {
        (embedded, None) => embedded.rsplit(['.', '*']).next().unwrap_or(embedded),
        (name, Some(_)) => name,
    };
    let number = tag(tags, "protobuf").and_then(|tag| tag.split(',').nth(1)?.parse().ok());
    Some(GoField {
        name: name_in_go.to_owned(),
        number,
        ty,
        json: name.to_owned(),
        options: json.map(str::to_owned).collect(),
        patch_strategy: tag(tags, "patchStrategy").unwrap_or_default().to_owned(),
        patch_merge_key: tag(tags, "patchMergeKey").unwrap_or_default().to_owned(),
        markers: Markers::read(comments),
    })
}

fn tag<'a>(tags: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tags.split_once(&format!("{name}:\""))?;
    rest.split('"').next()
}
