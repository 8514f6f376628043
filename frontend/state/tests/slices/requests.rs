//! Requests that are written by hand.

use optimist_simulation::{ActorId, ByHand};
use optimist_state::RequestMsg;

use super::page::Page;

fn draft(page: &Page) -> ByHand {
    let draft = page.state.requests.draft.as_ref();
    draft.expect("a request is being written").by_hand.clone()
}

fn choose(page: &mut Page, method: &str) -> ByHand {
    let method = method.to_owned();
    page.send(RequestMsg::ByHand(ByHand {
        method,
        ..draft(page)
    }));
    draft(page)
}

#[test]
fn a_method_brings_a_body_that_it_can_have_and_never_changes_what_was_typed() {
    let mut page = Page::open();
    page.send(RequestMsg::Get(ActorId::A));
    page.send(RequestMsg::Begin(ActorId::A));
    let put = draft(&page);
    assert!(put.body.contains("resourceVersion"), "{put:?}");

    let delete = choose(&mut page, "DELETE");
    assert_eq!((&*delete.content_type, &*delete.body), ("", ""));
    let patch = choose(&mut page, "PATCH");
    assert_eq!(
        (&*patch.content_type, &*patch.body),
        ("application/merge-patch+json", "{}")
    );
    assert_eq!(choose(&mut page, "PUT"), put);

    let target = format!("{}?dryRun=All", put.target);
    page.send(RequestMsg::ByHand(ByHand {
        target: target.clone(),
        ..put
    }));
    assert_eq!(choose(&mut page, "DELETE").target, target);

    let body = "{\"kind\": \"DeleteOptions\"}";
    page.send(RequestMsg::ByHand(ByHand {
        body: body.to_owned(),
        ..draft(&page)
    }));
    assert_eq!(choose(&mut page, "PATCH").body, body);
}
