"""Several write one pod's status: what one of them has not read of another's stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from controllers.log.operations import Delete, Patch, Update
from controllers.loop.component import Emission
from scheduler_core.api.document import condition
from tests.tools.lab import Lab, node, pod
from tests.tools.racing import before_each_write

SAID = {"type": "example.dev/said", "status": "True"}


def taint(lab: Lab) -> None:
    taints = [{"key": "example.dev/away", "effect": "NoExecute"}]
    lab.do(Patch("nodes", "", "n1", {"spec": {"taints": taints}}))


def switch_off(lab: Lab) -> None:
    lab.do(Patch("nodes", "", "n1", {"metadata": {"annotations": {"clustersim.io/kubelet": "off"}}}))


def take_away(lab: Lab) -> None:
    lab.do(Delete("nodes", "", "n1"))


@pytest.mark.parametrize(
    ("befalls", "controller", "kind"),
    [
        (taint, "taint-eviction", "DisruptionTarget"),
        (switch_off, "node-lifecycle", "Ready"),
        (take_away, "pod-garbage-collector", "DisruptionTarget"),
    ],
    ids=["taint", "silence", "orphan"],
)
def test_what_is_said_just_before_a_controller_says_its_own_stays(
    befalls: Callable[[Lab], None], controller: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raced = False

    def others_first(emission: Emission) -> None:
        nonlocal raced
        asked = emission.operation
        if raced or controller not in emission.actor or not isinstance(asked, Patch | Update):
            return
        if asked.resource == "pods":
            raced = True
            said = {"status": {"conditions": [SAID]}}
            lab.do(Patch("pods", asked.namespace, asked.name, said, "strategic", "status"))

    before_each_write(monkeypatch, others_first)
    lab = Lab([node("n1"), node("n2")])
    lab.create(pod("web", nodeName="n1"))
    lab.run(20)
    befalls(lab)
    lab.run(120)
    assert raced
    (own, *_) = [row for row in lab.rows() if row.resource == "pods" and controller in row.actor]
    assert condition(own.object, SAID["type"]) is not None
    assert (condition(own.object, kind) or {})["status"] == ("False" if kind == "Ready" else "True")
    assert own.object["status"]["podIP"], "what its kubelet said stays"
