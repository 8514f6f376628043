//! All kinds that are served: the built-in ones, and those of CustomResourceDefinitions.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::custom;
use super::kinds::{self, Rules};
use super::resource::{Definition, Endpoint, Generation, Names, Resource};
use crate::apply::Set;
use crate::object::{GroupVersion, Metadata};
use crate::schema::builtin;

static BUILTIN: LazyLock<Vec<Arc<Resource>>> = LazyLock::new(|| {
    let kinds = kinds::all().into_iter().filter_map(Builtin::resource);
    let others = kinds::table::resources().iter().cloned();
    kinds.chain(custom::definitions()).chain(others).collect()
});

/// All kinds that are served.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    all: Vec<Arc<Resource>>,
    /// The definitions of custom resources, each with the resources that it describes.
    defined: Vec<(Arc<Value>, Vec<Arc<Resource>>)>,
}

impl Resources {
    /// The built-in kinds.
    pub fn builtin() -> Self {
        Self {
            all: BUILTIN.clone(),
            defined: Vec::new(),
        }
    }

    /// The built-in kinds, and the kinds of these CustomResourceDefinitions. The kind of a
    /// definition stays the same as long as the spec and the accepted names of the definition do
    /// (`updateCustomResourceDefinition`).
    pub(super) fn with_custom(before: &Self, definitions: &[Arc<Value>]) -> Self {
        let mut resources = Self::builtin();
        for definition in definitions {
            let unchanged = before.defined.iter().find(|(known, resources)| {
                !resources.is_empty()
                    && known.uid() == definition.uid()
                    && known["spec"] == definition["spec"]
                    && known["status"]["acceptedNames"] == definition["status"]["acceptedNames"]
            });
            let described = match unchanged {
                Some((_, described)) => described.clone(),
                None => {
                    let described = custom::served_by(definition).into_iter();
                    described.map(Arc::new).collect()
                }
            };
            resources.all.extend(described.iter().cloned());
            resources.defined.push((Arc::clone(definition), described));
        }
        resources
    }

    /// Returns whether exactly this resource is still served, and not another one in its place.
    pub(super) fn still_serve(&self, resource: &Arc<Resource>) -> bool {
        let mut all = self.all.iter();
        resource.is_builtin() || all.any(|known| Arc::ptr_eq(known, resource))
    }

    /// The resource at a path's group, version and plural name.
    pub fn by_path(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.all.iter().find(|resource| {
            resource.plural == plural
                && resource.group_version.group == group
                && resource.group_version.version == version
        })
    }

    /// The resource of a kind as a manifest names it.
    pub fn by_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Resource>> {
        self.all.iter().find(|resource| {
            resource.kind == kind && resource.group_version.to_string() == api_version
        })
    }

    /// All resources.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.all.iter()
    }
}

/// A built-in kind, by its facts.
pub(super) struct Builtin {
    pub(super) kind: &'static str,
    pub(super) group_version: (&'static str, &'static str),
    pub(super) plural: &'static str,
    /// The key prefix of its objects in etcd, below the root of the registry.
    pub(super) stored_in: &'static str,
    pub(super) namespaced: bool,
    pub(super) unconditional_update: bool,
    pub(super) create_on_update: bool,
    pub(super) generation: Generation,
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) rules: Rules,
}

impl Builtin {
    /// A kind with namespaces, of which an update needs no version and creates nothing, with no
    /// generation and no subresources.
    pub(super) fn new(
        kind: &'static str,
        group_version: (&'static str, &'static str),
        plural: &'static str,
        rules: Rules,
    ) -> Self {
        Self {
            kind,
            group_version,
            plural,
            stored_in: plural,
            namespaced: true,
            unconditional_update: true,
            create_on_update: false,
            generation: Generation::None,
            endpoints: vec![Endpoint {
                name: "",
                reset_fields: Set::default(),
            }],
            rules,
        }
    }

    fn resource(self) -> Option<Arc<Resource>> {
        let root = builtin(self.kind)?.into();
        Some(Arc::new(Resource {
            group_version: GroupVersion::new(self.group_version.0, self.group_version.1),
            kind: self.kind.to_owned(),
            plural: self.plural.to_owned(),
            namespaced: self.namespaced,
            names: names_of(self.group_version.0, self.kind),
            root,
            versions: kinds::table::versions(self.kind),
            storage_prefix: format!("/registry/{}", self.stored_in),
            unconditional_update: self.unconditional_update,
            create_on_update: self.create_on_update,
            generation: self.generation,
            endpoints: self.endpoints,
            definition: Definition::Builtin(self.rules),
        }))
    }
}

/// The other names of a kind with its own rules. The table of all kinds has them.
fn names_of(group: &str, kind: &str) -> Names {
    let mut kinds = crate::schema::kinds::kinds().iter();
    let facts = kinds.find(|facts| {
        let group_of = GroupVersion::parse(facts.api_version).map(|gv| gv.group);
        facts.kind == kind && group_of.as_deref() == Some(group)
    });
    facts.map_or_else(Names::default, |facts| Names {
        short: facts.list("short").map(str::to_owned).collect(),
        categories: facts.list("in").map(str::to_owned).collect(),
        list_kind: None,
    })
}
