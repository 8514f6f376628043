//! The keys of etcd behind the objects, revision by revision, and etcdctl's output about them.

use optimist_apiserver::storage::{KeyValue, NO_LEASE, Revision};
use optimist_client::visible;
use optimist_code::{Etcdctl, etcdctl_get, etcdctl_watch};
use optimist_messages::label;
use optimist_simulation::World;
use yew::{Callback, Html, MouseEvent, Properties, classes, component, html, use_state_eq};

use crate::browser;
use crate::state::StateHandle;

/// The style of these parts alone.
const STYLE: &str = include_str!("../style/etcd.css");

#[derive(PartialEq, Properties)]
struct KeysProps {
    store: StateHandle,
}

/// The command whose output is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EtcdCommand {
    Get,
    GetAt,
    Watch,
}

/// The keys of the objects of the session.
pub(super) fn keys(store: &StateHandle) -> Html {
    html! { <Keys store={store.clone()} /> }
}

/// Says which versions a compaction removed.
pub(super) fn compaction(store: &StateHandle) -> Html {
    let said = optimist_messages::cards::compaction(store.world());
    html! { <p class="last-write">{ said }</p> }
}

/// Every value of every key of the session's objects, newest first.
fn values(world: &World) -> Vec<KeyValue> {
    let store = world.server().store();
    let subjects = world.subjects();
    let keys: Vec<String> = subjects.map(|subject| subject.key().to_string()).collect();
    let mut values: Vec<_> = keys
        .iter()
        .flat_map(|key| {
            let values = store.key_values(key).into_iter();
            values.filter(|value| *value.key == **key)
        })
        .collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.mod_revision));
    values
}

#[component]
fn Keys(props: &KeysProps) -> Html {
    browser::adopt_style(STYLE);
    let world = props.store.world();
    let values = values(world);
    let chosen = use_state_eq(|| None::<Revision>);
    let command = use_state_eq(|| EtcdCommand::Get);
    let shown = values
        .iter()
        .find(|value| Some(value.mod_revision) == *chosen)
        .or_else(|| values.first());
    let choose = |revision: Revision| {
        let chosen = chosen.clone();
        Callback::from(move |_: MouseEvent| chosen.set(Some(revision)))
    };
    let commands = [
        (EtcdCommand::Get, label::etcd_get()),
        (EtcdCommand::GetAt, label::etcd_get_then()),
        (EtcdCommand::Watch, label::etcd_watch()),
    ];
    html! {
        <div class="yaml etcd" role="region" tabindex="0" aria-label={label::etcd_label()}>
            <p class="etcd-intro">{ label::etcd_intro() }</p>
            { table(&values, shown, choose) }
            if let Some(shown) = shown {
                <div class="etcd-commands" role="group" aria-label={label::etcd_outputs()}>
                    { for commands.map(|(of, name)| {
                        let command = command.clone();
                        let pressed = (*command == of).to_string();
                        let onclick = Callback::from(move |_: MouseEvent| command.set(of));
                        html! {
                            <button type="button" class="button small" aria-pressed={pressed} {onclick}>
                                { name }
                            </button>
                        }
                    }) }
                </div>
                { printed(world, shown, *command) }
                <p class="muted">{ label::etcd_protobuf() }</p>
            }
        </div>
    }
}

fn table(
    values: &[KeyValue],
    shown: Option<&KeyValue>,
    choose: impl Fn(Revision) -> Callback<MouseEvent>,
) -> Html {
    let row = |value: &KeyValue| {
        let is_shown = shown.is_some_and(|shown| shown.mod_revision == value.mod_revision);
        let key = visible(&value.key).into_owned();
        let gone = value.object.is_none();
        html! {
            <tr class={classes!(is_shown.then_some("chosen"), value.compacted.then_some("compacted"))}>
                <td>
                    <button
                        type="button"
                        class="link"
                        aria-pressed={is_shown.to_string()}
                        aria-label={label::etcd_row(&value.mod_revision, &key)}
                        onclick={choose(value.mod_revision)}
                    >
                        { value.mod_revision }
                    </button>
                </td>
                if gone {
                    <td colspan="3"><span class="etcd-mark">{ label::etcd_deleted() }</span></td>
                } else {
                    <td>{ value.create_revision }</td>
                    <td>{ value.version }</td>
                    <td>{ NO_LEASE }</td>
                }
                <td class="etcd-key">
                    { key }
                    if value.compacted {
                        <span class="etcd-mark">{ label::etcd_compacted() }</span>
                    }
                </td>
            </tr>
        }
    };
    html! {
        <table class="etcd-keys">
            <thead>
                <tr>
                    <th scope="col">{ label::etcd_mod_revision() }</th>
                    <th scope="col">{ label::etcd_create_revision() }</th>
                    <th scope="col">{ label::etcd_version() }</th>
                    <th scope="col">{ label::etcd_lease() }</th>
                    <th scope="col">{ label::etcd_key() }</th>
                </tr>
            </thead>
            <tbody>{ for values.iter().map(row) }</tbody>
        </table>
    }
}

/// Shows a command and the terminal's output after it.
fn printed(world: &World, of: &KeyValue, command: EtcdCommand) -> Html {
    let store = world.server().store();
    let Etcdctl { command, output } = match command {
        EtcdCommand::Get => etcdctl_get(store, &of.key, None),
        EtcdCommand::GetAt => etcdctl_get(store, &of.key, Some(of.mod_revision)),
        EtcdCommand::Watch => etcdctl_watch(store, &of.key, of.mod_revision),
    };
    html! {
        <pre class="etcd-printed" tabindex="0">
            <b>{ format!("$ {}", visible(&command)) }</b>
            { "\n" }
            { visible(&output).into_owned() }
        </pre>
    }
}
