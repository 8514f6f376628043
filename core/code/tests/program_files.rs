//! The files of the ready programs in Go and Rust, with every combination of their switches: read here
//! on its own, and held against the programs in data.

use std::collections::BTreeSet;
use std::path::Path;

use optimist_code::{ProgramLanguage, ProgramLine, program_text};
use optimist_controller::Source;
use optimist_controller::program::{ReadyProgram, ReadyProgramName, Statement, Switch};
use optimist_simulation::ControllerProgram;

/// The languages that have files, with the ends of the files' names.
const LANGUAGES: [(ProgramLanguage, &str); 2] =
    [(ProgramLanguage::Go, "go"), (ProgramLanguage::Rust, "rs")];

/// A ready program with each set of its switches.
pub fn combinations(name: ReadyProgramName) -> impl Iterator<Item = ReadyProgram> {
    let all = name.switches();
    (0..1_u32 << all.len()).map(move |bits| {
        let on = all.iter().enumerate();
        let on = on.filter(move |(at, _)| bits & (1 << at) != 0);
        ReadyProgram::new(name).with(on.map(|(_, switch)| *switch))
    })
}

/// The name of a switch in links.
fn switch_name(switch: &Switch) -> String {
    let name = serde_json::to_value(switch).unwrap();
    name.as_str().unwrap().to_owned()
}

fn file(name: ReadyProgramName, end: &str) -> String {
    let mut snake = String::new();
    for letter in format!("{name:?}").chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/program/files");
    std::fs::read_to_string(folder.join(format!("{snake}.{end}.txt"))).unwrap()
}

/// The numbers of the lines of code that a program has with these switches, each with the code and
/// the mark. A condition is read by cutting the open ones into clauses.
fn shown<'a>(file: &'a str, on: &BTreeSet<String>) -> Vec<(usize, &'a str, &'a str)> {
    let mut open: Vec<(&str, bool)> = Vec::new();
    let mut lines = Vec::new();
    for (number, line) in file.lines().enumerate() {
        let Some(order) = line.trim().strip_prefix("//: ") else {
            let holds = open.iter().all(|(condition, wanted)| {
                let has = |name: &str| match name.strip_prefix("not ") {
                    Some(name) => !on.contains(name),
                    None => on.contains(name),
                };
                condition.split(" or ").any(has) == *wanted
            });
            if holds {
                let (code, mark) = line.split_once(" //: ").unwrap_or((line, ""));
                lines.push((number, code.trim(), mark));
            }
            continue;
        };
        match order {
            "else" => open.last_mut().expect("`else` has an `if`").1 ^= true,
            "end" => drop(open.pop().expect("`end` has an `if`")),
            "code" => lines.clear(),
            order => open.push((order.strip_prefix("if ").expect("an order"), true)),
        }
    }
    assert!(open.is_empty(), "each `if` has an `end`");
    lines
}

fn each(mut look: impl FnMut(&ReadyProgram, ProgramLanguage, &str)) {
    for name in ReadyProgramName::ALL {
        for ready in combinations(name) {
            for (language, end) in LANGUAGES {
                look(&ready, language, &file(name, end));
            }
        }
    }
}

fn on(ready: &ReadyProgram) -> BTreeSet<String> {
    ready.switches.iter().map(switch_name).collect()
}

fn lines(ready: &ReadyProgram, language: ProgramLanguage) -> Vec<ProgramLine> {
    program_text(&ControllerProgram::Ready(ready.clone()), language).lines
}

