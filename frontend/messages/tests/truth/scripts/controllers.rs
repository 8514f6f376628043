//! Histories of controllers that chance does not reach: what a program must not do, how a run ends, and
//! what a cache is answered.

use optimist_controller::program::{
    ControllerOptions, Kind, OnError, Program, ReadyProgram, ReadyProgramName, Statement, Switch,
    WatchedKind,
};
use optimist_controller::{ClientRelease, Handler, ReconcileResult, Source};
use optimist_simulation::{
    Action, ActorId, ByHand, ControllerOperation, ControllerProgram, ControllerStart, Operation,
    Start, Step, WIDGET,
};
use serde_json::{Value, json};

use super::{Hear, MERGE, Script, with};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const EVENTS: &str = "/api/v1/namespaces/default/events";
const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.demo.example.com";

/// The caches of the ready programs: that of the object that they work for, and that of its children.
const PARENTS: usize = 0;
const CHILDREN: usize = 1;

/// Says each history at each of its steps.
pub fn each(hear: Hear<'_>) {
    second_child(hear);
    child_of_a_living_owner(false, hear);
    child_of_a_living_owner(true, hear);
    for result in [ReconcileResult::Error, ReconcileResult::TerminalError] {
        ends_with(result, hear);
    }
    no_such_path(hear);
    ignored_name(hear);
    many_statements(hear);
    undefined(hear);
    pages(hear);
    for name in [ReadyProgramName::Scaler, ReadyProgramName::Copier] {
        without_size(name, hear);
    }
}

impl Script<'_> {
    fn controls(&mut self, operation: ControllerOperation) {
        self.does(Operation::Control(ActorId::C, operation));
    }

    fn connects(&mut self) {
        // A list and a watch of each.
        for cache in [PARENTS, CHILDREN, PARENTS, CHILDREN] {
            self.controls(ControllerOperation::Connect(cache));
        }
    }

    /// Lets the controller work until it has sent such a request.
    fn works_until(&mut self, method: &str) {
        let sends = |step: &Step| {
            let sent = step.exchange.as_ref();
            sent.is_some_and(|sent| sent.method.as_str() == method)
        };
        for _ in 0..20 {
            self.controls(ControllerOperation::Step);
            if self.tree.step(self.tree.current()).is_some_and(sends) {
                break;
            }
        }
    }

    fn works(&mut self, steps: usize) {
        for _ in 0..steps {
            self.controls(ControllerOperation::Step);
        }
    }

    fn sends_by_hand(&mut self, method: &str, target: &str, body: &Value) {
        self.act(ActorId::A, Action::Request(by_hand(method, target, body)));
    }
}

fn by_hand(method: &str, target: &str, body: &Value) -> ByHand {
    ByHand {
        method: method.to_owned(),
        target: target.to_owned(),
        content_type: match method {
            "DELETE" => String::new(),
            _ => "application/json".to_owned(),
        },
        body: match body {
            Value::Null => String::new(),
            body => body.to_string(),
        },
    }
}

fn ready(name: ReadyProgramName, switches: &[Switch]) -> Start {
    Start {
        controllers: [(
            ActorId::C,
            ReadyProgram::new(name)
                .with(switches.iter().copied())
                .into(),
        )]
        .into(),
        ..with(WIDGET)
    }
}

/// The event of the first child stays behind, and the controller makes a second one. A child of nobody
/// wakes no key.
fn second_child(hear: Hear<'_>) {
    let mut script = Script::new(ready(ReadyProgramName::ChildMaker, &[]), hear);
    script.connects();
    script.works_until("POST");
    script.request("PATCH", "", MERGE, json!({"spec": {"size": 5}}));
    script.controls(ControllerOperation::Deliver(PARENTS));
    script.works_until("POST");
    script.works(2);
    let orphan = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "orphan"}});
    script.sends_by_hand("POST", CONFIG_MAPS, &orphan);
    for _ in 0..4 {
        script.controls(ControllerOperation::Deliver(CHILDREN));
    }
    // Its name follows from that of the parent, so that the second creation is refused.
    let derived = ready(ReadyProgramName::ChildMaker, &[Switch::DerivedName]);
    let mut script = Script::new(derived, hear);
    script.connects();
    script.works_until("POST");
    script.request("PATCH", "", MERGE, json!({"spec": {"size": 5}}));
    script.controls(ControllerOperation::Deliver(PARENTS));
    script.works_until("POST");
    script.works(3);
}

/// The event of a child arrives before that of its owner.
fn child_of_a_living_owner(reads_live: bool, hear: Hear<'_>) {
    let switches: &[Switch] = match reads_live {
        true => &[Switch::LiveParent, Switch::UidPrecondition],
        false => &[],
    };
    let mut script = Script::new(ready(ReadyProgramName::Cleaner, switches), hear);
    script.connects();
    let shown = script.tree.world().subject().clone();
    let kind = shown.resource().kind.clone();
    let version = shown.resource().group_version.to_string();
    let widgets = shown.path();
    let widgets = widgets.rsplit_once('/').expect("a path").0.to_owned();
    let owner = json!({"apiVersion": version, "kind": kind, "metadata": {"name": "late"}, "spec": {"size": 1}});
    script.sends_by_hand("POST", &widgets, &owner);
    let step = script.tree.step(script.tree.current());
    let made = step.and_then(|step| step.exchange.as_ref());
    let uid = made.map(|sent| sent.received["metadata"]["uid"].clone());
    let child = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late-child",
        "ownerReferences": [{"apiVersion": version, "kind": kind, "name": "late", "uid": uid,
            "controller": true}]}});
    script.sends_by_hand("POST", CONFIG_MAPS, &child);
    // The cleaner watches the children first.
    for cache in [0, 1] {
        let watched = script.tree.world().controller(ActorId::C);
        let of_children = watched.is_some_and(|it| {
            it.caches()
                .get(cache)
                .is_some_and(|cache| cache.resource().kind == "ConfigMap")
        });
        if of_children {
            script.controls(ControllerOperation::Deliver(cache));
        }
    }
    script.works(12);
}

