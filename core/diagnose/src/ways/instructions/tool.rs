//! The commands of delivery tools.

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::Fact;
use optimist_client::Preset;
use optimist_code::{one_line, quote, without_nul};
use serde_json::Value;

use super::super::{ChangeTable, DeliveredBy, OnOwned, Row, tracking};
use super::{Instruction, InstructionLanguage};

pub(super) struct ToolInstruction<'a> {
    pub(super) table: &'a ChangeTable,
    pub(super) row: &'a Row,
    pub(super) by: DeliveredBy,
    /// The manifest of the change.
    pub(super) said: Value,
}

impl ToolInstruction<'_> {
    pub(super) fn instructions(&self, preset: Preset, on_owned: OnOwned) -> Vec<Instruction> {
        match preset {
            Preset::Helm3 | Preset::Helm4 => self.helm(preset, on_owned),
            Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => {
                vec![self.argo_cd(preset, on_owned)]
            }
            Preset::Flux => vec![self.flux()],
            Preset::Terraform => self.terraform(on_owned),
            _ => Vec::new(),
        }
    }

    /// Flags: `helm.sh/helm/v4/pkg/cmd/upgrade.go newUpgradeCmd`, v4.2 (`--server-side` is `true`,
    /// `false` or `auto`; `--force-conflicts` needs a server-side apply), and
    /// `helm.sh/helm/v3/cmd/helm/upgrade.go`, v3.21; `fluxcd/flux2/cmd/flux/reconcile_helmrelease.go`.
    fn helm(&self, preset: Preset, on_owned: OnOwned) -> Vec<Instruction> {
        let release = self.by.release.as_ref();
        let release = release.and_then(|(name, namespace)| {
            Some((argument(name)?, argument(namespace).filter(|it| it != "''")))
        });
        let (name, namespace) = release.unwrap_or_else(|| ("RELEASE".to_owned(), None));
        let namespace = namespace.or_else(|| argument(self.table.command_namespace()));
        let namespace = namespace.unwrap_or_else(|| "NAMESPACE".to_owned());
        let flags = match (preset, on_owned) {
            (Preset::Helm3, _) => "",
            (_, OnOwned::Force) => " --server-side=true --force-conflicts",
            _ => " --server-side=true",
        };
        let upgrade = format!("helm upgrade {name} CHART -n {namespace}{flags}");
        let mut lines = String::new();
        if let Some((name, namespace)) = &self.by.helm_release
            && let (Some(name), Some(namespace)) = (argument(name), argument(namespace))
        {
            // Flux would take the release back.
            let text = format!(
                "# Flux's HelmRelease runs this release. Change the HelmRelease, then:\n\
                 flux reconcile helmrelease {name} -n {namespace} --with-source\n"
            );
            return vec![Instruction::command(text)];
        }
        let chart = |object: &Value| {
            let label = object.metadata()?.get("labels")?.get(tracking::CHART)?;
            label.as_str().map(one_line)
        };
        if let Some(chart) = chart(&self.said).or_else(|| chart(&self.row.before)) {
            lines.push_str(&format!(
                "# CHART: the path or the URL of the chart {chart}.\n"
            ));
        }
        if preset == Preset::Helm3 {
            lines.push_str("# Helm 4 does the same with --server-side=false.\n");
        }
        let mut first = tried(&lines, &upgrade, "--dry-run=server");
        // Helm 3 sends merge patches, which meet no conflict.
        if preset == Preset::Helm4 && self.table.kubectl_meets_the_same(self.row, on_owned) {
            first.try_first = self.helm_apply(on_owned);
        }
        let mut all = vec![first];
        if on_owned == OnOwned::LeaveOut && self.leaves_replicas_to_an_autoscaler() {
            all.push(left_to_autoscaler(&upgrade));
        }
        all
    }

    /// The command that shows whether an upgrade by server-side apply is refused, and stores nothing. A dry run of Helm
    /// sends no apply, so it meets no conflict (`helm.sh/helm/v4/pkg/action/upgrade.go performUpgrade`, v4.2); kubectl
    /// applies as Helm does, once Helm has no Update of its own on the object.
    fn helm_apply(&self, on_owned: OnOwned) -> Option<String> {
        let applied = self.table.server_side(self.row, on_owned, None)?;
        let command = applied.try_first?;
        Some(format!(
            "# MANIFEST.yaml: this object, as helm template prints it.\n{command}"
        ))
    }

    /// Returns whether an autoscaler owns all that is in conflict: with another field, the value of the chart alone does
    /// not settle it.
    fn leaves_replicas_to_an_autoscaler(&self) -> bool {
        let facts = self.table.refused_facts(self.row);
        let mut owned = facts.iter().filter_map(|fact| match fact {
            Fact::OwnedByOther { field, manager } => Some((field.as_str(), manager)),
            _ => None,
        });
        let is_scaled = |(field, manager): (&str, &String)| {
            field == ".spec.replicas" && manager.contains("kube-controller-manager")
        };
        owned.next().is_some_and(is_scaled) && owned.all(is_scaled)
    }

    /// Flags: `argo-cd/cmd/argocd/commands/app.go NewApplicationSyncCommand`, v3.5. `--force` and
    /// `--server-side` exclude each other: kubectl refuses both (`k8s.io/kubectl/pkg/cmd/apply/apply.go
    /// Validate`, v0.36), and a server-side apply of Argo CD is always with `--force-conflicts`.
    fn argo_cd(&self, preset: Preset, on_owned: OnOwned) -> Instruction {
        let application = self.by.application.as_deref().and_then(argument);
        let application = application.unwrap_or_else(|| "APPLICATION".to_owned());
        let (flags, option) = match (preset, on_owned) {
            (Preset::ArgoCdServerSide, _) => (" --server-side", Some("ServerSideApply=true")),
            (_, OnOwned::Force) => (" --force", Some("Force=true")),
            _ => ("", None),
        };
        let subject = self.table.subject();
        let resource = subject.resource();
        let name = self.table.command_name();
        let name = match self.table.command_namespace() {
            "" => name.to_owned(),
            namespace => format!("{namespace}/{name}"),
        };
        let group = &resource.group_version.group;
        let resource = quote(&format!("{group}:{}:{name}", resource.kind));
        let sync = format!("argocd app sync {application} --resource {resource}{flags}");
        let mut all = tried("", &sync, "--dry-run");
        if let Some(option) = option {
            all.text.push_str(&format!(
                "# For every sync, as an annotation of the manifest:\n\
                 # argocd.argoproj.io/sync-options: {option}\n"
            ));
        }
        all
    }

    /// Flags: `fluxcd/flux2/cmd/flux/reconcile_kustomization.go`.
    fn flux(&self) -> Instruction {
        let kustomization = self.by.kustomization.as_ref();
        let names = kustomization
            .and_then(|(name, namespace)| Some((argument(name)?, argument(namespace)?)));
        let placeholders = || ("KUSTOMIZATION".to_owned(), "NAMESPACE".to_owned());
        let (name, namespace) = names.unwrap_or_else(placeholders);
        let text = format!("flux reconcile kustomization {name} -n {namespace} --with-source\n");
        Instruction::command(text)
    }

    /// `hashicorp/terraform-provider-kubernetes/manifest/provider/plan.go getFieldManagerConfig`, v3.2.
    fn terraform(&self, on_owned: OnOwned) -> Vec<Instruction> {
        let address = self.table.change.address.as_deref();
        let of_manifest = |it: &&str| it.contains("kubernetes_manifest.");
        let address = address
            .filter(of_manifest)
            .unwrap_or("kubernetes_manifest.NAME");
        let name = address
            .rsplit("kubernetes_manifest.")
            .next()
            .unwrap_or_default();
        let word = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let name: String = name.chars().take_while(|c| word(*c)).collect();
        let target = quote(&format!("-target={address}"));
        let mut members = String::new();
        if let Some(manager) = &self.table.change.manager {
            let manager = template(manager);
            members.push_str(&format!("    name            = {manager}\n"));
        }
        if on_owned == OnOwned::Force {
            members.push_str("    force_conflicts = true\n");
        }
        let block = match members.as_str() {
            "" => String::new(),
            members => format!("\n  field_manager {{\n{members}  }}\n"),
        };
        let code = format!(
            "resource \"kubernetes_manifest\" \"{name}\" {{\n  \
             manifest = yamldecode(file(\"MANIFEST.yaml\"))\n{block}}}\n"
        );
        vec![
            Instruction {
                has_values: false,
                ..Instruction::with_values(InstructionLanguage::Terraform, code)
            },
            Instruction {
                try_first: Some(format!("terraform plan {target}\n")),
                ..Instruction::command(format!("terraform apply {target}\n"))
            },
        ]
    }
}