/// Takes the name of each statement from the names in a file, and holds it against the statement.
fn named<'a>(body: &[Statement], block: &str, names: &mut impl Iterator<Item = &'a str>) {
    let last = |field: &str| field.rsplit('/').next().unwrap().to_owned();
    for statement in body {
        let name = names.next().expect("each statement has a name");
        let (its_block, own) = name.rsplit_once('/').unwrap_or(("", name));
        assert_eq!(its_block, block, "{name}");
        let expected = match statement {
            Statement::Get { into, .. } => format!("get-{into}"),
            Statement::List { into, .. } => format!("list-{into}"),
            Statement::DeepCopy { into, .. } => format!("copy-{into}"),
            Statement::New { into, .. } => format!("new-{into}"),
            Statement::Set { field, .. } => format!("set-{}", last(field)),
            Statement::AddItem { field, .. } => format!("add-{}", last(field)),
            Statement::RemoveItem { field, .. } => format!("remove-{}", last(field)),
            Statement::Expect { .. } => "expect".to_owned(),
            Statement::Create { object, .. } => format!("create-{object}"),
            Statement::Update { object, .. } => format!("update-{object}"),
            Statement::Patch { object, .. } => format!("patch-{object}"),
            Statement::Apply { object, .. } => format!("apply-{object}"),
            Statement::Delete { object, .. } => format!("delete-{object}"),
            Statement::Return(_) => "return".to_owned(),
            Statement::ForEach { item, .. } => format!("for-{item}"),
            Statement::If { .. } => {
                assert!(own.starts_with("if-"), "{name}");
                own.to_owned()
            }
        };
        assert_eq!(own, expected);
        match statement {
            Statement::If {
                then, otherwise, ..
            } => {
                let word = own.trim_start_matches("if-");
                named(then, word, names);
                named(otherwise, &format!("not-{word}"), names);
            }
            Statement::ForEach { item, body, .. } => named(body, item, names),
            _ => {}
        }
    }
}

#[test]
fn the_marks_name_the_statements_of_the_program_in_their_order() {
    each(|ready, language, file| {
        let mut names: Vec<&str> = Vec::new();
        let shown = shown(file, &on(ready));
        let texts = lines(ready, language);
        assert_eq!(texts.len(), shown.len(), "{ready:?} {language:?}");
        for (line, (_, code, mark)) in texts.iter().zip(shown) {
            let marks = mark.split_whitespace();
            let marks: Vec<&str> = marks.map(|mark| mark.split('@').next().unwrap()).collect();
            for mark in &marks {
                if !names.contains(mark) {
                    names.push(mark);
                }
            }
            // A line that belongs to several belongs to all between them.
            let numbers: BTreeSet<usize> = marks
                .iter()
                .filter_map(|mark| names.iter().position(|name| name == mark))
                .collect();
            let statements: BTreeSet<usize> = line.statements.clone().collect();
            assert_eq!(statements, numbers, "{ready:?} {language:?} {code}");
            assert_eq!(line.text, code);
        }
        let mut names = names.into_iter();
        named(&ready.program().body, "", &mut names);
        assert_eq!(names.next(), Some("end-of-run"), "{ready:?}");
        assert_eq!(names.next(), None, "{ready:?}");
    });
}

#[test]
fn go_and_rust_name_the_same_statements() {
    for name in ReadyProgramName::ALL {
        for ready in combinations(name) {
            let names = LANGUAGES.map(|(_, end)| {
                let file = file(name, end);
                let shown = shown(&file, &on(&ready));
                let marks = shown
                    .iter()
                    .flat_map(|(_, _, mark)| mark.split_whitespace());
                let marks = marks.map(|mark| mark.split('@').next().unwrap().to_owned());
                marks.collect::<BTreeSet<String>>()
            });
            assert_eq!(names[0], names[1], "{ready:?}");
        }
    }
}

#[test]
fn the_code_itself_says_who_answers() {
    each(|ready, language, _| {
        for line in lines(ready, language) {
            let has = |parts: &[&str]| parts.iter().any(|part| line.text.contains(part));
            let (server, cache) = match language {
                ProgramLanguage::Go => (
                    has(&[
                        "r.APIReader.",
                        "r.Create(",
                        "r.Patch(",
                        "r.Delete(",
                        "r.Status().",
                    ]),
                    has(&["r.Get(", "r.List(", "r.Lister."]),
                ),
                _ => (
                    has(&[".await"]) && !line.statements.is_empty(),
                    has(&[
                        "async fn reconcile",
                        ".state_filter(",
                        "ctx.widgets.get(",
                        "ctx.config_maps.get(",
                    ]),
                ),
            };
            let source = match (server, cache) {
                (true, _) => Some(Source::Server),
                (false, true) => Some(Source::Cache),
                (false, false) => None,
            };
            assert_eq!(line.answered, source, "{ready:?} {}", line.text);
        }
    });
}

