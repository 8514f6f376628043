//! Explore with the edits of more than three actors of Play.

use optimist_links::Session;
use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
use optimist_tests::page::{Browser, Site, dist};

use super::says_nothing;

/// A Deployment that A, B, D and F have read, each with an edit that is not sent.
fn edited() -> HistoryTree {
    let (world, _) = World::load(NGINX).expect("the example loads");
    let mut tree = HistoryTree::new(world);
    let edits = [
        (ActorId::A, "replicas", 5.into()),
        (ActorId::B, "paused", true.into()),
        (ActorId::D, "minReadySeconds", 7.into()),
        (ActorId::F, "replicas", 2.into()),
    ];
    for (actor, field, value) in edits {
        tree.act(Operation::Act(actor, Action::Get));
        let copy = tree.world_mut().copy_mut(actor);
        let mut object = (**copy.edited().expect("it has read")).clone();
        object["spec"][field] = value;
        copy.edit(object);
    }
    tree
}

#[test]
#[ignore = "needs the release site: cargo xtask test page"]
fn the_edits_of_all_actors_of_play_are_ordered_and_open_again_under_their_letters() {
    let site = Site::serve(&dist());
    for width in [1440, 390] {
        let browser = Browser::start();
        browser.resize(width, 900);
        let mut session = Session::from_tree(&edited());
        session.page = "play".to_owned();
        browser.go(&format!("{}#/play?s={}", site.url(), session.to_text()));
        let there = "return document.querySelector('.to-explore:enabled')";
        browser.wait("the way to Explore", there, &[]);
        browser.run("document.querySelector('.to-explore').click()", &[]);
        let acting = "
            const chosen = [...document.querySelectorAll('.explore-setup option:checked')];
            return chosen.some(it => it.textContent === 'D, F: the edits in Play')";
        browser.wait("the actors of Play", acting, &[]);
        let mixed = "
            const letters = [...document.querySelectorAll('.mixed b')].map(it => it.textContent);
            return letters.join('') === 'ABDF'";
        browser.wait("a way of writing for each", mixed, &[]);
        let beside = "return document.documentElement.scrollWidth <= innerWidth";
        browser.wait("the width of the page", beside, &[]);
        // A property can name them.
        browser.run(
            "document.querySelector('.own-property summary').click()",
            &[],
        );
        browser.run(
            "document.querySelector('.own-property textarea').focus()",
            &[],
        );
        browser.type_text("before: [D writes, F writes]");
        browser.run(
            "document.querySelector('.own-property [type=submit]').click()",
            &[],
        );
        let broken = "
            const said = document.querySelector('.witness.property.refused')?.innerText ?? '';
            return said.includes('F PUT') && said.includes('A, B, D, F')";
        browser.wait("the order that breaks it", broken, &[]);
        let open = "document.querySelector('.witness.property.refused button').click()";
        browser.run(open, &[]);
        let last = "return document.body.innerText.includes('Editor F made version 101')";
        browser.wait("the write of F", last, &[]);
        says_nothing(&browser);
    }
}
