//! A Markdown document that is being written.

use optimist_exports::markdown;
use optimist_masking::masked_text;

/// Markdown, block after block. Texts are escaped where they come in.
#[derive(Debug, Default)]
pub(crate) struct CaseDocument {
    text: String,
}

impl CaseDocument {
    pub(crate) fn heading(&mut self, level: usize, text: &str) {
        self.block(&format!("{} {}\n", "#".repeat(level), markdown::text(text)));
    }

    /// A paragraph.
    pub(crate) fn says(&mut self, text: &str) {
        if !text.is_empty() {
            self.block(&format!("{}\n", markdown::text(text)));
        }
    }

    /// An item of a list. The list ends with the next block, or with [`CaseDocument::end`].
    pub(crate) fn bullet(&mut self, text: &str) {
        self.text.push_str(&format!("- {}\n", markdown::text(text)));
    }

    /// An item of a list about something.
    pub(crate) fn about(&mut self, what: &str, text: &str) {
        let (what, text) = (markdown::text(what), markdown::text(text));
        let colon = if text.is_empty() { "" } else { ": " };
        self.text.push_str(&format!("- **{what}**{colon}{text}\n"));
    }

    /// Ends a list.
    pub(crate) fn end(&mut self) {
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    pub(crate) fn code(&mut self, language: &str, text: &str) {
        self.block(&markdown::fenced(language, text.trim_end()));
    }

    /// A command of a shell.
    pub(crate) fn command(&mut self, text: &str) {
        self.code("sh", text);
    }

    /// Markdown that is complete: a table, or another document that is folded.
    pub(crate) fn block(&mut self, block: &str) {
        self.end();
        self.text.push_str(block);
        self.end();
    }

    /// Another document, folded.
    pub(crate) fn folded(&mut self, summary: &str, inner: Self) {
        self.block(&markdown::folded(summary, &inner.text));
    }

    /// Returns whether the document is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the document. Values in it that look private are masked once more: commands and
    /// lines to change are made of values.
    pub(crate) fn finish(self) -> String {
        masked_text(&format!("{}\n", self.text.trim()))
    }
}

/// The head of a table whose columns have these names.
pub(crate) fn head(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| markdown::text(name)).collect();
    markdown::head(&names)
}
