"""What the page gets of an object: enough for what the stage draws of it, and nothing that can be large."""

from __future__ import annotations

from typing import Any

from clustersim.feed.slim import slim

REVISION = "deployment.kubernetes.io/revision"
WHOLE = "kubectl.kubernetes.io/last-applied-configuration"


def test_a_pod_tells_what_it_asks_for_and_how_long_it_stays() -> None:
    """The card of the pod in hand says the first four, a node that dies the last one."""
    stays = {"key": "gpu", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "zone"}
    spec: dict[str, Any] = {
        "containers": [],
        "nodeSelector": {"disk": "ssd"},
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
        "topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}],
        "tolerations": [stays],
    }
    shown = slim("pods", {"metadata": {"name": "web-1", "namespace": "default"}, "spec": spec})["spec"]
    assert shown == {
        "containers": [],
        "nodeSelector": {"disk": "ssd"},
        "affinity": {"podAntiAffinity": {}},
        "topologySpreadConstraints": [{"topologyKey": "zone"}],
        "tolerations": [stays],
    }


def test_the_newest_template_of_a_workload_is_known_by_its_annotation_and_no_manifest_travels() -> None:
    metadata = {"name": "web-1", "namespace": "default", "annotations": {REVISION: "2", WHOLE: "{…}"}}
    for resource in ("replicasets.apps", "deployments.apps"):
        assert slim(resource, {"metadata": metadata})["metadata"]["annotations"] == {REVISION: "2"}
    assert "annotations" not in slim("pods", {"metadata": metadata})["metadata"], "only the kinds that name it"
