#!/usr/bin/env bash
# Runs the tests of kube-rs that need a cluster against `optimist serve`, from a checkout of kube-rs.
#
#   clients/kube_rs.sh CHECKOUT
#
# Passed over are tests of what a kubelet does (exec, logs) and of component statuses, which nobody
# reports here.
set -eu

cd "$(dirname "$0")/.."
checkout=${1:?kube_rs.sh: name a checkout of kube-rs}
place=$(mktemp -d)
. clients/serve.sh
serve "$place/config" --rbac --controllers pod
trap 'kill $server; rm -rf "$place"' EXIT

cd "$checkout"
KUBECONFIG="$place/config" cargo test --lib --package kube --package kube-client --package kube-runtime \
    --features kube/derive,kube/runtime,kube/ws,kube/jsonpatch,kube/kubelet-debug,kube/unstable-client \
    -- --ignored \
    --skip pod_can_exec_and_write_to_stdin --skip can_get_pod_logs_and_evict \
    --skip event_recorder_attaches_events_without_namespace
