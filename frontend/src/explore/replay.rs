//! Opening a history in Play.

use std::rc::Rc;

use optimist_simulation::explore::{PRESETS, Search, StateId, TransitionId, replayed};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{HistoryTree, World};
use yew::{Callback, MouseEvent};

use super::{Explored, sentences};
use crate::browser;
use crate::state::{
    EditSource, ExploreMsg, MapFocus, Msg, Page, PersistenceMsg, Sends, SessionMsg, StateHandle,
};

/// Edits of Play are done again as a branch of the session that they are from.
fn open(
    store: &StateHandle,
    model: &Explored,
    search: &Search,
    path: &[TransitionId],
    steps: usize,
) -> Option<()> {
    let message: Msg = match &model.setup.subject {
        EditSource::Preset(ready) => {
            let (world, _) = World::load(PRESETS.get(*ready)?.manifest).ok()?;
            let tree = replayed(search, path, steps, HistoryTree::new(world));
            PersistenceMsg::Enter(Rc::new(tree)).into()
        }
        EditSource::Editors(asked, _) => {
            let mut tree = (*store.session.tree).clone();
            // It may be another session by now, or that history may be deleted.
            let branch = asked.session == Some(store.session.number) && tree.go(asked.node);
            if !branch {
                if asked.between.is_some() {
                    // A case begins with its object: both read in every order.
                    tree = HistoryTree::new(asked.tree.origin().clone());
                } else {
                    tree = (*asked.tree).clone();
                    tree.go(asked.node);
                }
            }
            let mut tree = replayed(search, path, steps, tree);
            if let Some(end) = tree.current_path().last() {
                tree.set_name(*end, &sentences::name(model, model.chosen));
            }
            if branch {
                SessionMsg::Branch(Rc::new(tree)).into()
            } else {
                PersistenceMsg::Enter(Rc::new(tree)).into()
            }
        }
    };
    store.send(message);
    browser::go(Page::Play.fragment());
    Some(())
}

/// Opens the shortest history with a verdict, where that is decided.
pub(super) fn ending(
    store: &StateHandle,
    model: &Explored,
    search: &Rc<Search>,
    verdict: Verdict,
) -> Callback<MouseEvent> {
    let (store, model, search) = (store.clone(), model.clone(), Rc::clone(search));
    Callback::from(move |_| {
        if let Some(end) = search.shortest(verdict) {
            let path = search.path_to(end);
            open(&store, &model, &search, &path, search.deciding(&path));
        }
    })
}

/// Opens a shortest history to a state, where it is decided.
pub(super) fn state(
    store: &StateHandle,
    model: &Explored,
    search: &Rc<Search>,
    state: StateId,
) -> Callback<MouseEvent> {
    let (store, model, search) = (store.clone(), model.clone(), Rc::clone(search));
    Callback::from(move |_| {
        let path = search.path_to(state);
        open(&store, &model, &search, &path, search.deciding(&path));
    })
}

/// Opens a history at its end.
pub(super) fn path(
    store: &StateHandle,
    model: &Explored,
    search: &Rc<Search>,
    path: &[TransitionId],
) -> Callback<MouseEvent> {
    let (store, model, search) = (store.clone(), model.clone(), Rc::clone(search));
    let path = path.to_vec();
    Callback::from(move |_| {
        open(&store, &model, &search, &path, path.len());
    })
}

/// Opens the element that is pointed at on the map. A finger points by touching: it opens only an
/// element that it has touched before.
pub(super) fn focused(
    store: &StateHandle,
    model: &Explored,
    search: &Rc<Search>,
    focus: MapFocus,
) -> Callback<MouseEvent> {
    let (store, search, model) = (store.clone(), Rc::clone(search), model.clone());
    Callback::from(move |event: MouseEvent| {
        let touched = browser::is_touch(&event);
        if touched && model.focus != Some(focus) {
            model.dispatch(ExploreMsg::Focus(Some(focus)));
            return;
        }
        let (path, steps) = match focus {
            MapFocus::State(id) => (search.path_through(id), search.path_to(id).len()),
            MapFocus::Edge(id) => {
                let Some(edge) = search.edges().get(id) else {
                    return;
                };
                let mut path = search.path_to(edge.from);
                path.push(id);
                let steps = path.len();
                let on = search.path_through(edge.to);
                path.extend(on.into_iter().skip(search.path_to(edge.to).len()));
                (path, steps)
            }
            MapFocus::Ending(_) => return,
        };
        open(&store, &model, &search, &path, steps);
    })
}
