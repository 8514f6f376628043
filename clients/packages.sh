#!/usr/bin/env bash
# Makes the packages that have the program in them, and starts each of them once where this machine can.
#
#   clients/packages.sh [DIRECTORY]
#
# Makes a Python wheel, an npm package and a folder from which a container is built (`docker build DIRECTORY/container`),
# for the platform of this machine. The program is built small; with the variable OPTIMIST it is the one that it names.
# Needs python3 with venv, node (18 or newer) and npm. Python's setuptools come from its registry.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
output=${1:-$root/target/packages}
mkdir -p "$output"
output=$(cd "$output" && pwd)
cd "$root"
if test -z "${OPTIMIST:-}"; then
    cargo build --profile program -p optimist --bin optimist
    OPTIMIST=$(cargo metadata --no-deps --format-version 1 |
        sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/program/optimist
fi
program=$(cd "$(dirname "$OPTIMIST")" && pwd)/$(basename "$OPTIMIST")
# What is tried below has the program in itself, or does not start.
unset OPTIMIST
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# Copies the program to its place in a package: put FILE
put() {
    mkdir -p "$(dirname "$1")"
    cp "$program" "$1"
    chmod 755 "$1"
}

cp -r clients/python "$place/python"
put "$place/python/optimist_server/bin/optimist"
cp LICENSE-MIT LICENSE-APACHE "$place/python/"
python3 -m venv "$place/environment"
platform=$(python3 -c 'import sysconfig; print(sysconfig.get_platform().replace("-", "_").replace(".", "_"))')
"$place/environment/bin/pip" wheel --quiet --no-deps --wheel-dir "$output" \
    --config-settings="--build-option=--plat-name=$platform" "$place/python"

cp -r clients/javascript "$place/javascript"
put "$place/javascript/bin/optimist"
cp LICENSE-MIT LICENSE-APACHE "$place/javascript/"
cd "$place/javascript"
npm pkg set bin.optimist=bin/optimist "os[]=$(node -p process.platform)" "cpu[]=$(node -p process.arch)"
npm pack --silent --pack-destination "$output" > "$place/packed"
cd - > "$place/none"

put "$output/container/optimist"
cp clients/Containerfile LICENSE-MIT LICENSE-APACHE "$output/container/"
mv "$output/container/Containerfile" "$output/container/Dockerfile"

"$place/environment/bin/pip" install --quiet --no-index "$output"/optimist_server-*.whl
"$place/environment/bin/python" - << 'TRY'
import optimist_server

with optimist_server.server() as kubeconfig:
    assert "server: https://127.0.0.1:" in open(kubeconfig).read()
print("the wheel starts its server")
TRY

mkdir "$place/user"
cd "$place/user"
npm install --silent --no-audit --no-fund "$output/$(cat "$place/packed")"
cat > try.mjs << 'TRY'
import { readFileSync } from "node:fs";
import { server } from "optimist-server";

const running = await server();
if (!readFileSync(running.kubeconfig, "utf8").includes(running.url)) throw new Error("no kubeconfig");
await running.stop();
console.log("the npm package starts its server");
TRY
node try.mjs
npx --no-install optimist --version

if docker info > "$place/none" 2>&1; then
    docker build --quiet --tag optimist-server "$output/container"
    docker run --rm optimist-server --version
else
    echo "no container is built: docker does not run here"
fi
ls -l "$output"
