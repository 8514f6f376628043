//! The Markdown of a case says what the page says, and nothing of the case is markup in it.

#[path = "../../state/tests/slices/page.rs"]
#[allow(dead_code)]
mod page;

use optimist_client::{Preset, visible};
use optimist_diagnose::input::Input;
use optimist_diagnose::message::PrintedError;
use optimist_diagnose::ways::Instruction;
use optimist_messages::{diagnose as messages, label};
use optimist_report::{case_headline, case_markdown};
use optimist_state::{
    CaseExample, CaseReport, DiagnoseMsg, DiagnoseState, Dialog, JobQueue, Page as WayIn, ShareMsg,
    ValuesLeftOut, ViewMsg, Withheld, session_fragment,
};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::json;

use page::{Memory, Page};

const AUDIT: &str = include_str!("../../../core/diagnose/tests/live/audit.log");

fn brought(texts: &[&str]) -> Page {
    let browser = Memory::default();
    browser.jobs.replace(JobQueue::new(case_markdown));
    let mut page = Page::open_at("#/diagnose", browser);
    for text in texts {
        page.send(DiagnoseMsg::Bring((*text).to_owned()));
    }
    page.finish_work();
    page
}

fn example(example: CaseExample) -> Page {
    let mut page = brought(&[]);
    page.send(DiagnoseMsg::Example(example));
    page.finish_work();
    page
}

/// The Markdown as its reader sees it.
#[derive(Debug, Default)]
struct Seen {
    /// The texts of paragraphs, headings, items and cells.
    texts: Vec<String>,
    /// The cells of the rows of tables.
    rows: Vec<Vec<String>>,
    /// The code blocks.
    code: Vec<String>,
    /// The HTML.
    html: Vec<String>,
    /// The kinds of the blocks, and the parts in them that are more than text.
    shape: Vec<String>,
}

impl Seen {
    fn parse(markdown: &str) -> Self {
        let mut seen = Self::default();
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_MATH;
        let (mut text, mut in_code) = (String::new(), false);
        let mut cells = Vec::new();
        for event in Parser::new_ext(markdown, options) {
            match event {
                Event::Start(Tag::CodeBlock(_)) => {
                    in_code = true;
                    seen.shape.push("code".to_owned());
                }
                Event::Start(tag) => {
                    let ends = !matches!(tag, Tag::Strong);
                    if ends && !text.trim().is_empty() {
                        seen.texts.push(std::mem::take(&mut text));
                    }
                    seen.shape.push(kind(&format!("{tag:?}")));
                }
                Event::End(TagEnd::CodeBlock) => {
                    in_code = false;
                    seen.code.push(std::mem::take(&mut text));
                }
                Event::End(TagEnd::Strong) => {}
                Event::End(TagEnd::TableRow) => seen.rows.push(std::mem::take(&mut cells)),
                Event::End(TagEnd::TableHead) => cells.clear(),
                Event::End(TagEnd::TableCell) => {
                    let whole = squeezed(&std::mem::take(&mut text));
                    seen.texts.push(whole.clone());
                    cells.push(whole);
                }
                Event::End(_) if in_code => {}
                Event::End(_) => {
                    let whole = std::mem::take(&mut text);
                    if !whole.trim().is_empty() {
                        seen.texts.push(whole.trim().to_owned());
                    }
                }
                Event::Text(part) | Event::Code(part) => text.push_str(&part),
                Event::SoftBreak | Event::HardBreak => text.push(' '),
                Event::Html(html) | Event::InlineHtml(html) => seen.html.push(html.to_string()),
                other => seen.shape.push(kind(&format!("{other:?}"))),
            }
        }
        seen
    }

    fn says(&self, wanted: &str) -> bool {
        let wanted = squeezed(wanted);
        self.texts.iter().any(|it| squeezed(it).contains(&wanted))
    }

    /// Returns whether a row of a table begins with these cells.
    fn has_row(&self, cells: &[String]) -> bool {
        let cells: Vec<String> = cells.iter().map(|cell| squeezed(cell)).collect();
        self.rows.iter().any(|row| row.starts_with(&cells))
    }

    fn has_code(&self, wanted: &str) -> bool {
        let wanted = visible(wanted.trim());
        self.code.iter().any(|it| it.trim() == wanted)
    }
}

/// The name of an event, without what is in it.
fn kind(debug: &str) -> String {
    let end = debug.find(|c: char| !c.is_alphanumeric());
    debug[..end.unwrap_or(debug.len())].to_owned()
}

