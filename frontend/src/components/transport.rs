//! Stepping back and forth, and where in the history we are.

use optimist_core::sim::{ActorId, Exchange, NodeId, Outcome};
use web_sys::HtmlInputElement;
use yew::{Html, InputEvent, TargetCast, classes, html};

use super::fold::counted;
use super::icon::{Icon, icon};
use crate::state::{Dialog, Msg, Sends, Store};
use crate::words;

/// With more steps than this, marks are ticks: a long history must not cost an element a step.
const CROWDED: usize = 60;

pub(crate) fn transport(store: &Store) -> Html {
    let tree = &store.tree;
    let line = tree.line();
    let (here, last) = (tree.position(), line.len() - 1);
    let conflicts = line[..=here]
        .iter()
        .filter_map(|&node| tree.step(node))
        .filter(|step| step.exchange.as_ref().is_some_and(Exchange::is_conflict))
        .count();
    let past = line[..=here].iter().filter_map(|&node| tree.step(node));
    let lost: usize = past.map(|step| step.losses.len()).sum();
    let histories = tree.ends().len();
    let button = |msg: Msg, label: &'static str, class: &'static str, sign, off: bool| {
        html! {
            <button
                type="button"
                class={classes!("icon-button", class)}
                aria-label={label}
                title={label}
                disabled={off}
                onclick={store.sends(msg)}
            >
                { icon(sign) }
            </button>
        }
    };
    let (play, sign) = if store.playing {
        ("Pause", Icon::Pause)
    } else {
        ("Play the history", Icon::Play)
    };
    html! {
        <footer class="transport" aria-label="Steps">
            { button(Msg::First, "First", "first", Icon::First, here == 0) }
            { button(Msg::Back, "Back", "back", Icon::Back, here == 0) }
            { button(Msg::Forward, "Forward", "forward", Icon::Forward, here == last) }
            { button(Msg::Last, "Last", "last", Icon::Last, here == last) }
            { button(Msg::Play, play, "play", sign, last == 0) }
            <span class="position">{ format!("step {here} / {last}") }</span>
            { scrubber(store, &line, here) }
            if histories > 1 {
                <button
                    type="button"
                    class="button small histories"
                    onclick={store.sends(Msg::Dialog(Some(Dialog::Branches)))}
                >
                    { format!("{histories} histories") }
                </button>
            }
            if lost > 0 {
                <span class="chip lost">{ counted(lost, "lost update") }</span>
            }
            <span class={classes!("chip", "conflicts", if conflicts > 0 { "refused" } else { "plain" })}>
                if conflicts > 0 {
                    { counted(conflicts, "conflict") }
                } else {
                    { "no conflict" }
                }
            </span>
        </footer>
    }
}

fn scrubber(store: &Store, line: &[NodeId], here: usize) -> Html {
    let last = line.len() - 1;
    let share = |position: usize| position as f64 / last.max(1) as f64;
    let mark = |(position, node): (usize, &NodeId)| {
        let step = store.tree.step(*node);
        let slug = step.map_or("start", words::slug);
        let refused = step.is_some_and(|step| step.outcome() == Outcome::Refused);
        let class = classes!(
            "mark",
            slug,
            refused.then_some("refused"),
            step.is_some_and(|step| !step.losses.is_empty())
                .then_some("lossy"),
            (position > here).then_some("future"),
            (position == here).then_some("current"),
        );
        html! {
            <span {class} style={format!("--at:{:.4}", share(position))} key={position}>
                if refused {
                    { icon(Icon::Cross) }
                }
            </span>
        }
    };
    let step = store.tree.step(store.tree.current());
    let text = step.map_or("start".to_owned(), |step| words::sentence(store, step));
    let oninput = store.on(|event: InputEvent| {
        let input = event.target_dyn_into::<HtmlInputElement>();
        let position = input.and_then(|input| input.value().parse().ok());
        Msg::Seek(position.unwrap_or(0))
    });
    html! {
        <div class="scrubber">
            <span class="rail" />
            <span class="rail done" style={format!("--at:{:.4}", share(here))} />
            if last > CROWDED {
                { ticks(store, line) }
                <span class="mark current" style={format!("--at:{:.4}", share(here))} />
            } else {
                { for line.iter().enumerate().map(mark) }
            }
            <input
                type="range"
                min="0"
                max={last.to_string()}
                value={here.to_string()}
                disabled={last == 0}
                aria-label="Step"
                aria-valuetext={format!("step {here} of {last}: {text}")}
                {oninput}
            />
        </div>
    }
}

/// All steps as five paths: what lost an update, A's, B's, the refused, and those of neither.
#[inline(never)] // not on the first screen
fn ticks(store: &Store, line: &[NodeId]) -> Html {
    let mut paths = [
        ("lossy", String::new()),
        ("a", String::new()),
        ("b", String::new()),
        ("refused", String::new()),
        ("server", String::new()),
    ];
    for (position, &node) in line.iter().enumerate() {
        let Some(step) = store.tree.step(node) else {
            continue;
        };
        let (path, reach) = match (step.outcome(), step.actor()) {
            _ if !step.losses.is_empty() => (0, "-4V14"),
            (Outcome::Refused, _) => (3, "-4V14"),
            (_, Some(ActorId::A)) => (1, " 0V5"),
            (_, Some(ActorId::B)) => (2, " 5V10"),
            (_, Some(ActorId::C) | None) => (4, " 3V7"),
        };
        paths[path].1.push_str(&format!("M{position}{reach}"));
    }
    html! {
        <svg
            class="ticks"
            viewBox={format!("0 0 {} 10", line.len() - 1)}
            preserveAspectRatio="none"
            aria-hidden="true"
        >
            { for paths.into_iter().map(|(class, d)| html! { <path {class} {d} /> }) }
        </svg>
    }
}
