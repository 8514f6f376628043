"""The official Python client against the server."""

import threading

import kubernetes
import optimist_server
import pytest


def maps_of(kubeconfig):
    client = kubernetes.config.new_client_from_config(kubeconfig)
    return kubernetes.client.CoreV1Api(client)


def config_map(name):
    return {"metadata": {"name": name}, "data": {"colour": "blue"}}


def test_the_second_of_two_writers_gets_a_conflict(kubeconfig):
    core = maps_of(kubeconfig)
    core.create_namespaced_config_map("default", config_map("settings"))
    mine = core.read_namespaced_config_map("settings", "default")
    yours = core.read_namespaced_config_map("settings", "default")
    mine.data["colour"] = "red"
    core.replace_namespaced_config_map("settings", "default", mine)
    with pytest.raises(kubernetes.client.ApiException) as refused:
        core.replace_namespaced_config_map("settings", "default", yours)
    assert refused.value.status == 409


def test_each_test_has_a_server_of_its_own(kubeconfig):
    names = [it.metadata.name for it in maps_of(kubeconfig).list_namespaced_config_map("default").items]
    assert "settings" not in names


def test_a_watch_shows_what_others_write(kubeconfig):
    core = maps_of(kubeconfig)
    later = threading.Timer(0.2, core.create_namespaced_config_map, ["default", config_map("a")])
    later.start()
    events = kubernetes.watch.Watch().stream(
        core.list_namespaced_config_map, "default", field_selector="metadata.name=a", timeout_seconds=120
    )
    event = next(iter(events))
    assert (event["type"], event["object"].metadata.name) == ("ADDED", "a")
    later.join()


def test_a_server_has_objects_from_the_start(tmp_path):
    objects = tmp_path / "objects.yaml"
    objects.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: there, namespace: shop}\n")
    with optimist_server.server("--objects", str(objects)) as kubeconfig:
        assert maps_of(kubeconfig).read_namespaced_config_map("there", "shop")


def test_a_server_that_does_not_start_is_an_error():
    with pytest.raises(RuntimeError, match="code 2"):
        with optimist_server.server("--objects", "nowhere.yaml"):
            pass
