//! The actors, the server and the timeline.

use optimist_messages::label;
use yew::{Html, classes, html};

use super::divider::divider;
use super::{
    Cards, Timeline, branch_notice, caption, header, inspector, kept_notice, lane_tabs, transport,
};
use crate::state::StateHandle;

/// Shows the actors, the server and the timeline, beside the lesson that is taken.
pub(crate) fn stage(store: &StateHandle, lesson: Option<Html>) -> Html {
    html! {
        <>
            <a class="skip" href="#history">{ label::skip() }</a>
            <div
                class={classes!("page", store.learn.is_on_stage().then_some("learning"))}
                data-lane={store.view.lane.slug()}
                data-first-visit={store.shows_only_the_first_steps().then_some("true")}
                data-controller={store.world().controller(store.view.right).map(|_| "true")}
                data-teaching={store.learn.teaching.then_some("true")}
            >
                { header(store) }
                { for lesson }
                { caption(store) }
                <main class="stage" style={store.view.cards.map(|height| format!("--cards:{height}%"))}>
                    { for store.branch_point().map(branch_notice) }
                    { kept_notice(store) }
                    { lane_tabs(store) }
                    <Cards store={store.clone()} />
                    { divider(store) }
                    <Timeline store={store.clone()} />
                </main>
                { inspector(store) }
                { transport(store) }
            </div>
            <p class="unseen" role="status" aria-live="polite">{ optimist_messages::announcement(&store.session.tree) }</p>
        </>
    }
}
