//! The state of Explore: its searches, and its selection in links.

use std::rc::Rc;

use optimist_client::{Preset, WriteMethod};
use optimist_simulation::explore::{
    Comparison, HistoryAnswer, PRESETS, Plan, Search, Tally, ThirdActor,
};
use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, Operation, World};
use optimist_state::{
    EditSource, ExploreModel, ExploreMsg, ExploreRequest, ExploreRow, ExploreSetup, MapFocus,
    MixedWay, RowState, SearchTurn, ThirdActorChoice, bar_parts,
};
use serde_json::{Value, json};

fn running() -> ExploreRow {
    let mut row = ExploreModel::new().rows.remove(0);
    row.state = RowState::Running;
    row
}

#[test]
fn the_parts_of_a_bar_are_to_scale_and_what_is_rare_has_a_mark() {
    let tally = |in_object, refused, lost| Tally {
        in_object,
        refused,
        lost,
        ..Tally::default()
    };
    let parts = |tally: Tally| -> Vec<(u128, f64, Option<f64>)> {
        let parts = bar_parts(&tally).into_iter();
        parts.map(|it| (it.count, it.share, it.mark)).collect()
    };
    assert_eq!(
        parts(tally(2, 80, 0)),
        [(2, 2.0 / 82.0, None), (80, 80.0 / 82.0, None)]
    );
    let (rare, most) = (2.0 / 3372.0, 3370.0 / 3372.0);
    let found = parts(tally(2, 0, 3370));
    assert_eq!(found, [(2, rare, Some(0.0)), (3370, most, None)]);
    let marks: Vec<_> = parts(tally(998, 1, 1)).iter().map(|it| it.2).collect();
    assert_eq!(marks, [None, Some(-0.5), Some(0.5)], "side by side");
    assert_eq!(parts(Tally::default()), []);
}

#[test]
fn the_ways_are_grouped_once_every_order_of_each_is_searched() {
    let preset = PRESETS.iter().find(|it| it.slug == "different-fields");
    let scenario = preset.and_then(|it| it.scenario().ok()).unwrap();
    let mut model = ExploreModel::new();
    assert_eq!(model.groups, None, "nothing is searched");
    for at in 0..model.mixed_row() {
        let way = model.ways[model.way_of(at).unwrap()];
        let mut search = Search::new(scenario.clone().in_ways(&[way, way], 1).unwrap(), 10_000);
        search.run();
        assert_eq!(model.groups, None, "row {at} is not searched yet");
        let row = ExploreRow {
            tally: search.tally(),
            states: search.states(),
            answer: None,
            state: RowState::Done(Rc::new(search)),
        };
        model.update(ExploreMsg::Report {
            turn: model.turn.number(),
            rows: vec![(at, row)],
            ended: false,
        });
    }
    let groups = model.groups.as_ref().expect("all are searched");
    assert_eq!(groups.possible, [0], "only an Update without a version");
    let way = |row: &usize| model.ways[model.way_of(*row).unwrap()];
    let refused: Vec<_> = groups.never_stored.iter().map(way).collect();
    assert_eq!(refused, [WriteMethod::Apply], "of fields that others own");
    assert_eq!(groups.never.len(), model.mixed_row() - 2);
    // The first two rows: the one loses an edit where the other gets a 409.
    assert_eq!(model.comparison, None, "no other row is chosen");
    model.update(ExploreMsg::Compare(Some(1)));
    assert!(matches!(&model.comparison, Some(Comparison::Differs(steps)) if steps.len() == 4));
    model.update(ExploreMsg::Choose(1));
    assert_eq!(model.comparison, None, "a row beside itself");
    model.update(ExploreMsg::Compare(Some(99)));
    assert_eq!(model.compared, None, "there is no such row");
    model.update(ExploreMsg::Setup(ExploreSetup {
        tries: 2,
        ..model.setup.clone()
    }));
    assert_eq!(model.groups, None, "another question");
}

