"""helm 4 with its default driver (Secrets) and server-side apply: a release's whole life."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.places import Place
from tests.tools.kubectl import from_wheel, helm_from_wheel
from tests.tools.patience import PATIENCE_SECONDS

Run = Callable[..., str]


@pytest.fixture
def run(place: Place, tmp_path: Path) -> Run:
    """Return what runs a binary with the session's kubeconfig and returns what it printed."""
    homes = {f"HELM_{name}_HOME": str(tmp_path / name) for name in ("CACHE", "CONFIG", "DATA")}
    environment = {**os.environ, **homes, "KUBECONFIG": str(place.kubeconfig), "HOME": str(tmp_path)}

    def run(binary: str, *arguments: str, fails: bool = False) -> str:
        done = subprocess.run(
            [binary, *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True,
            timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        text = done.stdout + done.stderr
        assert (done.returncode != 0) is fails, f"{arguments}: {text}"
        return text

    return run


def test_a_release_is_installed_upgraded_rolled_back_tested_and_gone(run: Run) -> None:
    helm = helm_from_wheel()
    wait = ("--wait", "--timeout", f"{PATIENCE_SECONDS:g}s")
    run(helm, "create", "chart")
    assert "Install complete" in run(helm, "install", "site", "./chart", "--set", "replicaCount=2", *wait)
    assert "STATUS: deployed" in run(helm, "status", "site")
    assert "has been upgraded" in run(helm, "upgrade", "site", "./chart", "--set", "replicaCount=3", *wait)
    assert "Rollback was a success" in run(helm, "rollback", "site", "1", *wait)
    assert json.loads(run(helm, "list", "-o", "json"))[0]["revision"] == "3"
    history = json.loads(run(helm, "history", "site", "-o", "json"))
    assert [one["status"] for one in history] == ["superseded", "superseded", "deployed"]
    deployment = json.loads(run(from_wheel(), "get", "deployment", "site-chart", "-o", "json", "--show-managed-fields"))
    assert deployment["spec"]["replicas"] == deployment["status"]["readyReplicas"] == 2
    assert ("helm", "Apply") in {
        (entry["manager"], entry["operation"]) for entry in deployment["metadata"]["managedFields"]
    }
    assert "Phase:          Succeeded" in run(helm, "test", "site", "--timeout", f"{PATIENCE_SECONDS:g}s")
    assert run(from_wheel(), "get", "secrets", "-o", "name").count("secret/sh.helm.release.v1.site.v") == 3
    # An autoscaler takes the place of a number of replicas; what was not yet applied is only tried.
    asked = ("upgrade", "site", "./chart", "--set", "autoscaling.enabled=true")
    assert "HorizontalPodAutoscaler" in run(helm, *asked, "--dry-run=server")
    assert "has been upgraded" in run(helm, *asked)
    assert "site-chart" in run(from_wheel(), "get", "hpa", "-o", "name")
    assert 'release "site" uninstalled' in run(helm, "uninstall", "site", "--wait")
    assert json.loads(run(helm, "list", "-o", "json")) == []
    assert "NotFound" in run(from_wheel(), "get", "deployment", "site-chart", fails=True)
