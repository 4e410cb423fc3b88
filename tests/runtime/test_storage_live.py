"""Storage in a running session, as somebody with kubectl sees it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.kubectl import from_wheel, until
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import Server, wait_for
from tests.tools.session import Session

Kubectl = Callable[..., str]

PARTS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disks}
provisioner: disk.example.dev
allowVolumeExpansion: true
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: zonal}
provisioner: disk.example.dev
volumeBindingMode: WaitForFirstConsumer
"""


def volume(name: str, node: str) -> str:
    term = f"{{matchExpressions: [{{key: kubernetes.io/hostname, operator: In, values: [{node}]}}]}}"
    return f"""---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}}}
spec:
  capacity: {{storage: 10Gi}}
  accessModes: [ReadWriteOnce]
  storageClassName: local
  local: {{path: /mnt/{name}}}
  nodeAffinity: {{required: {{nodeSelectorTerms: [{term}]}}}}
"""


def claim(name: str, class_name: str = "", mode: str = "ReadWriteOnce") -> str:
    chosen = f"storageClassName: {class_name}, " if class_name else ""
    return f"""---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: {name}}}
spec: {{{chosen}accessModes: [{mode}], resources: {{requests: {{storage: 5Gi}}}}}}
"""


def pod(name: str, claim_name: str, more: str = "") -> str:
    return f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  {more}
  containers: [{{name: c, image: nginx}}]
  volumes: [{{name: data, persistentVolumeClaim: {{claimName: {claim_name}}}}}]
