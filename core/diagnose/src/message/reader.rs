//! Reading the errors of a text in parts.

use std::sync::Arc;

use super::context;
use super::marks::Marks;
use super::parse::{self, TextPlace};
use super::{MAX_ERRORS, PrintedError, ReportedError, escapes, kubectl, own_tool};

/// The number of places that are read in one part.
const PLACES: usize = 32;

/// The errors that a text reports, found in parts. Each part is short, also for a large text.
#[derive(Clone, Debug)]
pub struct ErrorReader {
    text: Arc<str>,
    part: ErrorPart,
    marks: Marks,
    /// The places at which messages may begin, and which beginning it is.
    beginnings: Vec<(usize, usize)>,
    found: Vec<ReportedError>,
}

/// The next part of the work.
#[derive(Clone, Copy, Debug)]
enum ErrorPart {
    Colours,
    Quotes,
    Decoration,
    Frame,
    Wraps,
    /// The places of this mark of a tool are to be found.
    Mark(usize),
    /// The places of this beginning of a message are to be found.
    Beginning(usize),
    /// The places from this one on are to be read.
    Places(usize),
}

impl ErrorReader {
    /// Begins with a text.
    pub fn new(text: Arc<str>) -> Self {
        Self {
            text,
            part: ErrorPart::Colours,
            marks: Marks::default(),
            beginnings: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Goes through the text until about this many bytes are read: at least once for one of the things that it looks for.
    /// Returns whether there is more.
    pub fn advance(&mut self, bytes: usize) -> bool {
        let mut read = 0;
        loop {
            let more = self.do_next();
            read += self.text.len();
            if !more || read >= bytes {
                return more;
            }
        }
    }

    /// Does the next part. Returns whether there is more.
    fn do_next(&mut self) -> bool {
        self.part = match self.part {
            ErrorPart::Colours => {
                self.text = escapes::without_colours(&self.text).into();
                ErrorPart::Quotes
            }
            ErrorPart::Quotes => {
                self.text = escapes::with_plain_quotes(&self.text).into();
                ErrorPart::Decoration
            }
            ErrorPart::Decoration => {
                self.text = escapes::without_line_decoration(&self.text).into();
                ErrorPart::Frame
            }
            ErrorPart::Frame => {
                self.text = escapes::without_frame(&self.text).into();
                ErrorPart::Wraps
            }
            ErrorPart::Wraps => {
                self.text = escapes::without_wraps(&self.text).into();
                ErrorPart::Mark(0)
            }
            ErrorPart::Mark(which) => match self.marks.add(&self.text, which) {
                true => ErrorPart::Mark(which + 1),
                false => ErrorPart::Beginning(0),
            },
            ErrorPart::Beginning(which) => {
                match parse::find(&self.text, which, &mut self.beginnings) {
                    true => ErrorPart::Beginning(which + 1),
                    false => ErrorPart::Places(0),
                }
            }
            ErrorPart::Places(from) => {
                let to = (from + PLACES).min(self.beginnings.len());
                for at in from..to {
                    let (start, which) = self.beginnings[at];
                    if let Some(place) = parse::place(&self.text, start, which) {
                        self.read(place);
                    }
                }
                ErrorPart::Places(to)
            }
        };
        match self.part {
            ErrorPart::Places(at) => at < self.beginnings.len() && self.found.len() < MAX_ERRORS,
            _ => true,
        }
    }

    fn read(&mut self, place: TextPlace) {
        let text = &*self.text;
        let before = parse::end_of(&text[..place.start]);
        let behind = parse::beginning_of(&text[place.end..]);
        let mut object = context::object(before);
        object.add(place.object);
        context::add_logged_namespace(before, behind, &mut object);
        let mut error = place.error;
        if let PrintedError::PatchRefused { is_json } = &mut error {
            *is_json = !context::patches_manifest(before);
        }
        let one = ReportedError {
            tool: own_tool(&error).or_else(|| self.marks.tool(text, place.start)),
            manager: context::manager(before),
            patch: kubectl::shown_patch(&text[..place.start]),
            address: context::address(before, behind),
            object,
            error,
        };
        if self.found.len() < MAX_ERRORS && !self.found.contains(&one) {
            self.found.push(one);
        }
    }

    /// Returns the errors, each once, in the order of the text: at most [`MAX_ERRORS`].
    pub fn finish(self) -> Vec<ReportedError> {
        self.found
    }
}
