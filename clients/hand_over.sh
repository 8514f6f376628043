#!/usr/bin/env bash
# Runs the hand-over scripts of `optimist preview` with kubectl against `optimist serve`: without --write
# nothing is stored, and after --write the same preview meets no conflict and every object has its fields. Then it
# compares what the preview says of pruning with what kubectl does.
#
#   clients/hand_over.sh
#
# Needs kubectl. Ends with the number of checks that failed.
set -u

cd "$(dirname "$0")/.."
command -v kubectl > /dev/null || { echo "hand_over.sh: there is no kubectl here"; exit 1; }
place=$(mktemp -d)
export KUBECONFIG="$place/config"
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$place"' EXIT
. clients/serve.sh

failed=0
checked=0
# A condition must hold: check WHAT COMMAND...
check() {
    local what=$1
    shift
    checked=$((checked + 1))
    if "$@"; then
        echo "ok      $what"
    else
        failed=$((failed + 1))
        echo "FAILED  $what"
    fi
}

live() { kubectl get deployments,configmaps,services -n shop -o yaml --show-managed-fields; }
# The names of the fields that the manifests say.
values() { kubectl get deployments,configmaps,services -n shop -o yaml | grep -oE '(replicas|colour|image|targetPort|port|app):' | sort; }
preview() {
    "$OPTIMIST" preview --live "$place/live.yaml" --next "$place/$1" --as kubectl-server-side \
        --manager deployer "${@:2}"
}

cat > "$place/next.yaml" << 'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.28"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {colour: blue}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
YAML
sed '/replicas: 2/d; s/data: {colour: blue}/data: {}/; s/, targetPort: 8080//' \
    "$place/next.yaml" > "$place/left.yaml"

# A cluster in which three managers own what the manifests say: a scaler, an apply in the client, and a
# patch.
begin() {
    [ -z "$server" ] || kill "$server"
    serve "$place/config"
    {
        kubectl create namespace shop
        sed 's/nginx:1.28/nginx:1.27/; s/8080/80/; /^apiVersion: v1/,/^---/{s/colour: blue/colour: green/}' \
            "$place/next.yaml" > "$place/first.yaml"
        awk 'BEGIN { RS = "---\n" } !/ConfigMap/ { printf "%s---\n", $0 }' "$place/first.yaml" |
            kubectl apply --server-side --field-manager=deployer -f -
        awk 'BEGIN { RS = "---\n" } /ConfigMap/' "$place/first.yaml" | kubectl apply -f -
        kubectl scale deployment web -n shop --replicas=7
        kubectl patch service web -n shop --type=json \
            -p '[{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9090}]'
    } > "$place/made" 2>&1 || cat "$place/made"
    live > "$place/live.yaml"
    values > "$place/values"
}

# Hands over all conflicts in one way: hand_over NAME MANIFESTS-AFTERWARDS OPTION...
hand_over() {
    begin
    preview next.yaml > "$place/preview"
    check "$1: the first preview meets conflicts" [ $? = 1 ]
    preview next.yaml --format script "${@:3}" > "$place/script" 2> "$place/left"
    bash "$place/script" > "$place/tried" 2>&1
    check "$1: the dry runs pass" [ $? = 0 ]
    live | diff - "$place/live.yaml" > /dev/null
    check "$1: the dry runs store nothing" [ $? = 0 ]
    bash "$place/script" --write > "$place/written" 2>&1
    check "$1: the script stores" [ $? = 0 ]
    live > "$place/live.yaml"
    preview "$2" > "$place/preview"
    check "$1: afterwards nothing is refused" [ $? = 0 ]
    values | comm -13 - "$place/values" | grep .
    check "$1: no field is lost" [ $? = 1 ]
}

hand_over take-over next.yaml --hand-over take-over
hand_over smallest left.yaml

# Pruning: an object that no manifest names is deleted only if nothing is refused, and the preview says both.
apply_set() {
    KUBECTL_APPLYSET=true kubectl apply --server-side --field-manager=deployer --prune --applyset=shop -n shop -f "$1"
}
set_preview() {
    live > "$place/live.yaml"
    preview "$1" --prune --applyset shop --namespace shop > "$place/preview"
}
exists() { kubectl get configmap old -n shop > "$place/got" 2>&1; }

[ -z "$server" ] || kill "$server"
serve "$place/config"
{
    cat "$place/next.yaml"
    printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: old, namespace: shop}\ndata: {colour: red}\n'
} > "$place/with_old.yaml"
{
    kubectl create namespace shop
    apply_set "$place/with_old.yaml"
    kubectl scale deployment web -n shop --replicas=7
} > "$place/made" 2>&1 || cat "$place/made"
check "prune: the object exists at first" exists
set_preview next.yaml
check "prune: the preview keeps it for now" grep -qE '^kept for now .*old' "$place/preview"
apply_set "$place/next.yaml" > "$place/applied" 2>&1
check "prune: kubectl is refused" [ $? = 1 ]
check "prune: kubectl keeps it" exists
set_preview left.yaml
check "prune: without the conflict the preview deletes it" grep -qE '^deleted .*old' "$place/preview"
apply_set "$place/left.yaml" > "$place/applied" 2>&1
check "prune: kubectl is not refused" [ $? = 0 ]
exists
check "prune: kubectl deletes it" [ $? = 1 ]

echo "$((checked - failed)) passed, $failed failed"
exit "$failed"
