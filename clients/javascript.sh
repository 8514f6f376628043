#!/usr/bin/env bash
# Runs the official JavaScript client against `optimist serve`, started by the package in clients/javascript.
#
#   clients/javascript.sh
#
# Needs node (20 or newer) and npm, and gets the package @kubernetes/client-node: version 1, because version 2
# does not run on node 20.
set -eu

cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
. clients/serve.sh
cp clients/javascript/test.js "$place/test.mjs"
packages=$PWD/clients/javascript
cd "$place"
npm install --silent --no-audit --no-fund --install-links "$packages" @kubernetes/client-node@1
node --test test.mjs
