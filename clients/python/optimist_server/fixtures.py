"""Fixtures for pytest."""

import pytest

from . import server


@pytest.fixture
def kubeconfig():
    """The path of the kubeconfig of a server that this test has for itself."""
    with server() as path:
        yield path
