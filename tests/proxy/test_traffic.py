"""Traffic as a component of the loop: it costs nothing without clients, runs the same again, and outlives its owner."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import yaml

from controllers import scenario
from controllers.cluster import Cluster
from controllers.log.operations import Delete, Patch
from controllers.log.store import ADDED, DELETED, Event
from controllers.proxy import Traffic
from controllers.rerun import first_difference, rerun
from controllers.scenario import summary
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from tests.proxy.test_clients import CLIENTS, client, deployment, newest, service, told
from tests.tools.lab import Lab, any_of, node

SLICES = "endpointslices.discovery.k8s.io"


def traffic(lab: Lab) -> Traffic:
    component = lab.cluster._loop.slots["kube-proxy"].component
    assert isinstance(component, Traffic)
    return component


def test_without_a_client_nothing_is_known_planned_or_written() -> None:
    lab = Lab([node("n1"), service(), deployment()])
    lab.run(30)
    assert traffic(lab)._network is None
    assert lab.cluster._loop.slots["kube-proxy"].timers == {}
    lab.create(client())
    lab.run(5)
    assert traffic(lab)._network is not None
    lab.do(Delete(CLIENTS, "", "shop"))
    lab.run(5)
    assert traffic(lab)._network is None
    assert lab.cluster._loop.slots["kube-proxy"].timers == {}


def test_what_is_kept_and_written_is_bounded() -> None:
    lab = Lab([node("n1", pods="200"), service(), deployment(40)])
    lab.run(60)
    lab.create(client(rate=50))
    lab.run(900)
    status = told(lab)
    assert status["sent"] > 45_000
    assert (len(status["windows"]), len(status["newest"]), len(status["pods"])) == (60, 20, 20)
    assert sum(window["ok"] for window in status["windows"][:-1]) == 59 * 250
    rows = [row for row in lab.rows() if row.resource == CLIENTS]
    assert len(rows) <= 2 + 902 / 2
    assert max(len(row.data) for row in rows) < 16_000


def test_a_new_owner_goes_on_counting() -> None:
    sticky = service(sessionAffinity="ClientIP")
    lab = Lab([node("n1"), sticky, deployment()])
    lab.run(20)
    lab.create(client())
    lab.run(21)
    before = lab.get(CLIENTS, "shop", "")["status"]
    lab.cluster = Cluster(lab.store)
    lab.cluster.start()
    lab.run(20)
    after = told(lab)
    assert before["sent"] + 200 <= after["sent"] <= before["sent"] + 240
    assert after["startedMs"] == before["startedMs"]
    assert len(after["pods"]) == 1
    assert after["success"] == 1.0


def script(lab: Lab) -> None:
    lab.run(20)
    lab.create(client(), client("two", rate=3))
    lab.run(7.3)
    lab.do(Patch("deployments.apps", "default", "web", {"spec": {"replicas": 5}}))
    lab.run(5)
    lab.do(Patch("nodes", "", "n2", {"metadata": {"annotations": {"clustersim.io/kubelet": "off"}}}))
    lab.run(20)


def test_the_same_run_is_the_same_log_and_the_log_runs_again() -> None:
    labs = [Lab([node("n1"), node("n2"), service(), deployment()]) for _ in range(2)]
    for lab in labs:
        script(lab)
    one, other = (summary(lab.store, lab.cluster, 1, "")["logSha256"] for lab in labs)
    assert one == other
    log = labs[0].rows()
    again = rerun(log, seed=labs[0].store.seed, epoch_ms=labs[0].store.epoch_ms)
    assert first_difference(log, list(again.events(0, 1_000_000))) == ""


# -- whatever happens ---------------------------------------------------------------------------------------------


class History:
    """What stood where, at every time of a log."""

    def __init__(self, rows: list[Event]) -> None:
        self.states: dict[tuple[str, str], list[tuple[int, Document | None]]] = {}
        for row in rows:
            if row.resource in (SLICES, "pods", "nodes"):
                state = None if row.verb == DELETED else row.object
                self.states.setdefault((row.resource, f"{row.namespace}/{row.name}"), []).append((row.now_ms, state))

    def within(self, resource: str, key: str, since_ms: int, until_ms: int) -> list[Document]:
        """Return the states that an object had between two times."""
        known = self.states.get((resource, key), [])
        begun = max((index for index, (at_ms, _) in enumerate(known) if at_ms < since_ms), default=0)
        return [state for at_ms, state in known[begun:] if at_ms <= until_ms and state is not None]


def step(lab: Lab, random: Random) -> None:
    name = f"n{random.randrange(3)}"
    pods = lab.list("pods", "default")
    one = random.choice(pods)["metadata"]["name"] if pods else "none"
    noted = {"metadata": {"annotations": {"clustersim.io/kubelet": random.choice(["off", None])}}}
    probe = {"metadata": {"annotations": {"clustersim.io/failing-probes": random.choice(["readiness", None])}}}
    policy = {"spec": {"internalTrafficPolicy": random.choice(["Local", "Cluster"])}}
    choices = [
        lambda: lab.do(Patch("deployments.apps", "default", "web", {"spec": {"replicas": random.randrange(6)}})),
        lambda: lab.do(Patch("nodes", "", name, noted)),
        lambda: lab.do(Patch("pods", "default", one, probe)),
        lambda: lab.do(Delete("pods", "default", one)),
        lambda: lab.do(Patch("services", "default", "web", policy)),
        lambda: lab.do(Delete("services", "default", "web")),
        lambda: lab.create(service()),
    ]
    any_of(random, choices)
    lab.run(random.choice([0.3, 2, 15, 40]))


@pytest.mark.parametrize("seed", range(1, 6))
def test_who_answers_was_behind_the_service_and_runs_and_who_is_silent_was_off(seed: int) -> None:
    random = Random(seed)
    probe = {"readinessProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 2}}
    lab = Lab([*(node(f"n{number}") for number in range(3)), service(), deployment(container=probe)], seed=seed)
    lab.run(20)
    lab.create(client(rate=5), client("near", **{"from": "node/n1"}, target="http://n1:80/"))
    for _ in range(40):
        step(lab, random)
    lab.run(2)
    rows = lab.rows()
    history = History(rows)
    seen: dict[int, Document] = {}
    for row in rows:
        if row.resource == CLIENTS and row.name == "shop" and row.verb != ADDED:
            seen |= {one["number"]: one for one in (row.object.get("status") or {}).get("newest") or ()}
    assert len(seen) > 1_000
    assert {one["result"] for one in seen.values()} >= {"ok", "timeout"}
    for one in seen.values():
        now_ms = one["atMs"]
        if one["result"] == "ok":
            # A proxy may lag by its period and by how long it takes to write rules, twice where a sync is under way.
            parts = history.within(SLICES, f"default/{one['slice']}", now_ms - 3_000, now_ms)
            entries = [entry for part in parts for entry in part.get("endpoints") or ()]
            named = [entry for entry in entries if f"default/{entry['targetRef']['name']}" == one["pod"]]
            assert any(entry["conditions"]["ready"] or entry["conditions"]["serving"] for entry in named)
            (pod, *_) = reversed(history.within("pods", one["pod"], now_ms, now_ms))
            assert pod["status"]["containerStatuses"][0]["state"].get("running")
            assert f"{pod['status']['podIP']}:80" == one["endpoint"]
        elif one.get("reason") == "NodeSilent":
            states = history.within("nodes", f"/{one['node']}", now_ms, now_ms)
            assert states[-1]["metadata"]["annotations"]["clustersim.io/kubelet"] == "off"
        assert one["result"] in ("ok", "refused", "timeout", "error", "unresolved")


def test_in_the_end_requests_are_answered_again() -> None:
    lab = Lab([node("n1"), node("n2"), service(), deployment()])
    script(lab)
    lab.do(Patch("nodes", "", "n2", {"metadata": {"annotations": {"clustersim.io/kubelet": None}}}))
    lab.run(60)
    assert newest(lab)["result"] == "ok"
    assert told(lab)["success"] == 1.0


ROLLING = Path(scenario.__file__).resolve().parents[2] / "clustersim" / "runtime" / "scenarios" / "rolling-update.yaml"


def test_the_scenario_of_a_rolling_update_shows_who_is_careful() -> None:
    read = scenario.read(yaml.safe_load(ROLLING.read_text()), {"empty": scenario.Start((), 1, 0)})
    _, told_at_the_end = scenario.run(read, seed=3)
    careful, careless = (told_at_the_end["clients"][name] for name in ("careful", "careless"))
    assert careful == {"sent": 900, "ok": 900}
    assert careless["sent"] == 900
    assert careless["refused"] > 0


def test_a_scenario_changes_a_client_and_refuses_one_that_cannot_be() -> None:
    start = {"empty": scenario.Start((), 1, 0)}
    steps: list[Document] = [
        {"at": 1, "client": {"name": "shop", "target": "http://kubernetes:443/"}},
        {"at": 20, "client": {"name": "shop", "target": "http://nothing/"}},
    ]
    _, end = scenario.run(scenario.read({"nodes": [{}], "steps": steps, "until": 31}, start), seed=1)
    assert end["clients"]["shop"] == {"sent": 10, "unresolved": 10}
    wrong = scenario.read({"steps": [{"at": 1, "client": {"name": "shop", "target": "x://y"}}]}, start)
    with pytest.raises(ApiError, match=r"steps\[0\].client at 1 s was refused"):
        scenario.run(wrong, seed=1)
    with pytest.raises(ApiError, match=r"steps\[0\].client.name: is required"):
        scenario.read({"steps": [{"client": {"target": "http://web/"}}]}, start)
