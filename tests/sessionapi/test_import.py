"""Bringing files in: real manifests, what `kubectl get -o json` prints, recorded traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from controllers.replay.trace import GPU_MILLI, GPU_MODEL_LABEL, POD_COLUMNS
from tests.tools.application import bearer, http, opened

SHOP = (Path(__file__).parent.parent / "apiserver" / "shop.yaml").read_bytes()


async def send(
    client: httpx.AsyncClient, session: dict[str, Any], data: bytes | str, query: str = ""
) -> httpx.Response:
    path = f"/api/sessions/{session['code']}/import{query}"
    return await client.post(path, content=data, headers=bearer(session["token"]))


async def test_a_real_manifest_is_applied_and_the_second_time_unchanged() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        first = (await send(client, session, SHOP)).json()
        assert first["failed"] == 0, [result for result in first["results"] if result["action"] == "failed"]
        assert first["created"] == len(first["results"]) > 0
        assert [result["index"] for result in first["results"]] == list(range(len(first["results"])))
        before = (await client.get(f"/api/sessions/{session['code']}")).json()["revision"]
        second = (await send(client, session, SHOP)).json()
        assert second["unchanged"] == first["created"]
        assert (await client.get(f"/api/sessions/{session['code']}")).json()["revision"] == before


async def test_a_change_is_merged_in() -> None:
    async with http() as client:
        session = await opened(client, "three-nodes")
        document = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"replicas": 5},
        }
        answer = (await send(client, session, json.dumps(document))).json()
        assert [result["action"] for result in answer["results"]] == ["configured"]
        web = (await client.get(f"/clusters/{session['code']}/apis/apps/v1/namespaces/default/deployments/web")).json()
        assert web["spec"]["replicas"] == 5
        assert web["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1.27"


async def test_results_stand_in_the_files_order_and_each_object_is_whole_or_not_there() -> None:
    text = """
