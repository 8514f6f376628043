//! Rows as messages between two programs, in parts that are short enough to be read one at a time.
//!
//! A row of a large object has thousands of fields and some bodies of requests. Objects, bodies and lists of owners
//! are sent once, also if several rows have them. A path has what it shares with the path before as a number. Bodies
//! stay texts until [`RowReceiver::whole`] needs them. The [`Fact`](optimist_apiserver::server::Fact)s of answers are
//! not sent: what they say is in the other parts of the row.

use std::collections::VecDeque;
use std::sync::Arc;

use optimist_apiserver::apply::{Manager, Path, PathElement, Places};
use optimist_simulation::Exchange;
use serde_json::Value;

use super::conflict_cause::ConflictCause;
use super::row::{Row, TakenBack};
use super::{FieldEffect, FieldOutcome, SecondRun, Way};
use crate::completions::OpenQuestion;
use crate::{compact_enum, compact_struct};

/// The most fields of one part.
const MOST_FIELDS: usize = 400;

/// A part of the rows that one program sends to another.
#[derive(Clone, Debug)]
pub enum RowPart {
    /// The next object that rows name by its position.
    Object(Value),
    /// The next body that rows name by its position, as JSON.
    Body(String),
    /// The next list of owners that fields name by its position.
    Owners(Vec<Manager>),
    /// The beginning of a row.
    Row(Box<RowBeginning>),
    /// The next fields of the row.
    Fields(Vec<SentField>),
}

/// A row without its fields.
#[derive(Clone, Debug)]
pub struct RowBeginning {
    way: Way,
    writer: String,
    requests: Vec<SentExchange>,
    tool_runs: Vec<(usize, usize)>,
    code: Option<u16>,
    reason: String,
    message: String,
    causes: Vec<ConflictCause>,
    warnings: Vec<String>,
    /// The number of its fields.
    fields: usize,
    second_run: Option<SecondRun>,
    taken_back: Vec<TakenBack>,
    /// The positions of the objects before and after.
    objects: (usize, usize),
    open: Vec<OpenQuestion>,
    values_made_up: bool,
}

/// An [`Exchange`] without facts.
#[derive(Clone, Debug)]
struct SentExchange {
    method: String,
    target: String,
    content_type: String,
    manager: String,
    code: u16,
    warnings: Vec<String>,
    sent: SentBody,
    received: SentBody,
}

/// The place of a body.
#[derive(Clone, Copy, Debug)]
enum SentBody {
    /// There is none.
    Null,
    /// It is the object at this position.
    Object(usize),
    /// It is the body at this position.
    Body(usize),
}

/// A [`FieldOutcome`].
#[derive(Clone, Debug)]
pub struct SentField {
    /// The number of elements that its path has in common with the path before.
    same: usize,
    /// The other elements of its path.
    rest: Vec<PathElement>,
    before: SentValue,
    wanted: SentValue,
    after: SentValue,
    /// The positions of the lists of owners before and after.
    owners: (usize, usize),
    refused_by: Vec<String>,
    effect: FieldEffect,
}

/// A value of a field.
#[derive(Clone, Debug)]
enum SentValue {
    /// There is none.
    Absent,
    /// It is the value that the object before has at the path.
    AsBefore,
    /// It is another one.
    Other(Value),
}

compact_enum!(RowPart { 0 Object(it), 1 Body(it), 2 Owners(it), 3 Row(it), 4 Fields(it) });
compact_struct!(RowBeginning {
    way,
    writer,
    requests,
    tool_runs,
    code,
    reason,
    message,
    causes,
    warnings,
    fields,
    second_run,
    taken_back,
    objects,
    open,
    values_made_up
});
compact_struct!(SentExchange {
    method,
    target,
    content_type,
    manager,
    code,
    warnings,
    sent,
    received
});
compact_enum!(SentBody { 0 Null, 1 Object(at), 2 Body(at) });
compact_struct!(SentField {
    same,
    rest,
    before,
    wanted,
    after,
    owners,
    refused_by,
    effect
});
compact_enum!(SentValue { 0 Absent, 1 AsBefore, 2 Other(it) });

/// Takes rows apart.
#[derive(Debug, Default)]
pub struct RowSender {
    objects: Vec<Arc<Value>>,
    bodies: Vec<Arc<Value>>,
    owners: Vec<Vec<Manager>>,
}

