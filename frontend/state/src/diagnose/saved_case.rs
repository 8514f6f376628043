//! A case as the tab and links keep it: its texts, and how people write.

use std::rc::Rc;

use optimist_client::{MAX_MANIFEST_TEXT, Preset};
use optimist_diagnose::anonymize::CaseSettings;
use optimist_diagnose::input::Input;
use optimist_diagnose::scene::GivenParts;
use optimist_links::Session;
use optimist_masking::masked_text;
use optimist_simulation::{HistoryTree, NGINX, World};
use serde_json::{Value, json};

use super::{CaseKeeping, DiagnoseState, InputItem, SelectedStep, WRITERS};
use crate::State;
use crate::address::{Page, session_fragment};
use crate::share::Withheld;

/// The most characters of a case that the tab keeps: a browser gives about 5 million for everything.
const MAX_KEPT: usize = 2_000_000;

/// The input of a case, without the facts that follow from it.
#[derive(Clone, Debug, Default)]
pub(super) struct SavedCase {
    texts: Vec<Rc<str>>,
    client: Option<Preset>,
    manager: String,
    given: GivenParts,
    /// The values that were left out when it was shared. Stand-ins replace them.
    withheld: Withheld,
    /// The step of a recorded history that is selected.
    step: Option<SelectedStep>,
    /// The position of the object that is looked at.
    chosen: usize,
    /// The position of the object of the audit log that is looked at.
    audited: usize,
}

impl SavedCase {
    /// Reads a case from JSON. A member that is missing or not valid is left out.
    fn parse(json: &Value) -> Self {
        let texts = json["texts"].as_array().into_iter().flatten();
        let slug = json["client"].as_str().unwrap_or_default();
        let known = WRITERS.into_iter().find(|known| known.slug() == slug);
        Self {
            texts: texts
                .filter_map(|text| Some(text.as_str()?.into()))
                .collect(),
            client: known,
            manager: json["manager"].as_str().unwrap_or_default().to_owned(),
            given: read_given_parts(&json["given"]),
            withheld: withheld(json),
            step: SelectedStep::parse(&json["step"]),
            chosen: position(&json["chosen"]),
            audited: position(&json["audited"]),
        }
    }

    fn to_json(&self) -> Value {
        let texts: Vec<&str> = self.texts.iter().map(|text| &**text).collect();
        let client = self.client.and_then(client_slug);
        let given = &self.given;
        let given = json!({"apiVersion": given.api_version, "kind": given.kind,
            "namespace": given.namespace, "name": given.name});
        let mut json =
            json!({"texts": texts, "client": client, "manager": self.manager, "given": given});
        match self.withheld {
            Withheld::Nothing => {}
            Withheld::Private => json["privateLeftOut"] = true.into(),
            Withheld::Values => json["valuesLeftOut"] = true.into(),
        }
        self.write_place(&mut json);
        json
    }

    /// Adds which object and which step is looked at.
    fn write_place(&self, json: &mut Value) {
        if let Some(step) = self.step {
            json["step"] = step.to_json();
        }
        for (name, position) in [("chosen", self.chosen), ("audited", self.audited)] {
            if position > 0 {
                json[name] = position.into();
            }
        }
    }

    fn size(&self) -> usize {
        self.texts.iter().map(|text| text.len()).sum()
    }
}

/// The fragment of a link that opens Diagnose with these texts and this client. `private` says whether
/// private values were left out of the texts. `None` if there is no text.
pub fn case_fragment(
    texts: &[String],
    client: Preset,
    manager: Option<&str>,
    private: bool,
) -> Option<String> {
    let saved = SavedCase {
        texts: texts.iter().map(|text| text.as_str().into()).collect(),
        client: Some(client),
        manager: manager.unwrap_or_default().to_owned(),
        withheld: match private {
            true => Withheld::Private,
            false => Withheld::Nothing,
        },
        ..SavedCase::default()
    };
    let text = saved.session()?.to_text();
    Some(session_fragment(Page::Diagnose, &text))
}

/// A position; the first one if the JSON has none.
fn position(json: &Value) -> usize {
    json.as_u64().map_or(0, |position| position as usize)
}

fn withheld(json: &Value) -> Withheld {
    let is = |key: &str| json[key].as_bool().unwrap_or_default();
    match (is("valuesLeftOut"), is("privateLeftOut")) {
        (true, _) => Withheld::Values,
        (false, true) => Withheld::Private,
        (false, false) => Withheld::Nothing,
    }
}

/// Reads the parts of error messages that the user filled in.
fn read_given_parts(json: &Value) -> GivenParts {
    let text = |part: &str| json[part].as_str().map(str::to_owned);
    GivenParts {
        api_version: text("apiVersion"),
        kind: text("kind"),
        namespace: text("namespace"),
        name: text("name"),
        ..GivenParts::default()
    }
}

/// The line between the documents of a text.
const SEPARATOR: &str = "---\n";

/// The texts of the things. The manifests of one text stay together: which text has them tells the releases apart.
fn texts(items: &[Rc<InputItem>]) -> Vec<Rc<str>> {
    let is_manifest = |item: &InputItem| matches!(item.content, Ok(Input::Manifest(_)));
    let mut texts: Vec<Rc<str>> = Vec::new();
    for together in
        items.chunk_by(|one, next| one.first == next.first && is_manifest(one) && is_manifest(next))
    {
        let parts = || together.iter().map(|item| &item.text);
        let size: usize = parts().map(|text| text.len() + SEPARATOR.len()).sum();
        // A larger one would not be read again.
        if together.len() == 1 || size > MAX_MANIFEST_TEXT {
            texts.extend(parts().cloned());
        } else {
            let parts: Vec<&str> = parts().map(|text| &**text).collect();
            texts.push(parts.join(SEPARATOR).into());
        }
    }
    texts
}

