//! What the tests of previews share.

use optimist_diagnose::preview::{Preview, PreviewRow};

/// Returns the row of the object with this name.
pub fn row<'a>(preview: &'a Preview, name: &str) -> &'a PreviewRow {
    let mut rows = preview.rows.iter();
    rows.find(|row| row.object.name == name).expect(name)
}
