"""Whatever is sent, the answer is a document or a Status that blames the request; never a fault of the server."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controllers.kinds.table import KINDS
from tests.attack.meant import is_upstreams_own
from tests.tools.apiserver import Api
from tests.tools.patience import PATIENCE_SECONDS

logging.getLogger("httpx").setLevel(logging.WARNING)

CONTAINER = {
    "name": "c", "image": "nginx", "ports": [{"containerPort": 80, "hostPort": 80}],
    "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m"}},
    "env": [{"name": "A", "value": "b"}], "livenessProbe": {"httpGet": {"port": 80}},
    "volumeMounts": [{"name": "v", "mountPath": "/v"}],
}  # fmt: skip
TERM = {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "zone"}
POD_SPEC = {
    "containers": [CONTAINER],
    "volumes": [{"name": "v", "emptyDir": {}}],
    "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]
            }
        },
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "podAffinityTerm": TERM}]
        },
    },
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
    "schedulingGates": [{"name": "a/b"}],
}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {key: POD_SPEC[key] for key in ("containers", "volumes")}}
WORKLOAD = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
CLAIM = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
    "selector": {"matchLabels": {"a": "b"}},
}
BODIES: dict[str, dict[str, Any]] = {
    "pods": {"spec": POD_SPEC, "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
    "nodes": {
        "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}], "unschedulable": True},
        "status": {"capacity": {"cpu": "4", "pods": "10"}, "images": [{"names": ["a"], "sizeBytes": 5}]},
    },
    "services": {"spec": {"type": "NodePort", "selector": {"a": "b"}, "ports": [{"port": 80, "targetPort": "http"}]}},
    "configmaps": {"data": {"a": "b"}, "binaryData": {"c": "ZA=="}, "immutable": False},
    "resourcequotas": {"spec": {"hard": {"cpu": "1"}}},
    "events": {"involvedObject": {"kind": "Pod", "name": "x"}, "reason": "a", "message": "b", "count": 1},
    "replicasets.apps": {"spec": WORKLOAD},
    "deployments.apps": {"spec": {**WORKLOAD, "strategy": {"rollingUpdate": {"maxSurge": "25%"}}}},
    "persistentvolumeclaims": {"spec": CLAIM},
    "persistentvolumes": {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "local": {"path": "/a"},
            "nodeAffinity": {
                "required": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]
                }
            },
        }
    },
    "replicationcontrollers": {"spec": {"replicas": 1, "selector": {"a": "b"}, "template": TEMPLATE}},
    "statefulsets.apps": {"spec": {**WORKLOAD, "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": CLAIM}]}},
    "poddisruptionbudgets.policy": {"spec": {"minAvailable": "50%", "selector": {"matchLabels": {"a": "b"}}}},
    "storageclasses.storage.k8s.io": {
        "provisioner": "a/b",
        "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}],
    },
    "csinodes.storage.k8s.io": {"spec": {"drivers": [{"name": "a", "nodeID": "b", "allocatable": {"count": 3}}]}},
    "csidrivers.storage.k8s.io": {"spec": {"storageCapacity": True, "tokenRequests": [{"audience": "a"}]}},
    "csistoragecapacities.storage.k8s.io": {
        "storageClassName": "a",
        "capacity": "1Gi",
        "nodeTopology": {"matchLabels": {"a": "b"}},
    },
    "volumeattachments.storage.k8s.io": {
        "spec": {"attacher": "a", "nodeName": "b", "source": {"persistentVolumeName": "c"}}
    },
    "priorityclasses.scheduling.k8s.io": {"value": 5, "globalDefault": False, "preemptionPolicy": "Never"},
    "leases.coordination.k8s.io": {"spec": {"leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}},
    "clocks.clustersim.io": {"spec": {"rate": 1.5, "step": {"id": 1, "by": "cycle", "count": 1}}},
    "replicas.clustersim.io": {"spec": {"component": "kube-scheduler", "fault": {"id": 1, "kind": "crash"}}},
}

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
    | st.sampled_from(["", "-1", "1Ki", "25%", "<b>x</b>", "a/b/c", "\x00", "../..", "𝔘", "1e400", "9" * 60]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
QUERIES = st.dictionaries(
    st.sampled_from(
        ["limit", "continue", "resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector", "dryRun",
         "fieldValidation", "fieldManager", "includeObject", "force", "gracePeriodSeconds", "propagationPolicy"]
    ),
    st.text(max_size=10)
    | st.sampled_from(["0", "1", "All", "Strict", "a=b", "a in (b", "!", "true", "metadata.name=x"]),
    max_size=3,
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, (*path, index))


def _replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copied = copy.deepcopy(document)
    holder = copied
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return copied


@pytest.fixture(scope="module")
def client(api: Api) -> Iterator[httpx.Client]:
    with httpx.Client(headers={"Authorization": f"Bearer {api.made['teacher']}"}, timeout=PATIENCE_SECONDS) as opened:
        yield opened


def _collection(api: Api, resource: str, namespace: str = "default") -> str:
    kind = next(kind for kind in KINDS if kind.resource == resource)
    prefix = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    home = f"/namespaces/{namespace}" if kind.namespaced else ""
    return f"{api.base}{prefix}{home}/{kind.plural}"


def _blames_the_request(answer: httpx.Response) -> None:
    document = answer.json()
    if answer.status_code == 504:
        assert document["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
        return
    assert answer.status_code < 500 or is_upstreams_own(answer), document
    if answer.status_code >= 400:
        assert document["kind"] == "Status"
        assert document["message"]
        json.dumps(document)


_LONG = settings(max_examples=100, suppress_health_check=list(HealthCheck))


@_LONG
@given(data=st.data(), value=JSON_VALUES, query=QUERIES)
def test_a_document_with_anything_anywhere(
    api: Api, client: httpx.Client, data: st.DataObject, value: Any, query: dict[str, str]
) -> None:
    resource = data.draw(st.sampled_from(sorted(BODIES)))
    valid = {"metadata": {"name": "fuzz", "labels": {"a": "b"}, "annotations": {"c": "d"}}, **BODIES[resource]}
    place = data.draw(st.sampled_from(list(_places(valid))))
    body = _replaced(valid, place, value)
    url = _collection(api, resource)
    created = client.post(url, json=body, params=query)
    _blames_the_request(created)
    name = created.json().get("metadata", {}).get("name") if created.status_code == 201 else None
    if name and "dryRun" not in query:
        again = client.put(f"{url}/{name}", json=created.json())
        assert again.status_code == 200, again.json()
        assert again.json()["metadata"]["resourceVersion"] == created.json()["metadata"]["resourceVersion"]
        # Whatever was accepted can be shown as a table, too.
        accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
        assert client.get(url, headers=accept).status_code == 200
        assert client.delete(f"{url}/{name}", params={"gracePeriodSeconds": "0"}).status_code == 200


@_LONG
@given(
    data=st.data(),
    value=JSON_VALUES,
    form=st.sampled_from(["merge-patch", "strategic-merge-patch", "json-patch"]),
    subresource=st.sampled_from(["", "/status", "/scale"]),
)
def test_a_patch_with_anything_anywhere(
    api: Api, client: httpx.Client, data: st.DataObject, value: Any, form: str, subresource: str
) -> None:
    url = _collection(api, "deployments.apps")
    client.post(url, json={"metadata": {"name": "patched"}, **BODIES["deployments.apps"]})
    patch: Any
    if form == "json-patch":
        pointers = st.sampled_from(
            ["", "/", "/spec", "/spec/replicas", "/spec/template/spec/containers/0", "/a/-", "x"]
        )
        operation = st.fixed_dictionaries(
            {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "?"]), "path": pointers},
            optional={"from": pointers, "value": st.just(value)},
        )
        patch = data.draw(st.lists(operation, max_size=3) | st.just(value))
    else:
        directives = st.sampled_from(
            ["$patch", "$retainKeys", "$setElementOrder/containers", "$deleteFromPrimitiveList/x"]
        )
        valid = {"metadata": {"labels": {"x": None}}, "spec": {"replicas": 2, "template": {"spec": POD_SPEC}}}
        patch = _replaced(valid, data.draw(st.sampled_from(list(_places(valid)))), value)
        if isinstance(patch, dict) and data.draw(st.booleans()):
            patch = {**patch, data.draw(directives): value}
    answer = client.patch(
        f"{url}/patched{subresource}",
        content=json.dumps(patch).encode(),
        headers={"Content-Type": f"application/{form}+json"},
    )
    _blames_the_request(answer)
    kept = client.get(f"{url}/patched").json()
    assert kept["spec"]["template"]["spec"]["containers"][0]["name"]
    assert isinstance(kept["spec"]["replicas"], int)


@_LONG
@given(
    query=QUERIES, path=st.lists(st.text(max_size=8) | st.sampled_from(["api", "v1", "pods", "namespaces"]), max_size=6)
)
def test_any_path_and_query(api: Api, client: httpx.Client, query: dict[str, str], path: list[str]) -> None:
    quoted = "/".join(quote(part, safe="") for part in path)
    for url in (f"{api.base}/{quoted}", f"{api.base}/api/v1/pods"):
        answer = client.get(url, params=query)
        if answer.headers["content-type"].startswith("application/json"):
            _blames_the_request(answer)


@_LONG
@given(
    body=st.recursive(
        st.sampled_from(
            ["x", "1", "1.5", "true", "null", ".nan", "0x1F", "2026-01-01", "!!binary aGk=", "&a x", "*a", "1:30"]
        ),
        lambda inner: (
            st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
            | st.lists(
                st.tuples(st.sampled_from(["metadata", "name", "labels", "spec", "1", "true", "? [a]"]), inner),
                max_size=3,
            ).map(lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}")
        ),
        max_leaves=8,
    )
)
def test_any_yaml(api: Api, client: httpx.Client, body: str) -> None:
    labelled = f"{{metadata: {{name: any, labels: {{1: {body}}}, annotations: {body}}}, data: {body}}}"
    for text in (body, labelled):
        answer = client.post(
            _collection(api, "configmaps"),
            params={"dryRun": "All"},
            content=text.encode(),
            headers={"Content-Type": "application/yaml"},
        )
        _blames_the_request(answer)


@_LONG
@given(body=st.binary(max_size=200), form=st.sampled_from(["application/json", "application/yaml", "protobuf"]))
def test_any_bytes(api: Api, client: httpx.Client, body: bytes, form: str) -> None:
    if form == "protobuf":
        form, body = "application/vnd.kubernetes.protobuf", b"k8s\x00" + body
    answer = client.post(_collection(api, "pods"), content=body, headers={"Content-Type": form})
    _blames_the_request(answer)
    assert answer.status_code in (400, 415, 422)


@pytest.mark.parametrize("value", [5, "text", [1], True])
def test_a_patch_that_leaves_no_map_of_annotations_is_told_what_is_there(
    api: Api, client: httpx.Client, value: Any
) -> None:
    url = _collection(api, "configmaps")
    client.post(url, json={"metadata": {"name": "annotated", "annotations": {"a": "b"}}})
    patch = [{"op": "replace", "path": "/metadata/annotations", "value": value}]
    form = {"Content-Type": "application/json-patch+json"}
    answer = client.patch(f"{url}/annotated", content=json.dumps(patch), headers=form)
    assert answer.status_code in (400, 422)
    assert client.get(f"{url}/annotated").json()["metadata"]["annotations"]["a"] == "b"
