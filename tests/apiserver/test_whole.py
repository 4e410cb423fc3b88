"""The whole installation with its engine: real kubectl over TLS with the kubeconfig that the session gives out."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.kubectl import binaries
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import Server, running, wait_for

SHOP = Path(__file__).with_name("shop.yaml")

Kubectl = Callable[..., str]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as started:
        yield started


@pytest.fixture(scope="module")
def session(server: Server) -> dict[str, Any]:
    status, made = server.request("POST", "/api/sessions", {"title": "Whole", "template": "three-nodes", "seed": 5})
    assert status == 201
    # Ten times as fast and straight through: what is waited for here is grace periods and readiness.
    path = f"/api/sessions/{made['code']}/clock"
    status, _ = server.request("PATCH", path, {"rate": 10, "pace": 0}, token=made["token"])
    assert status == 200
    return made  # type: ignore[no-any-return]


def _kubeconfig(server: Server, code: str, token: str, file: Path) -> Path:
    request = urllib.request.Request(f"{server.url}/api/sessions/{code}/kubeconfig")
    request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        file.write_bytes(answer.read())
    return file


def _runner(binary: str, kubeconfig: Path, home: Path) -> Kubectl:
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "HOME": str(home)}

    def run(*arguments: str, fails: bool = False) -> str:
        done = subprocess.run(
            [binary, *arguments], env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )
        text = done.stdout + done.stderr
        assert (done.returncode != 0) is fails, f"{arguments}: {text}"
        return text

    return run


@pytest.fixture(params=sorted(binaries()))
def kubectl(server: Server, session: dict[str, Any], tmp_path: Path, request: pytest.FixtureRequest) -> Kubectl:
    kubeconfig = _kubeconfig(server, session["code"], session["token"], tmp_path / "config")
    return _runner(binaries()[request.param], kubeconfig, tmp_path)


def test_a_manifest_runs_and_goes_away_again(kubectl: Kubectl) -> None:
    kubectl("wait", "--for=condition=Ready", "nodes", "--all", "--timeout=120s")
    assert kubectl("get", "nodes", "--no-headers").count(" Ready ") == 3
    assert kubectl("apply", "-f", str(SHOP)).count("created") == 5
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/front", "--timeout=120s")
    assert kubectl("apply", "-f", str(SHOP)).count("unchanged") == 5
    kubectl("scale", "deployment", "front", "--replicas=2")
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/front", "--timeout=120s")
    pods = json.loads(kubectl("get", "pods", "-l", "app=front", "-o", "json"))["items"]
    nodes = json.loads(kubectl("get", "nodes", "-o", "json"))["items"]
    assert {pod["spec"]["nodeName"] for pod in pods} <= {node["metadata"]["name"] for node in nodes}
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    assert "started in pod front-" in kubectl("logs", "deployment/front")
    assert "etc\n" in kubectl("exec", "deployment/front", "--", "ls")
    text = kubectl("describe", "pod", pods[0]["metadata"]["name"])
    assert "Successfully assigned default/front-" in text
    assert "Lease" in kubectl("describe", "node", pods[0]["spec"]["nodeName"])
    kubectl("set", "image", "deployment/front", "server=example.dev/front:v2")
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/front", "--timeout=120s")
    assert "REVISION" in kubectl("rollout", "history", "deployment/front")
    assert kubectl("delete", "-f", str(SHOP)).count("deleted") == 5
    wait_for(lambda: "No resources" in kubectl("get", "pods", "-l", "app=front"), what="the pods are gone")


def test_a_drained_node_is_empty_and_cordoned(kubectl: Kubectl) -> None:
    node = kubectl("get", "nodes", "-o", "name").split()[0].removeprefix("node/")
    kubectl("drain", node, "--ignore-daemonsets", "--force", "--timeout=120s")
    assert "SchedulingDisabled" in kubectl("get", "node", node)
    assert "No resources" in kubectl("get", "pods", "-A", "--field-selector", f"spec.nodeName={node}")
    kubectl("uncordon", node)


def test_a_namespace_goes_with_everything_in_it(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "short")
    kubectl("-n", "short", "create", "deployment", "web", "--image=nginx:1", "--replicas=2")
    kubectl("-n", "short", "rollout", "status", "deployment/web", "--timeout=120s")
    kubectl("delete", "namespace", "short", "--timeout=120s")
    assert "NotFound" in kubectl("get", "namespace", "short", fails=True)


POLICY = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "access-nginx", "namespace": "policies"},
    "spec": {
        "podSelector": {"matchLabels": {"app": "nginx"}},
        "ingress": [{"from": [{"podSelector": {"matchLabels": {"access": "true"}}}]}],
    },
}


def test_what_is_run_ends_as_its_request_does(kubectl: Kubectl, tmp_path: Path) -> None:
    """The walk-through "Declare Network Policy", with pods that are to end."""
    kubectl("create", "namespace", "policies")
    kubectl("-n", "policies", "create", "deployment", "nginx", "--image=nginx")
    kubectl("-n", "policies", "expose", "deployment", "nginx", "--port=80")
    kubectl("-n", "policies", "rollout", "status", "deployment/nginx", "--timeout=120s")
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(POLICY))
    kubectl("apply", "-f", str(file))
    run = ("-n", "policies", "run", "b", "--rm", "-i", "--image=busybox:1.28", "--restart=Never")
    asks = ("--", "wget", "--spider", "--timeout=1", "nginx")
    text = kubectl(*run, *asks, fails=True)
    assert "wget: download timed out" in text
    assert "pod policies/b terminated (Error)" in text
    assert "remote file exists" in kubectl(*run, "--labels=access=true", *asks)
    script = ("--", "/bin/sh", "-c", "wget --spider --timeout=1 nginx")
    kubectl("-n", "policies", "run", "c", "--image=busybox:1.28", *script)
    told = ("get", "pod", "c", "-o", "jsonpath={.status.containerStatuses[0].lastState.terminated.exitCode}")
    wait_for(lambda: kubectl("-n", "policies", *told) == "1", what="it is started again")
    kubectl("delete", "namespace", "policies", "--timeout=120s")


def test_a_student_has_a_kubeconfig_of_their_own(server: Server, session: dict[str, Any], tmp_path: Path) -> None:
    status, joined = server.request("POST", f"/api/sessions/{session['code']}/join", {"name": "Mei"})
    assert status in (200, 201)
    kubeconfig = _kubeconfig(server, session["code"], joined["token"], tmp_path / "config")
    for binary in binaries().values():
        student = _runner(binary, kubeconfig, tmp_path)
        student("run", "mine", "--image=nginx:1")
        assert student("get", "pods", "-o", "name").split() == ["pod/mine"]
        assert "Forbidden" in student("-n", "default", "run", "theirs", "--image=nginx:1", fails=True)
        assert "Forbidden" in student("label", "node", "n1", "mine=yes", fails=True)
        assert student("auth", "can-i", "create", "deployments").strip() == "yes"
        student("delete", "pod", "mine", "--wait=true")
