"""A Deployment that an annotation asks back to a revision: what becomes of its template, annotations and events."""

from __future__ import annotations

import pytest

from controllers.log.operations import Patch
from tests.tools.lab import Lab, node, workload

RESOURCE = "deployments.apps"
SETS = "replicasets.apps"
ASKED = "deprecated.deployment.rollback.to"
NOT_FOUND = "DeploymentRollbackRevisionNotFound"
UNCHANGED = 'The rollback revision contains the same template as current deployment "web"'


def rolled_twice(**annotations: str) -> Lab:
    lab = Lab([node("n1"), workload("Deployment", "web", 1)])
    lab.run(20)
    for image, cause in (("nginx:2", "second"), ("nginx:3", "third")):
        template = {"spec": {"containers": [{"name": "main", "image": image}]}}
        patch = {"metadata": {"annotations": {"cause": cause}}, "spec": {"template": template}}
        lab.do(Patch(RESOURCE, "default", "web", patch, "strategic"))
        lab.run(60)
    if annotations:
        lab.do(Patch(RESOURCE, "default", "web", {"metadata": {"annotations": {**annotations}}}))
        lab.run(60)
    return lab


def events(lab: Lab) -> list[tuple[str, str, str]]:
    rows = [row.object for row in lab.rows() if row.resource == "events" and row.verb == "ADDED"]
    return [(one["type"], one["reason"], one["message"]) for one in rows if "Rollback" in one["reason"]]


CASES = [
    # asked, image, cause, revision, event
    ("2", "nginx:2", "second", "4", ("Normal", "DeploymentRollback", 'Rolled back deployment "web" to revision 2')),
    ("0", "nginx:2", "second", "4", ("Normal", "DeploymentRollback", 'Rolled back deployment "web" to revision 2')),
    ("3", "nginx:3", "third", "3", ("Warning", "DeploymentRollbackTemplateUnchanged", UNCHANGED)),
    ("9", "nginx:3", "third", "3", ("Warning", NOT_FOUND, "Unable to find the revision to rollback to.")),
    ("-1", "nginx:3", "third", "3", ("Warning", NOT_FOUND, "Unable to find the revision to rollback to.")),
]


@pytest.mark.parametrize(("asked", "image", "cause", "revision", "event"), CASES)
def test_the_revision_asked_for_is_taken_up_once(
    asked: str, image: str, cause: str, revision: str, event: tuple[str, str, str]
) -> None:
    lab = rolled_twice(**{ASKED: asked})
    found = lab.get(RESOURCE, "web")
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == image
    annotations = found["metadata"]["annotations"]
    assert (annotations["cause"], annotations["deployment.kubernetes.io/revision"]) == (cause, revision)
    assert ASKED not in annotations
    assert "pod-template-hash" not in found["spec"]["template"]["metadata"]["labels"]
    assert events(lab) == [event]


def test_the_first_revision_has_none_before_it() -> None:
    lab = Lab([node("n1"), workload("Deployment", "web", 1)])
    lab.run(20)
    lab.do(Patch(RESOURCE, "default", "web", {"metadata": {"annotations": {ASKED: "0"}}}))
    lab.run(20)
    assert events(lab) == [("Warning", NOT_FOUND, "Unable to find last revision.")]
    assert ASKED not in lab.get(RESOURCE, "web")["metadata"]["annotations"]


@pytest.mark.parametrize("asked", ["last", "1.0", "", "9223372036854775808"])
def test_what_is_no_number_asks_for_nothing(asked: str) -> None:
    lab = rolled_twice(**{ASKED: asked})
    assert lab.get(RESOURCE, "web")["metadata"]["annotations"][ASKED] == asked
    assert events(lab) == []


def test_a_paused_deployment_waits_with_it() -> None:
    lab = rolled_twice()
    lab.do(Patch(RESOURCE, "default", "web", {"metadata": {"annotations": {ASKED: "1"}}, "spec": {"paused": True}}))
    lab.run(20)
    assert ASKED in lab.get(RESOURCE, "web")["metadata"]["annotations"]
    lab.do(Patch(RESOURCE, "default", "web", {"spec": {"paused": False}}))
    lab.run(20)
    assert ASKED not in lab.get(RESOURCE, "web")["metadata"]["annotations"]
    assert lab.get(RESOURCE, "web")["spec"]["template"]["spec"]["containers"][0]["image"] not in ("nginx:2", "nginx:3")
