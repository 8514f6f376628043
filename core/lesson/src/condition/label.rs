use std::fmt;

/// A condition as a goal that one works towards, in few words: `replicas is 5`.
///
/// `Display` gives it in English: the `misses` of a lesson name it so. The page says it in the
/// language that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalLabel {
    /// The name under which other languages have it.
    pub message: &'static str,
    /// The text in English, with places for arguments: `{field} is {value}`.
    pub english: &'static str,
    /// The arguments, by name.
    pub arguments: Vec<(&'static str, String)>,
}

impl GoalLabel {
    /// Makes a label that repeats the claim of a condition.
    pub(super) fn claim(claim: String) -> Self {
        Self {
            message: "goal_claim",
            english: "{claim}",
            arguments: vec![("claim", claim)],
        }
    }
}

impl fmt::Display for GoalLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.english.split(['{', '}']).enumerate() {
            let argument = self.arguments.iter().find(|(name, _)| *name == part);
            match argument.filter(|_| i % 2 == 1) {
                Some((_, argument)) => f.write_str(argument)?,
                None => f.write_str(part)?,
            }
        }
        Ok(())
    }
}

/// The label of a part of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartLabel {
    /// In the lesson's own words.
    Own(String),
    /// By its conditions.
    Conditions(Vec<GoalLabel>),
}

impl fmt::Display for PartLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(text) => f.write_str(text),
            Self::Conditions(labels) => {
                for (i, label) in labels.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    label.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_stand_in_their_places_and_nothing_in_them_is_a_place() {
        let label = GoalLabel {
            message: "goal_value",
            english: "{field} is {value}",
            arguments: vec![("field", "{value}".to_owned()), ("value", "5".to_owned())],
        };
        assert_eq!(label.to_string(), "{value} is 5");
        assert_eq!(GoalLabel::claim("a {b}".to_owned()).to_string(), "a {b}");
        let both = PartLabel::Conditions(vec![label, GoalLabel::claim("so".to_owned())]);
        assert_eq!(both.to_string(), "{value} is 5, so");
    }
}
