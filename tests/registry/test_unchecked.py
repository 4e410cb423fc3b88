"""What the bench of the checks compares with: bodies are taken as they come, and only meanwhile."""

from __future__ import annotations

from tests.bench.checks import unchecked
from tests.registry.registry_tool import Cluster, refusal

WRONG = {"spec": {"containers": [{"name": "C", "image": ""}], "unknown": 1}}


def test_without_the_checks_a_body_is_stored_as_it_comes() -> None:
    cluster = Cluster()
    with unchecked():
        stored = cluster.create("pods", "p", WRONG)
        assert stored["spec"]["unknown"] == 1
    assert refusal(cluster.create, "pods", "q", WRONG).code == 422
