//! A message that says something else than a run, and a client that has a conflict with its own name.

use optimist_client::Preset;

use super::Then;
use crate::message::{ErrorSource, ManagerConflict, PrintedError, ReportedError};
use crate::ways::{FieldEffect, OnOwned, Row, Way};

/// A message of a refused apply, and a row of the same client that says something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The client.
    pub client: Preset,
    /// The fields that the message names.
    pub said: Vec<String>,
    /// The answer in the row; `None` if nothing is sent.
    pub code: Option<u16>,
    /// The fields that are refused in the row.
    pub refused: Vec<String>,
}

impl Contradiction {
    /// Returns the contradiction between a message and the row of the client that got it; `None` if both
    /// agree, or if the row leaves its answer open. The row is the one of the client that got the
    /// message, without options. A message that does not show its client is not about the client of any row.
    pub fn between(error: &ReportedError, row: &Row) -> Option<Self> {
        let PrintedError::Apply(conflicts) = &error.error else {
            return None;
        };
        let Way::Client(client, OnOwned::Usual) = row.way else {
            return None;
        };
        if error.tool.and_then(ErrorSource::client) != Some(client) {
            return None;
        }
        let open = |then: &Then| matches!(then, Then::Code { .. } | Then::NoValidValues);
        if row.open.iter().any(|one| open(&one.then)) {
            return None;
        }
        let refused = row
            .with(FieldEffect::Refused)
            .map(|it| it.field.to_string());
        let refused: Vec<String> = refused.collect();
        let fields = |of: &ManagerConflict| of.fields.clone();
        let said: Vec<String> = conflicts.iter().flat_map(fields).collect();
        let same = row.code == Some(409) && said.iter().all(|field| refused.contains(field));
        (!same).then_some(Self {
            client,
            said,
            code: row.code,
            refused,
        })
    }
}

/// A client that has a conflict with a manager of its own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameName {
    /// The client.
    pub client: Preset,
    /// The manager.
    pub manager: String,
    /// `true` if the manager wrote by Update. Else it applied, and an applier has no conflict with
    /// itself, so that the client wrote by another name.
    pub by_update: bool,
}

impl SameName {
    /// The manager of the client's own name that a message names. Only of clients that write by one
    /// name, whichever program of theirs people run.
    pub fn find(error: &ReportedError) -> Option<Self> {
        let PrintedError::Apply(conflicts) = &error.error else {
            return None;
        };
        let client = match error.tool? {
            ErrorSource::Helm | ErrorSource::Terraform => error.tool?.client()?,
            _ => return None,
        };
        let own = client.manager()?;
        let same = |it: &&ManagerConflict| it.manager == own && it.subresource.is_none();
        let conflict = conflicts.iter().find(same)?;
        Some(Self {
            client,
            manager: own.to_owned(),
            by_update: conflict.api_version.is_some(),
        })
    }
}
