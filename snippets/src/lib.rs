//! The kube-rs snippets that the page shows, compiled: `cargo check --manifest-path
//! snippets/Cargo.toml`. Apart from the workspace, for only this needs the `kube` crate.
#![deny(warnings)]
#![allow(dead_code)]

include!(concat!(env!("OUT_DIR"), "/snippets.rs"));

/// The types of the custom resource with which the ready programs work, as an operator has them.
mod api {
    pub mod v1 {
        use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
        use kube::CustomResource;
        use serde::{Deserialize, Serialize};

        #[derive(Clone, CustomResource, Debug, Default, Deserialize, PartialEq, Serialize)]
        #[kube(
            group = "demo.example.com",
            version = "v1",
            kind = "Widget",
            namespaced,
            status = "WidgetStatus",
            schema = "disabled",
            derive = "PartialEq"
        )]
        pub struct WidgetSpec {
            #[serde(default)]
            pub size: i64,
        }

        #[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct WidgetStatus {
            #[serde(skip_serializing_if = "Option::is_none")]
            pub observed_generation: Option<i64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            pub last_seen: Option<Time>,
        }
    }
}
