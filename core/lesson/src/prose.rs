//! The markup of a lesson's texts: paragraphs, lists, `code`, **strong** and *emphasis*.

/// A block of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A paragraph.
    Paragraph(Vec<Span>),
    /// A list of items that begin with `- `.
    List(Vec<Vec<Span>>),
}

/// Text in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// Text without a mark.
    Plain(String),
    /// Between backticks.
    Code(String),
    /// Between two stars.
    Strong(String),
    /// Between single stars.
    Emphasis(String),
}

/// The blocks of a text. Empty lines separate blocks; other line breaks are spaces.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    for block in text
        .split("\n\n")
        .map(str::trim)
        .filter(|block| !block.is_empty())
    {
        match block.strip_prefix("- ") {
            Some(items) => blocks.push(Block::List(items.split("\n- ").map(spans).collect())),
            None => blocks.push(Block::Paragraph(spans(block))),
        }
    }
    blocks
}

/// The spans of a text without blocks. A mark that is not closed is text.
pub fn spans(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        type ToSpan = fn(String) -> Span;
        let marks: [(&str, ToSpan); 3] = [
            ("`", Span::Code),
            ("**", Span::Strong),
            ("*", Span::Emphasis),
        ];
        let found = marks.iter().find_map(|(mark, style)| {
            let (inside, after) = rest.strip_prefix(mark)?.split_once(mark)?;
            let tight = !inside.is_empty() && inside == inside.trim();
            tight.then(|| (style(folded(inside)), after))
        });
        match found {
            Some((span, after)) => {
                if !plain.is_empty() {
                    spans.push(Span::Plain(folded(&std::mem::take(&mut plain))));
                }
                spans.push(span);
                rest = after;
            }
            None => {
                plain.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    if !plain.is_empty() {
        spans.push(Span::Plain(folded(&plain)));
    }
    spans
}

/// Line breaks, with the spaces around them, become spaces.
fn folded(text: &str) -> String {
    if !text.contains('\n') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            out.truncate(out.trim_end_matches(' ').len());
            out.push(' ');
        }
        out.push_str(if i > 0 { line.trim_start() } else { line });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_blocks_and_styles() {
        assert_eq!(
            blocks("Both read\n`100`.\n\n- one\n- **two** *2*\n\n2 * 3 * 4 is `open\n"),
            [
                Block::Paragraph(vec![
                    Span::Plain("Both read ".into()),
                    Span::Code("100".into()),
                    Span::Plain(".".into()),
                ]),
                Block::List(vec![
                    vec![Span::Plain("one".into())],
                    vec![
                        Span::Strong("two".into()),
                        Span::Plain(" ".into()),
                        Span::Emphasis("2".into()),
                    ],
                ]),
                Block::Paragraph(vec![Span::Plain("2 * 3 * 4 is `open".into())]),
            ]
        );
        assert!(blocks(" \n\n \n").is_empty());
    }
}
