//! The program with its current line, and the variables of the run beside the server.

use optimist_client::visible;
use optimist_code::{ProgramLanguage, ProgramLine, program_text};
use optimist_controller::program::Program;
use optimist_controller::{Controller, Source};
use optimist_messages::{controller_card as messages, label};
use yew::{AttrValue, Html, Properties, classes, component, html, use_effect_with, use_memo};

use crate::browser;
use crate::components::tabs::{Tabs, panel_id, tabs};
use crate::state::{ControllerMsg, Sends, StateHandle};

const LANGUAGES: [ProgramLanguage; 3] = [
    ProgramLanguage::Go,
    ProgramLanguage::Rust,
    ProgramLanguage::Plain,
];

pub(super) fn program(store: &StateHandle, controller: &Controller) -> Html {
    let language = store.controller.language;
    let chosen = LANGUAGES.iter().position(|of| *of == language);
    html! {
        <div class="controller-program">
            { tabs(&Tabs {
                label: label::controller_language(),
                id: "program",
                class: "underlined",
                names: &["Go".to_owned(), "Rust".to_owned(), label::controller_plain()],
                chosen: chosen.unwrap_or(0),
                onchoose: store.on(|i: usize| {
                    ControllerMsg::Language(LANGUAGES[i.min(LANGUAGES.len() - 1)])
                }),
            }) }
            <Lines
                program={controller.code().program().clone()}
                language={LanguageOf(language)}
                current={store.world().current_statement()}
            />
            { values(store) }
        </div>
    }
}

/// The depth of a line of a program, and the line without its indentation.
pub(crate) fn indented(text: &str, language: ProgramLanguage) -> (usize, &str) {
    let shown = text.trim_start_matches(['\t', ' ']);
    let unit = match language {
        ProgramLanguage::Go => 1,
        ProgramLanguage::Rust => 4,
        ProgramLanguage::Plain => 2,
    };
    ((text.len() - shown.len()) / unit, shown)
}

/// A language as a property.
#[derive(Clone, Copy, PartialEq)]
struct LanguageOf(ProgramLanguage);

#[derive(PartialEq, Properties)]
struct LinesProps {
    program: Program,
    language: LanguageOf,
    current: Option<usize>,
}

/// The lines of a program; the current one is kept in sight.
#[component]
fn Lines(props: &LinesProps) -> Html {
    let text = use_memo(
        (props.program.clone(), props.language.0 as u8),
        |(program, _)| program_text(program, props.language.0),
    );
    use_effect_with(props.current, |_| {
        browser::reveal(".program-line.current", 48.0);
    });
    let line = |line: &ProgramLine| {
        let current = props
            .current
            .is_some_and(|current| line.statements.contains(&current));
        let (depth, shown) = indented(&line.text, props.language.0);
        let source: Option<AttrValue> = line.answered.map(|source| match source {
            Source::Cache => label::controller_from_cache().into(),
            Source::Server => label::controller_from_server().into(),
        });
        html! {
            <li
                class={classes!("program-line", current.then_some("current"))}
                style={format!("--depth:{depth}")}
            >
                if current {
                    <span class="unseen">{ label::controller_current_line() }{ " " }</span>
                }
                <code>{ visible(shown).into_owned() }</code>
                if let Some(source) = source {
                    <span class="program-source">{ source }</span>
                }
            </li>
        }
    };
    html! {
        <div
            class="program-lines"
            id={panel_id("program")}
            role="tabpanel"
            tabindex="0"
            aria-label={label::controller_program()}
        >
            <ol>{ for text.lines.iter().map(line) }</ol>
        </div>
    }
}

/// The variables of the run, beside the server.
fn values(store: &StateHandle) -> Html {
    let values = store.world().run_values();
    if values.is_empty() {
        return Html::default();
    }
    let row = |of: &optimist_simulation::RunValue| {
        let (has, server) = messages::run_value(of);
        html! {
            <div class="run-value">
                <dt>{ visible(&of.name).into_owned() }</dt>
                <dd>
                    { visible(&has).into_owned() }
                    if !server.is_empty() {
                        { " " }<span class="muted">{ server }</span>
                    }
                </dd>
            </div>
        }
    };
    html! {
        <dl class="run-values" tabindex="0" aria-label={label::controller_values()}>{ for values.iter().map(row) }</dl>
    }
}
