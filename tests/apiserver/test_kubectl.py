"""Real kubectl, every version there is, against the real server."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.apiserver import Api
from tests.tools.kubectl import binaries, until
from tests.tools.server import wait_for

SHOP = Path(__file__).with_name("shop.yaml")

Kubectl = Callable[..., str]


@pytest.fixture
def api(sqlite_api: Api) -> Api:
    """Return one web process: which database is behind it is nothing that kubectl could see."""
    return sqlite_api


@pytest.fixture(params=sorted(binaries()))
def kubectl(api: Api, namespace: str, request: pytest.FixtureRequest) -> Kubectl:
    """Return a function that runs one kubectl in the test's namespace and returns what it printed."""
    binary = binaries()[request.param]

    def run(*arguments: str, fails: bool = False, stdin: str = "", role: str = "teacher") -> str:
        api.kubectl_binary = binary
        done = api.kubectl("-n", namespace, *arguments, stdin=stdin, check=False, role=role)
        text = done.stdout + done.stderr
        assert (done.returncode != 0) is fails, f"{arguments}: {text}"
        return text

    return run


def test_a_second_apply_of_a_manifest_changes_nothing(kubectl: Kubectl) -> None:
    first = kubectl("apply", "-f", str(SHOP))
    assert first.count("created") == 5
    second = kubectl("apply", "-f", str(SHOP))
    assert second.count("unchanged") == 5
    assert "configured" not in second


def test_apply_of_a_change_reads_one_document_a_group_and_not_all_of_them(kubectl: Kubectl) -> None:
    """Where a patch's forms are not told, it reads the whole of OpenAPI v2 as well, each time anew."""
    kubectl("apply", "-f", "-", stdin=SHOP.read_text())
    told = kubectl("apply", "-v=6", "-f", "-", stdin=SHOP.read_text().replace("front:v1", "front:v2"))
    assert "deployment.apps/front configured" in told
    assert "/openapi/v3" in told
    assert "/openapi/v2" not in told


def test_fields_that_nothing_simulates_survive(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", str(SHOP))
    spec = json.loads(kubectl("get", "deployment", "front", "-o", "json"))["spec"]
    container = spec["template"]["spec"]["containers"][0]
    assert container["readinessProbe"]["httpGet"]["httpHeaders"] == [{"name": "Cookie", "value": "id=1"}]
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert container["env"][2]["valueFrom"]["fieldRef"] == {"fieldPath": "spec.nodeName", "apiVersion": "v1"}
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
    assert spec["progressDeadlineSeconds"] == 600


def test_apply_changes_one_field_and_keeps_the_others(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=SHOP.read_text())
    changed = SHOP.read_text().replace("front:v1", "front:v2")
    assert "deployment.apps/front configured" in kubectl("apply", "-f", "-", stdin=changed)
    deployment = json.loads(kubectl("get", "deployment", "front", "-o", "json"))
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "example.dev/front:v2"
    assert len(container["env"]) == 3
    assert deployment["metadata"]["generation"] == 2


def test_get_prints_the_columns_of_the_kind(kubectl: Kubectl) -> None:
    kubectl("run", "one", "--image=nginx")
    header, row = kubectl("get", "pods").splitlines()
    assert header.split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert row.split()[:4] == ["one", "0/1", "Pending", "0"]
    assert "NOMINATED NODE" in kubectl("get", "pods", "-o", "wide")
    assert kubectl("get", "pods", "-o", "name").strip() == "pod/one"
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=2")
    header, row = kubectl("get", "deployments").splitlines()
    assert header.split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert row.split()[:4] == ["web", "0/2", "0", "0"]


def test_describe_reads_what_it_needs(kubectl: Kubectl) -> None:
    kubectl("run", "one", "--image=nginx", "--labels=app=web")
    text = kubectl("describe", "pod", "one")
    assert "app=web" in text
    assert "node.kubernetes.io/not-ready:NoExecute op=Exists for 300s" in text
    node = f"node-{time.monotonic_ns()}"
    kubectl(
        "create", "-f", "-",
        stdin=json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node},
                          "status": {"capacity": {"cpu": 4, "memory": "8Gi", "pods": 110}}}),
    )  # fmt: skip
    text = kubectl("describe", "node", node)
    assert "memory:  8Gi" in text
    kubectl("cordon", node)
    assert "SchedulingDisabled" in kubectl("get", "node", node)
    kubectl("taint", "node", node, "gpu=yes:NoSchedule")
    assert "gpu=yes:NoSchedule" in kubectl("describe", "node", node)
    kubectl("delete", "node", node)


