# Sourced by the scripts that run real clients: builds `optimist`, and starts `optimist serve`.

cargo build --quiet -p optimist || exit 1
OPTIMIST=$(cargo metadata --no-deps --format-version 1 |
    sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/debug/optimist
export OPTIMIST

# Starts a server that writes this kubeconfig, and waits until it is ready: serve KUBECONFIG ARGUMENT...
# Its process is $server.
serve() {
    local ready
    ready=$(mktemp -u)
    mkfifo "$ready"
    "$OPTIMIST" serve --output json --kubeconfig "$@" > "$ready" &
    server=$!
    read -r _ < "$ready" || exit 1
    rm "$ready"
}
