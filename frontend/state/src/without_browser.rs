//! A case of *Diagnose* in a program without a page: the texts are brought, and everything runs to its end.

use crate::case_report::CaseWork;
use crate::diagnose::DiagnoseState;

/// Returns the case of these texts, with everything that *Diagnose* says of them. A text that
/// `optimist_diagnose::input::detect` does not know is left out.
pub fn diagnosed(texts: impl IntoIterator<Item = String>) -> DiagnoseState {
    // Nothing is shared here.
    let mut run = CaseWork::new(DiagnoseState::of_texts(texts), |_, _| String::new());
    while run.advance() {}
    run.case
}
