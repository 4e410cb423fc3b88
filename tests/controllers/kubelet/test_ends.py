"""What becomes of containers that send requests: it follows from what comes of those, each at its time."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from controllers.kubelet.keeping import FILES
from controllers.kubelet.lives import Lives
from controllers.log.operations import Create, Delete, Patch
from controllers.log.stamps import unix_ms_of
from controllers.loop.loop import Tick
from scheduler_core.api.document import Document
from tests.proxy.test_clients import service
from tests.proxy.test_policies import POLICIES, policy
from tests.tools.lab import Lab, node, pod, workload

WEB = {"matchLabels": {"app": "web"}}
DENIED = policy("access", podSelector=WEB, ingress=[{"from": [{"podSelector": {"matchLabels": {"access": "true"}}}]}])
UNTIL = "until wget -q -T 1 --spider web; do sleep 2; done"


def box(name: str, *words: str, restarts: str = "Never", image: str = "toolbox", **container: Any) -> Document:
    made = pod(name, restartPolicy=restarts)
    made["spec"]["containers"] = [{"name": "main", "image": image, "command": list(words), **container}]
    return made


def script(name: str, text: str, **more: Any) -> Document:
    return box(name, "sh", "-c", text, **more)


def lab_of(*more: Document, **given: Any) -> Lab:
    """Return a cluster in which a web answers, once it has had time for that."""
    lab = Lab([node("n1"), node("n2"), service(), workload("Deployment", "web", 1), *more], **given)
    lab.run(30)
    return lab


def container(lab: Lab, name: str) -> Document:
    found: Document = lab.get("pods", name)["status"]["containerStatuses"][0]
    return found


def ended(lab: Lab, name: str) -> tuple[int, int]:
    """Return (exit code, seconds that it ran)."""
    state = container(lab, name)["state"]["terminated"]
    return state["exitCode"], (unix_ms_of(state["finishedAt"]) - unix_ms_of(state["startedAt"])) // 1000


@pytest.mark.parametrize(
    ("words", "code", "seconds"),
    [
        (("wget", "--spider", "--timeout=1", "web"), 1, 1),
        (("wget", "-qO-", "-T", "5", "http://web"), 1, 5),
        (("curl", "-s", "-m", "3", "web"), 28, 3),
        (("nc", "-zw", "2", "web", "80"), 1, 2),
        (("nslookup", "web"), 0, 1),
        (("nslookup", "nobody"), 1, 1),
        (("curl", "http://nobody"), 6, 1),
        (("sh", "-c", "sleep 5; wget -qT 2 web || exit 3"), 3, 7),
        (("sh", "-c", "wget -qT 1 --spider web && exit 9; nslookup web && exit 4"), 4, 1),
        (("sh", "-c", "for i in 1 2 3; do wget -qT 1 --spider web && exit 0; done; exit 5"), 5, 3),
        (("sh", "-c", "i=0; until nc -zw 1 web 80; do i=$((i+1)); [ $i -ge 4 ] && exit 6; sleep 1; done"), 6, 7),
        (("sh", "-c", "fail() { exit 5; }; while true; do wget -qT 1 web || fail; sleep 1; done"), 5, 1),
        (("sh", "-c", "set -e; while true; do wget -qT 1 web; sleep 1; done"), 1, 1),
        (("sh", "-c", "printf 'a\\na\\n' | while read x; do wget -qT 1 web; done; exit 4"), 4, 2),
        (("sh", "-c", "for ((i = 0; i < 3; i++)); do wget -qT 1 web; done; exit 2"), 2, 3),
        (("sh", "-c", "[ $(curl -sm 1 -o /dev/null -w '%{http_code}' web) = 200 ] || exit 8"), 8, 1),
    ],
)  # fmt: skip
def test_who_is_kept_out_ends_with_the_code_of_its_request(words: tuple[str, ...], code: int, seconds: int) -> None:
    lab = lab_of(DENIED)
    lab.create(box("box", *words))
    lab.run(30)
    assert lab.get("pods", "box")["status"]["phase"] == ("Failed" if code else "Succeeded")
    found, ran = ended(lab, "box")
    assert (found, ran - seconds in (0, 1)) == (code, True), ran


def test_who_is_let_in_ends_well() -> None:
    allowed = [script(f"box-{number}", text) for number, text in enumerate([
        "wget -qO- web", "curl -sSf http://web", "nc -z web 80", "nslookup web", "wget -qO- $WEB_SERVICE_HOST",
        "for i in $(seq 1 15); do wget -qO- web; done", "[ $(curl -so /dev/null -w '%{http_code}' web) = 200 ]",
    ])]  # fmt: skip
    for one in allowed:
        one["metadata"]["labels"] = {"access": "true"}
    lab = lab_of(DENIED)
    lab.create(*allowed)
    lab.run(20)
    assert [ended(lab, one["metadata"]["name"]) for one in allowed] == [(0, 1)] * len(allowed)


def test_many_requests_take_their_time_and_too_many_have_no_end() -> None:
    lab = lab_of(
        *[script(f"box-{many}", f"for i in $(seq 1 {many}); do curl -s web; done; exit 3") for many in (100, 500)]
    )
    lab.run(60)
    code, seconds = ended(lab, "box-100")
    assert (code, 4 <= seconds <= 6) == (3, True)
    assert "running" in container(lab, "box-500")["state"]


def test_a_container_that_is_started_again_waits_longer_each_time() -> None:
    lab = lab_of(DENIED, script("box", "wget --spider --timeout=1 web", restarts="Always"))
    lab.run(60)
    told = container(lab, "box")
    assert told["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert (told["lastState"]["terminated"]["exitCode"], told["restartCount"] > 2) == (1, True)
    lab.do(Delete(POLICIES, "default", "access"))
    lab.run(120)
    assert container(lab, "box")["lastState"]["terminated"]["exitCode"] == 0, "each run asks for itself"


def job(name: str, *words: str, limit: int = 1) -> Document:
    one = {"name": "main", "image": "curlimages/curl", "command": list(words)}
    template = {"spec": {"restartPolicy": "Never", "containers": [one]}}
    metadata = {"name": name, "namespace": "default"}
    spec = {"backoffLimit": limit, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def test_a_job_fails_whose_requests_do() -> None:
    lab = lab_of(DENIED, service("open", selector={"app": "open"}), workload("Deployment", "open", 1))
    lab.create(job("kept-out", "curl", "-m", "2", "web"), job("let-in", "curl", "open"))
    lab.run(60)
    failed, done = lab.get("jobs.batch", "kept-out")["status"], lab.get("jobs.batch", "let-in")["status"]
    reasons = [one["reason"] for one in failed["conditions"] if one["type"] == "Failed"]
    assert (failed["failed"], reasons) == (2, ["BackoffLimitExceeded"])
    assert done["succeeded"] == 1


def test_a_request_is_sent_when_the_script_sends_it() -> None:
    lab = lab_of(
        DENIED, script("late", "sleep 60; wget -qT 1 --spider web"), script("early", "wget -qT 1 web; sleep 60")
    )
    lab.do(Delete(POLICIES, "default", "access"))
    lab.run(60)
    assert ended(lab, "late")[0] == 0
    lab.do(Create(POLICIES, "default", DENIED))
    lab.create(script("next", "wget -qT 1 --spider web; code=$?; sleep 30; exit $code"))
    lab.run(10)
    lab.do(Delete(POLICIES, "default", "access"))
    lab.run(60)
    assert ended(lab, "next") == (1, 31), "what it was told stays so"


@pytest.mark.parametrize("how", ["Service", "NetworkPolicy", "pods"])
def test_a_loop_waits_until_it_is_answered(how: str) -> None:
    lab = Lab([node("n1"), workload("Deployment", "web", 0 if how == "pods" else 1)])
    if how != "Service":
        lab.create(service())
    if how == "NetworkPolicy":
        lab.create(DENIED)
    first = pod("init")
    first["spec"]["initContainers"] = [{"name": "wait", "image": "busybox:1.28", "command": ["sh", "-c", UNTIL]}]
    lab.create(script("box", f"{UNTIL}; exit 7"), first)
    lab.run(3600)
    assert "running" in container(lab, "box")["state"]
    assert lab.get("pods", "init")["status"]["phase"] == "Pending"
    if how == "Service":
        lab.create(service())
    elif how == "NetworkPolicy":
        lab.do(Delete(POLICIES, "default", "access"))
    else:
        lab.do(Patch("deployments.apps", "default", "web", {"spec": {"replicas": 1}}))
    lab.run(15)
    assert ended(lab, "box")[0] == 7, "with its next turn"
    assert lab.get("pods", "init")["status"]["phase"] == "Running"


@pytest.fixture
def moves(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return when kubelets move pods on."""
    found: list[int] = []
    move = Lives.move_due

    def moved(self: Lives, tick: Tick) -> None:
        found.append(tick.now_ms)
        move(self, tick)

    monkeypatch.setattr(Lives, "move_due", moved)
    return found