fn client_slug(client: Preset) -> Option<&'static str> {
    WRITERS.contains(&client).then(|| client.slug())
}

impl DiagnoseState {
    /// Returns whether there is an earlier case to go back to.
    pub fn has_earlier(&self) -> bool {
        self.earlier.is_some()
    }

    /// Returns the input of the case, with the texts that are not read yet.
    fn saved(&self) -> SavedCase {
        let mut texts = texts(&self.items);
        texts.extend(self.waiting.iter().cloned());
        SavedCase {
            texts,
            client: self.client,
            manager: self.manager.clone(),
            given: self.given.clone(),
            withheld: self.withheld,
            step: self.step,
            chosen: self.wanted,
            audited: self.audit.as_ref().map_or(self.audited, |run| run.chosen),
        }
    }

    fn show(&mut self, saved: &SavedCase) {
        self.remove_all();
        self.client = saved.client;
        self.manager.clone_from(&saved.manager);
        self.given.clone_from(&saved.given);
        self.withheld = saved.withheld;
        self.step = saved.step;
        self.wanted = saved.chosen;
        self.audited = saved.audited;
        saved.texts.iter().for_each(|text| self.wait(text));
    }

    /// Adds the texts again that the tab has kept.
    pub(super) fn restore(&mut self, kept: &str) {
        let kept: Value = serde_json::from_str(kept).unwrap_or_default();
        self.show(&SavedCase::parse(&kept));
        if kept["earlier"].is_object() {
            self.earlier = Some(Rc::new(SavedCase::parse(&kept["earlier"])));
        }
    }

    /// Looks at the object and the step that the tab has kept.
    pub(super) fn return_to(&mut self, place: &str) {
        let place: Value = serde_json::from_str(place).unwrap_or_default();
        if place.is_object() {
            self.step = SelectedStep::parse(&place["step"]);
            self.wanted = position(&place["chosen"]);
            self.audited = position(&place["audited"]);
        }
    }

    /// Writes the selected object and step for the tab's storage; `None` if the tab keeps no case.
    pub(super) fn place_text(&self) -> Option<String> {
        if self.items.is_empty() || self.kept != CaseKeeping::Kept {
            return None;
        }
        let mut place = json!({});
        self.saved().write_place(&mut place);
        Some(place.to_string())
    }

    /// Shows the case of a link. The case that was here can be returned to.
    pub(crate) fn open_link(&mut self, json: &Value) {
        let own = self.saved();
        self.opened = true;
        self.show(&SavedCase::parse(json));
        if !own.texts.is_empty() {
            self.earlier = Some(Rc::new(own));
        }
    }

    /// Goes back to the case that was here before a link was opened.
    pub(super) fn take_earlier(&mut self) {
        if let Some(earlier) = self.earlier.take() {
            self.show(&earlier);
        }
    }

    /// The case as the tab keeps it; `None` if there is nothing to keep, or too much.
    pub(super) fn kept_text(&mut self) -> Option<String> {
        // A running server tells its log again after a reload.
        let live = self.items.iter().filter(|item| item.live);
        let live: Vec<_> = live.map(|item| Rc::clone(&item.text)).collect();
        let mut saved = self.saved();
        saved
            .texts
            .retain(|text| !live.iter().any(|it| Rc::ptr_eq(it, text)));
        let earlier = self.earlier.as_deref();
        let size = saved.size() + earlier.map_or(0, SavedCase::size);
        self.kept = if size > MAX_KEPT {
            CaseKeeping::TooLarge
        } else {
            CaseKeeping::Kept
        };
        let empty = saved.texts.is_empty() && earlier.is_none();
        (!empty && self.kept == CaseKeeping::Kept).then(|| {
            let mut json = saved.to_json();
            if let Some(earlier) = earlier {
                json["earlier"] = earlier.to_json();
            }
            json.to_string()
        })
    }

    /// The text that is being typed, as far as the tab keeps it.
    pub(super) fn draft_to_keep(&self) -> &str {
        let fits = self.draft.len() <= MAX_KEPT;
        if fits { &self.draft } else { "" }
    }

    /// Returns the case as a session for links; `None` if there is no input.
    fn session(&self) -> Option<Session> {
        self.saved().session()
    }

    /// The characters of its texts.
    pub(crate) fn size(&self) -> usize {
        self.saved().size()
    }

    /// Returns the case as a link has it without these values, which are still there, and the settings with which people
    /// look at it; `None` if there is no input.
    pub(crate) fn to_share(&self, withheld: Withheld) -> Option<(Value, CaseSettings)> {
        let saved = self.saved();
        if saved.texts.is_empty() {
            return None;
        }
        let settings = CaseSettings {
            client: self.client(),
            manager: saved.manager.clone(),
            given: saved.given.clone(),
        };
        let shared = SavedCase {
            client: Some(self.client()),
            manager: masked_text(&self.manager),
            withheld,
            ..saved
        };
        Some((shared.to_json(), settings))
    }
}

impl SavedCase {
    /// Makes a session for links; `None` if there is no text.
    fn session(&self) -> Option<Session> {
        case_session(self.to_json())
    }
}

/// Makes a session of a case as links have it; `None` if there is no text.
pub(crate) fn case_session(case: Value) -> Option<Session> {
    case["texts"].as_array().filter(|texts| !texts.is_empty())?;
    let mut session = Session::from_tree(&HistoryTree::new(World::load(NGINX).ok()?.0));
    session.page = Page::Diagnose.slug().to_owned();
    session.extra = case;
    Some(session)
}

impl State {
    /// The case that is open, as a session for links.
    pub(crate) fn case_session(&self) -> Option<Session> {
        self.diagnose.session()
    }
}