apiVersion: v1
kind: Pod
metadata: {name: in-new, namespace: fresh}
spec: {containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: broken}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: -1}}}]}
---
apiVersion: v1
kind: Gadget
metadata: {name: unknown}
---
kind: Pod
metadata: {name: nameless-version}
---
apiVersion: v1
kind: Pod
metadata: {generateName: made-}
spec: {containers: [{name: c, image: i}], surprise: 1}
---
apiVersion: v1
kind: Namespace
metadata: {name: fresh}
"""
    async with http() as client:
        session = await opened(client)
        answer = (await send(client, session, text)).json()
        results = answer["results"]
        assert [result["action"] for result in results] == [
            "created",
            "failed",
            "failed",
            "failed",
            "created",
            "created",
        ]
        assert [result["error"]["code"] for result in results[1:4]] == [422, 404, 400]
        assert results[1]["error"]["details"]["causes"][0]["field"] == "spec.containers[0].resources.requests[cpu]"
        assert results[4]["name"].startswith("made-")
        assert any("surprise" in warning for warning in results[4]["warnings"])
        assert (answer["created"], answer["failed"]) == (3, 3)
        pods = (await client.get(f"/clusters/{session['code']}/api/v1/pods")).json()["items"]
        assert {pod["metadata"]["name"] for pod in pods} == {"in-new", results[4]["name"]}


async def test_strict_validation_and_dry_run() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\nsurprise: 1\n"
    async with http() as client:
        session = await opened(client)
        strict = (await send(client, session, text, "?fieldValidation=Strict")).json()
        assert strict["results"][0]["error"]["code"] in (400, 422)
        dry = (await send(client, session, text, "?dryRun=All")).json()
        assert dry["created"] == 1
        missing = await client.get(f"/clusters/{session['code']}/api/v1/namespaces/default/configmaps/c")
        assert missing.status_code == 404
        assert (await send(client, session, text, "?fieldValidation=Maybe")).status_code == 422
        assert (await send(client, session, text, "?dryRun=Some")).status_code == 422


async def test_missing_namespaces_are_made_when_that_is_asked() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\n"
    async with http() as client:
        session = await opened(client)
        refused = (await send(client, session, text)).json()
        assert refused["results"][0]["error"]["code"] == 404
        made = (await send(client, session, text, "?createNamespaces=true")).json()
        assert [(result["kind"], result["action"]) for result in made["results"]] == [("ConfigMap", "created")]


async def test_a_running_cluster_comes_over_with_its_owners() -> None:
    """What `kubectl get -o json` prints has uids, revisions and owners of another cluster."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "old-rs", "controller": True}
    stranger = {**owner, "name": "other", "uid": "not-here"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}

    def pod(name: str, reference: dict[str, Any]) -> dict[str, Any]:
        server = {"uid": f"old-{name}", "resourceVersion": "77", "creationTimestamp": "2020-01-01T00:00:00Z"}
        metadata = {
            "name": name,
            "namespace": "shop",
            "labels": {"app": "web"},
            "ownerReferences": [reference],
            **server,
        }
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}

    replicaset = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "old-rs", "resourceVersion": "5"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template},
        "status": {"replicas": 1},
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "data",
            "namespace": "shop",
            "uid": "old-claim",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "volumeName": "disk",
            "storageClassName": "",
        },
    }
    reference = {"namespace": "shop", "name": "data", "uid": "old-claim", "resourceVersion": "9"}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "disk"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/a"},
            "claimRef": reference,
        },
    }
    items = [pod("mine", owner), pod("orphan", stranger), replicaset, claim, volume]
    file = {"apiVersion": "v1", "kind": "List", "items": items}
    async with http() as client:
        session = await opened(client, "import", manifest=json.dumps(file))
        assert session["import"]["failed"] == 0, session["import"]
        api = f"/clusters/{session['code']}"
        uid = (await client.get(f"{api}/apis/apps/v1/namespaces/shop/replicasets/web-1")).json()["metadata"]["uid"]
        assert uid != "old-rs"
        mine = (await client.get(f"{api}/api/v1/namespaces/shop/pods/mine")).json()["metadata"]
        assert [reference["uid"] for reference in mine["ownerReferences"]] == [uid]
        orphan = (await client.get(f"{api}/api/v1/namespaces/shop/pods/orphan")).json()["metadata"]
        assert "ownerReferences" not in orphan
        disk = (await client.get(f"{api}/api/v1/persistentvolumes/disk")).json()
        assert disk["spec"]["claimRef"] == {"namespace": "shop", "name": "data"}


async def test_a_form_file_is_read_like_a_body() -> None:
    async with http() as client:
        session = await opened(client)
        path, headers = f"/api/sessions/{session['code']}/import", bearer(session["token"])
        answer = await client.post(path, files={"file": ("shop.yaml", SHOP)}, headers=headers)
        assert answer.json()["created"] > 0
        assert (await client.post(path, data={"a": "b"}, headers=headers)).status_code == 415
        assert (await client.post(path, files={}, data={}, headers=headers)).status_code == 400
        large = await client.post(path, content=b"#" * (9 * 1024 * 1024), headers=headers)
        assert large.status_code == 413


@pytest.mark.parametrize("text", ["a: b: c", "[" * 1000, "", "3", "a: &a [*a]", "!!python/name:os.system x"])
async def test_a_file_that_cannot_be_read_changes_nothing(text: str) -> None:
    async with http() as client:
        session = await opened(client)
        before = (await client.get(f"/api/sessions/{session['code']}")).json()["revision"]
        answer = await send(client, session, text)
        assert answer.status_code == 400
        assert answer.json()["kind"] == "Status"
        assert (await client.get(f"/api/sessions/{session['code']}")).json()["revision"] == before


NODES = """sn,cpu_milli,memory_mib,gpu,model
openb-node-0000,32000,262144,0,
openb-node-0001,96000,393216,8,V100M32
"""
HEAD = ",".join(POD_COLUMNS) + "\n"
PODS = f"""{HEAD}p-2,6000,12288,1,460,V100M16|V100M32,LS,Running,600,2600,600
p-1,12000,16384,1,1000,,LS,Running,0,1200,0
"""


