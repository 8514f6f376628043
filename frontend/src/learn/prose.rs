//! A lesson's texts.

use optimist_lesson::{Block, Span, blocks, spans};
use yew::{Html, html};

fn run(spans: &[Span]) -> Html {
    let one = |span: &Span| match span {
        Span::Plain(text) => html! { { text.clone() } },
        Span::Code(text) => html! { <code>{ text.clone() }</code> },
        Span::Strong(text) => html! { <b>{ text.clone() }</b> },
        Span::Emphasis(text) => html! { <em>{ text.clone() }</em> },
    };
    spans.iter().map(one).collect()
}

/// Text without blocks.
pub(super) fn line(text: &str) -> Html {
    run(&spans(text))
}

/// Paragraphs and lists.
pub(super) fn prose(text: &str) -> Html {
    let block = |block: Block| match block {
        Block::Paragraph(spans) => html! { <p>{ run(&spans) }</p> },
        Block::List(items) => html! {
            <ul>{ for items.iter().map(|item| html! { <li>{ run(item) }</li> }) }</ul>
        },
    };
    html! { <div class="told">{ for blocks(text).into_iter().map(block) }</div> }
}
