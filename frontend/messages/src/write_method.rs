//! An actor's way of writing, in a few words.

use optimist_client::{OnConflict, Preset, Strategy, Write};

use crate::en;

/// Names the way in which a write is sent: `Update · if 100`, `Apply as helm · force`. `version` is
/// the one that the actor read.
pub fn write_method(write: &Write, version: Option<&str>) -> String {
    if write.body.is_some() {
        return en::method_by_hand();
    }
    let mut text = match write.strategy {
        _ if write.applies_in_the_client() => en::method_client_side(),
        Strategy::Update => en::method_update(),
        Strategy::MergePatch => en::method_merge(),
        Strategy::StrategicMergePatch => en::method_strategic(),
        Strategy::JsonPatch => en::method_json(),
        Strategy::Apply => en::method_apply(),
    };
    if let Some(subresource) = write.subresource {
        text = en::method_to(&text, &subresource.name());
    }
    if let Some(manager) = &write.manager {
        text = en::method_as(&text, manager);
    }
    let version = version.filter(|_| write.send_resource_version);
    let apply = write.strategy == Strategy::Apply;
    let options = [
        version.map(|version| en::method_if(&version)),
        (write.strategy == Strategy::JsonPatch && write.test_values).then(en::method_tests),
        (apply && write.force).then(en::method_force),
        (write.on_conflict != OnConflict::GiveUp).then(en::method_retries),
        write.dry_run.then(en::method_dry_run),
    ];
    for option in options.into_iter().flatten() {
        text.push_str(" · ");
        text.push_str(&option);
    }
    text
}

/// Says that an actor writes to a subresource or in another name: `/scale · as helm`; `None` if it
/// does neither.
pub fn writes_otherwise(write: &Write) -> Option<String> {
    let to = write.subresource.map(|to| en::writes_to(&to.name()));
    let manager = write.manager.as_ref().map(|name| en::writes_as(name));
    let parts: Vec<String> = to.into_iter().chain(manager).collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Names a client that people know.
pub fn client(preset: Preset) -> String {
    match preset {
        Preset::KubectlEdit => en::client_edit(),
        Preset::KubectlApply => en::client_apply(),
        Preset::KubectlApplyServerSide => en::client_apply_server_side(),
        Preset::KubectlReplace => en::client_replace(),
        Preset::KubectlScale => en::client_scale(),
        Preset::KubectlLabel => en::client_label(),
        Preset::Update => en::client_update(),
        Preset::MergeFrom => en::client_merge_from(),
        Preset::Autoscaler => en::client_autoscaler(),
        Preset::Helm3 => en::client_helm_3(),
        Preset::Helm4 => en::client_helm_4(),
        Preset::ArgoCdClientSide => en::client_argo_cd_client_side(),
        Preset::ArgoCdServerSide => en::client_argo_cd_server_side(),
        Preset::Flux => en::client_flux(),
        Preset::Terraform => en::client_terraform(),
        Preset::ControllerApply => en::client_controller_apply(),
        Preset::CreateOrUpdate => en::client_create_or_update(),
    }
}
