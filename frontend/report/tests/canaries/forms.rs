//! The forms in which the page shares something.

use std::rc::Rc;

use optimist_exports::{mermaid, report, script};
use optimist_links::Session;
use optimist_report::case_markdown;
use optimist_simulation::HistoryTree;
use optimist_state::{
    CaseReport, DiagnoseMsg, Dialog, JobQueue, Page as WayIn, ReplayState, SavedContent, ShareMsg,
    ValuesLeftOut, ViewMsg, Withheld, saved_page, session_fragment,
};

use super::page::{Memory, Page};

/// Something that leaves the page.
pub struct Output {
    pub form: &'static str,
    pub text: String,
}

/// A page of a release with the places that a saved page fills.
const RELEASE: &str = "<!DOCTYPE html><title>{{title}}</title><body data-shown=\"{{shown}}\" \
    data-address=\"{{address}}\">{{note}}<script>1</script>{{files}}</body>";

/// A saved page as one file.
fn html(fragment: &str) -> String {
    let content = SavedContent {
        title: "ConfigMap a",
        shown: fragment,
        address: "https://example.com/",
        note: "",
    };
    saved_page(RELEASE, &content)
        .expect("it has all places")
        .concat()
}

fn outputs(way_in: WayIn, text: &str, forms: [&'static str; 3]) -> Vec<Output> {
    let fragment = session_fragment(way_in, text);
    let [link, file, page] = forms;
    vec![
        Output {
            form: page,
            text: html(&fragment),
        },
        Output {
            form: link,
            text: fragment,
        },
        Output {
            form: file,
            text: text.to_owned(),
        },
    ]
}

fn brought(texts: &[String]) -> Page {
    let browser = Memory::default();
    browser.jobs.replace(JobQueue::new(case_markdown));
    let mut page = Page::open_at("#/diagnose", browser);
    for text in texts {
        page.send(DiagnoseMsg::Bring(text.clone()));
    }
    page.finish_work();
    page.send(ViewMsg::Dialog(Some(Dialog::Share)));
    page.finish_work();
    page
}

/// The link to a case with everything in it, and the case as the share dialog offers it at first, and
/// without all values.
pub fn of_case(texts: &[String]) -> (String, Vec<Output>) {
    let mut page = brought(texts);
    page.send(ShareMsg::Withhold(Withheld::Nothing));
    let text = page.state.shared_text().expect("all of it is shared");
    let everything = session_fragment(WayIn::Diagnose, &text);
    page.send(ShareMsg::Withhold(Withheld::Private));
    page.finish_work();
    let mut all = Vec::new();
    for (withheld, forms, markdown) in [
        (
            Withheld::Private,
            ["Diagnose link", "Diagnose file", "Diagnose HTML"],
            "Markdown of the case",
        ),
        (
            Withheld::Values,
            [
                "Diagnose link without values",
                "Diagnose file without values",
                "Diagnose HTML without values",
            ],
            "Markdown of the case without values",
        ),
    ] {
        if withheld == Withheld::Values {
            page.send(ShareMsg::Withhold(withheld));
            page.finish_work();
        }
        let shared = match &page.state.share.values {
            Some(ValuesLeftOut::Found(shared)) => Rc::clone(shared),
            Some(ValuesLeftOut::Empty) => continue,
            other => panic!("{other:?}"),
        };
        all.extend(outputs(WayIn::Diagnose, &shared.text, forms));
        let Some(CaseReport::Done(text)) = &page.state.share.report else {
            panic!("{:?}", page.state.share.report)
        };
        all.push(Output {
            form: markdown,
            text: text.to_string(),
        });
    }
    (everything, all)
}

/// A session, as the share dialog offers it at first.
pub fn of_history(session: &Session) -> Vec<Output> {
    let way_in = WayIn::ALL
        .into_iter()
        .find(|page| page.slug() == session.page);
    let way_in = way_in.unwrap_or(WayIn::Play);
    let mut page = Page::open_at(
        &session_fragment(way_in, &session.to_text()),
        Default::default(),
    );
    page.finish_work();
    assert!(page.state.share.opening.problem.is_none());
    page.send(ViewMsg::Dialog(Some(Dialog::Share)));
    page.finish_work();
    let text = page
        .state
        .shared_text()
        .expect("it is known what is left out");
    let mut all = outputs(
        page.state.shared_page(),
        &text,
        ["Play link", "Play file", "Play HTML"],
    );
    let tree: Rc<HistoryTree> = match page.state.share.redacted.as_deref().map(|it| &it.replay) {
        None => Rc::clone(&page.state.session.tree),
        Some(ReplayState::Done(tree)) => Rc::clone(tree),
        Some(other) => panic!("{other:?}"),
    };
    for (form, text) in [
        ("Markdown of the history", report(&tree)),
        ("Mermaid", mermaid(&tree)),
        ("script", script(&tree)),
    ] {
        all.push(Output { form, text });
    }
    all
}
