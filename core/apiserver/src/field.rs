//! Paths to fields, as errors name them (`k8s.io/apimachinery/pkg/util/validation/field/path.go`).

use std::fmt;

/// A path to a field: `spec.containers[0].env[1].name`. It refers to the path of the value around
/// it, so it costs nothing until an error prints it.
#[derive(Clone, Copy, Debug)]
pub struct ErrorPath<'a> {
    parent: Option<&'a ErrorPath<'a>>,
    step: PathStep<'a>,
}

#[derive(Clone, Copy, Debug)]
enum PathStep<'a> {
    Child(&'a str),
    Index(usize),
    Key(&'a str),
    Item(&'a str, usize),
}

impl<'a> ErrorPath<'a> {
    /// The whole object.
    pub const ROOT: ErrorPath<'static> = ErrorPath::new("");

    /// A path from the whole object. The name can have several parts, such as `metadata.labels`.
    pub const fn new(name: &'a str) -> Self {
        let step = PathStep::Child(name);
        Self { parent: None, step }
    }

    /// A member of this object. The name can have several parts.
    pub const fn child(&'a self, name: &'a str) -> Self {
        self.then(PathStep::Child(name))
    }

    /// An item of this list, counted from zero.
    pub const fn index(&'a self, index: usize) -> Self {
        self.then(PathStep::Index(index))
    }

    /// A member of this map.
    pub const fn key(&'a self, key: &'a str) -> Self {
        self.then(PathStep::Key(key))
    }

    /// An item of a list that is a member of this object: `child` and `index` at once.
    pub const fn item(&'a self, list: &'a str, index: usize) -> Self {
        self.then(PathStep::Item(list, index))
    }

    fn is_root(&self) -> bool {
        matches!((self.parent, self.step), (None, PathStep::Child("")))
    }

    const fn then(&'a self, step: PathStep<'a>) -> Self {
        Self {
            parent: Some(self),
            step,
        }
    }
}

impl fmt::Display for ErrorPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
            let is_member = matches!(self.step, PathStep::Child(_) | PathStep::Item(..));
            if is_member && !parent.is_root() {
                f.write_str(".")?;
            }
        }
        match self.step {
            PathStep::Child(name) => f.write_str(name),
            PathStep::Index(index) => write!(f, "[{index}]"),
            PathStep::Key(key) => write!(f, "[{key}]"),
            PathStep::Item(list, index) => write!(f, "{list}[{index}]"),
        }
    }
}

impl From<ErrorPath<'_>> for String {
    fn from(path: ErrorPath<'_>) -> Self {
        path.to_string()
    }
}

impl From<&ErrorPath<'_>> for String {
    fn from(path: &ErrorPath<'_>) -> Self {
        path.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_follow_a_dot_and_items_and_keys_stand_in_brackets() {
        let spec = ErrorPath::new("spec.template.spec");
        let container = spec.item("containers", 0);
        let limits = container.child("resources.limits");
        assert_eq!(
            limits.key("example.com/gpu").to_string(),
            "spec.template.spec.containers[0].resources.limits[example.com/gpu]"
        );
        let list = container.child("env");
        assert_eq!(
            list.index(12).child("name").to_string(),
            "spec.template.spec.containers[0].env[12].name"
        );
        assert_eq!(String::from(&spec), "spec.template.spec");
        assert_eq!(ErrorPath::ROOT.child("spec").to_string(), "spec");
        assert_eq!(ErrorPath::ROOT.index(1).to_string(), "[1]");
    }
}
