"""The official JavaScript client (@kubernetes/client-node), on Node: one walk in a script of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.clients.places import Place
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.prepare import node_folder

WALK = Path(__file__).with_name("walk.mjs")


def test_a_script_creates_patches_watches_and_looks_into_pods(place: Place) -> None:
    node = str(node_folder() / "node")
    done = subprocess.run(
        [node, str(WALK), str(place.kubeconfig)],
        env=dict(os.environ), capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["nodes"] == ["n1", "n2", "n3"]
    assert found["owner"] == "ReplicaSet"
    assert found["patched"] == {"a": "1", "b": "2"}
    assert found["applied"] == {"a": "1", "b": "2", "c": "3"}
    assert found["watched"] == ["ADDED", "DELETED"]
    assert found["status"]["status"] == "Success"
    assert "etc" in found["output"].split()
    assert found["page"].startswith("HTTP/1.1 200 OK\r\n")
    assert found["refused"] == "Unexpected server response: 404"
    assert "nginx" in found["log"]
    assert found["scale"] == 1
    assert found["missing"] == 404
