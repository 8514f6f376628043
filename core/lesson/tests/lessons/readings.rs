//! The sources of the facts: somebody looked for each of them a second time.

use optimist_lesson::{FactBasis, SecondReading};

use crate::files::{catalogue, lesson};

#[test]
fn each_source_was_opened_again_or_it_is_said_why_not() {
    let catalogue = catalogue();
    let lessons = catalogue.lessons().map(|entry| &entry.name);
    let incidents = catalogue.incidents.iter().map(|it| &it.lesson.name);
    let quizzes = catalogue.quizzes().map(|quiz| &quiz.name);
    let (mut read, mut not_opened, mut missing) = (0, 0, Vec::new());
    for name in lessons.chain(incidents).chain(quizzes) {
        let lesson = lesson(name);
        for fact in lesson.steps.iter().flat_map(|step| &step.facts) {
            match &fact.held {
                FactBasis::Source(_, Some(SecondReading::Read { .. })) => read += 1,
                FactBasis::Source(_, Some(SecondReading::NotOpened(_))) => not_opened += 1,
                FactBasis::Source(_, None) => missing.push(format!("{name}, line {}", fact.line)),
                FactBasis::Shown(_) => {}
            }
        }
    }
    println!("{read} sources were opened again, {not_opened} were not");
    assert!(missing.is_empty(), "nobody looked:\n{}", missing.join("\n"));
    assert!(read > 4 * not_opened, "{read} and {not_opened}");
}