#[test]
fn a_report_that_comes_after_its_search_was_cancelled_does_not_count() {
    let mut turn = SearchTurn::default();
    turn.start_next();
    let cancelled = turn.number();
    assert!(turn.report(cancelled, false) && turn.is_running());
    turn.cancel();
    assert!(!turn.report(cancelled, false));
    assert!(!turn.is_running());
    // Nor does it when it comes after the search was begun again.
    turn.start_next();
    assert!(!turn.report(cancelled, true));
    assert!(turn.is_running());
    assert!(turn.report(turn.number(), true) && !turn.is_running());
    assert!(!turn.report(turn.number(), false) && !turn.is_running());
}

#[test]
fn a_cancelled_search_takes_no_report_until_it_is_begun_again() {
    let mut model = ExploreModel::new();
    let turn = model.turn.number();
    let report = |turn| ExploreMsg::Report {
        turn,
        rows: vec![(0, running())],
        ended: false,
    };
    model.update(report(turn));
    assert!(matches!(model.rows[0].state, RowState::Running));
    model.update(ExploreMsg::Cancel);
    let cancelled = |row: &ExploreRow| matches!(row.state, RowState::Cancelled);
    assert!(model.rows.iter().all(cancelled));
    model.update(report(turn));
    assert!(model.rows.iter().all(cancelled));
    model.update(ExploreMsg::Again);
    let waits = |row: &ExploreRow| matches!(row.state, RowState::Waiting);
    assert!(model.rows.iter().all(waits) && model.turn.is_running());
    model.update(report(model.turn.number()));
    assert!(matches!(model.rows[0].state, RowState::Running));
}

#[test]
fn other_methods_in_the_mixed_row_search_only_that_row_again() {
    let mut model = ExploreModel::new();
    let rows = (0..model.rows.len()).map(|at| (at, running())).collect();
    let turn = model.turn.number();
    model.update(ExploreMsg::Report {
        turn,
        rows,
        ended: true,
    });
    model.update(ExploreMsg::Focus(Some(MapFocus::State(0))));
    let mut setup = model.setup.clone();
    setup.mixed[0] = (MixedWay::Method(2), false);
    model.update(ExploreMsg::Setup(setup.clone()));
    assert_eq!(model.chosen, model.mixed_row());
    assert_eq!(model.focus, None);
    let (mixed, others) = model.rows.split_last().unwrap();
    assert!(matches!(mixed.state, RowState::Waiting));
    assert!(
        others
            .iter()
            .all(|row| matches!(row.state, RowState::Running))
    );
    model.update(ExploreMsg::Setup(ExploreSetup { tries: 2, ..setup }));
    assert!(
        model
            .rows
            .iter()
            .all(|row| matches!(row.state, RowState::Waiting))
    );
}

fn request(tree: HistoryTree, setup: Value) -> ExploreRequest {
    ExploreRequest {
        count: 1,
        node: tree.current(),
        tree: Rc::new(tree),
        session: None,
        setup,
        between: None,
    }
}

fn tree() -> HistoryTree {
    HistoryTree::new(World::load(NGINX).unwrap().0)
}

/// All actors have read, and these have edits.
fn edited_by(actors: &[ActorId]) -> HistoryTree {
    let mut tree = tree();
    for actor in ActorId::ALL {
        tree.act(Operation::Act(actor, Action::Get)).unwrap();
    }
    for (actor, replicas) in actors.iter().zip(5..) {
        let copy = tree.world_mut().copy_mut(*actor);
        let mut object = (**copy.edited().unwrap()).clone();
        object["spec"]["replicas"] = json!(replicas);
        copy.edit(object);
    }
    tree
}

#[test]
fn a_selection_comes_back_from_its_link() {
    let mut model = ExploreModel::new();
    model.update(ExploreMsg::Setup(ExploreSetup {
        subject: EditSource::Preset(3),
        third: Some(ThirdActorChoice::Preset(ThirdActor::Annotates)),
        reads_first: false,
        tries: 3,
        micro_steps: true,
        loses_answer: true,
        mixed: [
            (2, false),
            (0, true),
            (5, false),
            (4, true),
            (4, true),
            (4, true),
        ]
        .map(|(way, reads)| (MixedWay::Method(way), reads)),
        property: "before: [A writes,\n  C reads]".to_owned(),
    }));
    for row in [4, model.mixed_row()] {
        model.update(ExploreMsg::Choose(row));
        let opened = ExploreModel::new().requested(&request(tree(), model.to_json()));
        assert_eq!(opened, (model.setup.clone(), row));
    }
}

