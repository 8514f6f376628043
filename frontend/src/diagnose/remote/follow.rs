//! An object is followed: its versions are read while they come. `core` says which request comes next and what its
//! answer means; here bytes are read.

use std::cell::Cell;
use std::rc::Rc;

use gloo_timers::future::TimeoutFuture;
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::remote::{FollowedPart, Following, RemoteKind, RemoteRequest, WatchReading};
use optimist_messages::label;
use optimist_messages::remote::not_answered;
use serde_json::json;

use super::asking::{Asking, AskingError};
use super::fetch::{StreamPlace, WatchAnswer, open};
use super::state::RemoteAction;
use crate::state::{DiagnoseMsg, Sends};

/// The pause between two requests, in milliseconds.
const PAUSE: u32 = 500;

/// The state of following an object. The one who follows and the one who ends it share it.
#[derive(Default)]
pub(super) struct Follows {
    is_ended: Cell<bool>,
    stream: StreamPlace,
}

impl Follows {
    /// Ends it now, also in the middle of an answer.
    pub(super) fn end(&self) {
        self.is_ended.set(true);
        self.stream.cancel();
    }
}

impl Asking {
    /// Follows an object until it is ended, or until the server does not go on.
    pub(super) async fn follow(
        self,
        kind: RemoteKind,
        place: (String, String),
        secrets: bool,
        follows: Rc<Follows>,
    ) {
        let followed = self.versions(&kind, &place, secrets, &follows).await;
        // Who ended it may follow another one by now.
        if follows.is_ended.replace(true) {
            return;
        }
        self.card.dispatch(RemoteAction::Following(None));
        if let Err(why) = followed {
            self.card.dispatch(RemoteAction::Failed(why));
        }
    }

    async fn versions(
        &self,
        kind: &RemoteKind,
        (namespace, name): &(String, String),
        secrets: bool,
        follows: &Follows,
    ) -> Result<(), AskingError> {
        let (object, definition) = self.object(kind, (namespace, name), secrets).await?;
        if follows.is_ended.get() {
            return Ok(());
        }
        if let Some(definition) = definition {
            self.page.send(DiagnoseMsg::Bring(definition.to_string()));
        }
        let lines = format!("{}\n", json!({"type": "ADDED", "object": object}));
        self.page.send(DiagnoseMsg::Follow { lines, anew: true });
        let about = ObjectId::from_object(&object).to_string();
        self.card.dispatch(RemoteAction::Following(Some(about)));
        let mut following = Following::new(kind, &object, secrets);
        let mut reading = WatchReading::Stream;
        while !follows.is_ended.get() {
            let request = following.request(reading);
            let request = request.ok_or_else(label::remote_no_path)?;
            if following.lists() {
                let (target, answer) = self.ask(Some(request)).await?;
                self.receive(follows, &target, following.listed(&answer))?;
            } else if reading == WatchReading::Stream {
                reading = self.streamed(&mut following, &request, follows).await?;
            } else {
                let (target, answer) = self.ask(Some(request)).await?;
                let part = match answer.code {
                    200 => following.whole(&answer),
                    _ => following.refused(&answer),
                };
                self.receive(follows, &target, part)?;
            }
            TimeoutFuture::new(PAUSE).await;
        }
        Ok(())
    }

    /// Reads a watch while it comes, to its end. Returns how the next one is read: as a whole, if this one could not
    /// be read.
    async fn streamed(
        &self,
        following: &mut Following,
        request: &RemoteRequest,
        follows: &Follows,
    ) -> Result<WatchReading, AskingError> {
        let target = request.target();
        let opened = open(request, &follows.stream).await;
        let opened = opened.map_err(|why| label::remote_unanswered(&target, &why))?;
        let stream = match opened {
            WatchAnswer::Stream(stream) => stream,
            WatchAnswer::NoStream => return Ok(WatchReading::Whole),
            WatchAnswer::Refused(answer) => {
                self.receive(follows, target, following.refused(&answer))?;
                return Ok(WatchReading::Stream);
            }
        };
        let mut has_come = false;
        while !follows.is_ended.get() {
            match stream.next().await {
                Ok(Some(bytes)) => {
                    has_come = true;
                    self.receive(follows, target, following.read(&bytes))?;
                    if following.lists() {
                        follows.stream.cancel();
                        break;
                    }
                }
                Ok(None) => {
                    self.receive(follows, target, following.ended())?;
                    break;
                }
                // It broke off: the next one goes on after the last version that came whole.
                Err(_) if has_come => {
                    following.ended();
                    break;
                }
                Err(_) => return Ok(WatchReading::Whole),
            }
        }
        Ok(WatchReading::Stream)
    }

    /// Takes what part of an answer says, unless it came after the end.
    fn receive(
        &self,
        follows: &Follows,
        target: &str,
        part: FollowedPart,
    ) -> Result<(), AskingError> {
        if follows.is_ended.get() {
            return Ok(());
        }
        let lines = part.lines;
        if !lines.is_empty() {
            self.page.send(DiagnoseMsg::Follow { lines, anew: false });
        }
        if part.has_gap {
            self.card
                .dispatch(RemoteAction::Done(vec![label::remote_gap()]));
        }
        match part.problem {
            None => Ok(()),
            Some(why) => Err(not_answered(target, &why)),
        }
    }
}