/// A command with the comments above it, and the option by which it stores nothing.
fn tried(comments: &str, command: &str, option: &str) -> Instruction {
    Instruction {
        try_first: Some(without_nul(format!("{command} {option}\n"))),
        ..Instruction::command(format!("{comments}{command}\n"))
    }
}

/// An upgrade with the value by which many charts leave `replicas` out. With `--set` alone, Helm forgets every value
/// that was given before (`reuseValues` in `helm.sh/helm/v4/pkg/action/upgrade.go`, v4.2).
fn left_to_autoscaler(upgrade: &str) -> Instruction {
    let comment = "# Or, instead of all above, only if the chart has this value and then leaves replicas out. The \
                   values of the last release stay:\n";
    let set = "--reset-then-reuse-values --set autoscaling.enabled=true";
    let mut all = tried(comment, &format!("{upgrade} {set}"), "--dry-run=server");
    // The trial meets no conflict: it applies nothing.
    if let Some(first) = &mut all.try_first {
        first.insert_str(
            0,
            "# Or, instead of all above. This meets no conflict. Look at the manifest that it prints: replicas has to be gone.\n",
        );
    }
    all
}

/// A word of a command; `None` if the command would take it for an option.
fn argument(word: &str) -> Option<String> {
    let hidden = word.chars().any(char::is_control);
    (!word.is_empty() && !word.starts_with('-') && !hidden).then(|| quote(word))
}