def test_top_shows_what_containers_use_beside_what_they_ask_for(kubectl: Kubectl, api: Api, namespace: str) -> None:
    node = f"n{time.monotonic_ns()}"
    size = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    assert api.request("POST", "/api/v1/nodes", {"metadata": {"name": node}, "status": {"capacity": size}})[0] == 201
    kubectl(
        "run", "greedy", "--image=nginx", "--annotations=clustersim.io/cpu-usage=900m",
        "--annotations=clustersim.io/memory-usage=512Mi", "--labels=app=greedy",
        '--overrides={"spec":{"containers":[{"name":"greedy","image":"nginx",'
        '"resources":{"requests":{"cpu":"100m"},"limits":{"memory":"256Mi"}}}]}}',
    )  # fmt: skip
    kubectl("run", "waiting", "--image=nginx")
    pods = f"/api/v1/namespaces/{namespace}/pods/greedy"
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "greedy"}, "target": {"name": node}}
    assert api.request("POST", f"{pods}/binding", binding)[0] == 201
    running = {"name": "greedy", "ready": True, "restartCount": 0, "image": "nginx", "imageID": ""}
    running["state"] = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    status = {"status": {"phase": "Running", "containerStatuses": [running]}}
    merge = "application/merge-patch+json"
    assert api.request("PATCH", f"{pods}/status", status, content_type=merge)[0] == 200
    lines = [line.split() for line in kubectl("top", "pods").splitlines()[1:]]
    assert lines == [["greedy", "900m", "256Mi"]]
    assert "greedy" in kubectl("top", "pods", "-l", "app=greedy", "--containers")
    (found,) = (line.split() for line in kubectl("top", "nodes").splitlines() if line.startswith(node))
    assert found == [node, "960m", "24%", "512Mi", "6%"]
    assert "NotFound" in kubectl("get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes/none", fails=True)
    refused = api.request("POST", "/apis/metrics.k8s.io/v1beta1/nodes", {"metadata": {"name": "x"}})
    assert refused[0] == 405
    kubectl("delete", "node", node)


def test_bodies_in_protobuf_are_read(kubectl: Kubectl) -> None:
    unique = f"x{time.monotonic_ns()}"
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=0")
    assert json.loads(kubectl("get", "deployment", "web", "-o", "json"))["spec"]["replicas"] == 0
    kubectl("create", "configmap", "settings", "--from-literal=a=b", "--from-literal=c=世界")
    assert json.loads(kubectl("get", "configmap", "settings", "-o", "json"))["data"] == {"a": "b", "c": "世界"}
    kubectl("create", "quota", "limits", "--hard=cpu=1,pods=3")
    assert json.loads(kubectl("get", "quota", "limits", "-o", "json"))["spec"]["hard"] == {"cpu": "1", "pods": "3"}
    kubectl("create", "namespace", unique)
    kubectl("create", "priorityclass", unique, "--value=-5", "--description=low")
    assert json.loads(kubectl("get", "priorityclass", unique, "-o", "json"))["value"] == -5
    kubectl("delete", "priorityclass", unique)
    assert kubectl("auth", "can-i", "create", "pods").strip() == "yes"
    assert "tara" in kubectl("auth", "whoami")


