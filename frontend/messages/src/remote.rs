//! Why an API server at the address of the page gave no object, and why a write is not compared with it.

use optimist_diagnose::case::ObjectId;
use optimist_diagnose::remote::{NotAllowed, NotAnswered, NotPredicted};

use crate::diagnose::not_installed;
use crate::en;

/// Says why an answer has no objects. `target` is the path and the query that was asked.
pub fn not_answered(target: &str, why: &NotAnswered) -> String {
    match why {
        NotAnswered::Refused { code, message } if message.is_empty() => {
            en::remote_answer_code(&target, code)
        }
        NotAnswered::Refused { code, message } => en::remote_answer_status(&target, code, message),
        NotAnswered::NotAnApiServer => en::remote_answer_other(&target),
    }
}

/// Says why a write of an object is not compared.
pub fn not_predicted(why: &NotPredicted, object: &ObjectId) -> String {
    match why {
        NotPredicted::Secret => en::remote_no_secret(),
        NotPredicted::UnknownKind => en::remote_no_definition(&object.kind),
        NotPredicted::NotInstalled(why) => not_installed(why, object),
        NotPredicted::Unable => en::remote_unable(),
        NotPredicted::NothingSent => en::remote_nothing_sent(),
        NotPredicted::NotAllowed(why) => not_allowed(*why),
    }
}

fn not_allowed(why: NotAllowed) -> String {
    match why {
        NotAllowed::Method => en::remote_not_method(),
        NotAllowed::Path => en::remote_not_path(),
        NotAllowed::Subresource => en::remote_not_subresource(),
        NotAllowed::NotADryRun => en::remote_not_dry_run(),
    }
}
