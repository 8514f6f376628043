#!/usr/bin/env bash
# Runs the official Python client against `optimist serve`, started by the package in clients/python.
#
#   clients/python.sh
#
# Needs python3, and makes an environment with the packages kubernetes and pytest, which it gets by pip.
set -eu

cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
. clients/serve.sh
python3 -m venv "$place/environment"
# An installation writes into its folder.
cp -r clients/python "$place/package"
"$place/environment/bin/pip" install --quiet kubernetes pytest "$place/package"
"$place/environment/bin/pytest" "$place/package/tests"