/// A model whose rows in which all actors write alike are searched, with the answers to its property.
fn searched(mut model: ExploreModel) -> ExploreModel {
    let preset = PRESETS.iter().find(|it| it.slug == "different-fields");
    let scenario = preset.and_then(|it| it.scenario().ok()).unwrap();
    let rows = (0..model.mixed_row()).map(|at| {
        let way = model.ways[model.way_of(at).unwrap()];
        let mut search = Search::new(scenario.clone().in_ways(&[way, way], 1).unwrap(), 10_000);
        search.run();
        let property = model.property.as_ref().and_then(|read| read.as_ref().ok());
        let row = ExploreRow {
            tally: search.tally(),
            states: search.states(),
            answer: property.map(|property| search.judge(property)),
            state: RowState::Done(Rc::new(search)),
        };
        (at, row)
    });
    let (turn, rows) = (model.turn.number(), rows.collect());
    let ended = true;
    model.update(ExploreMsg::Report { turn, rows, ended });
    model
}

#[test]
fn another_property_is_judged_again_and_nothing_is_searched_again() {
    let mut model = searched(ExploreModel::new());
    assert_eq!(model.property_answers(), None, "nothing is asked");
    let ask = |model: &mut ExploreModel, property: &str| {
        model.update(ExploreMsg::Setup(ExploreSetup {
            property: property.to_owned(),
            ..model.setup.clone()
        }));
    };
    ask(&mut model, "never: lost edit");
    assert!(model.turn.is_running());
    assert!(
        model.rows[..model.mixed_row()]
            .iter()
            .all(|row| row.search().is_some())
    );
    assert_eq!(model.property_answers(), None, "nothing is judged yet");
    let mut model = searched(model);
    let answers = model.property_answers().expect("all are judged");
    assert!(matches!(&answers[0], HistoryAnswer::Broken(path) if path.len() == 4));
    // Another one owns the fields: each apply is refused, and so nobody tries.
    let refused = WriteMethod::MATRIX
        .iter()
        .position(|way| *way == WriteMethod::Apply);
    for (at, answer) in answers.iter().enumerate().skip(1) {
        let wanted = match Some(at) == refused {
            true => HistoryAnswer::Untried,
            false => HistoryAnswer::Holds,
        };
        assert_eq!(*answer, wanted, "{:?}", model.ways[at]);
    }
    // What is wrong in it is said, and there is no answer.
    ask(&mut model, "never: [lost edits]");
    let error = model
        .property
        .clone()
        .and_then(Result::err)
        .expect("a word is wrong");
    assert_eq!((error.line, error.column), (1, 9));
    assert_eq!(model.property_answers(), None);
    ask(&mut model, " ");
    assert!(model.property.is_none());
    // An actor that a property names takes part or not.
    ask(&mut model, "before: [A writes, C reads]");
    assert!(matches!(model.property, Some(Err(_))));
    let third = Some(ThirdActorChoice::Preset(ThirdActor::Annotates));
    model.update(ExploreMsg::Setup(ExploreSetup {
        third,
        ..model.setup.clone()
    }));
    assert!(matches!(model.property, Some(Ok(_))));
}

#[test]
fn a_link_without_a_property_is_as_it_was_before_there_were_properties() {
    let json = ExploreModel::new().to_json();
    assert_eq!(
        json,
        json!({
            "edits": "different-fields", "third": null, "read": true, "tries": 5, "inside": false,
            "lost": false, "row": "update",
            "mixed": [["update-rv", true], ["merge", true], ["merge", true]],
        })
    );
    // Whoever opens it after a link with a property sees none.
    let mut model = ExploreModel::new();
    model.update(ExploreMsg::Setup(ExploreSetup {
        property: "never: lost edit".to_owned(),
        ..model.setup.clone()
    }));
    let (setup, _) = model.requested(&request(tree(), json));
    assert_eq!(setup.property, "");
    let (setup, _) = model.requested(&request(edited_by(&[ActorId::A]), Value::Null));
    assert_eq!(
        setup.property, "never: lost edit",
        "other edits, and the same question"
    );
}

