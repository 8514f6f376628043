//! Incidents of public projects, for a page without input: each opens as a lesson.

use optimist_lesson::Incident;
use optimist_messages::label;
use wasm_bindgen_futures::spawn_local;
use yew::{Html, Properties, component, html, use_effect_with};

use crate::browser;
use crate::state::{LearnMsg, Sends, StateHandle, lesson_fragment};

#[derive(PartialEq, Properties)]
pub(super) struct IncidentsProps {
    pub(super) store: StateHandle,
}

/// The incidents of the catalogue, once it came.
#[component]
pub(super) fn Incidents(props: &IncidentsProps) -> Html {
    let store = &props.store;
    let dispatcher = store.dispatcher();
    use_effect_with(store.learn.catalogue.is_none(), move |missing| {
        if *missing {
            spawn_local(async move {
                let text = browser::fetched("lessons/catalogue.yaml").await;
                dispatcher.send(LearnMsg::Catalogue(text));
            });
        }
    });
    let Some(catalogue) = &store.learn.catalogue else {
        return Html::default();
    };
    html! {
        <section class="case-others">
            <h2>{ label::incidents_title() }</h2>
            <p class="muted">{ label::incidents_text() }</p>
            <ul class="case-incidents">
                { for catalogue.incidents.iter().map(incident) }
            </ul>
        </section>
    }
}

fn incident(incident: &Incident) -> Html {
    let thread = incident.thread.trim_start_matches("https://github.com/");
    html! {
        <li>
            <a href={lesson_fragment(&incident.lesson.name)}>{ incident.lesson.title.clone() }</a>
            <a class="thread" href={incident.thread.clone()} target="_blank" rel="noopener">
                { thread.to_owned() }
            </a>
        </li>
    }
}
