//! Sentences about manifests that cannot be loaded.

use optimist_client::ManifestError;
use optimist_simulation::{LeftOut, LoadError};

use crate::en;

/// Says why nothing is loaded.
pub fn load_error(error: &LoadError) -> String {
    match error {
        LoadError::Refused { code, message } => en::load_refused(code, message),
        LoadError::Nothing(left_out) => {
            let objects = left_out
                .iter()
                .map(|left| format!(" {}: {}", left.object, crate::left_out(left)));
            en::load_nothing(&objects.collect::<String>())
        }
        LoadError::Manifest(error) => manifest_error(error),
    }
}

/// Says why an object is not loaded, without the list of supported kinds.
pub fn left_out(left: &LeftOut) -> String {
    match &left.why {
        LoadError::Manifest(ManifestError::Kind { .. }) => en::load_kind_short(),
        why => load_error(why),
    }
}

fn manifest_error(error: &ManifestError) -> String {
    match error {
        ManifestError::Syntax {
            line,
            column,
            message,
        } => en::load_syntax(line, column, message),
        ManifestError::Kind { kind, others } => en::load_kind(kind, others),
        ManifestError::Content(message) => message.clone(),
    }
}
