#!/usr/bin/env bash
# Runs the official Python client against `optimist serve`, started by the package in clients/python.
#
#   clients/python.sh [CHECKOUT]
#
# Needs python3, and makes an environment with the packages kubernetes and pytest, which it gets by pip. With a
# checkout of the client it runs the client's own tests that need a cluster, too. Of these it passes over
# what a kubelet does (exec, port forwards), what asks for an API that was removed in v1.22, and what
# compares two objects that each client makes for itself.
set -eu

checkout=${1:+$(cd "$1" && pwd)}
cd "$(dirname "$0")/.."
place=$(mktemp -d)
server=
trap 'test -z "$server" || kill "$server"; rm -rf "$place"' EXIT
. clients/serve.sh
python3 -m venv "$place/environment"
# An installation writes into its folder.
cp -r clients/python "$place/package"
"$place/environment/bin/pip" install --quiet kubernetes pytest "$place/package"
"$place/environment/bin/pytest" "$place/package/tests"
test -n "$checkout" || exit 0

serve "$place/config" --rbac --controllers gc,namespace,pod,deployment
installed=$("$place/environment/bin/python" -c 'import kubernetes; print(kubernetes.__path__[0])')
cp -r "$checkout/kubernetes/e2e_test" "$installed/"
cp "$checkout"/kubernetes/base/dynamic/test_*.py "$installed/dynamic/"
cd "$checkout"
passed_over="exit_code or pod_apis or close_channel or portforward or custom_resources or cache_decoder"
KUBECONFIG="$place/config" "$place/environment/bin/pytest" -k "not ($passed_over)" \
    "$installed/e2e_test" "$installed/dynamic/test_client.py" "$installed/dynamic/test_discovery.py"
