//! The owners of each line of an object, as data, as plain text and as a Markdown table.

use optimist_apiserver::apply::{
    Manager, Managers, Owned, Owners, Path, PathElement, Places, Set, is_never_owned,
};
use optimist_apiserver::environment::Timestamp;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::schema::{Struct, fill_defaults};
use optimist_client::{Line, lines, visible};
use optimist_exports::markdown;
use serde_json::Value;

/// The owners of an object's fields.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectOwnership {
    /// The managers, in the order of `managedFields`.
    pub managers: Vec<ManagerEntry>,
    /// The lines of the object as YAML, without `managedFields`.
    pub lines: Vec<OwnedLine>,
}

/// An entry of `managedFields`.
#[derive(Clone, Debug, PartialEq)]
pub struct ManagerEntry {
    /// The manager, its operation and its subresource.
    pub manager: Manager,
    /// The version in which it names its fields, also for an applier.
    pub api_version: String,
    /// The time when its entry last changed; `None` if the entry has no time.
    pub since: Option<Timestamp>,
    /// The values that it owns in the object, in their order. A value that is owned with the value around
    /// it counts once.
    pub fields: Vec<Path>,
    /// Those of them that no other manager owns.
    pub alone: Vec<Path>,
}

/// A line with its owners.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedLine {
    /// The line.
    pub line: Line,
    /// The owners, as positions in [`ObjectOwnership::managers`].
    pub owners: Vec<usize>,
    /// The reason why a value has no owner; `None` if it has one, or if the line has no value of its own.
    pub unowned: Option<Unowned>,
    /// The item of a list that the line tells apart from the others: it has a merge key of the item.
    pub identifies: Option<String>,
}

/// The reason why a value has no owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unowned {
    /// ObjectOwnership of this field is never recorded: it identifies the object, or only the server sets
    /// it (`k8s.io/apimachinery/pkg/util/managedfields/internal/stripmeta.go`, v1.36).
    NeverOwned,
    /// It has the value that the server fills in when no one sets it.
    Default,
    /// No entry of `managedFields` has it.
    NoEntry,
    /// The object was printed without `managedFields` (`--show-managed-fields` was not given).
    NotPrinted,
}

/// The owners of an object, found in parts. Each part is short, also for a large object.
#[derive(Clone, Debug)]
pub struct OwnershipReader {
    /// The object without `managedFields`.
    shown: Value,
    /// `true` if the object was printed with `managedFields`.
    printed: bool,
    managers: Managers,
    owners: Owners,
    part: OwnershipPart,
    found: ObjectOwnership,
}

/// The next part of the work.
#[derive(Clone, Copy, Debug)]
enum OwnershipPart {
    Lines,
    Defaults,
    /// The fields of the manager at this position.
    Manager(usize),
    /// Those of them that it owns alone.
    Alone(usize),
}

impl OwnershipReader {
    /// Begins with an object of this type, and does the first part.
    pub fn new(mut object: Value, root: &Struct) -> Self {
        let owners = Owners::read(&object, root);
        let managed = object.metadata_mut().remove("managedFields");
        Self {
            shown: object,
            printed: managed.is_some(),
            managers: Managers::decode(managed.as_ref()).unwrap_or_default(),
            owners,
            part: OwnershipPart::Lines,
            found: ObjectOwnership {
                managers: Vec::new(),
                lines: Vec::new(),
            },
        }
    }

    /// Does the next part for an object of this type. Returns whether there is more.
    pub fn advance(&mut self, root: &Struct) -> bool {
        self.part = match self.part {
            OwnershipPart::Lines => {
                self.read_lines();
                OwnershipPart::Defaults
            }
            OwnershipPart::Defaults => {
                mark_defaults(&self.shown, root, &mut self.found.lines);
                mark_merge_keys(&self.shown, root, &mut self.found.lines);
                OwnershipPart::Manager(0)
            }
            OwnershipPart::Manager(at) => {
                let Some(owned) = self.managers.iter().nth(at) else {
                    return false;
                };
                self.found.managers.push(entry(owned, &self.shown));
                OwnershipPart::Alone(at)
            }
            OwnershipPart::Alone(at) => {
                let entry = self.found.managers.get_mut(at);
                if let Some((owned, entry)) = self.managers.iter().nth(at).zip(entry) {
                    entry.alone = alone(owned, &self.managers, &self.shown)
                        .unwrap_or_else(|| entry.fields.clone());
                }
                OwnershipPart::Manager(at + 1)
            }
        };
        true
    }

