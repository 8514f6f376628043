//! The ways out of a conflict, each one run.

use std::rc::Rc;

use optimist_client::visible;
use optimist_diagnose::completions::RemedyEffect;
use optimist_messages::{diagnose as messages, label};
use yew::{AttrValue, Html, classes, html};

use super::messages::instruction;
use crate::components::Copy;
use crate::state::{ChangeRun, DiagnoseMsg, Sends, SettledConflict, StateHandle};

/// Draws the ways out, those that settle the conflict first, then those that settle some.
pub(super) fn remedies(store: &StateHandle, run: &ChangeRun) -> Html {
    let outs = run.remedies.iter().flatten();
    let may_settle = |it: &&Rc<SettledConflict>| it.out.settling() != RemedyEffect::DoesNotSettle;
    let (mut settling, others): (Vec<_>, Vec<_>) = outs.partition(may_settle);
    settling.sort_by_key(|it| it.out.settling());
    if settling.is_empty() && others.is_empty() {
        return Html::default();
    }
    html! {
        <section class="ways-out" aria-label={label::out_title()}>
            <h2>{ label::out_title() }</h2>
            { for settling.iter().map(|one| remedy(store, one)) }
            if settling.is_empty() {
                { for others.iter().map(|one| remedy(store, one)) }
            } else if !others.is_empty() {
                <details>
                    <summary>{ messages::not_settling(others.iter().map(|it| &it.out)) }</summary>
                    <div class="ways-out">
                        { for others.iter().map(|one| remedy(store, one)) }
                    </div>
                </details>
            }
        </section>
    }
}

fn remedy(store: &StateHandle, settled: &SettledConflict) -> Html {
    let out = &settled.out;
    let (title, says) = messages::remedy(out);
    html! {
        <article class={classes!("way-out", out.settles.then_some("settles"))}>
            <h3>{ title.clone() }</h3>
            <p>{ says }</p>
            if out.settles {
                <p class="ok">{ messages::out_settles(out) }</p>
            }
            <ul class="says">
                { for messages::row_notes(&out.row).into_iter().map(|note| html! {
                    <li>{ visible(&note).into_owned() }</li>
                }) }
            </ul>
            { for settled.instructions.iter().map(instruction) }
            if settled.instructions.is_empty() {
                <p class="says">
                    { if settled.made_up { label::out_made_up() } else { label::out_none() } }
                </p>
            }
            <div class="row-actions">
                <button
                    type="button"
                    class="button"
                    aria-label={label::ways_step_through(&title)}
                    onclick={store.sends(DiagnoseMsg::StepOut(out.kind))}
                >
                    { label::ways_step() }
                </button>
                if settled.can_be_explored {
                    <button
                        type="button"
                        class="button"
                        aria-label={label::ways_between_of(&title)}
                        onclick={store.sends(DiagnoseMsg::InBetweenOut(out.kind))}
                    >
                        { label::ways_between() }
                    </button>
                }
                if !settled.manifest.is_empty() {
                    <Copy
                        text={AttrValue::from(settled.manifest.clone())}
                        label={Some(AttrValue::from(label::out_copy_manifest()))}
                    />
                }
            </div>
        </article>
    }
}