/// A program that is written out, and of which this is all that it does.
fn written(body: Vec<Statement>) -> Start {
    written_for(ReadyProgram::widget(), body)
}

fn written_for(kind: Kind, body: Vec<Statement>) -> Start {
    let program = Program {
        name: "written".to_owned(),
        watches: vec![WatchedKind {
            kind,
            handler: Handler::Object,
            predicates: Vec::new(),
        }],
        options: ControllerOptions::default(),
        body,
    };
    Start {
        controllers: [(
            ActorId::C,
            ControllerStart::new(ControllerProgram::Written(program)),
        )]
        .into(),
        ..with(WIDGET)
    }
}

fn get(kind: &Kind, name: &str, from: Source) -> Statement {
    Statement::Get {
        into: "object".to_owned(),
        kind: kind.clone(),
        name: name.to_owned(),
        from,
    }
}

/// A run that ends so, without a request.
fn ends_with(result: ReconcileResult, hear: Hear<'_>) {
    let read = get(&ReadyProgram::widget(), "{name}", Source::Cache);
    let mut script = Script::new(written(vec![read, Statement::Return(result)]), hear);
    script.controls(ControllerOperation::Connect(PARENTS));
    script.controls(ControllerOperation::Connect(PARENTS));
    script.works(4);
    // Something changes during the run.
    script.request("PATCH", "", MERGE, json!({"spec": {"size": 5}}));
    script.controls(ControllerOperation::Deliver(PARENTS));
    script.works(1);
    script.request("PATCH", "", MERGE, json!({"spec": {"size": 6}}));
    script.controls(ControllerOperation::Deliver(PARENTS));
    script.works(4);
}

/// A request with a name that no path can have is not sent.
fn no_such_path(hear: Hear<'_>) {
    let read = get(&ReadyProgram::widget(), "no such name", Source::Server);
    let mut script = Script::new(written(vec![read]), hear);
    script.controls(ControllerOperation::Connect(PARENTS));
    script.controls(ControllerOperation::Connect(PARENTS));
    script.works(4);
}

/// A write of such a name is not sent either. The program goes on.
fn ignored_name(hear: Hear<'_>) {
    let make = Statement::New {
        into: "object".to_owned(),
        object: json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "no such/name"}}),
        owner: None,
    };
    let delete = Statement::Delete {
        object: "object".to_owned(),
        uid: false,
        resource_version: false,
        on_error: vec![OnError::ignore("")],
    };
    let mut script = Script::new(written(vec![make, delete]), hear);
    script.controls(ControllerOperation::Connect(PARENTS));
    script.controls(ControllerOperation::Connect(PARENTS));
    script.works(4);
}

/// A program that does very much with its variables before anything that others see.
fn many_statements(hear: Hear<'_>) {
    let copy = Statement::DeepCopy {
        into: "copy".to_owned(),
        of: "object".to_owned(),
    };
    let mut script = Script::new(written(vec![copy; 1_001]), hear);
    script.controls(ControllerOperation::Connect(PARENTS));
    script.controls(ControllerOperation::Connect(PARENTS));
    script.works(3);
}

/// A cache whose list comes in pages: the server keeps no watch cache of Events, and has more than a page has.
fn pages(hear: Hear<'_>) {
    let mut start = written_for(Kind::new("v1", "Event"), Vec::new());
    for controller in start.controllers.values_mut() {
        // A later one begins with a watch.
        controller.release = ClientRelease::V1_34;
    }
    let mut script = Script::new(start, hear);
    for number in 0..501 {
        let made = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("e{number}")},
            "involvedObject": {"namespace": "default"}});
        let request = by_hand("POST", EVENTS, &made);
        let create = Operation::Act(ActorId::A, Action::Request(request));
        script.tree.act(create);
    }
    for _ in 0..4 {
        script.controls(ControllerOperation::Connect(PARENTS));
    }
}

/// The object of the controller has no size, which its properties ask for.
fn without_size(name: ReadyProgramName, hear: Hear<'_>) {
    let mut script = Script::new(ready(name, &[]), hear);
    script.connects();
    script.request("PATCH", "", MERGE, json!({"spec": {"size": null}}));
    script.controls(ControllerOperation::Deliver(PARENTS));
}

/// The kind of a cache is not served any more.
fn undefined(hear: Hear<'_>) {
    let start = ready(ReadyProgramName::ChildMaker, &[]);
    let mut script = Script::new(start, hear);
    script.connects();
    script.controls(ControllerOperation::DropWatch(PARENTS));
    script.sends_by_hand("DELETE", DEFINITION, &Value::Null);
    for _ in 0..3 {
        script.controls(ControllerOperation::Connect(PARENTS));
    }
}
