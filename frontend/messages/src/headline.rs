//! Says in the first sentence of a case which fields a client cannot write, and who owns them.

use optimist_apiserver::apply::Manager;
use optimist_client::{Preset, visible};
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::completions::RemedyEffect;
use optimist_diagnose::preview::{
    FieldChangeKind, Preview, PreviewField, PreviewOutcome, PreviewRow,
};
use optimist_diagnose::ways::{FieldEffect, FieldOutcome, Remedy, Row, Way};

use crate::claims::open_answer;
use crate::diagnose::{manager_name, names};
use crate::edits::fields;
use crate::en;
use crate::ways::{client_long, listed};

/// Says which fields a client cannot write, who owns them, and how many ways out settle it once they are
/// run. Returns `None` if the answer depends on something that a text does not say, or if no owner decides
/// it.
pub fn headline<'a>(
    row: &Row,
    remedies: Option<impl Iterator<Item = &'a Remedy>>,
) -> Option<String> {
    let Way::Client(preset, _) = row.way else {
        return None;
    };
    headline_by(&client_long(preset), row, remedies)
}

/// Says of which object a headline is, where there are several.
pub fn headline_of(object: &ObjectId, says: &str) -> String {
    en::headline_of_object(&visible(&object.to_string()), &says)
}

/// Says in one sentence like [`headline`] which fields a client cannot write, by its name.
pub fn headline_by<'a>(
    client: &str,
    row: &Row,
    remedies: Option<impl Iterator<Item = &'a Remedy>>,
) -> Option<String> {
    if open_answer(row).is_some() {
        return None;
    }
    if !row.is_refused() {
        let is_known = !row.values_made_up && !row.requests.is_empty();
        return is_known.then(|| en::headline_accepted(&client));
    }
    if row.code == Some(422) {
        return invalid(row, client);
    }
    let refused: Vec<&FieldOutcome> = row.with(FieldEffect::Refused).collect();
    let owners = owners(row, &refused);
    if owners.is_empty() || row.is_written() {
        return None;
    }
    let refused = fields(refused.iter().map(|it| &it.field));
    let says = en::headline_refused(&client, &listed(&refused), &names(&owners));
    let settling = remedies.into_iter().flatten();
    let settling = settling.filter(|it| it.settling() == RemedyEffect::Settles);
    Some(with_remedies(says, settling.count()))
}

/// Says which fields the server finds invalid.
fn invalid(row: &Row, client: &str) -> Option<String> {
    let mut fields: Vec<String> = Vec::new();
    for cause in row.causes.iter().filter(|it| !it.field.is_empty()) {
        let name = visible(&cause.field).into_owned();
        if !fields.contains(&name) {
            fields.push(name);
        }
    }
    let is_known = !fields.is_empty() && !row.is_written() && !row.values_made_up;
    is_known.then(|| en::headline_invalid(&client, &listed(&fields)))
}

fn with_remedies(says: String, settling: usize) -> String {
    match settling {
        0 => says,
        count => format!("{says} {}", en::headline_remedies(&count)),
    }
}

/// Says of each manager that the server named which fields it owns, through which subresource, and when it
/// last changed a field.
fn owners(row: &Row, refused: &[&FieldOutcome]) -> Vec<String> {
    let mut managers: Vec<&Manager> = Vec::new();
    for manager in refused.iter().flat_map(|it| it.refusing_owners()) {
        if !managers.contains(&manager) {
            managers.push(manager);
        }
    }
    let names = fields(refused.iter().map(|it| &it.field));
    let owner = |manager: &&Manager| {
        let own = refused
            .iter()
            .zip(&names)
            .filter(|(it, _)| it.refusing_owners().any(|other| other == *manager));
        let own: Vec<String> = own.map(|(_, name)| name.clone()).collect();
        let owns = owned(&visible(&manager_name(&manager.name)), own, refused.len());
        let owns = match manager.subresource.as_str() {
            "" => owns,
            subresource => en::headline_through(&owns, &visible(subresource)),
        };
        match row.last_write_time(manager).filter(|_| !row.values_made_up) {
            Some(time) => en::headline_time(&owns, &time),
            None => owns,
        }
    };
    managers.iter().map(owner).collect()
}

/// `helm owns them`, or `helm owns replicas` of several fields.
fn owned(manager: &str, own: Vec<String>, all: usize) -> String {
    match own.len() {
        count if count == all => en::headline_owner(&manager, &count),
        _ => en::headline_owner_of(&manager, &listed(&own)),
    }
}

/// Says which fields of the worst object a tool cannot write, or why the server finds the worst object invalid.
/// Returns `None` if no object has a conflict, and the worst one is not invalid.
pub fn preview_headline(preview: &Preview, tool: Preset) -> Option<String> {
    let row = preview.rows.first()?;
    if row.outcome == PreviewOutcome::Invalid && row.code == Some(422) {
        let message = row.message.split_once(" is invalid: ");
        let message = message
            .map_or(&*row.message, |(_, why)| why)
            .replace('\n', " ");
        let (client, message) = (client_long(tool), visible(&message).into_owned());
        return Some(en::headline_invalid_object(&client, &named(row), &message));
    }
    let is_refused = |it: &&PreviewField| it.change == FieldChangeKind::Refused;
    let refused: Vec<&PreviewField> = row.fields.iter().filter(is_refused).collect();
    if row.outcome != PreviewOutcome::Conflict || refused.is_empty() {
        return None;
    }
    let mut managers: Vec<&String> = Vec::new();
    for manager in refused.iter().flat_map(|it| it.refusing_owners()) {
        if !managers.contains(&manager) {
            managers.push(manager);
        }
    }
    let owner = |manager: &&String| {
        let own = refused
            .iter()
            .filter(|it| it.refusing_owners().contains(manager));
        let own: Vec<String> = own.map(|it| plain(it)).collect();
        owned(&visible(&manager_name(manager)), own, refused.len())
    };
    let owners: Vec<String> = managers.iter().map(owner).collect();
    let fields: Vec<String> = refused.iter().map(|it| plain(it)).collect();
    let fields = en::headline_object(&listed(&fields), &named(row));
    let says = en::headline_refused(&client_long(tool), &fields, &names(&owners));
    let settling = row.hand_overs.iter().filter(|it| it.settles).count();
    Some(with_remedies(says, settling))
}

fn plain(field: &PreviewField) -> String {
    visible(field.field.trim_start_matches('.')).into_owned()
}

fn named(row: &PreviewRow) -> String {
    visible(&row.object.id().to_string()).into_owned()
}
