//! Sentences of the share dialog about values that are left out of a case, and about values that
//! stay.

use optimist_diagnose::anonymize::{LeafValue, StayReason, WithoutValues};
use optimist_diagnose::without_private::WithoutPrivate;

use crate::diagnose::written;
use crate::en;

/// The number of values of one reason that are named.
const NAMED: usize = 40;

/// The reasons, those first that say most of the case.
const REASONS: [StayReason; 9] = [
    StayReason::Answer,
    StayReason::Name,
    StayReason::ListKey,
    StayReason::Manager,
    StayReason::Default,
    StayReason::Quantity,
    StayReason::Structure,
    StayReason::Message,
    StayReason::Kind,
];

/// Names the parts that are left out of a case besides values that look private.
pub fn left_out_of_case(found: &WithoutPrivate) -> Vec<String> {
    let mut says = Vec::new();
    if found.undetected > 0 {
        says.push(en::left_out_unrecognized(&found.undetected));
    }
    if found.messages > 0 {
        says.push(en::left_out_lines());
    }
    if found.logs > 0 {
        says.push(en::left_out_requests());
    }
    says
}

/// Says the number of values that are left out.
pub fn left_out_values(found: &WithoutValues) -> String {
    match found.left_out {
        _ if !found.same => en::share_left_out_not_same(),
        0 => en::share_left_out_none(),
        count => en::share_left_out_count(&count),
    }
}

/// Names the values that stay in a case, and the texts that are left out of it whole.
pub fn staying(found: &WithoutValues) -> Vec<String> {
    let mut says = Vec::new();
    for reason in REASONS {
        let of = found.stays.iter().filter(|(_, why)| **why == reason);
        let of: Vec<String> = of.map(|(value, _)| name(value)).collect();
        if of.is_empty() {
            continue;
        }
        let named: Vec<String> = of.iter().take(NAMED).cloned().collect();
        let mut named = named.join(", ");
        if of.len() > NAMED {
            named = en::row_more(&named, &(of.len() - NAMED));
        }
        says.push(of_reason(reason, &named));
    }
    // Every object has a kind.
    if found.stays.values().any(|why| *why == StayReason::Kind) {
        says.push(en::stays_fields());
    }
    if found.messages > 0 {
        says.push(en::stays_lines());
    }
    if found.requests > 0 {
        says.push(en::stays_requests());
    }
    if found.definitions > 0 {
        says.push(en::stays_definitions(&found.definitions));
    }
    if found.undetected > 0 {
        says.push(en::stays_unrecognized(&found.undetected));
    }
    says
}

fn of_reason(reason: StayReason, named: &str) -> String {
    match reason {
        StayReason::Answer => en::stays_answers(&named),
        StayReason::Name => en::stays_names(&named),
        StayReason::ListKey => en::stays_list_keys(&named),
        StayReason::Manager => en::stays_managers(&named),
        StayReason::Default => en::stays_defaults(&named),
        StayReason::Quantity => en::stays_quantities(&named),
        StayReason::Structure => en::stays_structure(&named),
        StayReason::Message => en::stays_message(&named),
        StayReason::Kind => en::stays_kinds(&named),
    }
}

fn name(value: &LeafValue) -> String {
    match value {
        LeafValue::Number(number) => number.to_string(),
        LeafValue::Text(text) => written(Some(&text.as_str().into())),
    }
}
