//! Why no scene can be rebuilt from a message.

use std::fmt;

use optimist_simulation::Exchange;

use crate::case::NotInstalled;
use crate::message::PrintedError;

/// The reason why there is no scene.
#[derive(Clone, Debug, PartialEq)]
pub enum NoScene {
    /// The tool compares by itself here: the server refuses nothing.
    NotOfTheServer,
    /// The values decide, and the message does not say them all.
    NeedsObjects,
    /// A part of the server says it that is not here.
    OtherPart,
    /// The object and its owners alone do not decide it.
    NotOfObject,
    /// The kind is not served by this release, or the object cannot be stored.
    NotInstalled(NotInstalled),
    /// A release before v1.34 says it, and later ones answer 404 with this message.
    BeforeNotFound(String),
    /// The core answers with this other message.
    SaysOtherwise(String),
}

impl fmt::Display for NoScene {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOfTheServer => {
                f.write_str("The tool compares by itself here. The server refuses nothing.")
            }
            Self::NeedsObjects => f.write_str("The message does not say all values."),
            Self::OtherPart => f.write_str("Another part of the server says this."),
            Self::NotOfObject => f.write_str("The object alone does not decide this."),
            Self::NotInstalled(why) => write!(f, "{why}"),
            Self::BeforeNotFound(message) => {
                write!(
                    f,
                    "A server before v1.34 says this, and later ones: {message}"
                )
            }
            Self::SaysOtherwise(message) => write!(f, "The server says something else: {message}"),
        }
    }
}

impl std::error::Error for NoScene {}

impl NoScene {
    /// Returns the reason why the answer to the last request is not the error, but another message.
    ///
    /// A PUT with a uid to an object that is gone: up to v1.33 the uid was compared first, with that of no object
    /// (409). Since v1.34 the answer is 404, except for the kinds that a PUT creates
    /// (`k8s.io/apiserver/pkg/registry/generic/registry/store.go`, `Update`, v0.33.0 and v0.34.0).
    pub(super) fn of_answer(error: &PrintedError, last: Option<&Exchange>, said: String) -> Self {
        // No request could be made: the name in the message is none.
        if last.is_none() {
            return Self::NotInstalled(NotInstalled::NoObject);
        }
        let compared_with_none = matches!(
            error,
            PrintedError::OtherUid { stored, key, .. } if stored.is_empty() && !key.is_empty()
        );
        let not_found = last.is_some_and(|it| it.method == "PUT" && it.code == 404);
        match compared_with_none && not_found {
            true => Self::BeforeNotFound(said),
            false => Self::SaysOtherwise(said),
        }
    }
}