/// A string of Terraform, in which nothing is a template.
fn template(value: &str) -> String {
    let value = value.replace("${", "$${").replace("%{", "%%{");
    Value::from(value).to_string()
}

impl ChangeTable {
    /// The reasons for which the client of a row is refused when it leaves nothing out.
    pub(super) fn refused_facts(&self, row: &Row) -> Vec<Fact> {
        let owned = |fact: &Fact| matches!(fact, Fact::OwnedByOther { .. });
        let facts = row.requests.iter().flat_map(|it| &it.facts);
        let own: Vec<Fact> = facts.filter(|it| owned(it)).cloned().collect();
        if !own.is_empty() {
            return own;
        }
        let super::Way::Client(preset, _) = row.way else {
            return Vec::new();
        };
        if self.refused.get().is_none_or(|(of, _)| *of != preset) {
            let refused = self.row(super::Way::Client(preset, OnOwned::Usual));
            return refused.iter().flat_map(facts_of).collect();
        }
        let known = self.refused.get().into_iter();
        known.flat_map(|(_, facts)| facts.iter().cloned()).collect()
    }

    /// Keeps why the client of a row without options was refused.
    pub(in crate::ways) fn remember_refused(&self, preset: Preset, row: &Row) {
        self.refused
            .get_or_init(|| (preset, facts_of(row).collect()));
    }
}

fn facts_of(row: &Row) -> impl Iterator<Item = Fact> {
    row.requests.iter().flat_map(|it| it.facts.iter().cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_from_an_object_is_one_word_and_no_option() {
        assert_eq!(argument("web").as_deref(), Some("web"));
        assert_eq!(argument("a; rm -rf ~").as_deref(), Some("'a; rm -rf ~'"));
        for word in ["--kubeconfig=x", "", "a\nb"] {
            assert_eq!(argument(word), None, "{word}");
        }
        assert_eq!(template("a\"${b}"), r#""a\"$${b}""#);
    }
}
