//! A `kubectl proxy` that lets through what is asked, and nothing else.

use std::collections::BTreeSet;

use optimist_code::quote_always;

use super::RemoteKind;

/// The methods of an API server that change something.
const WRITES: [&str; 4] = ["POST", "PUT", "PATCH", "DELETE"];

/// A command that serves the page beside the API server, and passes on only the requests that were added
/// (`k8s.io/kubectl/pkg/proxy/proxy_server.go FilterServer`, v0.36: a path must match one of `--accept-paths`,
/// and the method none of `--reject-methods`; it does not see the query).
#[derive(Clone, Debug, Default)]
pub struct ProxyCommand {
    paths: BTreeSet<String>,
    methods: BTreeSet<String>,
}

impl ProxyCommand {
    /// A command that passes on what the page asks before anything is chosen: the release and the kinds.
    pub fn new() -> Self {
        let mut command = Self::default();
        command.paths.insert("^/version$".to_owned());
        command.paths.insert("^/apis?$".to_owned());
        command
    }

    /// Passes on the reads of a kind: its collection, and the object of a name; all objects for an empty name.
    /// The definition of a kind that is not built in is read too.
    pub fn add_kind(&mut self, kind: &RemoteKind, namespace: &str, name: &str) {
        let collection = escaped(&kind.path(namespace, ""));
        let object = match name {
            "" => "[^/]+".to_owned(),
            name => escaped(name),
        };
        self.paths.insert(format!("^{collection}(/{object})?$"));
        if !kind.is_built_in() {
            let definition = escaped(&kind.definition_path());
            self.paths.insert(format!("^{definition}$"));
        }
    }

    /// Passes on dry runs of writes to an object and its subresources: an Update, a patch, an apply. The proxy
    /// does not see that they are dry runs; [`RemoteRequest`](super::RemoteRequest) does.
    pub fn add_dry_runs(&mut self, kind: &RemoteKind, namespace: &str, name: &str) {
        let object = escaped(&kind.path(namespace, name));
        self.paths.insert(format!("^{object}(/scale)?$"));
        self.methods.extend(["PUT".to_owned(), "PATCH".to_owned()]);
    }

    /// The value of `--accept-paths`.
    pub fn accept_paths(&self) -> String {
        let paths: Vec<&str> = self.paths.iter().map(String::as_str).collect();
        paths.join(",")
    }

    /// The value of `--reject-methods`: each method that changes something, unless a request has it.
    pub fn reject_methods(&self) -> String {
        let rejected = WRITES
            .iter()
            .filter(|method| !self.methods.contains(**method));
        let rejected: Vec<&str> = rejected.copied().collect();
        match rejected.is_empty() {
            true => "^$".to_owned(),
            false => format!("^({})$", rejected.join("|")),
        }
    }

    /// The command, in lines for a POSIX shell. `directory` has the page, and `prefix` is its path.
    pub fn text(&self, directory: &str, prefix: &str) -> String {
        format!(
            "kubectl proxy --www={} --www-prefix={} --api-prefix=/ \\\n  --accept-paths={} \\\n  --reject-methods={}\n",
            quote_always(directory),
            quote_always(prefix),
            quote_always(&self.accept_paths()),
            quote_always(&self.reject_methods()),
        )
    }
}

/// A text as a regular expression of Go that matches it alone. Names of objects have no other signs.
fn escaped(text: &str) -> String {
    text.replace('.', r"\.")
}
