//! What can be true of a history: the claims that a lesson makes, the answers among which one
//! predicts, and the goals.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::FieldPath;
use super::fields::{Fields, LessonError, Read, items, members, number, text, word};
use super::script::{ACTORS, STRATEGIES};
use optimist_apiserver::apply::Managers;
use optimist_apiserver::object::text as text_of;
use optimist_apiserver::yaml::{Content, Located};
use optimist_client::Strategy;
use optimist_simulation::{ActorId, Exchange, NodeId, Outcome, RunTree, Step};

/// Something that is true or not, at the current step of a history.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The status code of the last answer; `None`: there was no answer.
    Answer(Option<u16>),
    /// The reason in the last answer's Status.
    Reason(String),
    /// The last answer's message has this text in it.
    Message(String),
    /// How many requests were sent.
    Requests(Count),
    /// How many writes made a new version.
    Writes(Count),
    /// How many requests were refused.
    Refused(Count),
    /// How many of those were conflicts.
    Conflicts(Count),
    /// How many acknowledged edits vanished.
    Lost(Count),
    /// How many applies were sent with force.
    Forced(Count),
    /// How many writes changed the object as it is stored without saying which version of it.
    Unversioned(Count),
    /// How many Updates, with the whole object, did so.
    UnversionedUpdates(Count),
    /// An actor has read the object.
    HasRead(ActorId),
    /// Whose write was the last to change what is stored at a place.
    SetBy(FieldPath, ActorId),
    /// Exactly who made new versions, and in which ways; both sorted.
    Writers(Vec<(ActorId, Vec<Way>)>),
    /// What the stored object has at a place; `None`: nothing.
    Stored(FieldPath, Option<Value>),
    /// The stored object has the same value, and has one, at two places.
    Same(FieldPath, FieldPath),
    /// What an actor's working copy has at a place; `None`: nothing.
    Copy(ActorId, FieldPath, Option<Value>),
    /// What the last request's body has at a place; `None`: nothing.
    Sent(FieldPath, Option<Value>),
    /// By how many versions an actor's copy is behind.
    Stale(ActorId, usize),
    /// Exactly who owns a field.
    Owners(FieldPath, Vec<String>),
    /// Whether the object exists.
    Exists(bool),
    /// Not all of these.
    Not(Vec<Condition>),
    /// At least one of these holds as a whole.
    Any(Vec<Vec<Condition>>),
}

/// In which way a version was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// An edit was sent.
    Send(Strategy),
    /// The object was created.
    Create,
    /// The object was deleted.
    Delete,
}

impl Way {
    const OTHERS: [(&str, Way); 2] = [("create", Way::Create), ("delete", Way::Delete)];

    fn words() -> impl Iterator<Item = (&'static str, Way)> {
        let sent = STRATEGIES.iter();
        let sent = sent.map(|(word, strategy)| (*word, Way::Send(*strategy)));
        sent.chain(Self::OTHERS)
    }

    /// The way of a request, also of one by hand; `None` if it is none that writes.
    fn of(exchange: &Exchange) -> Option<Self> {
        Some(match exchange.method.as_str() {
            "PUT" => Way::Send(Strategy::Update),
            "POST" => Way::Create,
            "DELETE" => Way::Delete,
            "PATCH" => {
                let sent = exchange.content_type.split(';').next().unwrap_or_default();
                let known = Strategy::ALL.into_iter();
                Way::Send(
                    known
                        .filter(|strategy| *strategy != Strategy::Update)
                        .find(|strategy| strategy.media_type() == sent.trim())?,
                )
            }
            _ => return None,
        })
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::words().find(|(_, way)| way == self);
        f.write_str(word.map_or("", |(word, _)| word))
    }
}

/// How many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// So many and no others.
    Exactly(u64),
    /// So many or more.
    AtLeast(u64),
    /// So many or fewer.
    AtMost(u64),
}

impl Count {
    fn holds(self, count: usize) -> bool {
        let count = count as u64;
        match self {
            Count::Exactly(n) => count == n,
            Count::AtLeast(n) => count >= n,
            Count::AtMost(n) => count <= n,
        }
    }

