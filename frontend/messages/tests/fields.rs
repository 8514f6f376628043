//! Names of fields in heads of columns and in sentences.

use optimist_apiserver::apply::{Path, PathElement};
use optimist_messages::column_heads;
use serde_json::json;

fn path(fields: &[&str]) -> Path {
    let field = |name: &&str| match name.split_once(':') {
        Some((key, value)) => PathElement::Key(vec![(key.to_owned(), json!(value))]),
        None => PathElement::Field((*name).to_owned()),
    };
    Path(fields.iter().map(field).collect())
}

#[test]
fn two_fields_with_one_name_are_told_apart_and_a_field_of_a_list_item_names_its_item() {
    let container = |name| path(&["spec", "containers", name, "image"]);
    let port = |protocol: &str| {
        let mut ports = path(&["spec", "ports"]);
        ports.0.push(PathElement::Key(vec![
            ("containerPort".to_owned(), json!(53)),
            ("protocol".to_owned(), json!(protocol)),
        ]));
        ports
    };
    let named = |mut item: Path| {
        item.0.push(PathElement::Field("name".to_owned()));
        item
    };
    for (columns, heads) in [
        (
            vec![path(&["spec", "replicas"]), container("name:web")],
            ["replicas", "image of container web"],
        ),
        (
            vec![container("name:web"), container("name:sidecar")],
            ["image of container web", "image of container sidecar"],
        ),
        (
            // Each item by all of its keys, where the first one is the same.
            vec![port("TCP"), port("UDP")],
            ["port 53/TCP", "port 53/UDP"],
        ),
        (
            vec![named(port("TCP")), named(port("UDP"))],
            ["name of port 53/TCP", "name of port 53/UDP"],
        ),
        (
            vec![
                path(&["metadata", "labels", "app"]),
                path(&["metadata", "annotations", "app"]),
            ],
            ["app of labels", "app of annotations"],
        ),
        (
            vec![
                path(&["spec", "containers", "name:web"]),
                path(&["spec", "paused"]),
            ],
            ["container web", "paused"],
        ),
    ] {
        assert_eq!(column_heads(&columns), heads);
    }
}