def test_a_loop_that_waits_is_looked_at_ever_more_seldom(moves: list[int]) -> None:
    lab = lab_of(DENIED, script("box", UNTIL), script("init", "sleep 1"))
    lab.run(7200)
    assert "running" in container(lab, "box")["state"]
    late = [ms for ms in moves if ms > 60_000]
    assert 20 < len(late) < 60, "each time after an eighth of what it has waited"
    assert late[-1] - late[-2] > 600_000


def test_load_costs_kubelets_nothing(moves: list[int]) -> None:
    lab = lab_of(script("box", "while sleep 0.01; do wget -q -O- http://web; done"))
    before = len(moves)
    lab.run(600)
    assert len(moves) == before


def test_who_has_lost_its_memory_asks_again() -> None:
    lab = lab_of(
        DENIED, script("box", f"{UNTIL}; exit 7"), script("late", "wget -qT 1 web; code=$?; sleep 60; exit $code")
    )
    next_owner = Lab(store=lab.store)
    next_owner.run(lab.cluster.now_ms / 1000 + 5 - next_owner.cluster.now_ms / 1000)
    assert "running" in container(next_owner, "box")["state"]
    next_owner.do(Delete(POLICIES, "default", "access"))
    next_owner.run(70)
    assert (ended(next_owner, "box")[0], ended(next_owner, "late")[0]) == (7, 1)