impl RowSender {
    /// The parts of the next row, in the order in which a [`RowReceiver`] takes them.
    pub fn parts(&mut self, row: &Row) -> VecDeque<RowPart> {
        let mut parts = VecDeque::new();
        let before = self.object(&row.before, &mut parts);
        let after = self.object(&row.after, &mut parts);
        let requests = row.requests.iter();
        let requests = requests.map(|it| self.exchange(it, &mut parts)).collect();
        let fields = self.fields(row, &mut parts);
        parts.push_back(RowPart::Row(Box::new(RowBeginning {
            way: row.way,
            writer: row.writer.clone(),
            requests,
            tool_runs: row.tool_runs.clone(),
            code: row.code,
            reason: row.reason.clone(),
            message: row.message.clone(),
            causes: row.causes.clone(),
            warnings: row.warnings.clone(),
            fields: fields.len(),
            second_run: row.second_run.clone(),
            taken_back: row.taken_back.clone(),
            objects: (before, after),
            open: row.open.clone(),
            values_made_up: row.values_made_up,
        })));
        let mut fields = fields.into_iter().peekable();
        while fields.peek().is_some() {
            let next = fields.by_ref().take(MOST_FIELDS).collect();
            parts.push_back(RowPart::Fields(next));
        }
        parts
    }

    /// The position of an object.
    fn object(&mut self, object: &Arc<Value>, parts: &mut VecDeque<RowPart>) -> usize {
        position(&mut self.objects, object, |new| {
            parts.push_back(RowPart::Object((**new).clone()));
        })
    }

    fn exchange(&mut self, exchange: &Exchange, parts: &mut VecDeque<RowPart>) -> SentExchange {
        SentExchange {
            method: exchange.method.to_string(),
            target: exchange.target.clone(),
            content_type: exchange.content_type.clone(),
            manager: exchange.manager.clone(),
            code: exchange.code,
            warnings: exchange.warnings.clone(),
            sent: self.body(&exchange.sent, parts),
            received: self.body(&exchange.received, parts),
        }
    }

    fn body(&mut self, body: &Arc<Value>, parts: &mut VecDeque<RowPart>) -> SentBody {
        if body.is_null() {
            return SentBody::Null;
        }
        if let Some(at) = known_position(&self.objects, body) {
            return SentBody::Object(at);
        }
        let at = position(&mut self.bodies, body, |new| {
            parts.push_back(RowPart::Body(new.to_string()));
        });
        SentBody::Body(at)
    }

    fn fields(&mut self, row: &Row, parts: &mut VecDeque<RowPart>) -> Vec<SentField> {
        let mut places = Places::new(&row.before);
        let mut last: &[PathElement] = &[];
        let fields = row.fields.iter().map(|field| {
            let path = field.field.0.as_slice();
            let pairs = path.iter().zip(last);
            let same = pairs.take_while(|(one, other)| one == other).count();
            last = path;
            let before = places.find(path);
            let value = |value: &Option<Value>| match value {
                None => SentValue::Absent,
                Some(value) if Some(value) == before => SentValue::AsBefore,
                Some(value) => SentValue::Other(value.clone()),
            };
            let mut owners = |owners: &Vec<Manager>| {
                position(&mut self.owners, owners, |new| {
                    parts.push_back(RowPart::Owners(new.clone()));
                })
            };
            SentField {
                same,
                rest: path[same..].to_vec(),
                before: value(&field.before),
                wanted: value(&field.wanted),
                after: value(&field.after),
                owners: (owners(&field.owners_before), owners(&field.owners_after)),
                refused_by: field.refused_by.clone(),
                effect: field.effect,
            }
        });
        fields.collect()
    }
}

/// The position of a value among those that are known. Calls `send` with a new one.
fn position<T: Clone + PartialEq>(all: &mut Vec<T>, value: &T, send: impl FnOnce(&T)) -> usize {
    known_position(all, value).unwrap_or_else(|| {
        send(value);
        all.push(value.clone());
        all.len() - 1
    })
}

fn known_position<T: PartialEq>(all: &[T], value: &T) -> Option<usize> {
    all.iter().position(|it| it == value)
}

/// A row that was sent.
#[derive(Clone, Debug)]
pub struct ReceivedRow {
    /// The row. Its requests have no facts, and `null` in place of each body.
    pub row: Row,
    /// The places of the bodies of its requests.
    pub bodies: RowBodies,
}

/// The places of the bodies of a row's requests, for [`RowReceiver::whole`].
#[derive(Clone, Debug)]
pub struct RowBodies(Vec<[SentBody; 2]>);