    fn read(located: &Located) -> Read<Self> {
        if let Content::Scalar(Value::String(text), _) = &located.content {
            let bounded = |words: &str| text.strip_prefix(words)?.trim().parse().ok();
            if let Some(n) = bounded("at least ") {
                return Ok(Count::AtLeast(n));
            }
            if let Some(n) = bounded("at most ") {
                return Ok(Count::AtMost(n));
            }
            let message = "a number is needed here, or “at least 1”, or “at most 1”";
            return Err(LessonError::new(located.line, message));
        }
        number(located).map(Count::Exactly)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Exactly(0) => f.write_str("no"),
            Count::Exactly(n) => write!(f, "{n}"),
            Count::AtLeast(n) => write!(f, "at least {n}"),
            Count::AtMost(n) => write!(f, "at most {n}"),
        }
    }
}

pub(super) const CONDITIONS: [&str; 24] = [
    "answer",
    "reason",
    "message",
    "requests",
    "writes",
    "refused",
    "conflicts",
    "lost",
    "forced",
    "unversioned",
    "unversioned updates",
    "same",
    "read",
    "set by",
    "writers",
    "stored",
    "copy",
    "sent",
    "stale",
    "owners",
    "exists",
    "not",
    "any",
    "all",
];

/// Reads conditions: a mapping whose members must all hold.
pub(super) fn conditions(located: &Located) -> Read<Vec<Condition>> {
    conditions_of(&Fields::of(located, "a condition", &CONDITIONS)?)
}

/// Reads the conditions among the members of a mapping.
pub(super) fn conditions_of(fields: &Fields<'_>) -> Read<Vec<Condition>> {
    let mut all = Vec::new();
    for member in fields.members {
        if CONDITIONS.contains(&member.key.as_str()) {
            one(&member.key, &member.value, &mut all)?;
        }
    }
    if all.is_empty() {
        return Err(LessonError::new(fields.line, "a condition is missing here"));
    }
    Ok(all)
}

fn one(key: &str, value: &Located, all: &mut Vec<Condition>) -> Read<()> {
    all.push(match key {
        "answer" => Condition::Answer(match &value.content {
            Content::Scalar(Value::String(none), _) if none == "none" => None,
            _ => Some(code(value)?),
        }),
        "reason" => Condition::Reason(text(value)?),
        "message" => Condition::Message(text(value)?),
        "requests" => Condition::Requests(Count::read(value)?),
        "writes" => Condition::Writes(Count::read(value)?),
        "refused" => Condition::Refused(Count::read(value)?),
        "conflicts" => Condition::Conflicts(Count::read(value)?),
        "lost" => Condition::Lost(Count::read(value)?),
        "forced" => Condition::Forced(Count::read(value)?),
        "unversioned" => Condition::Unversioned(Count::read(value)?),
        "unversioned updates" => Condition::UnversionedUpdates(Count::read(value)?),
        "same" => match items(value)? {
            [one, other] => Condition::Same(
                place(&text(one)?, one.line)?,
                place(&text(other)?, other.line)?,
            ),
            _ => return Err(LessonError::new(value.line, "two places are needed here")),
        },
        "read" => {
            for item in items(value)? {
                all.push(Condition::HasRead(word(item, &ACTORS)?));
            }
            return Ok(());
        }
        "set by" => {
            for member in members(value, "places and actors")? {
                let path = place(&member.key, member.line)?;
                all.push(Condition::SetBy(path, word(&member.value, &ACTORS)?));
            }
            return Ok(());
        }
        "writers" => Condition::Writers(writers(value)?),
        "exists" => Condition::Exists(super::fields::flag(value)?),
        "not" => Condition::Not(conditions(value)?),
        "any" => {
            let ways = items(value)?.iter().map(conditions);
            Condition::Any(ways.collect::<Read<_>>()?)
        }
        "all" => {
            for item in items(value)? {
                all.extend(conditions(item)?);
            }
            return Ok(());
        }
        "stored" => return places(value, all, Condition::Stored),
        "sent" => return places(value, all, Condition::Sent),
        "copy" => {
            for (actor, value) in by_actor(value)? {
                places(value, all, |path, value| {
                    Condition::Copy(actor, path, value)
                })?;
            }
            return Ok(());
        }
        "stale" => {
            for (actor, value) in by_actor(value)? {
                let by = usize::try_from(number(value)?).unwrap_or(usize::MAX);
                all.push(Condition::Stale(actor, by));
            }
            return Ok(());
        }
        _ => {
            for member in members(value, "owners")? {
                let names = items(&member.value)?.iter().map(text);
                let mut names = names.collect::<Read<Vec<String>>>()?;
                names.sort();
                let path = place(&member.key, member.line)?;
                all.push(Condition::Owners(path, names));
            }
            return Ok(());
        }
    });
    Ok(())
}