def test_scale_label_annotate_expose_and_patch(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=nginx", "--port=80")
    kubectl("scale", "deployment", "web", "--replicas=3")
    kubectl("label", "deployment", "web", "tier=front")
    kubectl("annotate", "deployment", "web", "note=hello")
    kubectl("expose", "deployment", "web", "--port=80")
    kubectl("set", "image", "deployment/web", "nginx=nginx:1.29")
    kubectl("patch", "deployment", "web", "--type=json", "-p", '[{"op":"add","path":"/metadata/labels/x","value":"y"}]')
    kubectl("patch", "deployment", "web", "-p", '{"spec":{"minReadySeconds":3}}')
    deployment = json.loads(kubectl("get", "deployment", "web", "-o", "json"))
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["minReadySeconds"] == 3
    assert deployment["metadata"]["labels"] == {"app": "web", "tier": "front", "x": "y"}
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.29"
    service = json.loads(kubectl("get", "service", "web", "-o", "json"))
    assert service["spec"]["clusterIP"].startswith("10.96.")
    assert service["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]


def test_rollout_status_waits_until_the_controller_has_been_there(kubectl: Kubectl, api: Api, namespace: str) -> None:
    kubectl("create", "deployment", "web", "--image=nginx")
    waiting = [api.kubectl_binary, "-n", namespace, "rollout", "status", "deployment/web"]
    until("Waiting for deployment", waiting, api.kubectl_environment())
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/web"
    status = {
        "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
    }  # fmt: skip
    patch = {"status": status}
    code, _, _ = api.request("PATCH", path + "/status", patch, content_type="application/merge-patch+json")
    assert code == 200
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/web", "--timeout=120s")


def test_delete_waits_until_the_object_is_gone(kubectl: Kubectl) -> None:
    kubectl("run", "one", "--image=nginx")
    assert 'pod "one" deleted' in kubectl("delete", "pod", "one")
    assert "not found" in kubectl("get", "pod", "one", fails=True)
    kubectl("apply", "-f", str(SHOP))
    assert kubectl("delete", "-f", str(SHOP)).count("deleted") == 5


def test_selectors(kubectl: Kubectl) -> None:
    kubectl("run", "one", "--image=nginx", "--labels=app=web,tier=front")
    kubectl("run", "two", "--image=nginx", "--labels=app=web")
    assert kubectl("get", "pods", "-l", "app=web,tier in (front,back)", "-o", "name").split() == ["pod/one"]
    assert kubectl("get", "pods", "-l", "!tier", "-o", "name").split() == ["pod/two"]
    assert kubectl("get", "pods", "--field-selector", "metadata.name!=one", "-o", "name").split() == ["pod/two"]
    assert "not supported" in kubectl("get", "pods", "--field-selector", "spec.foo=1", fails=True)


def test_watch_shows_what_happens(kubectl: Kubectl, api: Api, namespace: str) -> None:
    kubectl("run", "one", "--image=nginx")
    environment = {"KUBECONFIG": str(api.kubeconfig()), "HOME": str(api.data), "PATH": "/usr/bin:/bin"}
    command = [api.kubectl_binary, "-n", namespace, "get", "pods", "-w", "--no-headers"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as watcher:
        try:
            assert watcher.stdout is not None
            assert watcher.stdout.readline().split()[0] == "one"
            kubectl("run", "two", "--image=nginx")
            assert watcher.stdout.readline().split()[:3] == ["two", "0/1", "Pending"]
        finally:
            watcher.terminate()


def test_wait_sees_a_condition(kubectl: Kubectl, api: Api, namespace: str) -> None:
    kubectl("run", "one", "--image=nginx")
    environment = {"KUBECONFIG": str(api.kubeconfig()), "HOME": str(api.data), "PATH": "/usr/bin:/bin"}
    command = [api.kubectl_binary, "-n", namespace, "wait", "--for=condition=Ready", "pod/one", "--timeout=120s"]
    waiter = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    patch = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    path = f"/api/v1/namespaces/{namespace}/pods/one/status"
    api.request("PATCH", path, patch, content_type="application/strategic-merge-patch+json")
    wait_for(lambda: waiter.poll() is not None, what="kubectl wait ends")
    assert waiter.returncode == 0


def test_unknown_fields_are_an_error_for_apply_and_a_warning_without_validation(kubectl: Kubectl) -> None:
    pod = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"},
        "spec": {"containers": [{"name": "c", "image": "nginx"}], "foo": 1},
    }  # fmt: skip
    refused = kubectl("apply", "-f", "-", stdin=json.dumps(pod), fails=True)
    assert 'strict decoding error: unknown field "spec.foo"' in refused
    warned = kubectl("apply", "--validate=warn", "-f", "-", stdin=json.dumps(pod))
    assert 'Warning: unknown field "spec.foo"' in warned
    assert "pod/one created" in warned


def test_versions_of_old_get_a_clear_error(kubectl: Kubectl, api: Api) -> None:
    old = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 5}
    told = kubectl("apply", "-f", "-", stdin=json.dumps(old), fails=True)
    assert 'no matches for kind "PriorityClass" in version "scheduling.k8s.io/v1beta1"' in told
    status, document, _ = api.request("POST", "/apis/scheduling.k8s.io/v1beta1/priorityclasses", old)
    assert (status, document["message"]) == (404, "the server could not find the requested resource")
    status, document, _ = api.request("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", old)
    assert status == 400
    sent, served = "scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1"
    why = f"the API version in the data ({sent}) does not match the expected API version ({served})"
    assert document["message"] == why


def test_replace_edit_diff_and_dry_run(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", str(SHOP))
    changed = SHOP.read_text().replace("front:v1", "front:v2")
    assert "server dry run" in kubectl("apply", "--dry-run=server", "-f", "-", stdin=changed)
    assert "front:v1" in kubectl("get", "deployment", "front", "-o", "yaml")
    assert kubectl("replace", "-f", "-", stdin=changed).count("replaced") == 5
    assert "front:v2" in kubectl("get", "deployment", "front", "-o", "yaml")
    assert "+        image: example.dev/front:v3" in kubectl(
        "diff", "-f", "-", stdin=changed.replace("front:v2", "front:v3"), fails=True
    )


def test_server_side_apply(kubectl: Kubectl) -> None:
    """Make, change, be refused, take over, give up; and go over to it from what kubectl applied itself."""
    applied = ("apply", "--server-side", "-f", "-")
    assert kubectl(*applied, stdin=SHOP.read_text()).count("serverside-applied") == 5
    changed = SHOP.read_text().replace("front:v1", "front:v2")
    refused = kubectl(*applied, "--field-manager=other", stdin=changed, fails=True)
    assert "Apply failed with" in refused
    assert '.spec.template.spec.containers[name="server"].image' in refused
    kubectl(*applied, "--field-manager=other", "--force-conflicts", stdin=changed)
    assert "front:v2" in kubectl("get", "deployment", "front", "-o", "yaml")
    told = kubectl("get", "deployment", "front", "-o", "yaml", "--show-managed-fields")
    assert "manager: kubectl" in told
    assert "manager: other" in told
    colours = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "colours"}, "data": {"sky": "blue"}}
    kubectl("apply", "-f", "-", stdin=json.dumps(colours))
    assert "serverside-applied" in kubectl(*applied, stdin=json.dumps({**colours, "data": {"sky": "grey"}}))
    assert "sky: grey" in kubectl("get", "configmap", "colours", "-o", "yaml")