/// A text as it is shown on one line, with single spaces.
fn squeezed(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let text = visible(&text);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// Everything that the page shows of a case is in the Markdown.
fn check(case: &DiagnoseState) -> String {
    let markdown = case_markdown(case, false);
    let seen = Seen::parse(&markdown);
    let says = |text: &str| {
        assert!(seen.says(text), "{text}\n\n{markdown}");
    };
    for item in &case.items {
        match &item.content {
            Ok(Input::Errors(errors)) => {
                for error in errors {
                    says(&messages::error_title(&error.error));
                    says(&messages::error_facts(error));
                }
                let text = item.text.replace("\r\n", "\n");
                assert!(seen.has_code(&text), "{text}\n{markdown}");
            }
            Ok(Input::Versions { versions, end }) => says(&messages::versions_says(versions, end)),
            Ok(Input::Live(object)) => says(&messages::live_says(object).0.join(" ")),
            _ => {}
        }
    }
    let shown = |one: &Instruction| {
        for code in [Some(&one.text), one.try_first.as_ref()]
            .into_iter()
            .flatten()
        {
            assert!(seen.has_code(code), "{code}\n\n{markdown}");
        }
        for warning in &one.warnings {
            says(&messages::instruction_warning(warning));
        }
    };
    let run = case.table.iter();
    for (run, row) in run
        .clone()
        .flat_map(|run| run.rows.iter().map(move |row| (run, row)))
    {
        let mut cells = vec![messages::way_whole(row.way), messages::row_answer(row)];
        let columns = run.columns();
        cells.extend(columns.iter().map(|it| messages::column_fate(row, it)));
        cells.push(messages::row_notes(row).join(" "));
        assert!(seen.has_row(&cells), "{cells:?}\n\n{markdown}");
        for field in &row.fields {
            let cells = [field.field.to_string(), messages::field_fate(row, field)];
            assert!(seen.has_row(&cells), "{cells:?}\n\n{markdown}");
        }
        run.instructions(row.way).iter().for_each(shown);
    }
    for out in run.flat_map(|run| run.remedies.iter().flatten()) {
        says(&messages::remedy(&out.out).1);
        out.instructions.iter().for_each(shown);
    }
    for one in case.next_writes.iter().flat_map(|run| &run.done) {
        says(&messages::next_write(one.attempt.method).unwrap().1);
        says(&messages::next_outcome(&one.attempt));
        one.commands.iter().for_each(shown);
        if let Some(code) = &one.go {
            assert!(seen.has_code(code), "{code}\n{markdown}");
        }
    }
    // Of an object that was made from a message, only the owners that the message names are known.
    let known = case.reading().filter(|it| it.scene.is_none());
    for error in case.errors().into_iter().filter(|_| known.is_none()) {
        let PrintedError::Apply(conflicts) = &error.error else {
            continue;
        };
        for conflict in conflicts {
            let owner = messages::conflict_owner(conflict);
            for field in &conflict.fields {
                let cells = [field.clone(), owner.clone()];
                assert!(seen.has_row(&cells), "{cells:?}\n{markdown}");
            }
        }
    }
    if let Some(says_first) = case_headline(case) {
        says(&says_first);
    }
    if let Some(ownership) = known.and_then(|it| it.ownership.as_ref()) {
        for entry in &ownership.managers {
            says(&messages::owner(&entry.manager));
            says(&messages::manager_entry(entry));
        }
        let values = ownership
            .lines
            .iter()
            .filter_map(|it| it.line.value.as_ref());
        values.for_each(|token| says(&token.text));
    }
    if let Some(history) = case.reading().and_then(|it| it.history.as_ref()) {
        for change in &history.changes {
            let cells = [change.field.to_string(), change.resource_version.clone()];
            assert!(seen.has_row(&cells), "{cells:?}\n\n{markdown}");
            says(&messages::written(change.after.as_ref()));
        }
        for fight in &history.fights {
            says(&format!("{} times", fight.flips));
        }
    }
    if let Some(replay) = case.audit.as_ref().and_then(|it| it.replay.as_ref()) {
        let (same, other, open) = replay.history.counts();
        says(&label::audit_counts(&same, &other, &open));
        for (at, step) in replay.history.steps.iter().enumerate() {
            says(&messages::sender(&replay.history, &replay.lanes, at));
            says(&messages::asked(step, &replay.log.events[step.event]));
            says(&messages::prediction(&step.prediction).0);
        }
        for fight in &replay.findings.fights {
            says(&format!("{} times", fight.flips));
        }
    }
    assert_eq!(seen.shape.iter().filter(|it| *it == "Link").count(), 0);
    markdown
}

#[test]
fn the_markdown_of_each_example_has_every_answer_and_every_command() {
    for one in CaseExample::ALL {
        let page = example(one);
        let markdown = check(&page.state.diagnose);
        assert!(markdown.contains("kube-apiserver v1.36.3"), "{markdown}");
    }
}

#[test]
fn the_markdown_of_every_live_object_has_its_owners() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../core/diagnose/tests/live"
    );
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "yaml") {
            let text = std::fs::read_to_string(path).unwrap();
            check(&brought(&[&text]).state.diagnose);
            read += 1;
        }
    }
    assert!(read >= 11, "{read}");
}