fn writers(value: &Located) -> Read<Vec<(ActorId, Vec<Way>)>> {
    let known: Vec<_> = Way::words().collect();
    let mut writers = Vec::new();
    for (actor, value) in by_actor(value)? {
        let ways = items(value)?.iter().map(|item| word(item, &known));
        let mut ways = ways.collect::<Read<Vec<Way>>>()?;
        if ways.is_empty() {
            let message = "a way of writing is missing here: leave out who does not write";
            return Err(LessonError::new(value.line, message));
        }
        ways.sort();
        ways.dedup();
        writers.push((actor, ways));
    }
    writers.sort();
    Ok(writers)
}

fn code(value: &Located) -> Read<u16> {
    u16::try_from(number(value)?)
        .ok()
        .filter(|code| (100..600).contains(code))
        .ok_or_else(|| LessonError::new(value.line, "a status code is needed here: 200, 409"))
}

fn place(text: &str, line: usize) -> Read<FieldPath> {
    FieldPath::parse(text).map_err(|why| LessonError::new(line, why))
}

/// Places and what is there; `~` for nothing.
fn places(
    value: &Located,
    all: &mut Vec<Condition>,
    condition: impl Fn(FieldPath, Option<Value>) -> Condition,
) -> Read<()> {
    for member in members(value, "places and values")? {
        let value = Value::from(&member.value);
        let path = place(&member.key, member.line)?;
        all.push(condition(path, (!value.is_null()).then_some(value)));
    }
    Ok(())
}

fn by_actor(value: &Located) -> Read<Vec<(ActorId, &Located)>> {
    let members = members(value, "actors")?.iter().map(|member| {
        let known = ACTORS.iter().find(|(name, _)| *name == member.key);
        known
            .map(|(_, actor)| (*actor, &member.value))
            .ok_or_else(|| LessonError::new(member.line, "A, B or C is needed here"))
    });
    members.collect()
}

/// The part of a history that conditions are about.
#[derive(Clone, Copy)]
pub struct Past<'a> {
    tree: &'a RunTree,
    since: NodeId,
}

impl<'a> Past<'a> {
    /// From a node, exclusive, to where the tree is. `None` if that history does not go through
    /// the node.
    pub fn since(tree: &'a RunTree, since: NodeId) -> Option<Self> {
        let line = tree.line();
        let past = line.get(..=tree.position())?;
        past.contains(&since).then_some(Self { tree, since })
    }

    fn nodes(self) -> Vec<NodeId> {
        let line = self.tree.line();
        let begin = line.iter().position(|node| *node == self.since);
        let past = begin.unwrap_or(0) + 1..self.tree.position() + 1;
        line.get(past).unwrap_or_default().to_vec()
    }

