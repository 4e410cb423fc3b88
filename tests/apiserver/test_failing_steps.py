"""A request can be made to fail at each step of its way, and its marks say at which: the last one, with why."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clustersim.apiserver.handling import handle
from clustersim.apiserver.messages import Request, Response, error_response
from clustersim.classroom import people
from clustersim.classroom.requests import REQUESTS
from clustersim.classroom.writing import write
from controllers.admission.table import CHAIN
from controllers.log.operations import Create
from scheduler_core.api.errors import ApiError
from tests.tools.certificates import asking
from tests.tools.room import Room

HOME = "/api/v1/namespaces/shop"
PODS, MAPS = f"{HOME}/pods", f"{HOME}/configmaps"
MERGE, JSON = "application/merge-patch+json", "application/json"
BINDING = {"apiVersion": "v1", "kind": "Node", "name": "n1"}


def pod(name: str = "web", *, metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    containers = spec.pop("containers", [{"name": "c", "image": "nginx"}])
    return {"metadata": {"name": name, **(metadata or {})}, "spec": {"containers": containers, **spec}}


LARGE = [{"name": "c", "image": "nginx", "resources": {"limits": {"cpu": "3"}}}]
LONG = [{"name": "c", "image": "nginx", "args": ["x" * 1_600_000]}]


class Shop(Room):
    """A session with a namespace in which much is forbidden, and a student."""

    def __init__(self) -> None:
        super().__init__()
        self.made("/api/v1/namespaces", {"metadata": {"name": "s-stu"}})
        self.student = people.new_token(people.seat(self.session, "Stu", "student"))
        labels = {"pod-security.kubernetes.io/enforce": "baseline"}
        self.made("/api/v1/namespaces", {"metadata": {"name": "shop", "labels": labels}})
        self.made(f"{HOME}/serviceaccounts", {"metadata": {"name": "default"}})
        self.made("/api/v1/namespaces", {"metadata": {"name": "leaving", "finalizers": ["example.dev/hold"]}})
        self.ask("DELETE", "/api/v1/namespaces/leaving")
        limit = {"type": "Container", "max": {"cpu": "2"}, "default": {"cpu": "1"}, "defaultRequest": {"cpu": "100m"}}
        self.made(f"{HOME}/limitranges", {"metadata": {"name": "limits"}, "spec": {"limits": [limit]}})
        self.made(f"{HOME}/resourcequotas", {"metadata": {"name": "quota"}, "spec": {"hard": {"pods": "1"}}})
        self.made(MAPS, {"metadata": {"name": "there"}, "data": {"a": "1"}})
        node_class = {"metadata": {"name": "sandboxed"}, "handler": "kata", "overhead": {"podFixed": {"cpu": "10m"}}}
        self.made("/apis/node.k8s.io/v1/runtimeclasses", node_class)
        self._rules()
        classes = "/apis/storage.k8s.io/v1/storageclasses"
        self.made(classes, {"metadata": {"name": "fixed"}, "provisioner": "example.dev/disk"})

    def _rules(self) -> None:
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
        group = "/apis/admissionregistration.k8s.io/v1"
        spec = {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "object.metadata.name != 'unwanted'"}],
        }
        self.made(f"{group}/validatingadmissionpolicies", {"metadata": {"name": "names"}, "spec": spec})
        binding = {"policyName": "names", "validationActions": ["Deny"]}
        self.made(f"{group}/validatingadmissionpolicybindings", {"metadata": {"name": "names"}, "spec": binding})
        for kind in ("mutating", "validating"):
            hook = {
                "name": f"{kind}.team.example",
                "clientConfig": {"service": {"namespace": "team", "name": "checker"}},
                "rules": [rule],
                "objectSelector": {"matchLabels": {"asks": kind}},
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            }
            self.made(f"{group}/{kind}webhookconfigurations", {"metadata": {"name": "team"}, "webhooks": [hook]})

    def switch(self, **flags: str) -> None:
        spec = {"kube-apiserver": {name.replace("_", "-"): value for name, value in flags.items()}}
        document = {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": "flags"}, "spec": spec}
        (result,) = write(self.store, [Create("flags.clustersim.io", "", document)], commands=True)
        assert result.error is None, result.error

    def refused(self, method: str, path: str, body: Any, token: str, kind: str) -> tuple[int, dict[str, Any]]:
        headers = {"content-type": kind, **({"authorization": f"Bearer {token}"} if token else {})}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            answer = handle(Request(method, self.code, path, {}, headers, data))
        except ApiError as error:
            answer = error_response(error)
        assert isinstance(answer, Response)
        (newest,) = REQUESTS.newest(self.session.id, 1)
        assert newest["path"] == path
        return answer.status, newest


CLAIM = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "fixed",
        "volumeName": "v",
    },
}

MASTERS = {
    "metadata": {"name": "boss"},
    "spec": {
        "request": asking("boss", "system:masters"),
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"],
    },
}

CASES: dict[str, tuple[str, str, Any, int, str, str, str]] = {
    # what → (method, path, body, code, step, plugin, a part of what is told)
    "no token": ("POST", PODS, pod(), 403, "authorization", "", "system:anonymous"),
    "a student elsewhere": ("POST", PODS, pod(), 403, "authorization", "", "cannot create"),
    "a node of one's choice": ("POST", "/api/v1/namespaces/s-stu/pods", pod(nodeName="n1"), 403, "authorization", "",
                               "choosing the node"),
    "no such namespace": ("POST", "/api/v1/namespaces/none/pods", pod(), 404, "mutating", "NamespaceLifecycle",
                          'namespaces "none" not found'),
    "a namespace that ends": ("POST", "/api/v1/namespaces/leaving/configmaps", {"metadata": {"name": "a"}}, 403,
                              "mutating", "NamespaceLifecycle", "because it is being terminated"),
    "an eviction where a namespace ends": ("POST", "/api/v1/namespaces/leaving/pods/p/eviction",
                                           {"metadata": {"name": "p"}}, 403, "mutating", "NamespaceLifecycle",
                                           'pods "p" is forbidden: unable to create new content'),
    "a binding in no namespace": ("POST", "/api/v1/namespaces/none/pods/p/binding",
                                  {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}}, 404,
                                  "mutating", "NamespaceLifecycle", 'namespaces "none" not found'),
    "no such account": ("POST", PODS, pod(serviceAccountName="none"), 403, "mutating", "ServiceAccount",
                        "error looking up service account"),
    "no such class of priority": ("POST", PODS, pod(priorityClassName="none"), 403, "mutating", "Priority",
                                  "no PriorityClass with name none was found"),
    "no such class of runtime": ("POST", PODS, pod(runtimeClassName="none"), 403, "mutating", "RuntimeClass",
                                 'RuntimeClass "none" not found'),
    "more than a container may": ("POST", PODS, pod(containers=LARGE), 403, "validating", "LimitRanger",
                                  "maximum cpu usage per Container is 2"),
    "not baseline": ("POST", PODS, pod(hostNetwork=True), 403, "validating", "PodSecurity", "violates PodSecurity"),
    "over the quota": ("POST", PODS, pod("second"), 403, "quota", "ResourceQuota", "exceeded quota: quota"),
    "no JSON": ("POST", PODS, b"{", 400, "registry", "decode", ""),
    "not the schema": ("POST", PODS, pod(hostNetwork="yes"), 400, "registry", "decode", "hostNetwork"),
    "not the rules": ("POST", MAPS, {"metadata": {"name": "Not_A_Name"}}, 422, "registry", "strategy", "metadata.name"),
    "an unknown kind of patch": ("PATCH", f"{MAPS}/there", {}, 415, "registry", "decode",
                                 "415: Unsupported Media Type"),
    "a stale version": ("PUT", f"{MAPS}/there", {"metadata": {"name": "there", "resourceVersion": "1"}}, 409, "store",
                        "", "the object has been modified"),
    "there already": ("POST", MAPS, {"metadata": {"name": "there"}}, 409, "store", "", "already exists"),
    "not there": ("DELETE", f"{MAPS}/none", {}, 404, "store", "", "not found"),
    "another than was meant": ("DELETE", f"{MAPS}/there", {"preconditions": {"uid": "other"}}, 409, "store", "",
                               "does not match the UID in record"),
    "too large": ("POST", PODS, pod(containers=LONG), 413, "store", "", ""),
    "what a policy forbids": ("POST", MAPS, {"metadata": {"name": "unwanted"}}, 422, "validating",
                              "ValidatingAdmissionPolicy", "with binding 'names' denied request: failed expression"),
    "a webhook that may change": ("POST", MAPS, {"metadata": {"name": "a", "labels": {"asks": "mutating"}}}, 500,
                                  "mutating", "MutatingAdmissionWebhook", 'calling webhook "mutating.team.example"'),
    "a webhook that may refuse": ("POST", MAPS, {"metadata": {"name": "a", "labels": {"asks": "validating"}}}, 500,
                                  "validating", "ValidatingAdmissionWebhook", "calls nobody outside of itself"),
    "a certificate for everything": ("POST", "/apis/certificates.k8s.io/v1/certificatesigningrequests", MASTERS, 403,
                                     "validating", "CertificateSubjectRestriction", "with system:masters group"),
    "a claim that may not grow": ("PATCH", f"{HOME}/persistentvolumeclaims/data",
                                  {"spec": {"resources": {"requests": {"storage": "9Gi"}}}}, 403, "validating",
                                  "PersistentVolumeClaimResize", "only dynamically provisioned pvc can be resized"),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_a_request_fails_where_it_is_made_to(own_database: None, what: str) -> None:
    method, path, body, code, step, plugin, told = CASES[what]
    shop = Shop()
    if plugin == "ResourceQuota":
        shop.made(PODS, pod("first"))
        shop.run(3)
    if plugin == "PersistentVolumeClaimResize":
        shop.made(path.removesuffix("/data"), CLAIM)
        bound = {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}}
        assert shop.refused("PATCH", f"{path}/status", bound, shop.teacher, MERGE)[0] == 200
    token = {"no token": "", "a student elsewhere": shop.student, "a node of one's choice": shop.student}.get(
        what, shop.teacher
    )
    kind = "text/plain" if code == 415 else MERGE if method == "PATCH" else JSON
    status, kept = shop.refused(method, path, body, token, kind)
    assert (status, kept["code"]) == (code, code), kept
    refused = [mark for mark in kept["steps"] if mark["result"] == "refused"]
    assert [(mark["step"], mark.get("plugin", "")) for mark in refused] == [(step, plugin)], kept["steps"]
    assert kept["steps"][-1] is refused[0]
    assert told in refused[0]["message"]
    assert kept["rvAfter"] == ""


def test_every_plugin_that_refuses_is_provoked_or_never_refuses() -> None:
    """What only fills in, or is off unless a flag says otherwise, has its cases in tests/admission."""
    provoked = {case[5] for case in CASES.values()} - {"", "decode", "strategy"}
    only_fills_in = {
        "AlwaysAdmit",
        "TaintNodesByCondition",
        "AlwaysPullImages",
        "DefaultTolerationSeconds",
        "ExtendedResourceToleration",
        "DefaultStorageClass",
        "StorageObjectInUseProtection",
        "DefaultIngressClass",
    }
    by_flag = {"AlwaysDeny", "LimitPodHardAntiAffinityTopology"}
    assert {plugin.name for plugin in CHAIN.plugins} == provoked | only_fills_in | by_flag


@pytest.mark.parametrize("plugin", ["AlwaysDeny", "LimitPodHardAntiAffinityTopology"])
def test_a_plugin_that_a_flag_switches_on_refuses_too(own_database: None, plugin: str) -> None:
    shop = Shop()
    shop.switch(enable_admission_plugins=plugin)
    term = {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "zone"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    status, kept = shop.refused("POST", PODS, pod(affinity=apart), shop.teacher, JSON)
    assert (status, kept["steps"][-1]["plugin"], kept["steps"][-1]["result"]) == (403, plugin, "refused")
