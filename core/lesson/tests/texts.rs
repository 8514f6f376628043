//! The texts of all lessons as a learner reads them: nothing of the markup is left over, and sentences end.

use std::sync::Arc;

use optimist_lesson::{Block, Lesson, Span, blocks, spans};

use crate::files::{catalogue, lesson};

/// Every lesson, quiz and incident with its name.
fn lessons() -> Vec<(String, Arc<Lesson>)> {
    let catalogue = catalogue();
    let incidents = catalogue.incidents.iter().map(|it| &*it.lesson.name);
    let names = catalogue.course().chain(incidents);
    names.map(|name| (name.to_owned(), lesson(name))).collect()
}

/// The text of spans; a mark that is left over in it is marked.
fn shown(text: &[Span]) -> String {
    let shown = text.iter().map(|span| match span {
        Span::Code(code) => code.replace('`', "<left over>"),
        Span::Plain(text) | Span::Strong(text) | Span::Emphasis(text) => {
            text.replace(['`', '*'], "<left over>")
        }
    });
    shown.collect()
}

#[test]
fn no_mark_is_left_over_in_a_text() {
    let mut wrong = Vec::new();
    let mut texts = 0;
    for (file, lesson) in lessons() {
        let mut lines = vec![&lesson.title, &lesson.teaches];
        if let Some(belief) = &lesson.belief {
            lines.push(&belief.text);
            if let Some(question) = &belief.question {
                lines.push(&question.ask);
                for choice in &question.choices {
                    lines.push(&choice.text);
                    lines.extend(choice.refuted.as_ref().map(|it| &it.answer));
                }
            }
        }
        for step in &lesson.steps {
            lines.extend([&step.title, &step.text, &step.after]);
            if let Some(prediction) = &step.prediction {
                lines.push(&prediction.question);
                for choice in &prediction.choices {
                    lines.push(&choice.text);
                    lines.extend(&choice.answer);
                }
            }
        }
        texts += lines.len();
        let shown = lines.into_iter().map(|line| shown(&spans(line)));
        wrong.extend(
            shown
                .filter(|text| text.contains("<left over>"))
                .map(|text| format!("{file}: {text}")),
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(texts > 500, "{texts} texts were looked at");
}

#[test]
fn every_paragraph_of_a_step_ends_as_a_sentence_does() {
    let ends = |text: &str| {
        text.trim_end_matches(['"', '”', ')', '*'])
            .ends_with(['.', '?', ':', '!'])
    };
    let mut wrong = Vec::new();
    for (file, lesson) in lessons() {
        for step in &lesson.steps {
            for block in [&step.text, &step.after]
                .into_iter()
                .flat_map(|it| blocks(it))
            {
                let last = match block {
                    Block::Paragraph(text) => shown(&text),
                    Block::List(items) => items.last().map(|item| shown(item)).unwrap_or_default(),
                };
                if !ends(&last) {
                    wrong.push(format!("{file}:{}: {last}", step.line));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