def test_what_others_write_meanwhile_changes_nothing_of_what_was_told() -> None:
    text = "wget -qT 1 --spider web; code=$?; sleep 30; [ -f /data/x ] && exit $code; exit 9"
    one = script("box", text, volumeMounts=[{"name": "data", "mountPath": "/data"}])
    one["spec"]["volumes"] = [{"name": "data", "emptyDir": {}}]
    lab = lab_of(DENIED)
    lab.create(one)
    lab.run(10)
    lab.do(Delete(POLICIES, "default", "access"))
    now_ms = lab.store.epoch_ms + lab.cluster.now_ms
    kept = json.dumps([{"path": "x", "at": now_ms, "text": "", "volume": "data"}])
    lab.do(Patch("pods", "default", "box", {"metadata": {"annotations": {FILES: kept}}}))
    lab.run(60)
    assert ended(lab, "box")[0] == 1


@pytest.mark.parametrize(
    "text",
    [
        "while true; do wget -qT 1 web; sleep 1; done",
        "while sleep 0.01; do wget -q -O- http://web; done",
        "until false; do curl -m 1 web; done",
        "while :; do for i in 1 2 3; do wget -qT 1 web; done; done",
        "while true; do case x in x) wget -qT 1 web;; esac; done",
    ],
)
def test_what_asks_without_end_runs_on(text: str) -> None:
    lab = lab_of(DENIED, script("box", text))
    lab.run(300)
    assert "running" in container(lab, "box")["state"]


@pytest.mark.parametrize(
    "text",
    [
        "wget -qO /x http://info.example.org",
        "curl -s http://198.51.100.7",
        "nc -z far 80 || exit 3",
        "curl -skf https://kubernetes.default.svc || exit 3",
    ],
)
def test_of_what_lies_outside_nothing_is_known(text: str) -> None:
    far = service("far", type="ExternalName", externalName="db.example.com")
    lab = lab_of(far, script("box", text))
    lab.run(30)
    assert ended(lab, "box")[0] == 0


def test_a_script_that_reads_nothing_ends_although_its_standard_input_is_open() -> None:
    lab = lab_of(DENIED, script("box", "wget --spider --timeout=1 web", stdin=True), box("shell", "sh", stdin=True))
    lab.run(30)
    assert ended(lab, "box") == (1, 1)


def test_the_same_seed_gives_the_same_log() -> None:
    def log(seed: int) -> str:
        lab = lab_of(
            DENIED, script("a", f"{UNTIL}; exit 7"), script("b", "curl -m 3 web", restarts="Always"), seed=seed
        )
        lab.create(job("j", "curl", "-m", "2", "web"))
        lab.run(60)
        lab.do(Delete(POLICIES, "default", "access"))
        lab.run(60)
        assert ended(lab, "a")[0] == 7
        rows = [(row.revision, row.verb, row.now_ms, row.actor, row.read, row.data) for row in lab.rows()]
        return sha256(repr(rows).encode()).hexdigest()

    assert log(1) == log(1)