def test_explain_and_api_resources(kubectl: Kubectl) -> None:
    text = kubectl("explain", "pod.spec.tolerations")
    assert "<[]Toleration>" in text
    assert "schedulerconfigs" in kubectl("api-resources")
    assert "Simulated seconds per real second" in kubectl("explain", "clock.spec")


def test_a_pod_without_a_node_has_an_empty_log(kubectl: Kubectl) -> None:
    kubectl("run", "one", "--image=nginx")
    assert kubectl("logs", "one") == ""


def test_a_student_writes_in_their_own_namespace_alone(api: Api, kubectl: Kubectl) -> None:
    home = api.made["studentNamespace"]
    name = f"p{time.monotonic_ns()}"
    kubectl("-n", home, "run", name, "--image=nginx", role="student")
    kubectl("-n", home, "delete", "pod", name, role="student")
    assert "Forbidden" in kubectl("run", name, "--image=nginx", role="student", fails=True)
    assert "Forbidden" in kubectl("create", "namespace", name, role="student", fails=True)
    assert "Forbidden" in kubectl("-n", home, "run", name, "--image=nginx", role="viewer", fails=True)
    assert kubectl("auth", "can-i", "create", "nodes", role="student", fails=True).strip().startswith("no")


STORAGE = Path(__file__).with_name("storage.yaml")


