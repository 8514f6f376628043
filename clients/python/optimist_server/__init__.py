"""A Kubernetes API server for tests.

    import kubernetes
    import optimist_server

    with optimist_server.server() as kubeconfig:
        client = kubernetes.config.new_client_from_config(kubeconfig)

The program `optimist` is in the package, or must be on the PATH; the variable OPTIMIST can name another one. With
pytest, the fixture `kubeconfig` is a server for one test.
"""

import contextlib
import json
import os
import subprocess


def program():
    """The program: that of the variable OPTIMIST, else the one in the package, else the one on the PATH."""
    name = "optimist.exe" if os.name == "nt" else "optimist"
    packaged = os.path.join(os.path.dirname(__file__), "bin", name)
    return os.environ.get("OPTIMIST") or (packaged if os.path.exists(packaged) else "optimist")


@contextlib.contextmanager
def server(*arguments):
    """Runs a server, and gives the path of its kubeconfig.

    The arguments are those of `optimist serve`, such as "--objects", "objects.yaml". Raises
    RuntimeError if the server does not start; its errors are on the standard error.
    """
    command = [program(), "serve", "--output", "json", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        ready = process.stdout.readline()
        if not ready:
            raise RuntimeError(f"optimist serve ended with code {process.wait()}")
        yield json.loads(ready)["kubeconfig"]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