#[test]
fn a_link_carries_a_third_actor_that_is_a_tool() {
    for third in ThirdActor::all() {
        let mut model = ExploreModel::new();
        model.update(ExploreMsg::Setup(ExploreSetup {
            third: Some(ThirdActorChoice::Preset(third)),
            ..model.setup.clone()
        }));
        let is_tool = matches!(third, ThirdActor::Tool(_));
        assert_eq!(model.setup.tool(), Some(third).filter(|_| is_tool));
        let json = model.to_json();
        assert_eq!(json["third"], third.slug());
        let opened = ExploreModel::new().requested(&request(tree(), json));
        assert_eq!(opened, (model.setup.clone(), model.chosen), "{third:?}");
    }
}

#[test]
fn a_link_carries_every_tool_of_an_editor() {
    for tool in Plan::TOOLS {
        for actor in 0..2 {
            let mut model = ExploreModel::new();
            let mut setup = model.setup.clone();
            setup.mixed[actor].0 = MixedWay::Tool(tool);
            model.update(ExploreMsg::Setup(setup));
            assert_eq!(model.chosen, model.mixed_row());
            let json = model.to_json();
            assert_eq!(json["mixed"][actor], json!([tool.slug(), true]));
            let opened = ExploreModel::new().requested(&request(tree(), json));
            assert_eq!(opened, (model.setup.clone(), model.chosen), "{tool:?}");
        }
        let method = ExploreModel::new();
        let method = method.ways.iter().find(|way| way.slug() == tool.slug());
        assert_eq!(method, None, "one name means one way");
    }
}

#[test]
fn what_a_link_does_not_say_or_says_wrongly_stays_as_it_is() {
    let model = ExploreModel::new();
    let wrong = json!({
        "edits": "unknown", "tries": 99, "read": "yes", "mixed": [["unknown", 7], 3], "row": "unknown",
    });
    for setup in [json!({"edits": "unknown"}), wrong] {
        let opened = model.requested(&request(tree(), setup));
        assert_eq!(opened, (model.setup.clone(), model.chosen));
    }
    let older = json!({"edits": "unknown", "actors": 3});
    let (setup, _) = model.requested(&request(tree(), older));
    let annotates = ThirdActorChoice::Preset(ThirdActor::Annotates);
    assert_eq!(setup.third, Some(annotates), "an older link");
}

#[test]
fn the_edits_of_play_come_with_the_third_actor_if_it_has_edits() {
    use ActorId::{A, B, C, D, F};
    let model = ExploreModel::new();
    let plans = |actors: &[ActorId]| {
        let (setup, _) = model.requested(&request(edited_by(actors), Value::Null));
        match &setup.subject {
            EditSource::Editors(_, scenario) => (scenario.plans.len(), setup.third()),
            EditSource::Preset(_) => (0, setup.third()),
        }
    };
    assert_eq!(plans(&[A, B]), (2, None));
    assert_eq!(plans(&[A, B, C]), (3, Some(ThirdActorChoice::OfPlay)));
    // All others that have edits take part, each under its letter.
    assert_eq!(plans(&[A, B, D, F]), (4, Some(ThirdActorChoice::OfPlay)));
    let (mut setup, _) = model.requested(&request(edited_by(&[A, B, D, F]), Value::Null));
    assert_eq!(setup.acting(), [A, B, D, F]);
    setup.mixed[3] = (MixedWay::Tool(Preset::Flux), false);
    let mut chosen = ExploreModel::new();
    chosen.update(ExploreMsg::Setup(setup.clone()));
    let linked = request(edited_by(&[A, B, D, F]), chosen.to_json());
    let (linked, _) = model.requested(&linked);
    assert_eq!(
        (linked.acting(), linked.mixed),
        (setup.acting(), setup.mixed)
    );
    setup.third = Some(ThirdActorChoice::Preset(ThirdActor::Annotates));
    assert_eq!(setup.acting(), [A, B, C]);
    // No actor has read the object: the edits of the preset stay.
    let (setup, _) = model.requested(&request(tree(), Value::Null));
    assert_eq!(setup.subject, EditSource::Preset(0));
}