def test_storage_objects_and_budgets(kubectl: Kubectl) -> None:
    """Cluster-wide objects: gone again at the end, for the next kubectl."""
    assert kubectl("apply", "-f", str(STORAGE)).count("created") == 8
    version = kubectl("get", "pdb", "web", "-o", "jsonpath={.metadata.resourceVersion}")
    # kubectl sends a budget's selector whole each time, so it says "configured" of one that stays as it was.
    assert kubectl("apply", "-f", str(STORAGE)).count("unchanged") == 7
    assert kubectl("get", "pdb", "web", "-o", "jsonpath={.metadata.resourceVersion}") == version
    shown: dict[str, tuple[str, list[str]]] = {}
    for word in ("sc", "pv", "pvc", "pdb", "csinode", "csidriver", "sts", "rc"):
        header, row = kubectl("get", word).splitlines()
        shown[word] = (header, row.split())
    assert shown["sc"][0].split() == [
        "NAME", "PROVISIONER", "RECLAIMPOLICY", "VOLUMEBINDINGMODE", "ALLOWVOLUMEEXPANSION", "AGE"
    ]  # fmt: skip
    assert shown["sc"][1][:6] == [
        "local", "(default)", "kubernetes.io/no-provisioner", "Delete", "WaitForFirstConsumer", "false"
    ]  # fmt: skip
    assert "ACCESS MODES   RECLAIM POLICY   STATUS" in shown["pv"][0]
    assert shown["pv"][1][:7] == ["disk-a", "10Gi", "RWO,ROX", "Retain", "Pending", "local", "<unset>"]
    assert shown["pvc"][0].split()[:4] == ["NAME", "STATUS", "VOLUME", "CAPACITY"]
    assert shown["pvc"][1][:4] == ["data", "Pending", "local", "<unset>"]
    assert shown["pdb"][1][:4] == ["web", "2", "N/A", "0"]
    assert shown["csinode"][1][:2] == ["n1", "1"]
    assert shown["csidriver"][1][:4] == ["ebs.csi.aws.com", "true", "false", "true"]
    assert shown["sts"][1][:2] == ["db", "0/1"]
    assert shown["rc"][1][:4] == ["old", "1", "0", "0"]
    assert "Finalizers:    [kubernetes.io/pvc-protection]" in kubectl("describe", "pvc", "data")
    assert "Term 0:        kubernetes.io/hostname in [n1]" in kubectl("describe", "pv", "disk-a")
    assert "IsDefaultClass:  Yes" in kubectl("describe", "sc", "local")
    assert "Min available:  2" in kubectl("describe", "pdb", "web")
    assert "ebs.csi.aws.com" in kubectl("describe", "csinode", "n1")
    kubectl("create", "pdb", "other", "--selector=app=other", "--max-unavailable=25%")
    assert json.loads(kubectl("get", "pdb", "other", "-o", "json"))["spec"]["maxUnavailable"] == "25%"
    assert "spec is immutable" in kubectl(
        "patch", "pvc", "data", "--type=merge", "-p", '{"spec": {"storageClassName": "x"}}', fails=True
    )
    for kind, name in (("pv", "disk-a"), ("pvc", "data")):
        kubectl("patch", kind, name, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
    kubectl("delete", "-f", str(STORAGE))


POLICY = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAME}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments, deployments/scale]}
  validations:
  - {expression: object.spec.replicas <= 5}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME, validationActions: [Deny]}
"""


def test_what_a_policy_forbids_is_printed_as_upstream(kubectl: Kubectl, namespace: str) -> None:
    kubectl("apply", "-f", "-", stdin=POLICY.replace("NAME", namespace))
    why = (
        f"ValidatingAdmissionPolicy '{namespace}' with binding '{namespace}' denied request: failed expression: "
        "object.spec.replicas <= 5"
    )
    told = kubectl("create", "deployment", "web", "--image=nginx", "--replicas=6", fails=True)
    assert told.strip() == f'error: failed to create deployment: deployments.apps "web" is forbidden: {why}'
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=5")
    told = kubectl("scale", "deployment", "web", "--replicas=6", fails=True)
    assert told.strip() == f'The deployments "web" is invalid: : {why}'
    warn = '{"spec":{"validationActions":["Warn"]}}'
    kubectl("patch", "validatingadmissionpolicybinding", namespace, "--type=merge", "-p", warn)
    assert "scaled" in kubectl("scale", "deployment", "web", "--replicas=6")
    kubectl("delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", namespace)
