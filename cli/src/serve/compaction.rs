//! Keeps the memory and the log of a server from growing with its history.

use std::time::Duration;

use super::connection::Connections;

/// Compacts the store at what it was an interval ago, as a kube-apiserver does with its etcd
/// (`--etcd-compaction-interval`; `k8s.io/apiserver/pkg/storage/etcd3/compact.go compactor`, v1.36), and
/// shortens the log. Never ends. Zero is never.
pub async fn run(interval: Duration, connections: &Connections) {
    if interval.is_zero() {
        return std::future::pending().await;
    }
    let mut before = connections.revision_for_all();
    loop {
        tokio::time::sleep(interval).await;
        let now = connections.revision_for_all();
        if let Err(error) = connections.compact(before) {
            eprintln!("optimist: the log is not shortened: {error}");
        }
        before = now;
    }
}