/// Puts rows together again.
#[derive(Clone, Debug, Default)]
pub struct RowReceiver {
    objects: Vec<Arc<Value>>,
    bodies: Vec<Arc<str>>,
    owners: Vec<Vec<Manager>>,
    row: Option<ReceivedRow>,
    /// The number of fields of the row.
    fields: usize,
}

impl RowReceiver {
    /// Takes the next part. Returns a row once all its fields are there. A part that names what was not sent has
    /// nothing in its place.
    pub fn receive(&mut self, part: RowPart) -> Option<ReceivedRow> {
        match part {
            RowPart::Object(object) => self.objects.push(Arc::new(object)),
            RowPart::Body(body) => self.bodies.push(body.into()),
            RowPart::Owners(owners) => self.owners.push(owners),
            RowPart::Row(beginning) => {
                self.fields = beginning.fields;
                self.row = Some(self.begun_row(*beginning));
            }
            RowPart::Fields(fields) => self.take_fields(fields),
        }
        let is_whole = |it: &mut ReceivedRow| it.row.fields.len() >= self.fields;
        self.row.take_if(is_whole)
    }

    fn begun_row(&self, beginning: RowBeginning) -> ReceivedRow {
        let (before, after) = beginning.objects;
        let bodies = beginning.requests.iter();
        ReceivedRow {
            bodies: RowBodies(bodies.map(|it| [it.sent, it.received]).collect()),
            row: Row {
                way: beginning.way,
                writer: beginning.writer,
                requests: beginning.requests.into_iter().map(Into::into).collect(),
                tool_runs: beginning.tool_runs,
                code: beginning.code,
                reason: beginning.reason,
                message: beginning.message,
                causes: beginning.causes,
                warnings: beginning.warnings,
                fields: Vec::with_capacity(beginning.fields.min(MOST_FIELDS)),
                second_run: beginning.second_run,
                taken_back: beginning.taken_back,
                before: self.object(before),
                after: self.object(after),
                open: beginning.open,
                values_made_up: beginning.values_made_up,
            },
        }
    }

    fn take_fields(&mut self, sent: Vec<SentField>) {
        let Some(ReceivedRow { row, .. }) = &mut self.row else {
            return;
        };
        let mut places = Places::new(&row.before);
        for one in sent {
            let last = row.fields.last().map_or(&[][..], |last| &last.field.0);
            let same = last.iter().take(one.same).cloned();
            let field = Path(same.chain(one.rest).collect());
            let before = places.find(&field.0);
            let value = |value: SentValue| match value {
                SentValue::Absent => None,
                SentValue::AsBefore => before.cloned(),
                SentValue::Other(value) => Some(value),
            };
            let owners = |at: usize| self.owners.get(at).cloned().unwrap_or_default();
            let (owners_before, owners_after) = one.owners;
            row.fields.push(FieldOutcome {
                before: value(one.before),
                wanted: value(one.wanted),
                after: value(one.after),
                owners_before: owners(owners_before),
                owners_after: owners(owners_after),
                refused_by: one.refused_by,
                effect: one.effect,
                field,
            });
        }
    }

    /// A received row with the bodies of its requests.
    pub fn whole(&self, row: &Row, bodies: &RowBodies) -> Row {
        let mut row = row.clone();
        for (exchange, [sent, answer]) in row.requests.iter_mut().zip(&bodies.0) {
            exchange.sent = self.body(*sent);
            exchange.received = self.body(*answer);
        }
        row
    }

    fn object(&self, at: usize) -> Arc<Value> {
        self.objects.get(at).cloned().unwrap_or_default()
    }

    fn body(&self, of: SentBody) -> Arc<Value> {
        match of {
            SentBody::Null => Arc::default(),
            SentBody::Object(at) => self.object(at),
            SentBody::Body(at) => {
                let text = self.bodies.get(at);
                let body = text.and_then(|text| serde_json::from_str(text).ok());
                Arc::new(body.unwrap_or_default())
            }
        }
    }
}

impl From<SentExchange> for Exchange {
    fn from(sent: SentExchange) -> Self {
        Self {
            method: sent.method.parse().unwrap_or_default(),
            target: sent.target,
            content_type: sent.content_type,
            manager: sent.manager,
            sent: Arc::default(),
            code: sent.code,
            received: Arc::default(),
            warnings: sent.warnings,
            facts: Vec::new(),
        }
    }
}
