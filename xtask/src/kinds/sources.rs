//! The packages of the Kubernetes API in a checkout, read when they are asked for.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::go_types::Package;

/// The package of the types that all kinds have.
pub const META: &str = "meta/v1";

/// The packages by their last two names, `core/v1`.
pub struct Sources {
    staging: PathBuf,
    packages: HashMap<String, Package>,
}

impl Sources {
    /// The packages of `staging/src/k8s.io`.
    pub fn new(staging: &Path) -> Self {
        Self {
            staging: staging.to_owned(),
            packages: HashMap::new(),
        }
    }

    /// Reads a package, once. One that is not there has no types.
    pub fn load(&mut self, section: &str) {
        if self.packages.contains_key(section) {
            return;
        }
        let (folder, files) = match section {
            META => (
                format!("apimachinery/pkg/apis/{section}"),
                &["types.go", "group_version.go"][..],
            ),
            "apiextensions/v1" => (
                format!("apiextensions-apiserver/pkg/apis/{section}"),
                &["types.go", "types_jsonschema.go"][..],
            ),
            "apiregistration/v1" => (
                format!("kube-aggregator/pkg/apis/{section}"),
                &["types.go"][..],
            ),
            _ => (format!("api/{section}"), &["types.go"][..]),
        };
        let mut package = Package::default();
        for file in files {
            let source = fs::read_to_string(self.staging.join(&folder).join(file));
            package.read(&source.unwrap_or_default());
        }
        self.packages.insert(section.to_owned(), package);
    }

    /// A package that was loaded.
    pub fn package(&self, section: &str) -> &Package {
        &self.packages[section]
    }

    /// The package and the name of a type, from its Go expression in a package.
    pub fn named(&self, section: &str, ty: &str) -> (String, String) {
        let Some((alias, name)) = ty.split_once('.') else {
            return (section.to_owned(), ty.to_owned());
        };
        let path = self.packages[section]
            .imports
            .get(alias)
            .map_or("", String::as_str);
        let parts: Vec<&str> = path.rsplit('/').take(2).collect();
        let package = match parts.as_slice() {
            [version, group] => format!("{group}/{version}"),
            _ => alias.to_owned(),
        };
        (package, name.to_owned())
    }
}