/// A second look at the code: what a statement does is on its lines.
#[test]
fn what_a_switch_says_is_in_the_code() {
    let holds = |switch: Switch, go: &str, rust: &str| {
        each(|ready, language, _| {
            if !ready.name.switches().contains(&switch) {
                return;
            }
            let part = match language {
                ProgramLanguage::Go => go,
                _ => rust,
            };
            let lines = lines(ready, language);
            let has = lines.iter().any(|line| line.text.contains(part));
            assert_eq!(has, ready.is_on(switch), "{ready:?} {language:?} {part}");
        });
    };
    holds(Switch::DerivedName, "\"-child\"", "{name}-child");
    holds(Switch::LiveList, "r.APIReader.List(", ".list(&ListParams");
    holds(
        Switch::Expectations,
        "SetExpectations(",
        "expectations.set(&owner",
    );
    // An event counts, and not only a write that failed.
    holds(
        Switch::Expectations,
        "CreationObserved(logger, ownerKey(e.Object))",
        "creation_observed(&owner_key(child))",
    );
    holds(
        Switch::Expectations,
        "Owns(&corev1.ConfigMap{}, builder.WithPredicates(r.countEvents()))",
        ".inspect_ok(move |event| count_event(event, &counting))",
    );
    holds(
        Switch::IgnoreAlreadyExists,
        "IgnoreAlreadyExists(err)",
        "is_already_exists()",
    );
    holds(
        Switch::WaitForOwnVersion,
        "EnsureReady(",
        "ensure_ready(&owner)?",
    );
    holds(
        Switch::WaitForOwnVersion,
        "WroteAt(",
        "wrote_at(&owner, parent.uid()",
    );
    holds(
        Switch::ReadYourOwnWrites,
        "(EnableReadYourWritesConsistency)",
        "no `EnableReadYourWritesConsistency`",
    );
    holds(
        Switch::Compare,
        "equality.Semantic.DeepEqual(",
        ".status == object.status",
    );
    holds(
        Switch::GenerationChanged,
        "GenerationChangedPredicate",
        ".predicate_filter(",
    );
    holds(Switch::DeepCopy, ".DeepCopy()", ".clone();");
    holds(
        Switch::OptimisticLock,
        "MergeFromWithOptimisticLock{}",
        "[\"resourceVersion\"] =",
    );
    holds(Switch::LiveParent, "r.APIReader.Get(", "widgets.get_opt(");
    holds(
        Switch::UidPrecondition,
        "Preconditions{UID: &child.UID}",
        "uid: child.uid()",
    );
    holds(
        Switch::FindsChildren,
        "EnqueueRequestsFromMapFunc(childrenOf(",
        "children.state()",
    );
}

/// The Scaler deletes too, and both directions are expected.
#[test]
fn the_handler_of_the_scaler_counts_deletions() {
    for ready in combinations(ReadyProgramName::Scaler) {
        for (language, part) in [
            (ProgramLanguage::Go, "DeleteFunc: func("),
            (ProgramLanguage::Rust, "watcher::Event::Delete(child) =>"),
        ] {
            let lines = lines(&ready, language);
            let counts = lines.iter().any(|line| line.text.contains(part));
            assert_eq!(
                counts,
                ready.is_on(Switch::Expectations),
                "{ready:?} {language:?}"
            );
        }
    }
}

#[test]
fn the_brackets_are_closed_and_what_is_in_them_is_indented() {
    each(|ready, language, _| {
        let mut open: i32 = 0;
        for line in lines(ready, language) {
            let closes = line.text.chars().take_while(|c| ")}]".contains(*c));
            if !line.text.is_empty() {
                let outside = open <= i32::try_from(closes.count()).unwrap();
                assert_eq!(line.depth == 0, outside, "{ready:?} {}", line.text);
            }
            for letter in line.text.chars() {
                open += i32::from("({[".contains(letter)) - i32::from(")}]".contains(letter));
            }
        }
        assert_eq!(open, 0, "{ready:?} {language:?}");
    });
}

