#!/usr/bin/env bash
# Runs a session of kubectl against the core behind a socket, and checks what it prints.
#
#   clients/kubectl.sh [PORT]
#
# Needs kubectl, which need not be of the release of the core. Ends with the number of checks that
# failed.
set -u

cd "$(dirname "$0")/.."
command -v kubectl > /dev/null || { echo "kubectl.sh: there is no kubectl here"; exit 1; }
port=${1:-8001}
place=$(mktemp -d)
export KUBECONFIG="$place/config" KUBE_EDITOR="$place/editor" TERM=dumb
: > "$KUBECONFIG"

cargo build --quiet --manifest-path clients/Cargo.toml --example serve || exit 1
target=$(cargo metadata --manifest-path clients/Cargo.toml --no-deps --format-version 1 |
    sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
"$target/debug/examples/serve" "127.0.0.1:$port" > "$place/served" &
server=$!
trap 'kill $server; rm -rf "$place"' EXIT
for _ in $(seq 100); do
    [ -s "$place/served" ] && break
    sleep 0.1
done

failed=0
# The exit code and the output of kubectl must be as expected: check CODE TEXT ARGUMENT...
check() {
    local code=$1 text=$2 output got
    shift 2
    output=$(HOME=$place timeout 30 kubectl --server "http://127.0.0.1:$port" "$@" 2>&1 < /dev/null)
    got=$?
    if [ "$got" = "$code" ] && [[ $output == *"$text"* ]]; then
        echo "ok      kubectl $*"
    else
        failed=$((failed + 1))
        printf 'FAILED  kubectl %s\n  expected %s and "%s", got %s and:\n%s\n' \
            "$*" "$code" "$text" "$got" "$output" | sed '2,$s/^/  /'
    fi
}

cat > "$place/web.yaml" << 'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.27"}]}
YAML
sed 's/replicas: 2/replicas: 5/' "$place/web.yaml" > "$place/more.yaml"
cat > "$place/widgets.yaml" << 'YAML'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              description: What it is to be.
              type: object
              properties: {size: {type: integer, minimum: 1}}
YAML
cat > "$place/widget.yaml" << 'YAML'
apiVersion: example.com/v1
kind: Widget
metadata: {name: small}
spec: {size: 1}
YAML
cat > "$place/settings.yaml" << 'YAML'
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1"}
YAML
cat > "$place/team.yaml" << 'YAML'
apiVersion: v1
kind: Namespace
metadata: {name: team}
YAML
printf '#!/bin/sh\nsed -i "s/replicas: 4/replicas: 6/" "$1"\n' > "$KUBE_EDITOR"
chmod +x "$KUBE_EDITOR"

check 0 "Server Version: v1.36" version
check 0 "deployments" api-resources
check 0 "default" get namespaces
check 0 "deployment.apps/web created" create -f "$place/web.yaml"
check 1 "already exists" create -f "$place/web.yaml"
check 0 "2" get deployment web -o "jsonpath={.spec.replicas}"
check 0 "web    0/2" get deployments
check 0 "kubectl-create" get deployment web -o yaml --show-managed-fields
check 1 "+  replicas: 5" diff -f "$place/more.yaml"
check 0 "deployment.apps/web configured" apply -f "$place/more.yaml"
check 0 "deployment.apps/web unchanged" apply -f "$place/more.yaml"
check 0 "deployment.apps/web scaled" scale deployment web --replicas 4
check 1 "Apply failed with 1 conflict" apply --server-side --field-manager other -f "$place/web.yaml"
check 0 "serverside-applied" apply --server-side --field-manager other --force-conflicts -f "$place/web.yaml"
check 0 "deployment.apps/web scaled" scale deployment web --replicas 4
check 0 "deployment.apps/web edited" edit deployment web
check 0 "6" get deployment web -o "jsonpath={.spec.replicas}"
check 0 "deployment.apps/web patched" patch deployment web -p '{"spec": {"paused": true}}'
check 0 "(no change)" patch deployment web -p '{"spec": {"paused": true}}'
check 0 "deployment.apps/web patched" patch deployment web --type json -p '[{"op": "remove", "path": "/spec/paused"}]'
check 1 "the server rejected our request" patch deployment web --type json -p '[{"op": "test", "path": "/spec/replicas", "value": 1}]'
check 0 "deployment.apps/web labeled" label deployment web tier=front
check 1 "already has a value" label deployment web tier=back
check 0 "deployment.apps/web annotated" annotate deployment web note=this
check 0 "deployment.apps/web image updated" set image deployment/web web=nginx:1.28
check 0 "replicas" explain deployment.spec.replicas
check 0 "Selector:               app=web" describe deployment web
check 124 "web" get deployments --watch
check 0 "deployment.apps/web condition met" wait deployment/web --for=jsonpath='{.spec.replicas}'=6
check 0 "replaced" replace -f "$place/web.yaml"
check 0 'deployment.apps "web" deleted' delete deployment web
# What kubectl sends as protobuf, such as `create configmap` and `create namespace`, is not taken.
check 0 "configmap/settings created" create -f "$place/settings.yaml"
check 0 "settings" get configmaps -l '!tier'
check 0 "widgets.example.com created" apply -f "$place/widgets.yaml"
check 0 "condition met" wait --for=condition=established crd/widgets.example.com
check 0 "widget.example.com/small created" apply -f "$place/widget.yaml"
check 0 "small   1" get wd
check 0 "FIELD: spec <Object>" explain widgets.spec
check 1 "spec.size in body should be greater than or equal to 1" patch widget small --type merge -p '{"spec": {"size": 0}}'
check 0 "deleted" delete crd widgets.example.com
check 1 "the server could not find the requested resource" get widgets
check 0 "namespace/team created" create -f "$place/team.yaml"
check 0 'namespace "team" deleted' delete namespace team --wait=false
check 0 "Terminating" get namespace team -o "jsonpath={.status.phase}"

echo "$failed failed"
exit "$failed"