#[test]
fn the_markdown_of_an_audit_log_has_every_request_and_the_fight() {
    let markdown = check(&brought(&[AUDIT]).state.diagnose);
    assert!(
        markdown.contains("helm and web\\-operator") || markdown.contains("helm and web-operator")
    );
}

#[test]
fn a_log_with_writes_to_several_objects_says_that_there_are_others() {
    let other = AUDIT.replace("\"name\":\"shop\"", "\"name\":\"store\"");
    let told = |text: &str| {
        let case = brought(&[text]).state.diagnose;
        Seen::parse(&case_markdown(&case, false)).says(&label::audit_others(&1))
    };
    assert!(!told(AUDIT));
    assert!(told(&format!("{AUDIT}\n{other}")));
}

#[test]
fn who_has_a_fight_is_told_how_to_end_it_and_nobody_else_is() {
    let advice = label::fight_outs(&2);
    let told = |text: &str| {
        let case = brought(&[text]).state.diagnose;
        Seen::parse(&case_markdown(&case, false)).says(&advice)
    };
    assert!(told(AUDIT));
    let first = AUDIT.lines().take(3).collect::<Vec<_>>().join("\n");
    assert!(!told(&first));
}

#[test]
fn a_message_without_an_object_has_its_fields_owners_and_the_next_command() {
    let text = "error: Expected replicas to be 9, was 3\n";
    check(&brought(&[text]).state.diagnose);
}

#[test]
fn no_title_names_a_kind_a_namespace_or_a_name_that_no_message_says() {
    let refused = "conflict with \"hpa\" using apps/v1: .spec.replicas";
    for (message, title) in [
        (
            format!("error: Apply failed with 1 conflict: {refused}"),
            "KIND NAMESPACE/NAME",
        ),
        (
            r#"Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again"#.to_owned(),
            "Deployment NAMESPACE/web",
        ),
        (
            format!(
                "Error: UPGRADE FAILED: conflict occurred while applying object shop/web apps/v1, Kind=Deployment: Apply failed with 1 conflict: {refused}"
            ),
            "Deployment shop/web",
        ),
    ] {
        let page = brought(&[&message]);
        let case = &page.state.diagnose;
        let reading = case.reading().expect("the message is about one object");
        assert_eq!(reading.title().to_string(), title);
        let markdown = check(case);
        let heading = label::report_title(&title);
        assert!(markdown.contains(&format!("## {heading}\n")), "{markdown}");
    }
}

#[test]
fn a_conflict_is_told_first_with_its_owners_and_the_ways_out() {
    let says = |one: CaseExample| case_headline(&example(one).state.diagnose);
    assert_eq!(
        says(CaseExample::Message).unwrap(),
        "Helm 4 cannot write replicas and image: kube-controller-manager owns replicas through /scale and \
         argocd-controller owns image. 1 way out settles the conflict."
    );
    assert_eq!(says(CaseExample::Modified), None, "no owner decides it");
    let live = example(CaseExample::LiveObject).state.diagnose;
    let markdown = case_markdown(&live, false);
    let first = Seen::parse(&markdown).texts.into_iter().nth(1);
    assert_eq!(first, case_headline(&live), "right below the title");
    assert!(first.is_some_and(|it| it.contains("(its last change: 2026")));
}

