#!/bin/sh
# Builds the npm package of the engine into target/npm/, tests it in Node, and packs it.
#
# Usage: packages/engine/pack.sh [PROFILE]    (`web` by default; `dev` builds faster)
set -eu

cd "$(dirname "$0")/../.."
profile=${1:-web}
target=wasm32-unknown-unknown
folder=${CARGO_TARGET_DIR:-target}/$target/$profile
[ "$profile" = dev ] && folder=${CARGO_TARGET_DIR:-target}/$target/debug
out=target/npm/node_modules/optimist-engine

if [ "$profile" = dev ]; then
  # Beside the tests of the page, with whose features everything was compiled before.
  cargo build --package optimist-engine --package optimist-frontend --target $target --lib --test browser
else
  cargo build --package optimist-engine --target $target --profile "$profile"
fi
rm -rf "$out"
mkdir -p "$out"
wasm-bindgen --target nodejs --out-dir "$out" --out-name optimist_engine "$folder/optimist_engine.wasm"
if [ "$profile" = web ]; then
  wasm-opt -Oz --all-features "$out/optimist_engine_bg.wasm" -o "$out/optimist_engine_bg.wasm"
fi
cp packages/engine/npm/package.json packages/engine/npm/README.md "$out"
cp packages/engine/npm/test.cjs target/npm/test.cjs
if command -v node > /dev/null; then
  node --test target/npm/test.cjs
else
  echo "there is no node: the package is built and not tested"
fi
if command -v npm > /dev/null; then
  (cd "$out" && npm pack --silent --pack-destination ../..)
fi