    fn steps(self) -> impl DoubleEndedIterator<Item = &'a Step> {
        let nodes = self.nodes().into_iter();
        nodes.filter_map(|node| self.tree.step(node))
    }

    fn exchanges(self) -> impl DoubleEndedIterator<Item = &'a Exchange> {
        self.steps().filter_map(|step| step.exchange.as_ref())
    }

    fn count(self, wanted: impl Fn(&Step) -> bool) -> usize {
        self.steps().filter(|step| wanted(step)).count()
    }

    /// Whether all of them hold.
    pub fn fulfils(self, conditions: &[Condition]) -> bool {
        conditions.iter().all(|condition| self.holds(condition))
    }

    /// Whether a condition holds.
    pub fn holds(self, condition: &Condition) -> bool {
        let world = self.tree.world();
        let stored = || world.stored().map(|(_, object)| object.as_ref());
        let last = || self.exchanges().next_back();
        let at = |object: Option<&Value>, path: &FieldPath, value: &Option<Value>| {
            object.and_then(|object| path.find(object)) == value.as_ref()
        };
        match condition {
            Condition::Answer(code) => last().map(|last| last.code) == *code,
            Condition::Reason(reason) => {
                last().is_some_and(|last| text_of(&last.received, "reason") == reason)
            }
            Condition::Message(part) => last()
                .and_then(Exchange::message)
                .is_some_and(|message| message.contains(part.as_str())),
            Condition::Requests(count) => count.holds(self.exchanges().count()),
            Condition::Writes(count) => {
                count.holds(self.count(|step| step.outcome() == Outcome::Written))
            }
            Condition::Refused(count) => {
                count.holds(self.count(|step| step.outcome() == Outcome::Refused))
            }
            Condition::Conflicts(count) => {
                let conflicts = self.exchanges().filter(|exchange| exchange.is_conflict());
                count.holds(conflicts.count())
            }
            Condition::Lost(count) => count.holds(self.losses()),
            Condition::Forced(count) => count.holds(self.forced()),
            Condition::Unversioned(count) => count.holds(self.unversioned(|_| true)),
            Condition::UnversionedUpdates(count) => count.holds(self.unversioned(is_update)),
            Condition::HasRead(actor) => self.has_read(*actor),
            Condition::SetBy(path, actor) => self.setter(path) == Some(*actor),
            Condition::Writers(writers) => self.writers() == *writers,
            Condition::Stored(path, value) => at(stored(), path, value),
            Condition::Same(one, other) => stored().is_some_and(|object| {
                let value = one.find(object);
                value.is_some() && value == other.find(object)
            }),
            Condition::Copy(actor, path, value) => {
                let copy = world.copy(*actor);
                at(copy.edited().map(|object| object.as_ref()), path, value)
            }
            Condition::Sent(path, value) => at(last().map(|last| last.sent.as_ref()), path, value),
            Condition::Stale(actor, by) => world.stale_by(*actor) == *by,
            Condition::Owners(path, names) => {
                stored().is_some_and(|object| owners(object, path) == *names)
            }
            Condition::Exists(exists) => stored().is_some() == *exists,
            Condition::Not(conditions) => !self.fulfils(conditions),
            Condition::Any(ways) => ways.iter().any(|way| self.fulfils(way)),
        }
    }

    /// What is there instead of what a condition wants, where that can be said in a word.
    pub(super) fn instead_of(self, condition: &Condition) -> Option<String> {
        let world = self.tree.world();
        let at = |object: Option<&Value>, path: &FieldPath| {
            let found = object.and_then(|object| path.find(object));
            found.map_or("not there".to_owned(), Value::to_string)
        };
        let stored = world.stored().map(|(_, object)| object.as_ref());
        let last = self.exchanges().next_back();
        Some(match condition {
            Condition::Answer(_) => last?.code.to_string(),
            Condition::Reason(_) => text_of(&last?.received, "reason").to_owned(),
            Condition::Message(_) => last?.message().unwrap_or("no message").to_owned(),
            Condition::Requests(_) => self.exchanges().count().to_string(),
            Condition::Lost(_) => self.losses().to_string(),
            Condition::Forced(_) => self.forced().to_string(),
            Condition::Unversioned(_) => self.unversioned(|_| true).to_string(),
            Condition::UnversionedUpdates(_) => self.unversioned(is_update).to_string(),
            Condition::SetBy(path, _) => self.setter(path).map_or("nobody", letter).to_owned(),
            Condition::Writers(_) => Writers(&self.writers()).to_string(),
            Condition::Stored(path, _) => at(stored, path),
            Condition::Same(one, other) => {
                format!("{} and {}", at(stored, one), at(stored, other))
            }
            Condition::Sent(path, _) => at(Some(&last?.sent), path),
            Condition::Copy(actor, path, _) => {
                let copy = world.copy(*actor);
                at(copy.edited().map(|object| object.as_ref()), path)
            }
            Condition::Stale(actor, _) => world.stale_by(*actor).to_string(),
            Condition::Owners(path, _) => owners(stored?, path).join(", "),
            _ => return None,
        })
    }

    /// How many acknowledged edits vanished in this part of the history.
    fn losses(self) -> usize {
        self.steps().map(|step| step.losses.len()).sum()
    }

    fn forced(self) -> usize {
        let forced = |exchange: &&Exchange| {
            let query = exchange
                .target
                .split_once('?')
                .map_or("", |(_, query)| query);
            Way::of(exchange) == Some(Way::Send(Strategy::Apply))
                && form_urlencoded::parse(query.as_bytes())
                    .any(|(name, value)| name == "force" && ["true", "1"].contains(&&*value))
        };
        self.exchanges().filter(forced).count()
    }

    /// How many writes of a strategy were stored that did not say of which version.
    fn unversioned(self, wanted: fn(Strategy) -> bool) -> usize {
        self.count(|step| {
            let sent = step.exchange.as_ref();
            let sent = sent.filter(
                |sent| matches!(Way::of(sent), Some(Way::Send(strategy)) if wanted(strategy)),
            );
            step.outcome() == Outcome::Written && sent.is_some_and(|sent| !names_version(sent))
        })
    }

    fn has_read(self, actor: ActorId) -> bool {
        let path = self.tree.world().subject().path();
        self.steps().any(|step| {
            let asked = step.exchange.as_ref().map(|asked| asked.target.as_str());
            let asked = asked.and_then(|target| target.split('?').next());
            step.actor() == Some(actor)
                && step.outcome() == Outcome::Read
                && asked == Some(path.as_str())
        })
    }

    /// Whose step was the last after which something else was stored at a place.
    fn setter(self, path: &FieldPath) -> Option<ActorId> {
        let key = self.tree.world().subject().key();
        let at = |node: NodeId| {
            let (_, object) = self.tree.world_at(node)?.server().store().get(key)?;
            path.find(object)
        };
        let nodes = self.nodes().into_iter().rev();
        let mut changed = nodes.filter(|node| {
            let parent = self.tree.parent(*node);
            parent.is_some_and(|parent| at(parent) != at(*node))
        });
        self.tree.step(changed.next()?)?.actor()
    }

    /// Who made new versions, and in which ways; both sorted.
    fn writers(self) -> Vec<(ActorId, Vec<Way>)> {
        let mut writers: BTreeMap<ActorId, BTreeSet<Way>> = BTreeMap::new();
        for step in self.steps() {
            let way = step.exchange.as_ref().and_then(Way::of);
            if let (Outcome::Written, Some(actor), Some(way)) = (step.outcome(), step.actor(), way)
            {
                writers.entry(actor).or_default().insert(way);
            }
        }
        let writers = writers.into_iter();
        writers
            .map(|(actor, ways)| (actor, ways.into_iter().collect()))
            .collect()
    }
}

