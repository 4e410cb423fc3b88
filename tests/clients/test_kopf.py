"""kopf: an operator with a definition of its own, a finalizer, a timer, its status, Events and peering."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config, utils
from kubernetes.client.rest import ApiException

from tests.clients.places import Place
from tests.tools.server import free_port, wait_for

HERE = Path(__file__).parent
LOG_SHOWN = 8_000
"""Characters of the operator's log that a failure shows."""
WIDGETS = ("shop.example.com", "v1", "default", "widgets")


@contextlib.contextmanager
def operating(place: Place, folder: Path) -> Iterator[None]:
    """Run the operator until it looks at widgets, and end it as Ctrl-C does."""
    alive = f"http://127.0.0.1:{free_port()}/healthz"
    environment = {**os.environ, "KUBECONFIG": str(place.kubeconfig)}
    command = [sys.executable, "-m", "kopf", "run", "-A", "--liveness", alive, str(HERE / "operator.py")]
    log = folder / "kopf.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_for(lambda: _answers(alive) or process.poll() is not None, what="the operator answers")
        assert process.poll() is None, log.read_text()
        yield
    except AssertionError as error:
        error.add_note(log.read_text(errors="replace")[-LOG_SHOWN:])
        raise
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="module")
def api(place: Place) -> client.ApiClient:
    made = config.new_client_from_config(str(place.kubeconfig))
    documents = list(yaml.safe_load_all((HERE / "widgets.yaml").read_text()))
    utils.create_from_yaml(made, yaml_objects=documents)
    peering = {"apiVersion": "kopf.dev/v1", "kind": "ClusterKopfPeering", "metadata": {"name": "default"}}
    custom = client.CustomObjectsApi(made)
    wait_for(lambda: "kopf.dev" in {group.name for group in client.ApisApi(made).get_api_versions().groups})
    custom.create_cluster_custom_object("kopf.dev", "v1", "clusterkopfpeerings", peering)
    return made


def test_an_operator_looks_after_its_widgets(place: Place, api: client.ApiClient, tmp_path: Path) -> None:
    custom, core = client.CustomObjectsApi(api), client.CoreV1Api(api)

    def widget() -> Any:
        return custom.get_namespaced_custom_object(*WIDGETS, "one")

    with operating(place, tmp_path):
        body = {"apiVersion": "shop.example.com/v1", "kind": "Widget", "metadata": {"name": "one"}}
        custom.create_namespaced_custom_object(*WIDGETS, {**body, "spec": {"colour": "red"}})
        wait_for(lambda: widget().get("status") == {"painted": "red", "dry": True}, what="it is painted and dry")
        assert widget()["metadata"]["finalizers"] == ["shop.example.com/done"]
        child = core.read_namespaced_config_map("one", "default")
        assert child.metadata.owner_references[0].uid == widget()["metadata"]["uid"]
        custom.patch_namespaced_custom_object(*WIDGETS, "one", {"spec": {"colour": "blue"}})
        wait_for(lambda: widget()["status"]["painted"] == "blue", what="it is painted anew")
        assert core.read_namespaced_config_map("one", "default").data == {"colour": "blue"}
        with pytest.raises(ApiException, match="Unsupported value"):
            custom.patch_namespaced_custom_object(*WIDGETS, "one", {"spec": {"colour": "green"}})
        wait_for(
            lambda: (
                [one.message for one in core.list_namespaced_event("default").items if one.reason == "Painted"]
                == ["in red"]
            ),
            what="the Event is there",
        )
        peers = custom.get_cluster_custom_object("kopf.dev", "v1", "clusterkopfpeerings", "default")["status"]
        assert [peer["priority"] for peer in peers.values()] == [0]
        custom.delete_namespaced_custom_object(*WIDGETS, "one")
        wait_for(
            lambda: not custom.list_namespaced_custom_object(*WIDGETS)["items"],
            what="the finalizer is taken away",
        )
        maps = [one.metadata.name for one in core.list_namespaced_config_map("default").items]
        assert "one" not in maps
