//! The rows of the cards.

use std::collections::BTreeMap;

use optimist_client::{STORED, ValueChange, changes};
use optimist_simulation::ActorId;
use optimist_state::{RequestMsg, aligned_rows, rows_of_changes};

use crate::page::Page;

const IMAGE: &str = "/spec/template/spec/containers/0/image";

/// The rows, and what they need. `stored` was changed in the stored object.
fn rows(page: &Page, stored: Vec<ValueChange>) -> BTreeMap<String, usize> {
    let [a, b] = ActorId::EDITORS.map(|editor| page.state.world().copy(editor).edits());
    let aligned = aligned_rows(&page.state.card_objects());
    rows_of_changes(&aligned, &[a, stored, b])
}

#[test]
fn a_row_needs_room_for_what_its_value_was_and_is_elsewhere() {
    let mut page = Page::open();
    for editor in [ActorId::A, ActorId::B] {
        page.send(RequestMsg::Get(editor));
    }
    assert!(rows(&page, Vec::new()).is_empty());
    page.type_over(ActorId::A, "/spec/replicas", "5");
    page.type_over(ActorId::A, IMAGE, "nginx:1.16.1");
    let found = rows(&page, Vec::new());
    // `  replicas: 5 was 3`, and the indented image with both of its names.
    let lengths: Vec<usize> = found.values().copied().collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(lengths.iter().min(), Some(&19), "{found:?}");
    assert!(lengths.iter().max() > Some(&36), "{found:?}");
}

#[test]
fn what_was_stored_before_needs_room_where_all_copies_are_alike() {
    let mut page = Page::open();
    let (_, before) = page.state.world().stored().expect("it is stored");
    let before = before.clone();
    page.write(ActorId::A, IMAGE, "nginx:1.16.1");
    let (_, after) = page.state.world().stored().expect("it is stored");
    let marks = changes(&before, after);
    let aligned = aligned_rows(&page.state.card_objects());
    let image = aligned.row_at(STORED, IMAGE).expect("it has an image");
    assert!(rows(&page, marks).contains_key(&image.key));
    assert!(!rows(&page, Vec::new()).contains_key(&image.key));
}

#[test]
fn what_an_editor_read_needs_room_where_no_copy_has_it_any_more() {
    let mut page = Page::open();
    for (editor, image) in [(ActorId::A, "nginx:1.16.1"), (ActorId::B, "nginx:1.17.3")] {
        page.send(RequestMsg::Get(editor));
        page.type_over(editor, IMAGE, image);
    }
    page.send(RequestMsg::Send(ActorId::A));
    let found = rows(&page, Vec::new());
    // Three names of images, with the words for two of them.
    let longest = found.values().copied().max();
    assert!(longest > Some(3 * 12 + 2 * 5), "{found:?}");
    assert_eq!(found.len(), 1, "no version of the object: {found:?}");
}