    /// Returns the owners that were found.
    pub fn finish(self) -> ObjectOwnership {
        self.found
    }

    fn read_lines(&mut self) {
        let lines = lines(&self.shown).into_iter().map(|line| {
            let owners = self.owners.at(&line.pointer);
            let unowned = (owners.is_empty() && line.value.is_some())
                .then(|| unowned(&line.pointer, self.printed));
            OwnedLine {
                line,
                owners,
                unowned,
                identifies: None,
            }
        });
        self.found.lines = lines.collect();
    }
}

impl ObjectOwnership {
    /// The owners of an object of this type.
    pub fn read(object: &Value, root: &Struct) -> Self {
        let mut reader = OwnershipReader::new(object.clone(), root);
        while reader.advance(root) {}
        reader.finish()
    }

    /// The lines of a value that have no owner.
    pub fn unowned(&self) -> impl Iterator<Item = &OwnedLine> {
        self.lines.iter().filter(|line| line.unowned.is_some())
    }

    /// Writes plain text: the YAML, and behind each line its owners.
    pub fn to_text(&self) -> String {
        let yaml: Vec<String> = self.lines.iter().map(|one| one.line.to_yaml()).collect();
        let widths = yaml.iter().map(|line| line.chars().count());
        // A long value must not push the owners of all lines out of sight.
        let width = widths.filter(|width| *width <= 60).max().unwrap_or(0);
        let mut out = String::new();
        for (line, owned) in yaml.iter().zip(&self.lines) {
            let owners = self.owners_of(owned);
            let owners = format!("{line:width$}  {owners}");
            out.push_str(owners.trim_end());
            out.push('\n');
        }
        out
    }

    /// Writes a Markdown table with a row for each value.
    pub fn to_markdown(&self) -> String {
        let mut out = markdown::head(&["line", "owners", "since"].map(str::to_owned));
        for owned in self.lines.iter().filter(|one| one.line.value.is_some()) {
            let since = owned.owners.iter().map(|at| {
                let since = self.managers.get(*at).and_then(|entry| entry.since);
                since.map_or_else(|| "no time".to_owned(), |time| time.to_string())
            });
            let since: Vec<String> = since.collect();
            out.push_str(&markdown::row(&[
                markdown::code(&owned.line.to_yaml()),
                markdown::text(&self.owners_of(owned)),
                markdown::text(&since.join(", ")),
            ]));
        }
        out
    }

    fn owners_of(&self, line: &OwnedLine) -> String {
        if let Some(unowned) = line.unowned {
            let why = match unowned {
                Unowned::NeverOwned => "never owned",
                Unowned::Default => "no owner (default)",
                Unowned::NoEntry => "no owner",
                Unowned::NotPrinted => "not printed",
            };
            return why.to_owned();
        }
        let owners = line.owners.iter().filter_map(|at| self.managers.get(*at));
        let owners: Vec<String> = owners.map(|entry| label(&entry.manager)).collect();
        owners.join(", ")
    }
}

/// Stands for the name of a manager that has none, in a [`label`].
pub const UNNAMED: &str = "(no name)";

/// `helm (Apply)`, `kube-controller-manager (Update, /scale)`; `(no name) (Update)` of a manager without a name.
pub fn label(manager: &Manager) -> String {
    let operation = manager.operation.name();
    let name = match manager.name.as_str() {
        "" => UNNAMED.into(),
        name => visible(name),
    };
    match manager.subresource.as_str() {
        "" => format!("{name} ({operation})"),
        subresource => format!("{name} ({operation}, /{})", visible(subresource)),
    }
}

