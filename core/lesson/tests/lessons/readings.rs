//! The sources of the facts: each sentence about another program has one, and somebody looked for each of them a
//! second time.

use std::collections::BTreeSet;

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

/// The names of programs and of their parts that a sentence about the world outside of a lesson has.
const OUTSIDE: [&str; 17] = [
    "client-go",
    "controller-runtime",
    "kubectl",
    "kube-rs",
    "kubelet",
    "Helm",
    "etcd",
    "garbage collector",
    "HorizontalPodAutoscaler",
    "ince Kubernetes",
    "efore Kubernetes",
    "Kubernetes 1.",
    "controllers of Kubernetes",
    "watch cache",
    "reflector",
    "informer",
    "predicate",
];

/// Sentences with such a name that claim nothing which the script of their lesson does not show. Each is given
/// by its beginning.
const SHOWN: [&str; 25] = [
    // What happens in the story, as the script does it.
    "The kubelet changed the status.",
    "The kubelet has written again",
    "You run `kubectl get deployment web",
    "The manager `kubectl-create` created the object",
    "They are equal, so it writes nothing to etcd",
    "The server handles it as an ordinary patch, so the entry of `kubectl-client-side-apply`",
    "The pipeline is no longer an owner of `legacy`, but `kubectl-client-side-apply`",
    "Operations runs `kubectl scale`",
    "The chart still says 3, and Helm knows nothing",
    "Helm sends the same apply without it.",
    "Then the API server restarts: its watch cache begins anew",
    "The reflector opens its watch from the last version",
    "Its libraries are those of Kubernetes 1.34.",
    "The process of the controller restarts, and now",
    "Each of them is a new version in etcd",
    "etcd was *compacted*, too: it forgot",
    "Then the API server restarts, so its *watch cache*",
    // What follows from a sentence beside it that has a source.
    "This is what the predicate is for",
    "A controller that reads labels, annotations or finalizers needs another predicate",
    "So a resync passes no predicate",
    "After this comparison, and before the put into etcd",
    "So etcd compares a second time.",
    // Words: what a command or a part of the page is called, and what a term means.
    "With kubectl, it is `kubectl apply --server-side",
    "In Helm's card, *manifest* declares",
    "*etcd* is the store below the API server: it knows no objects",
];

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The sentences of a text: each ends with a mark that a space and a capital letter, or a sign of the markup, follow.
fn sentences(text: &str) -> Vec<String> {
    let text = one_line(text);
    let (mut sentences, mut begin) = (Vec::new(), 0);
    for (at, _) in text.match_indices(' ') {
        let ends = text[..at].ends_with(['.', '?', '!', ')']);
        let begins = text[at + 1..].starts_with(|next: char| {
            next.is_uppercase()
                || matches!(next, '(' | '`' | '*')
                || text[at + 1..].starts_with("etcd")
        });
        if ends && begins {
            sentences.push(text[begin..at].to_owned());
            begin = at + 1;
        }
    }
    sentences.push(text[begin..].to_owned());
    sentences
}

#[test]
fn each_sentence_about_another_program_has_its_source_in_the_data() {
    let (mut sourced, mut shown, mut missing) = (0, BTreeSet::new(), Vec::new());
    for (file, lesson) in crate::lessons() {
        let facts = lesson.steps.iter().flat_map(|step| &step.facts);
        let facts: Vec<String> = facts.map(|fact| one_line(&fact.words)).collect();
        let texts = lesson
            .steps
            .iter()
            .flat_map(|step| [&step.text, &step.after]);
        for sentence in texts.flat_map(|text| sentences(text)) {
            if !OUTSIDE.iter().any(|name| sentence.contains(name)) {
                continue;
            }
            let bare = sentence.trim_matches(['(', ')']);
            let quotes = |fact: &&String| sentence.contains(fact.as_str()) || fact.contains(bare);
            if facts.iter().any(|fact| quotes(&fact)) {
                sourced += 1;
            } else if let Some(known) = SHOWN.iter().find(|known| sentence.starts_with(**known)) {
                shown.insert(*known);
            } else {
                missing.push(format!("{file}: {sentence}"));
            }
        }
    }
    println!(
        "{sourced} sentences have a source, {} need none",
        shown.len()
    );
    assert!(
        missing.is_empty(),
        "without a source:\n{}",
        missing.join("\n")
    );
    assert_eq!(
        shown.len(),
        SHOWN.len(),
        "one of the list is in no lesson: {shown:#?}"
    );
    assert!(sourced > 60, "{sourced}");
}