/// The name by which Go knows an imported package.
fn package(import: &str) -> Option<String> {
    let (alias, path) = import.split_once('"')?;
    let mut parts = path.trim_end_matches('"').rsplit('/');
    let last = parts.find(|part| !part.starts_with('v') || part.len() > 2)?;
    Some(match alias.trim() {
        "" => last.to_owned(),
        alias => alias.to_owned(),
    })
}

/// The model has one cache: the one that is read is the one whose events wake the controller. A lister that nothing
/// sets would be one of another informer, or nil.
#[test]
fn a_lister_reads_the_cache_of_the_manager() {
    let mut listers = 0;
    each(|ready, language, _| {
        if language != ProgramLanguage::Go {
            return;
        }
        let lines = lines(ready, language);
        let has = |part: &str| lines.iter().any(|line| line.text.contains(part));
        let reads = has("r.Lister.");
        listers += usize::from(reads);
        let parts = [
            "mgr.GetCache().GetInformer(",
            "informer.(toolscache.SharedIndexInformer).GetIndexer()",
            "r.Lister = demolisters.NewWidgetLister(indexer)",
        ];
        assert_eq!(parts.map(has), [reads; 3], "{ready:?}");
    });
    assert!(listers > 0);
}

/// Nothing here compiles Go: an import that is missing or not used would be an error.
#[test]
fn the_go_imports_what_it_uses_and_nothing_else() {
    for name in ReadyProgramName::ALL {
        let file = file(name, "go");
        let all: BTreeSet<String> = file.lines().filter_map(package_line).collect();
        assert!(all.contains("ctrl") && all.contains("context"), "{all:?}");
        for ready in combinations(name) {
            let program = ControllerProgram::Ready(ready.clone());
            let text = program_text(&program, ProgramLanguage::Go);
            let imported: BTreeSet<String> = text.imports.lines().filter_map(package).collect();
            let lines = text.lines.iter().map(|line| line.text.as_str());
            let code: String = lines
                .filter(|line| !line.starts_with("//"))
                .collect::<Vec<_>>()
                .join("\n");
            let name = |c: char| !c.is_alphanumeric() && c != '.' && c != '_';
            let used = code.split(name).filter_map(|word| word.split_once('.'));
            let used: BTreeSet<String> = used
                .map(|(package, _)| package.to_owned())
                .filter(|package| all.contains(package))
                .collect();
            assert_eq!(imported, used, "{ready:?}");
        }
    }
}

/// The package of a line of a file, if the line imports one.
fn package_line(line: &str) -> Option<String> {
    let import = line.starts_with('\t') && line.ends_with('"') && !line.contains(':');
    package(line).filter(|_| import)
}

#[test]
fn a_file_has_no_strange_condition_and_no_line_that_is_never_shown() {
    for name in ReadyProgramName::ALL {
        let known: BTreeSet<String> = name.switches().iter().map(switch_name).collect();
        for (_, end) in LANGUAGES {
            let file = file(name, end);
            let mut unseen: BTreeSet<usize> = BTreeSet::new();
            let mut code = false;
            let mut asked: BTreeSet<String> = BTreeSet::new();
            for (number, line) in file.lines().enumerate() {
                match line.trim().strip_prefix("//: ") {
                    Some("code") => code = true,
                    Some(order) => {
                        let condition = order.strip_prefix("if ").unwrap_or_default();
                        let names = condition.split(" or ").filter(|name| !name.is_empty());
                        asked.extend(names.map(|name| name.trim_start_matches("not ").to_owned()));
                    }
                    None if code => drop(unseen.insert(number)),
                    None => {}
                }
            }
            assert_eq!(
                asked, known,
                "{name:?} {end}: each switch is asked for, and no other"
            );
            for ready in combinations(name) {
                for (number, _, mark) in shown(&file, &on(&ready)) {
                    unseen.remove(&number);
                    let sources = mark.split_whitespace().filter_map(|it| it.split_once('@'));
                    for (_, source) in sources {
                        assert!(["cache", "server"].contains(&source), "{name:?} {mark}");
                    }
                }
            }
            assert!(unseen.is_empty(), "{name:?} {end}: {unseen:?}");
        }
    }
}