"""


@pytest.fixture
def session(request: pytest.FixtureRequest, live_server_up: Server) -> Session:
    """Return a session of the template that the test names."""
    opened = Session(live_server_up, request.param)
    opened.clock(rate=20, pace=0, paused=False)
    return opened


@pytest.fixture
def kubectl(session: Session, tmp_path: Path) -> Kubectl:
    """Return a function that runs kubectl in the session and returns what it printed."""
    file = tmp_path / "kubeconfig"
    # kubectl sends no bearer token without TLS; a name and password in the address it does.
    address = session.server.url.replace("http://", f"http://teacher:{session.token}@")
    server = f"{address}/clusters/{session.code}"
    document = {
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "c", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    }  # fmt: skip
    file.write_text(json.dumps(document))

    def run(*arguments: str, stdin: str = "", fails: bool = False) -> str:
        command = [from_wheel(), "--kubeconfig", str(file), "--cache-dir", str(tmp_path), *arguments]
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
        )
        assert (done.returncode != 0) is fails, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr if fails else done.stdout

    return run


def _of(kubectl: Kubectl, kind: str, name: str, path: str) -> str:
    return kubectl("get", kind, name, "-o", f"jsonpath={{{path}}}")


@pytest.mark.parametrize("session", ["zones"], indirect=True)
def test_storage_with_kubectl(kubectl: Kubectl) -> None:
    nodes = kubectl("get", "nodes", "-o", "name").split()
    first, second = (name.removeprefix("node/") for name in nodes[:2])
    kubectl("apply", "-f", "-", stdin=PARTS + volume("disk-1", first) + volume("disk-2", second))

    def phase(name: str) -> str:
        return _of(kubectl, "pod", name, ".status.phase")

    def why(name: str) -> str:
        return _of(kubectl, "pod", name, '.status.conditions[?(@.type=="PodScheduled")].message')

    # A claim is served at once where its class says so, by a volume made for it.
    kubectl("apply", "-f", "-", stdin=claim("made", "disks") + pod("writer", "made"))
    wait_for(lambda: phase("writer") == "Running", what="the pod with a volume that was made")
    row = kubectl("get", "pvc", "made").splitlines()[1].split()
    assert [row[1], row[3], row[4], row[5]] == ["Bound", "5Gi", "RWO", "disks"]
    described = kubectl("describe", "pvc", "made")
    assert "ProvisioningSucceeded" in described
    assert "Used By:       writer" in described

    # Three pods, two disks: each goes where its disk is, the third waits and says why.
    claims = "".join(claim(f"local-{letter}", "local") for letter in "abc")
    kubectl("apply", "-f", "-", stdin=claims)
    wait_for(lambda: "WaitForFirstConsumer" in kubectl("describe", "pvc", "local-a"), what="the event")
    kubectl("apply", "-f", "-", stdin="".join(pod(letter, f"local-{letter}") for letter in "abc"))
    wait_for(lambda: [phase(letter) for letter in "abc"].count("Running") == 2, what="two pods with disks")
    late = next(letter for letter in "abc" if phase(letter) == "Pending")
    homes = {_of(kubectl, "pod", letter, ".spec.nodeName") for letter in "abc"} - {""}
    assert homes == {first, second}
    wait_for(lambda: "node(s) didn't find available persistent volumes to bind" in why(late), what="the reason")
    for line in kubectl("get", "pv", "disk-1", "disk-2", "--no-headers").splitlines():
        assert line.split()[4] == "Bound"
    kubectl("apply", "-f", "-", stdin=volume("disk-3", first))
    wait_for(lambda: phase(late) == "Running", what="the third pod, once there is a disk")

    # A volume for a chosen node is made in its zone, and ties the claim's next pod to it.
    zone = _of(kubectl, "node", second, r".metadata.labels.topology\.kubernetes\.io/zone")
    selector = f"nodeSelector: {{kubernetes.io/hostname: {second}}}"
    kubectl("apply", "-f", "-", stdin=claim("zoned", "zonal") + pod("z", "zoned", selector))
    wait_for(lambda: phase("z") == "Running", what="the pod with a volume of its zone")
    bound = _of(kubectl, "pvc", "zoned", ".spec.volumeName")
    assert f"topology.kubernetes.io/zone in [{zone}]" in kubectl("describe", "pv", bound)

    # One pod alone, by the session's own default class; a claim that is not there; a claim in use that is deleted.
    alone = claim("alone", mode="ReadWriteOncePod")
    kubectl("apply", "-f", "-", stdin=alone + pod("one", "alone"))
    wait_for(lambda: phase("one") == "Running", what="the first user")
    kubectl("apply", "-f", "-", stdin=pod("two", "alone") + pod("lost", "nowhere"))
    wait_for(lambda: "ReadWriteOncePod access mode already in-use by another pod" in why("two"), what="the conflict")
    wait_for(lambda: 'persistentvolumeclaim "nowhere" not found' in why("lost"), what="the missing claim")
    kubectl("delete", "pvc", "made", "--wait=false")
    assert kubectl("get", "pvc", "made").splitlines()[1].split()[1] == "Terminating"
    kubectl("delete", "pod", "writer", "--wait=true")
    wait_for(lambda: not kubectl("get", "pvc", "made", "--ignore-not-found"), what="the claim's end")


@pytest.mark.parametrize("session", ["three-nodes"], indirect=True)
def test_a_budget_is_seen_by_preemption(session: Session, kubectl: Kubectl, tmp_path: Path) -> None:
    """Every node is full; the pods of one app are protected, and one pod of the other goes."""
    nodes = [name.removeprefix("node/") for name in kubectl("get", "nodes", "-o", "name").split()]
    kubectl("delete", "deployments", "--all", "--wait=false")
    wait_for(lambda: not kubectl("get", "pods", "-o", "name"), what="an empty cluster")
    free = nodes[0]
    parts = ["apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n"]
    for name in nodes:
        cpu = _of(kubectl, "node", name, ".status.allocatable.cpu")
        app = "free" if name == free else "kept"
        parts.append(
            f"apiVersion: v1\nkind: Pod\nmetadata: {{name: on-{name}, labels: {{app: {app}}}}}\n"
            f"spec:\n  nodeSelector: {{kubernetes.io/hostname: {name}}}\n"
            f"  containers: [{{name: c, image: nginx, resources: {{requests: {{cpu: '{cpu}'}}}}}}]\n"
        )
    kubectl("apply", "-f", "-", stdin="---\n".join(parts))
    kubectl("create", "pdb", "kept", "--selector=app=kept", f"--min-available={len(nodes) - 1}")
    wait_for(lambda: _of(kubectl, "pdb", "kept", ".status.currentHealthy") == str(len(nodes) - 1), what="the budget")
    assert kubectl("get", "pdb", "kept").splitlines()[1].split()[:4] == ["kept", str(len(nodes) - 1), "N/A", "0"]
    # Draining a node asks for evictions, and the budget refuses them.
    draining = [from_wheel(), "--kubeconfig", str(tmp_path / "kubeconfig"), "drain", nodes[1], "--force"]
    until("Cannot evict pod as it would violate the pod's disruption budget.", draining, os.environ)
    kubectl("uncordon", nodes[1])
    vip = "apiVersion: v1\nkind: Pod\nmetadata: {name: vip}\nspec:\n  priorityClassName: high\n  containers: "
    kubectl("apply", "-f", "-", stdin=vip + "[{name: c, image: nginx, resources: {requests: {cpu: '1'}}}]\n")
    wait_for(lambda: _of(kubectl, "pod", "vip", ".spec.nodeName") == free, what="the pod on the free node")
    traces = session.call("GET", f"/api/sessions/{session.code}/decisions?pod=default/vip")
    first = min(traces, key=lambda one: one["attempt"])
    told = session.call("GET", f"/api/sessions/{session.code}/decisions/{first['id']}")
    costs = {one["node"]: one["costs"]["pdbViolations"] for one in told["explanation"]["preemption"]["candidates"]}
    assert costs == {name: int(name != free) for name in nodes}
