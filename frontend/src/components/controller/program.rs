//! The program with its current line, and the variables of the run beside the server.

use optimist_client::visible;
use optimist_code::{ProgramLanguage, ProgramLine, program_languages, program_text};
use optimist_controller::Source;
use optimist_messages::{controller_card as messages, label};
use optimist_simulation::{ActorId, ControllerProgram};
use yew::{AttrValue, Html, Properties, classes, component, html, use_effect_with, use_memo};

use crate::browser;
use crate::components::tabs::{Tabs, panel_id, tabs};
use crate::state::{ControllerMsg, Sends, StateHandle};

pub(super) fn program(store: &StateHandle, id: ActorId) -> Html {
    let Some(program) = store.controller_program() else {
        return Html::default();
    };
    html! {
        <div class="controller-program">
            { languages(store, program_languages(program)) }
            <Lines
                program={program.clone()}
                language={LanguageOf(store.controller.language)}
                current={store.world().current_statement(id)}
            />
            { values(store, id) }
        </div>
    }
}

/// Draws the tabs of the languages, or says why there is only one.
fn languages(store: &StateHandle, all: &'static [ProgramLanguage]) -> Html {
    if let [_] = all {
        return html! { <p class="program-plain muted">{ label::controller_only_plain() }</p> };
    }
    let name = |language: &ProgramLanguage| match language {
        ProgramLanguage::Go => "Go".to_owned(),
        ProgramLanguage::Rust => "Rust".to_owned(),
        ProgramLanguage::Plain => label::controller_plain(),
    };
    let names: Vec<String> = all.iter().map(name).collect();
    let chosen = all.iter().position(|of| *of == store.controller.language);
    tabs(&Tabs {
        label: label::controller_language(),
        id: "program",
        class: "underlined",
        names: &names,
        chosen: chosen.unwrap_or(0),
        onchoose: store.on(|i: usize| ControllerMsg::Language(all[i.min(all.len() - 1)])),
    })
}

/// A language as a property.
#[derive(Clone, Copy, PartialEq)]
struct LanguageOf(ProgramLanguage);

#[derive(PartialEq, Properties)]
struct LinesProps {
    program: ControllerProgram,
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
        let source: Option<AttrValue> = line.answered.map(|source| match source {
            Source::Cache => label::controller_from_cache().into(),
            Source::Server => label::controller_from_server().into(),
        });
        html! {
            <li
                class={classes!("program-line", current.then_some("current"))}
                style={format!("--depth:{}", line.depth)}
            >
                if current {
                    <span class="unseen">{ label::controller_current_line() }{ " " }</span>
                }
                <code>{ visible(&line.text).into_owned() }</code>
                if let Some(source) = source {
                    <span class="program-source">{ source }</span>
                }
            </li>
        }
    };
    let role = match program_languages(&props.program) {
        [_] => "group",
        _ => "tabpanel",
    };
    html! {
        <div
            class="program-lines"
            id={panel_id("program")}
            {role}
            tabindex="0"
            aria-label={label::controller_program()}
        >
            <ol>{ for text.lines.iter().map(line) }</ol>
        </div>
    }
}

/// The variables of the run, beside the server.
fn values(store: &StateHandle, id: ActorId) -> Html {
    let values = store.world().run_values(id);
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