#[test]
fn of_several_objects_the_headline_is_about_all_and_names_the_one_that_is_selected() {
    let mut page = example(CaseExample::Release);
    for client in [Preset::KubectlReplace, Preset::Update, Preset::Helm4] {
        page.send(DiagnoseMsg::Client(client));
        page.finish_work();
        let case = &page.state.diagnose;
        let says = case_headline(case).expect("it has a headline");
        let object = case.reading().expect("one is selected").title();
        let preview = case.preview.as_ref().and_then(|it| it.done.as_ref());
        let of_all = preview.map(|done| optimist_messages::preview::headline(done, client).0);
        let of_one = match &of_all {
            Some(of_all) => says.strip_prefix(&format!("{of_all} ")),
            None => Some(&*says),
        };
        let of_one = of_one.expect("it begins with all of them");
        assert!(of_one.starts_with(&format!("{object}: ")), "{says}");
    }
}

#[test]
fn the_tool_of_a_message_is_named_unless_another_message_has_a_known_client() {
    let live = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "b", "uid": "u", "resourceVersion": "5",
            "managedFields": [{"apiVersion": "v1", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:data": {"f:k": {}}}, "manager": "one", "operation": "Update"}]},
        "data": {"k": "1"}});
    let manifest =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {k: '2'}\n";
    let conflict = "Apply failed with 1 conflict: conflict with \"one\" using v1: .data.k";
    let pulumi = format!(
        "Server-side apply field conflict detected. See https://www.pulumi.com/registry/ for help: {conflict}"
    );
    let helm = format!(
        "Error: UPGRADE FAILED: conflict occurred while applying object b/a /v1, Kind=ConfigMap: {conflict}"
    );
    let says = |messages: &[&str]| {
        let live = live.to_string();
        let page = brought(&[&[live.as_str(), manifest], messages].concat());
        case_headline(&page.state.diagnose).expect("it has a headline")
    };
    assert!(says(&[&pulumi]).starts_with("Pulumi cannot write k: "));
    assert!(says(&[&pulumi, &helm]).starts_with("Helm 4 cannot write k: "));
}

#[test]
fn an_object_that_has_been_modified_has_each_next_write_with_its_commands() {
    let page = brought(&[
        "Operation cannot be fulfilled on deployments.apps \"web\": the object has \
                          been modified; please apply your changes to the latest version and try again",
    ]);
    let markdown = check(&page.state.diagnose);
    assert_eq!(
        markdown.matches("Both changes are in the object").count(),
        3
    );
}

#[test]
fn a_watch_without_owners_says_what_came_back_and_how_to_see_the_owners() {
    let watch = include_str!("../../state/examples/fight.json");
    let events = serde_json::Deserializer::from_str(watch).into_iter::<serde_json::Value>();
    let mut text = String::new();
    for event in events {
        let mut event = event.unwrap();
        let metadata = event["object"]["metadata"].as_object_mut().unwrap();
        metadata.remove("managedFields");
        text.push_str(&event.to_string());
    }
    let page = brought(&[&text]);
    let markdown = check(&page.state.diagnose);
    let seen = Seen::parse(&markdown);
    assert!(seen.says(&label::happened_not_owned()), "{markdown}");
    assert!(
        seen.says(&label::happened_returns(&".spec.replicas", &6, &5)),
        "{markdown}"
    );
    assert!(!seen.says(&label::happened_no_fight()), "{markdown}");
}

#[test]
fn values_that_look_private_are_not_in_the_markdown() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: login\n  uid: a\n  resourceVersion: '7'\n\
                  data:\n  word: aHVudGVyMg==\n";
    let manifest =
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: login\ndata:\n  word: aHVudGVyMw==\n";
    let log = "token=ghp_0123456789abcdefghijklmnopqrstuvwxyz\n\
               error: Apply failed with 1 conflict: conflict with \"helm\" using v1: .data.word\n";
    let page = brought(&[secret, manifest, log]);
    assert!(page.state.diagnose.table.is_some());
    let markdown = case_markdown(&page.state.diagnose, false);
    assert!(
        markdown.contains("Apply failed with 1 conflict"),
        "{markdown}"
    );
    for private in ["aHVudGVyM", "hunter2", "hunter3", "ghp_0123"] {
        assert!(!markdown.contains(private), "{private}\n{markdown}");
    }
}

