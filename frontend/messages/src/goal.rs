//! The goals of lessons.

use std::fmt::Display;

use optimist_lesson::{GoalLabel, PartLabel};

use crate::catalogue::say;

/// Names a part of a goal. Each condition of a lesson has its text in English beside it, in
/// `core/lesson/src/condition/`: lessons refer to that text.
pub fn goal(label: &PartLabel) -> String {
    match label {
        PartLabel::Own(text) => text.clone(),
        PartLabel::Conditions(labels) => {
            let labels: Vec<String> = labels.iter().map(condition).collect();
            labels.join(", ")
        }
    }
}

fn condition(label: &GoalLabel) -> String {
    let arguments = label.arguments.iter();
    let arguments: Vec<(&str, &dyn Display)> = arguments
        .map(|(name, argument)| (*name, argument as &dyn Display))
        .collect();
    say(label.message, label.english, &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_said_in_the_language_that_was_chosen() {
        let label = PartLabel::Conditions(vec![GoalLabel {
            message: "goal_value",
            english: "{field} is {value}",
            arguments: vec![("field", "replicas".to_owned()), ("value", "5".to_owned())],
        }]);
        assert_eq!(goal(&label), "replicas is 5");
        crate::choose("goal_value = {field} muss {value} sein");
        assert_eq!(goal(&label), "replicas muss 5 sein");
        crate::choose("");
        let own = PartLabel::Own("A {field}".to_owned());
        assert_eq!(goal(&own), "A {field}");
    }
}