async def test_a_recorded_trace_makes_its_nodes_and_a_replay() -> None:
    async with http() as client:
        session = await opened(client)
        path, headers = f"/api/sessions/{session['code']}/replays", bearer(session["token"])
        answer = await client.post(path, json={"nodes": NODES, "pods": PODS, "name": "trace"}, headers=headers)
        assert answer.status_code == 201, answer.text
        body = answer.json()
        assert body["nodes"] == {"created": 2, "unchanged": 0}
        assert (body["pods"], body["name"]) == (2, "trace")
        assert body["divisor"] == pytest.approx(2600 / 600)
        assert body["leftOut"]
        api = f"/clusters/{session['code']}"
        node = (await client.get(f"{api}/api/v1/nodes/openb-node-0001")).json()
        assert node["status"]["allocatable"][GPU_MILLI] in ("8000", "8k")
        assert node["metadata"]["labels"][GPU_MODEL_LABEL] == "V100M32"
        replay = (await client.get(f"{api}/apis/clustersim.io/v1/replays/trace")).json()
        assert [line.split(",")[0] for line in replay["spec"]["pods"].splitlines()] == ["name", "p-1", "p-2"]
        files = {"nodes": ("n.csv", NODES), "pods": ("p.csv", PODS)}
        form = await client.post(path, files=files, data={"limit": "1", "seconds": "60"}, headers=headers)
        assert form.status_code == 201, form.text
        assert (form.json()["pods"], form.json()["nodes"]) == (1, {"created": 0, "unchanged": 2})
        assert form.json()["divisor"] == pytest.approx(1200 / 60)


@pytest.mark.parametrize(
    ("nodes", "pods", "more", "field"),
    [
        ("", PODS, {}, "nodes"),
        ("sn,cpu_milli\nx,1\n", PODS, {}, "nodes"),
        (NODES.replace("32000", "many"), PODS, {}, "nodes[0].cpu_milli"),
        (NODES, PODS.replace("460", "-460"), {}, "pods[0].gpu_milli"),
        (NODES, PODS.replace("p-2", ""), {}, "pods[0].name"),
        (NODES, HEAD[:-1] + ",name\n", {"limit": 0}, "limit"),
        (NODES, PODS, {"seconds": "soon"}, "seconds"),
        (NODES, PODS, {"divisor": 0}, "divisor"),
    ],
)
async def test_a_wrong_trace_is_refused_with_its_field(nodes: str, pods: str, more: dict[str, Any], field: str) -> None:
    async with http() as client:
        session = await opened(client)
        before = (await client.get(f"/api/sessions/{session['code']}")).json()["revision"]
        answer = await client.post(
            f"/api/sessions/{session['code']}/replays",
            json={"nodes": nodes, "pods": pods, **more},
            headers=bearer(session["token"]),
        )
        assert answer.status_code == 422, answer.text
        assert answer.json()["details"]["causes"][0]["field"] == field
        assert (await client.get(f"/api/sessions/{session['code']}")).json()["revision"] == before


@pytest.mark.parametrize(
    ("api_version", "kind", "advice"),
    [
        pytest.param(
            "scheduling.k8s.io/v1beta1",
            "PriorityClass",
            "this cluster serves PriorityClass as scheduling.k8s.io/v1; write that as its apiVersion",
            id="a version of long ago is named beside the one of today",
        ),
        pytest.param(
            "extensions/v1beta1",
            "Deployment",
            "this cluster serves Deployment as apps/v1; write that as its apiVersion",
            id="a kind that moved to another group is named where it is",
        ),
        pytest.param("example.com/v1", "Widget", "this cluster has no Widget; leave it out", id="a kind nobody has"),
    ],
)
async def test_what_is_not_served_says_what_to_write_instead(api_version: str, kind: str, advice: str) -> None:
    async with http() as client:
        session = await opened(client, "empty")
        document = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "one"}}
        (result,) = (await send(client, session, json.dumps(document))).json()["results"]
        assert result["action"] == "failed"
        assert result["error"]["message"] == f'no matches for kind "{kind}" in version "{api_version}": {advice}'