fn is_update(strategy: Strategy) -> bool {
    strategy == Strategy::Update
}

/// The managers that own a field, sorted, each once.
fn owners(object: &Value, path: &FieldPath) -> Vec<String> {
    let managed = object.pointer("/metadata/managedFields");
    let managers = Managers::decode(managed).unwrap_or_default();
    let mut names: Vec<String> = managers
        .iter()
        .filter(|owned| owned.set.paths().iter().any(|owned| path.is(&owned.0)))
        .map(|owned| owned.manager.name.clone())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Whether a request says of which version of the object it is: in its body, or as a JSON patch's
/// test.
fn names_version(exchange: &Exchange) -> bool {
    let tests = |operation: &Value| {
        text_of(operation, "op") == "test"
            && text_of(operation, "path") == "/metadata/resourceVersion"
    };
    let operations = exchange.sent.as_array();
    exchange.precondition().is_some()
        || operations.is_some_and(|operations| operations.iter().any(tests))
}

fn letter(actor: ActorId) -> &'static str {
    let known = ACTORS.iter().find(|(_, known)| *known == actor);
    known.map_or("", |(letter, _)| letter)
}

/// `only A (apply) and B (update, delete)`.
struct Writers<'a>(&'a [(ActorId, Vec<Way>)]);

impl fmt::Display for Writers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nobody");
        }
        for (i, (actor, ways)) in self.0.iter().enumerate() {
            let ways: Vec<String> = ways.iter().map(Way::to_string).collect();
            let begin = if i > 0 { " and " } else { "only " };
            write!(f, "{begin}{} ({})", letter(*actor), ways.join(", "))?;
        }
        Ok(())
    }
}

