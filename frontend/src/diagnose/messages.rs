//! What error messages say of owners, and what to bring next.

use optimist_client::visible;
use optimist_diagnose::case::NotInstalled;
use optimist_diagnose::message::{ObjectHint, PrintedError, ReportedError};
use optimist_diagnose::scene::NoScene;
use optimist_messages::{diagnose as messages, label, load_error};
use yew::{AttrValue, Html, html};

use crate::components::Copy;
use crate::state::{CaseReading, StateHandle};

/// The owners that the error messages of the case name; what to bring if there are none.
pub(super) fn of_messages(store: &StateHandle) -> Html {
    let mut rows = Vec::new();
    for error in store.diagnose.errors() {
        let PrintedError::Apply(conflicts) = &error.error else {
            continue;
        };
        for conflict in conflicts {
            let owner = messages::conflict_owner(conflict);
            rows.extend(conflict.fields.iter().map(|field| {
                html! {
                    <tr>
                        <td class="code">{ visible(field).into_owned() }</td>
                        <td>{ visible(&owner).into_owned() }</td>
                    </tr>
                }
            }));
        }
    }
    if rows.is_empty() {
        return empty();
    }
    html! {
        <>
            <p class="says">{ label::owners_in_message_text() }</p>
            <div class="scroll" tabindex="0" role="region" aria-label={label::owners_in_message()}>
                <table class="case-table">
                    <thead>
                        <tr>
                            <th scope="col">{ label::owners_field() }</th>
                            <th scope="col">{ label::owners_owner() }</th>
                        </tr>
                    </thead>
                    <tbody>{ for rows }</tbody>
                </table>
            </div>
        </>
    }
}

/// Why the object that is looked at is not on a server.
pub(super) fn not_installed(reading: &CaseReading) -> String {
    let why = match &reading.installed {
        Err(NotInstalled::Refused(error)) => label::owners_refused(&load_error(error)),
        Err(NotInstalled::NotServed { api_version, kind }) => {
            label::owners_not_served(kind, api_version)
        }
        _ => label::owners_no_live(&reading.case.id),
    };
    visible(&why).into_owned()
}

fn empty() -> Html {
    html! {
        <div class="case-empty">
            <p><b>{ label::owners_empty() }</b></p>
            <p class="says">{ label::owners_empty_text() }</p>
            { command(label::owners_empty_command()) }
        </div>
    }
}

/// A command to copy.
pub(super) fn command(text: String) -> Html {
    html! {
        <div class="case-command">
            <pre>{ visible(&text).into_owned() }</pre>
            <Copy text={AttrValue::from(text)} />
        </div>
    }
}

/// What to bring after an error message.
pub(super) fn next_step(error: &ReportedError) -> Html {
    let Some(get) = get(&error.object) else {
        return Html::default();
    };
    html! {
        <div class="way-out">
            <h3>{ messages::error_object(&error.object) }</h3>
            <p>{ label::error_get() }</p>
            { command(get) }
            <p>{ label::error_get_next() }</p>
        </div>
    }
}

/// A command that prints the object with its owners; `None` if the message does not name it.
fn get(object: &ObjectHint) -> Option<String> {
    let resource = object.resource.clone().or_else(|| {
        let group = object.api_version.as_deref().unwrap_or_default();
        let group = group.split_once('/').map(|(group, _)| group);
        let kind = object.kind.as_ref()?;
        Some(match group {
            Some(group) => format!("{kind}.{group}"),
            None => kind.clone(),
        })
    })?;
    let name = object.name.as_ref()?;
    let namespace = object.namespace.as_ref();
    let namespace = namespace.map(|it| format!(" -n {it}")).unwrap_or_default();
    Some(format!(
        "kubectl get {resource} {name}{namespace} -o yaml --show-managed-fields"
    ))
}

/// Why no scene can be made of an error message.
pub(super) fn no_scene(error: &ReportedError, why: &NoScene) -> Html {
    let why = match why {
        NoScene::NotOfTheServer => label::scene_not_of_the_server(),
        NoScene::NotInstalled(NotInstalled::Refused(why)) => {
            label::owners_refused(&load_error(why))
        }
        NoScene::NotInstalled(NotInstalled::NotServed { api_version, kind }) => {
            label::owners_not_served(kind, api_version)
        }
        NoScene::NotInstalled(NotInstalled::NoObject) => label::scene_none(),
        NoScene::SaysOtherwise(message) => label::scene_otherwise(message),
    };
    let title = messages::error_title(&error.error);
    html! {
        <p class="says">
            <b>{ visible(&title).into_owned() }{ ": " }</b>
            { visible(&why).into_owned() }
        </p>
    }
}

/// What the table is about: a scene that was made, or a manifest on a version.
pub(super) fn of_table(made: bool, version: &str) -> String {
    if made {
        label::ways_of_scene()
    } else {
        label::ways_of(&version)
    }
}