fn unowned(pointer: &str, printed: bool) -> Unowned {
    let names = pointer.split('/').skip(1);
    let names = names.map(|name| PathElement::Field(name.to_owned()));
    match (is_never_owned(&Path(names.collect())), printed) {
        (true, _) => Unowned::NeverOwned,
        (false, true) => Unowned::NoEntry,
        (false, false) => Unowned::NotPrinted,
    }
}

/// Marks the values without an owner that come back when they are taken out: the defaults. Values that do
/// not come back stay in the object: other defaults follow from them, as the policy to pull follows
/// from the image.
fn mark_defaults(object: &Value, root: &Struct, lines: &mut [OwnedLine]) {
    let open = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.unowned == Some(Unowned::NoEntry));
    let mut defaults: Vec<usize> = open.map(|(at, _)| at).collect();
    let mut first = true;
    loop {
        let mut filled = object.clone();
        // From behind, so that positions in lists stay.
        for &at in defaults.iter().rev() {
            remove(&mut filled, &lines[at].line.pointer);
        }
        fill_defaults(&mut filled, root);
        let before = defaults.len();
        defaults.retain(|&at| {
            let pointer = &lines[at].line.pointer;
            let again = filled.pointer(pointer);
            // Another value can be that of an object from which too much was taken.
            again.is_some() && (first || again == object.pointer(pointer))
        });
        if defaults.len() == before && !first {
            break;
        }
        first = false;
    }
    for at in defaults {
        lines[at].unowned = Some(Unowned::Default);
    }
}

/// Marks the lines that have a merge key of their list item.
fn mark_merge_keys(object: &Value, root: &Struct, lines: &mut [OwnedLine]) {
    let mut known: Option<(String, Vec<String>)> = None;
    for line in lines {
        let Some((item, name)) = line.line.pointer.rsplit_once('/') else {
            continue;
        };
        let place = item.rsplit_once('/').map(|(_, place)| place);
        if place.is_none_or(|place| place.parse::<usize>().is_err()) {
            continue;
        }
        if known.as_ref().is_none_or(|(of, _)| of != item) {
            known = Some((item.to_owned(), merge_keys(object, item, root)));
        }
        let name = optimist_apiserver::pointer::unescape(name);
        let is_key = known.iter().any(|(_, keys)| keys.contains(&name));
        line.identifies = is_key.then(|| item.to_owned());
    }
}

/// The merge keys of a list item.
fn merge_keys(object: &Value, item: &str, root: &Struct) -> Vec<String> {
    match Path::at(object, item, root).and_then(|path| path.0.last().cloned()) {
        Some(PathElement::Key(keys)) => keys.into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    }
}

/// Takes a member out of its map. An item of a list goes with the whole list: the server fills in no single item.
fn remove(object: &mut Value, pointer: &str) {
    let Some((above, name)) = pointer.rsplit_once('/') else {
        return;
    };
    match object.pointer_mut(above) {
        Some(Value::Object(members)) => {
            members.remove(&optimist_apiserver::pointer::unescape(name));
        }
        Some(Value::Array(_)) => remove(object, above),
        _ => {}
    }
}

/// The entry of a manager. Which fields it owns alone is not known yet.
fn entry(owned: &Owned, object: &Value) -> ManagerEntry {
    ManagerEntry {
        manager: owned.manager.clone(),
        api_version: owned.api_version.clone(),
        since: owned.time,
        fields: values(&owned.set, object),
        alone: Vec::new(),
    }
}

/// The values that no other manager owns; `None` if these are all.
fn alone(owned: &Owned, managers: &Managers, object: &Value) -> Option<Vec<Path>> {
    let mut alone = owned.set.clone();
    let others = managers.iter();
    for other in others.filter(|other| other.manager != owned.manager) {
        alone.subtract(&other.set);
    }
    (alone != owned.set).then(|| values(&alone, object))
}

/// The paths that hold a value, and not only further paths of the set.
fn values(set: &Set, object: &Value) -> Vec<Path> {
    let mut places = Places::new(object);
    let mut paths = set.leaves();
    paths.retain(|path| places.find(&path.0).is_some());
    paths
}
