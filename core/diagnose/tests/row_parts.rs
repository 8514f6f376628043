//! Rows that are sent in parts are those that were sent: as texts, like the messages of a worker.

use std::sync::Arc;

use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::compact::Compact;
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::ways::{
    ChangeTable, ReceivedRow, Row, RowPart, RowReceiver, RowSender, WantedChange,
};
use serde_json::{Value, json};

use crate::live::LIVE;

/// The longest text of a part that is no object and no body, in bytes.
const LONGEST: usize = 100_000;

fn installed(object: Value) -> Installed {
    Case::about(object).install().expect("it is installed")
}

/// Sends rows as texts.
fn sent(rows: &[Row]) -> (RowReceiver, Vec<ReceivedRow>) {
    let (mut sender, mut receiver) = (RowSender::default(), RowReceiver::default());
    let mut received = Vec::new();
    for row in rows {
        let mut last = None;
        for part in sender.parts(row) {
            assert!(last.is_none(), "{:?} has a part after its end", row.way);
            let text = part.to_compact();
            let is_large = matches!(part, RowPart::Object(_) | RowPart::Body(_));
            assert!(is_large || text.len() < LONGEST, "{}", text.len());
            last = receiver.receive(RowPart::from_compact(&text).expect("it is a part"));
        }
        received.push(last.unwrap_or_else(|| panic!("{:?} has no end", row.way)));
    }
    (receiver, received)
}

/// A row in words, without the facts of its answers and with the bodies on request.
fn without_facts(row: &Row, with_bodies: bool) -> String {
    let mut row = row.clone();
    for exchange in &mut row.requests {
        exchange.facts.clear();
        if !with_bodies {
            exchange.sent = Arc::default();
            exchange.received = Arc::default();
        }
    }
    format!("{row:#?}")
}

fn arrive(rows: &[Row]) {
    let (receiver, received) = sent(rows);
    for (row, it) in rows.iter().zip(&received) {
        assert_eq!(without_facts(&it.row, false), without_facts(row, false));
        let whole = receiver.whole(&it.row, &it.bodies);
        assert_eq!(without_facts(&whole, true), without_facts(row, true));
    }
}

/// A table of an object and a manifest that differs from it in the first scalar of its spec or data, and has
/// neither status nor annotations.
fn table(object: Value) -> ChangeTable {
    let mut manifest = optimist_client::bare(&object);
    for part in ["/data", "/spec", "/spec/template/spec/containers/0"] {
        let members = manifest.pointer_mut(part).and_then(Value::as_object_mut);
        let mut values = members.into_iter().flat_map(|it| it.values_mut());
        if let Some(text) = values.find(|value| value.is_string()) {
            *text = json!("another one");
        }
    }
    ChangeTable::new(&installed(object), WantedChange::manifest(manifest))
}

#[test]
fn the_rows_of_each_object_arrive_as_they_are() {
    for text in LIVE {
        let Ok(Input::Live(object)) = detect(text) else {
            panic!("it is a live object");
        };
        let table = table(object);
        let rows = table.rows();
        assert!(rows.len() >= 15);
        arrive(&rows);
    }
}

#[test]
fn a_row_of_many_fields_comes_in_short_parts_and_its_objects_come_once() {
    let data: serde_json::Map<String, Value> = (0..3000)
        .map(|at| (format!("name-{at}"), json!(format!("value {at}"))))
        .collect();
    let table = table(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": {"name": "many", "namespace": "live", "uid": "u", "resourceVersion": "7",
            "managedFields": []},
    }));
    let rows = table.rows();
    let most = rows.iter().map(|row| row.fields.len()).max();
    assert!(most >= Some(3000), "{most:?}");
    arrive(&rows);
    let mut sender = RowSender::default();
    let again = || rows.iter().take(1).cycle().take(2);
    let parts = again().map(|row| sender.parts(row));
    let texts: Vec<String> = parts.map(|it| format!("{it:?}")).collect();
    assert!(texts[0].contains("Object(") && !texts[1].contains("Object("));
}

#[test]
fn what_was_never_sent_is_nothing() {
    let Ok(Input::Live(object)) = detect(LIVE[4]) else {
        panic!("it is a live object");
    };
    let rows = table(object).rows();
    let mut receiver = RowReceiver::default();
    let parts = RowSender::default().parts(&rows[0]).into_iter();
    let without_objects = parts.filter(|part| !matches!(part, RowPart::Object(_)));
    let row = without_objects
        .filter_map(|part| receiver.receive(part))
        .last();
    let row = row.expect("it is whole");
    assert!(row.row.before.is_null() && row.row.after.is_null());
    let (_, others) = sent(&rows);
    for other in &others {
        let whole = receiver.whole(&row.row, &other.bodies);
        assert_eq!(whole.requests.len(), rows[0].requests.len());
    }
}

#[test]
fn a_text_that_is_cut_off_or_goes_on_is_no_part() {
    let part = RowPart::Body("a body; with ä".to_owned());
    let text = part.to_compact();
    for end in 0..text.len() {
        let cut = text.get(..end).unwrap_or_default();
        assert!(RowPart::from_compact(cut).is_none(), "{cut}");
    }
    assert!(RowPart::from_compact(&format!("{text}0;")).is_none());
    assert!(RowPart::from_compact("9;").is_none());
}
