//! The imports of Go code.

use std::collections::BTreeSet;

use optimist_apiserver::go::quote;

/// The packages that the code uses.
#[derive(Default)]
pub(crate) struct Imports(BTreeSet<String>);

impl Imports {
    pub(crate) fn add(&mut self, package: &str) {
        self.0.insert(quote(package));
    }

    /// A package with an alias.
    pub(crate) fn add_as(&mut self, name: &str, package: &str) -> String {
        self.0.insert(format!("{name} {}", quote(package)));
        name.to_owned()
    }

    pub(crate) fn meta(&mut self) -> String {
        self.add_as("metav1", "k8s.io/apimachinery/pkg/apis/meta/v1")
    }

    /// The package of a built-in type.
    pub(crate) fn package_of(&mut self, ty: &str) -> String {
        match ty {
            "ObjectMeta"
            | "OwnerReference"
            | "ManagedFieldsEntry"
            | "LabelSelector"
            | "LabelSelectorRequirement"
            | "Condition" => self.meta(),
            "Lease" | "LeaseSpec" => self.add_as("coordinationv1", "k8s.io/api/coordination/v1"),
            "Scale" | "ScaleSpec" | "ScaleStatus" => {
                self.add_as("autoscalingv1", "k8s.io/api/autoscaling/v1")
            }
            "RollingUpdateDeployment" => self.add_as("appsv1", "k8s.io/api/apps/v1"),
            ty if ty.starts_with("Deployment") => self.add_as("appsv1", "k8s.io/api/apps/v1"),
            _ => self.add_as("corev1", "k8s.io/api/core/v1"),
        }
    }

    /// In the order of gofmt: the standard library first.
    pub(crate) fn render(&self) -> String {
        let path = |line: &String| line.split('"').nth(1).unwrap_or_default().to_owned();
        let (mut other, mut standard): (Vec<&String>, Vec<&String>) =
            self.0.iter().partition(|line| {
                path(line)
                    .split('/')
                    .next()
                    .is_some_and(|p| p.contains('.'))
            });
        other.sort_by_key(|line| path(line));
        standard.sort_by_key(|line| path(line));
        let mut out = "import (\n".to_owned();
        for (i, group) in [standard, other].iter().enumerate() {
            if i > 0 && !group.is_empty() {
                out.push('\n');
            }
            for line in group {
                out.push_str(&format!("\t{line}\n"));
            }
        }
        out.push_str(")\n");
        out
    }
}
