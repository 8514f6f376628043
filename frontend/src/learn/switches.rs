//! A challenge about a controller: its switches, and the search of every history with them.

use optimist_client::visible;
use optimist_code::{SwitchableLine, switchable_lines};
use optimist_controller::program::{ReadyProgram, Switch};
use optimist_lesson::{SwitchChallenge, SwitchFinding};
use optimist_messages::controller::{switch, witness};
use optimist_messages::{ask, label};
use optimist_simulation::HistoryTree;
use yew::{Html, classes, html};

use crate::components::icon::{Icon, icon};
use crate::state::{Course, LearnMsg, Sends, StateHandle};

/// Shows the switches of the program, the button that searches, and the results.
pub(super) fn switches(store: &StateHandle, course: &Course, challenge: &SwitchChallenge) -> Html {
    let program = SwitchChallenge::program(course.walk.lesson());
    let all = program.map_or(&[][..], |ready| ready.name.switches());
    let chosen = course.switches.chosen(challenge);
    let row = |one: &Switch| {
        html! {
            <li>
                <label>
                    <input
                        type="checkbox"
                        checked={chosen.contains(one)}
                        onchange={store.sends(LearnMsg::Switch(*one))}
                    />
                    { switch(*one) }
                </label>
            </li>
        }
    };
    let searching = store.learn.is_searching();
    let primary = (!course.walk.solved()).then_some("primary");
    html! {
        <>
            if let Some(ready) = program {
                { program_lines(store, &ready.clone().with(chosen.iter().copied())) }
            }
            <ul class="switches">{ for all.iter().map(row) }</ul>
            <button
                type="button"
                class={classes!("button", "check-orders", primary)}
                disabled={searching}
                onclick={store.sends(LearnMsg::Search)}
            >
                { if searching { label::switches_trying() } else { label::switches_try() } }
            </button>
            if let Some(found) = &course.switches.found {
                { finding(&found.0, found.1.as_ref()) }
            }
        </>
    }
}

/// The program with its switches, each at the first of the lines that it changes.
fn program_lines(store: &StateHandle, ready: &ReadyProgram) -> Html {
    let lines = switchable_lines(ready, store.controller.language);
    let before = std::iter::once(&[][..]).chain(lines.iter().map(|line| &line.switches[..]));
    let line = |(line, before): (&SwitchableLine, &[Switch])| {
        let first = line.switches.iter().filter(|it| !before.contains(it));
        let button = |one: &Switch| {
            html! {
                <button
                    type="button"
                    class="line-switch"
                    aria-pressed={ready.is_on(*one).to_string()}
                    onclick={store.sends(LearnMsg::Switch(*one))}
                >
                    { switch(*one) }
                </button>
            }
        };
        let class = classes!(
            "program-line",
            (!line.switches.is_empty()).then_some("switchable"),
            (!line.is_present).then_some("absent"),
        );
        html! {
            <li {class} style={format!("--depth:{}", line.depth)}>
                if !line.is_present {
                    <span class="unseen">{ label::switch_line_absent() }{ " " }</span>
                }
                <code>{ visible(&line.text).into_owned() }</code>
                { for first.map(button) }
            </li>
        }
    };
    html! {
        <div class="switch-program" role="group" tabindex="0" aria-label={label::switches_program()}>
            <ol>{ for lines.iter().zip(before).map(line) }</ol>
        </div>
    }
}

fn finding(finding: &SwitchFinding, tree: Option<&HistoryTree>) -> Html {
    let met = finding.is_met();
    let class = classes!(if met { "ok" } else { "lost" }, (!met).then_some("against"));
    let steps = tree.into_iter().flat_map(|tree| {
        let steps = tree
            .current_path()
            .iter()
            .filter_map(|node| tree.step(*node));
        steps.map(|step| ask(step, tree.world()))
    });
    html! {
        <div class="found" role="status">
            <p>{ label::switches_states(&finding.states) }</p>
            if let (true, Some(count)) = (met, finding.most_versions) {
                <p>{ label::switches_most_versions(&count) }</p>
            }
            <ul>
                <li {class}>
                    { icon(if met { Icon::Check } else { Icon::Cross }) }
                    { witness(finding.witness.as_ref(), finding.complete, &finding.needless) }
                </li>
            </ul>
            if tree.is_some() {
                <ol class="switch-history">{ for steps.map(|step| html! { <li>{ step }</li> }) }</ol>
            }
        </div>
    }
}
