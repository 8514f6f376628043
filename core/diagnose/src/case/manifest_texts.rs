//! The texts that manifests are in: a later one can be the next release of an earlier one.

/// The cases of the manifests in each text.
#[derive(Debug, Default)]
pub(super) struct ManifestTexts {
    /// The number of the text and the positions of the cases, each once, in the order of the input.
    texts: Vec<(u32, Vec<usize>)>,
}

impl ManifestTexts {
    /// Adds a manifest in a text. Texts come in their order.
    pub(super) fn add(&mut self, text: u32, case: usize) {
        match self.texts.last_mut() {
            Some((last, cases)) if *last == text => {
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
            _ => self.texts.push((text, vec![case])),
        }
    }

    /// Returns the cases whose manifests the next write leaves out: a later text is the next release of the one that
    /// has the last manifest of the case. A text with one manifest corrects that one, and releases nothing.
    pub(super) fn left_out(&self) -> Vec<usize> {
        let mut left_out = Vec::new();
        for (at, (_, cases)) in self.texts.iter().enumerate() {
            let later = &self.texts[at + 1..];
            let is_next_release = |(_, next): &(u32, Vec<usize>)| {
                let again = cases.iter().filter(|case| next.contains(case)).count();
                next.len() > 1 && again > 0 && 2 * again >= cases.len()
            };
            if later.iter().any(is_next_release) {
                let is_again = |case: &usize| later.iter().any(|(_, next)| next.contains(case));
                left_out.extend(cases.iter().copied().filter(|case| !is_again(case)));
            }
        }
        left_out
    }
}
