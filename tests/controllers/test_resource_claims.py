"""Claims of devices: made from templates, told by the pod, reserved while it runs, gone when nobody needs them."""

from __future__ import annotations

from typing import Any

from controllers.log.operations import Delete, Patch
from controllers.resourceclaim.controller import REMEMBERED_MS
from controllers.resourceclaim.documents import claim_from
from scheduler_core.devices.claims import CLAIMS, FINALIZER
from tests.tools.lab import Document, Lab, node, pod

DEVICES = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}


def template(name: str, **metadata: Any) -> Document:
    spec: Document = {"spec": DEVICES, **({"metadata": metadata} if metadata else {})}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def claim(name: str) -> Document:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": DEVICES}


def asking(name: str, *claims: Document, **spec: Any) -> Document:
    return pod(name, resourceClaims=list(claims), **spec)


GPU = {"name": "gpu", "resourceClaimTemplateName": "card"}
MINE = {"name": "mine", "resourceClaimName": "own"}


def allocated(lab: Lab, name: str, *pods: str) -> None:
    """Do what a scheduler would do with a claim."""
    reserved = [{"resource": "pods", "name": one, "uid": lab.get("pods", one)["metadata"]["uid"]} for one in pods]
    lab.do(Patch(CLAIMS, "default", name, {"metadata": {"finalizers": [FINALIZER]}}))
    lab.do(Patch(CLAIMS, "default", name, {"status": {"allocation": {}, "reservedFor": reserved}}, "merge", "status"))


class TestMade:
    def test_a_claim_comes_of_the_template_and_goes_with_its_pod(self) -> None:
        lab = Lab([node("n1"), template("card", labels={"a": "b"}, annotations={"c": "d"}), asking("web", GPU)])
        lab.run(5)
        (made,) = lab.list(CLAIMS)
        metadata = made["metadata"]
        assert metadata["name"].startswith("web-gpu-")
        assert metadata["labels"] == {"a": "b"}
        assert metadata["annotations"] == {"c": "d", "resource.kubernetes.io/pod-claim-name": "gpu"}
        (owner,) = metadata["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["controller"]) == ("Pod", "web", True)
        assert made["spec"]["devices"]["requests"][0]["name"] == "r"
        told = lab.get("pods", "web")["status"]["resourceClaimStatuses"]
        assert told == [{"name": "gpu", "resourceClaimName": metadata["name"]}]
        lab.do(Delete("pods", "default", "web"))
        lab.run(10)
        assert lab.list(CLAIMS) == []

    def test_each_entry_has_a_claim_of_its_own(self) -> None:
        two = {"name": "second", "resourceClaimTemplateName": "card"}
        lab = Lab([node("n1"), template("card"), claim("own"), asking("web", GPU, MINE, two)])
        lab.run(5)
        told = lab.get("pods", "web")["status"]["resourceClaimStatuses"]
        assert [one["name"] for one in told] == ["gpu", "second"]
        names = {one["metadata"]["name"] for one in lab.list(CLAIMS)}
        assert names == {"own", *(one["resourceClaimName"] for one in told)}

    def test_a_claim_that_was_taken_away_counts_as_there_for_a_minute(self) -> None:
        lab = Lab([node("n1"), template("card"), asking("web", GPU)])
        lab.run(5)
        (first,) = lab.list(CLAIMS)
        lab.do(Delete(CLAIMS, "default", first["metadata"]["name"]))
        lab.run(REMEMBERED_MS / 1000)
        assert lab.list(CLAIMS) == []
        lab.do(Patch("pods", "default", "web", {"status": {"resourceClaimStatuses": None}}, "merge", "status"))
        lab.run(5)
        (second,) = lab.list(CLAIMS)
        told = lab.get("pods", "web")["status"]["resourceClaimStatuses"]
        assert told == [{"name": "gpu", "resourceClaimName": second["metadata"]["name"]}]

    def test_a_template_that_comes_later_is_waited_for(self) -> None:
        lab = Lab([node("n1"), asking("web", GPU)])
        lab.run(2)
        why = 'resource claim template "card": resourceclaimtemplate.resource.k8s.io "card" not found'
        events = [row.object for row in lab.rows() if row.resource == "events"]
        found = {
            one["message"]: one["source"]["component"]
            for one in events
            if one["reason"] == "FailedResourceClaimCreation"
        }
        assert found == {f"PodResourceClaim gpu: {why}": "resource_claim"}
        lab.create(template("card"))
        lab.run(60)
        assert len(lab.list(CLAIMS)) == 1

    def test_long_names_are_cut_by_their_shares(self) -> None:
        long = {"metadata": {"name": "p" * 60, "uid": "u"}}
        name = claim_from(long, "c" * 20, {})["metadata"]["generateName"]
        assert name == f"{'p' * 41}-{'c' * 13}"


class TestLetGo:
    def test_a_finished_pods_claim_goes_while_the_pod_stays(self) -> None:
        lab = Lab([node("n1"), template("card"), asking("web", GPU)])
        lab.run(5)
        lab.do(Patch("pods", "default", "web", {"status": {"phase": "Succeeded"}}, "merge", "status"))
        lab.run(5)
        assert lab.get("pods", "web")["status"]["phase"] == "Succeeded"
        assert lab.list(CLAIMS) == []
        lab.run(2 * REMEMBERED_MS / 1000)
        assert [row.verb for row in lab.rows() if row.resource == CLAIMS] == ["ADDED", "DELETED"]

    def test_an_allocated_claim_is_reserved_for_a_pod_that_was_placed(self) -> None:
        lab = Lab([node("n1"), claim("own"), asking("web", MINE, nodeName="n1")])
        lab.run(5)
        assert "reservedFor" not in (lab.get(CLAIMS, "own").get("status") or {})
        allocated(lab, "own")
        lab.run(2)
        (reserved,) = lab.get(CLAIMS, "own")["status"]["reservedFor"]
        assert reserved == {"resource": "pods", "name": "web", "uid": lab.get("pods", "web")["metadata"]["uid"]}

    def test_after_the_last_pod_it_is_given_back(self) -> None:
        lab = Lab([node("n1"), claim("own"), asking("a", MINE), asking("b", MINE)])
        lab.run(5)
        allocated(lab, "own", "a", "b")
        lab.do(Delete("pods", "default", "a"))
        lab.run(40)
        kept = lab.get(CLAIMS, "own")
        assert [one["name"] for one in kept["status"]["reservedFor"]] == ["b"]
        assert "allocation" in kept["status"]
        lab.do(Delete("pods", "default", "b"))
        lab.run(40)
        free = lab.get(CLAIMS, "own")
        assert not (free.get("status") or {}).keys() & {"reservedFor", "allocation"}
        assert "finalizers" not in free["metadata"]

    def test_a_claim_that_is_deleted_ends_when_nobody_uses_it(self) -> None:
        lab = Lab([node("n1"), claim("own"), asking("a", MINE)])
        lab.run(5)
        allocated(lab, "own", "a")
        lab.do(Delete(CLAIMS, "default", "own"))
        lab.run(5)
        assert len(lab.list(CLAIMS)) == 1
        lab.do(Delete("pods", "default", "a"))
        lab.run(40)
        assert lab.list(CLAIMS) == []