struct Shown<'a>(&'a Option<Value>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("not there"),
            Some(Value::String(text)) => f.write_str(text),
            Some(value) => write!(f, "{value}"),
        }
    }
}

impl Condition {
    /// As a goal that one works towards, in few words: `replicas is 5`.
    pub(super) fn label(&self) -> String {
        let about = |path: &FieldPath, value: &Option<Value>| match value {
            None => format!("{} is gone", path.field()),
            value => format!("{} is {}", path.field(), Shown(value)),
        };
        match self {
            Condition::Stored(path, value) => about(path, value),
            Condition::Owners(path, names) if !names.is_empty() => {
                format!("{} is owned by {}", path.field(), names.join(" and "))
            }
            Condition::Lost(Count::Exactly(0)) => "no update is lost".to_owned(),
            Condition::Forced(Count::Exactly(0)) => "nothing is forced".to_owned(),
            Condition::Unversioned(Count::Exactly(0)) => "every write says its version".to_owned(),
            Condition::UnversionedUpdates(Count::Exactly(0)) => {
                "no Update without a version".to_owned()
            }
            Condition::Same(one, other) => format!("{} equals {}", one.field(), other.field()),
            Condition::SetBy(path, actor) => format!("{} has set {}", letter(*actor), path.field()),
            Condition::Refused(Count::Exactly(0)) => "nobody is refused".to_owned(),
            Condition::Conflicts(Count::Exactly(0)) => "no conflict".to_owned(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Condition {
    /// As a claim: `spec.replicas is 5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Answer(Some(code)) => write!(f, "the answer is {code}"),
            Condition::Answer(None) => f.write_str("there is no answer"),
            Condition::Reason(reason) => write!(f, "the reason is {reason}"),
            Condition::Message(part) => write!(f, "the message says “{part}”"),
            Condition::Requests(count) => write!(f, "{count} requests"),
            Condition::Writes(count) => write!(f, "{count} writes stored"),
            Condition::Refused(count) => write!(f, "{count} requests refused"),
            Condition::Conflicts(count) => write!(f, "{count} conflicts"),
            Condition::Lost(count) => write!(f, "{count} lost updates"),
            Condition::Forced(count) => write!(f, "{count} applies with force"),
            Condition::Unversioned(count) => write!(f, "{count} writes without a version"),
            Condition::UnversionedUpdates(count) => write!(f, "{count} Updates without a version"),
            Condition::Same(one, other) => write!(f, "{one} equals {other}"),
            Condition::HasRead(actor) => write!(f, "{} has read the object", letter(*actor)),
            Condition::SetBy(path, actor) => write!(f, "{path} was set by {}", letter(*actor)),
            Condition::Writers(writers) => write!(f, "{} wrote", Writers(writers)),
            Condition::Stored(path, value) => write!(f, "{path} is {}", Shown(value)),
            Condition::Copy(actor, path, value) => {
                write!(f, "{path} in {}’s copy is {}", letter(*actor), Shown(value))
            }
            Condition::Sent(path, value) => {
                write!(f, "{path} in the request is {}", Shown(value))
            }
            Condition::Stale(actor, 0) => write!(f, "{}’s copy is current", letter(*actor)),
            Condition::Stale(actor, by) => write!(f, "{}’s copy is stale by {by}", letter(*actor)),
            Condition::Owners(path, names) if names.is_empty() => {
                write!(f, "nobody owns {path}")
            }
            Condition::Owners(path, names) => {
                write!(f, "{path} is owned by {}", names.join(" and "))
            }
            Condition::Exists(true) => f.write_str("the object exists"),
            Condition::Exists(false) => f.write_str("the object is gone"),
            Condition::Not(conditions) => {
                f.write_str("not: ")?;
                joined(f, conditions, ", ")
            }
            Condition::Any(ways) => {
                for (i, way) in ways.iter().enumerate() {
                    f.write_str(if i > 0 { ", or " } else { "" })?;
                    joined(f, way, " and ")?;
                }
                Ok(())
            }
        }
    }
}

fn joined(f: &mut fmt::Formatter<'_>, conditions: &[Condition], between: &str) -> fmt::Result {
    for (i, condition) in conditions.iter().enumerate() {
        f.write_str(if i > 0 { between } else { "" })?;
        fmt::Display::fmt(condition, f)?;
    }
    Ok(())
}
