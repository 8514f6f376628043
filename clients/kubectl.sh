#!/usr/bin/env bash
# Runs sessions of kubectl against `optimist serve`, and checks what it prints: that is what it
# prints of a kube-apiserver without controllers, schedulers and kubelets. kubectl sends protobuf where it
# does by itself.
#
#   clients/kubectl.sh
#
# Needs kubectl, which need not be of the release of the core. Ends with the number of checks that
# failed.
set -u

cd "$(dirname "$0")/.."
command -v kubectl > /dev/null || { echo "kubectl.sh: there is no kubectl here"; exit 1; }
place=$(mktemp -d)
export KUBECONFIG="$place/config" KUBE_EDITOR="$place/editor" TERM=dumb

. clients/serve.sh
serve "$place/config"
trap 'kill $server; rm -rf "$place"' EXIT

failed=0
checked=0
# The exit code and the output of kubectl must be as expected: check CODE TEXT ARGUMENT...
check() {
    local code=$1 text=$2 output got
    shift 2
    checked=$((checked + 1))
    output=$(HOME=$place timeout 120 kubectl "$@" 2>&1 < /dev/null)
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
cat > "$place/pod.yaml" << 'YAML'
apiVersion: v1
kind: Pod
metadata: {name: lone, labels: {app: lone}}
spec: {containers: [{name: c, image: "nginx:1.27"}]}
YAML
cat > "$place/role.yaml" << 'YAML'
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: default}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
YAML
cat > "$place/node.yaml" << 'YAML'
apiVersion: v1
kind: Node
metadata: {name: node-1}
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

# Everything that kubectl makes from its arguments: these bodies are protobuf.
check 0 "configmap/map created" create configmap map --from-literal=a=1
check 0 "namespace/other created" create namespace other
check 0 "secret/generic created" create secret generic generic --from-literal=password=x
check 0 "secret/registry created" create secret docker-registry registry --docker-server=s --docker-username=u --docker-password=p
check 0 "deployment.apps/api created" create deployment api --image=nginx:1.27 --replicas=2
check 0 "service/api created" create service clusterip api --tcp=80:8080
check 0 "service/api-2 exposed" expose deployment api --name=api-2 --port=80
check 0 "service/port created" create service nodeport port --tcp=80:80
check 0 "service/balancer created" create service loadbalancer balancer --tcp=80:80
check 0 "service/outside created" create service externalname outside --external-name=a.example.com
check 0 "serviceaccount/robot created" create serviceaccount robot
check 0 "role.rbac.authorization.k8s.io/reader created" create role reader --verb=get --resource=pods
check 0 "rolebinding.rbac.authorization.k8s.io/readers created" create rolebinding readers --role=reader --serviceaccount=default:robot
check 0 "clusterrole.rbac.authorization.k8s.io/reader created" create clusterrole reader --verb=get --resource=pods
check 0 "clusterrolebinding.rbac.authorization.k8s.io/readers created" create clusterrolebinding readers --clusterrole=reader --user=u
check 0 "job.batch/once created" create job once --image=busybox -- date
check 0 "cronjob.batch/often created" create cronjob often --image=busybox --schedule="*/5 * * * *" -- date
check 0 "job.batch/now created" create job now --from=cronjob/often
check 0 "ingress.networking.k8s.io/door created" create ingress door --rule="a.example.com/*=api:80"
check 0 "resourcequota/limit created" create quota limit --hard=pods=10
check 0 "priorityclass.scheduling.k8s.io/high created" create priorityclass high --value=10
check 0 "poddisruptionbudget.policy/budget created" create poddisruptionbudget budget --selector=app=api --min-available=1
check 0 "horizontalpodautoscaler.autoscaling/api autoscaled" autoscale deployment api --min=1 --max=3
check 0 "eyJ" create token robot
check 0 "pod/once created" run once --image=nginx
check 0 "created (server dry run)" create deployment none --image=nginx --dry-run=server

# Reading.
check 0 "apps/v1" api-versions
check 0 "deployment.apps/api" get all
check 0 "api    nginx" get deployment api -o custom-columns=NAME:.metadata.name,C:.spec.template.spec.containers[0].name
check 0 "once" get pods --all-namespaces --sort-by=.metadata.name
check 0 "once" get pods --field-selector=metadata.name=once
check 0 "service/api" get pods,services
check 0 "ok" get --raw /readyz
check 0 "Pod Template:" describe deployment api
check 0 "QoS Class:        BestEffort" describe pod once
check 0 "ClusterIP" describe service api
check 0 "No LimitRange resource" describe namespace other
check 0 "password:  1 bytes" describe secret generic
check 0 "Parallelism:" describe job once
check 0 "Used  Hard" describe quota limit
check 0 "FIELDS:" explain pods.spec --recursive
check 0 "Username" auth whoami
check 0 "yes" auth can-i delete nodes
check 0 "[*]" auth can-i --list

# Changing.
check 0 "pod/lone created" apply -f "$place/pod.yaml"
check 0 "pod/lone serverside-applied" apply --server-side --force-conflicts -f "$place/pod.yaml"
check 0 "reconciled" auth reconcile -f "$place/role.yaml"
check 0 "env updated" set env deployment/api A=1
check 0 "resource requirements updated" set resources deployment api --limits=cpu=100m
check 0 "selector updated" set selector service api app=other
check 0 "serviceaccount updated" set serviceaccount deployment api robot
check 0 "subjects updated" set subject rolebinding readers --user=x
check 0 "deployment.apps/api patched" patch deployment api --subresource=status --type=merge -p '{"status": {"replicas": 2}}'
check 0 "deployment.apps/api paused" rollout pause deployment api
check 0 "deployment.apps/api resumed" rollout resume deployment api
check 0 "deployment.apps/api restarted" rollout restart deployment api
# There is no controller that makes replica sets.
check 0 "No rollout history found" rollout history deployment api
check 1 "no rollout history found" rollout undo deployment api
check 1 "Waiting for deployment spec update to be observed" rollout status deployment api --timeout=1s

# Nodes, which nobody runs.
check 0 "node/node-1 created" create -f "$place/node.yaml"
check 0 "node/node-1 cordoned" cordon node-1
check 0 "node/node-1 uncordoned" uncordon node-1
check 0 "node/node-1 tainted" taint nodes node-1 dedicated=a:NoSchedule
check 0 "node/node-1 drained" drain node-1 --force
check 1 "does not have a host assigned" exec lone -- date
check 1 "does not have a host assigned" cp lone:/a "$place/copied"
check 0 "" logs lone
check 1 "Metrics API not available" top pods
check 0 "No events found" events

# Deleting.
check 0 'configmap "map" deleted' delete configmap map
check 0 "" wait --for=delete configmap/map --timeout=60s
check 0 'deleted' delete pods --all --now
check 0 'horizontalpodautoscaler.autoscaling "api" deleted' delete horizontalpodautoscaler api
check 0 'deployment.apps "api" deleted' delete deployment api --cascade=orphan --wait=false
check 0 "orphan" get deployment api -o "jsonpath={.metadata.finalizers}"

echo "$((checked - failed)) of $checked passed"
exit "$failed"