#[test]
fn the_markdown_without_values_has_every_answer_and_no_value() {
    let mut page = example(CaseExample::LiveObject);
    page.send(ViewMsg::Dialog(Some(Dialog::Share)));
    page.send(ShareMsg::Withhold(Withheld::Values));
    page.finish_work();
    let Some(ValuesLeftOut::Found(shared)) = page.state.share.values.clone() else {
        panic!("{:?}", page.state.share.values)
    };
    let link = session_fragment(WayIn::Diagnose, &shared.text);
    let other = Page::open_at(&link, Default::default());
    check(&other.state.diagnose);
    let Some(CaseReport::Done(markdown)) = page.state.share.report.clone() else {
        panic!("{:?}", page.state.share.report)
    };
    assert_eq!(*markdown, case_markdown(&other.state.diagnose, true));
    for value in ["nginx:1", "web-1.2.3", "2026-11-22T06:01:59Z\\\""] {
        assert!(!markdown.contains(value), "{value}\n{markdown}");
    }
    assert!(markdown.contains("value-1"));
    let codes = |case: &DiagnoseState| {
        let rows = case.table.iter().flat_map(|run| &run.rows);
        rows.map(|row| (row.way, row.code)).collect::<Vec<_>>()
    };
    assert_eq!(codes(&other.state.diagnose), codes(&page.state.diagnose));
}

/// A live ConfigMap, a manifest that is refused, and a message, with these texts in them.
fn case_with(name: &str, texts: &[String; 4]) -> Page {
    let [manager, value, wanted, said] = texts;
    let live = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name,
        "namespace": "live", "uid": "u", "resourceVersion": "7", "annotations": {"a": value},
        "managedFields": [{"manager": manager, "operation": "Apply", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:x": {}}}}]},
        "data": {"x": value}});
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "live"}, "data": {"x": wanted}});
    let message = format!(
        "{said}\nerror: Apply failed with 1 conflict: conflict with \"helm\" using v1: .data.x"
    );
    brought(&[&live.to_string(), &manifest.to_string(), &message])
}

fn hostile() -> impl Strategy<Value = String> {
    let parts = vec![
        "|",
        "`",
        "```",
        "~~~",
        "\n",
        "\n\n",
        "\r",
        "<",
        ">",
        "</details>",
        "<!--",
        "-->",
        "<b>",
        "*",
        "_",
        "[a](b)",
        "![x](y)",
        "# ",
        "- ",
        "+ ",
        "1. ",
        "2) ",
        "> ",
        "\\",
        "&lt;",
        "$$",
        "@user",
        "www.a.de",
        "\t",
        "    ",
        "===",
        "|---|",
        "é",
        "\u{202e}",
        "\\|",
        "`|",
        "a",
        " ",
    ];
    let parts = prop::collection::vec(prop::sample::select(parts), 1..12);
    // With a letter first and last: an empty text, or one of spaces, is no text at all.
    parts.prop_map(|parts| format!("{}z", parts.concat()))
}

/// The server takes printable characters in the name of a manager alone.
fn hostile_manager() -> impl Strategy<Value = String> {
    hostile().prop_map(|text| text.replace(['\n', '\r', '\t', '\u{202e}'], " "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_of_a_case_is_markup(
        manager in hostile_manager(),
        [value, wanted, said] in [hostile(), hostile(), hostile()],
        invalid in any::<bool>(),
    ) {
        let texts = [manager, value, wanted, said];
        let plain = ["m", "v", "w", "said"].map(str::to_owned);
        let name = if invalid { "a|b `c` <d> [e](f)" } else { "web" };
        let usual = if invalid { "a b" } else { "web" };
        let (hostile, plain) = (case_with(name, &texts), case_with(usual, &plain));
        let markdown = check(&hostile.state.diagnose);
        let (seen, expected) = (
            Seen::parse(&markdown),
            Seen::parse(&case_markdown(&plain.state.diagnose, false)),
        );
        // A text may be recognized as more or less than the plain one: then the shape is another.
        let same = hostile.state.diagnose.items.len() == plain.state.diagnose.items.len();
        prop_assume!(same && texts[1] != texts[2]);
        let pairs = seen.shape.iter().zip(&expected.shape);
        let differs = pairs.clone().position(|(one, other)| one != other);
        prop_assert_eq!(differs, None, "{:?}\n{}", differs.map(|at| seen.shape.get(at.saturating_sub(4)..at + 3)), markdown);
        prop_assert_eq!(seen.shape.len(), expected.shape.len(), "{}", markdown);
        for html in &seen.html {
            let known = ["<code>", "</code>", "<!-- -->", "<details><summary>", "</details>"];
            prop_assert!(known.iter().any(|it| html.starts_with(it)), "{:?}\n{}", html, markdown);
        }
    }
}
