"""`tail -f`: a container that shows what another writes in a volume that they share."""

from __future__ import annotations

from controllers.kubelet.containers import Containers
from controllers.kubelet.logs import Printer, run_of
from controllers.kubelet.scripts import Scripts
from controllers.kubelet.shell.running import VALUE_LENGTH_MAX
from controllers.kubelet.stages.pods import STAGES
from tests.controllers.kubelet.test_kept_volumes import LabFacts
from tests.tools.lab import Document, Lab, node, pod

MOUNTS = [{"name": "logs", "mountPath": "/logs"}]


def shell(name: str, script: str, **more: object) -> Document:
    return {
        "name": name, "image": "busybox:1.36", "command": ["sh", "-c", script], "volumeMounts": MOUNTS, **more,
    }  # fmt: skip


def printed(lab: Lab, name: str, seconds: float) -> list[tuple[int, str]]:
    """Return (seconds since the container began, line) of what it has printed after so long."""
    document, facts = lab.get("pods", "web"), LabFacts(lab)
    one = next(one for one in Containers(document).all if one.name == name)
    run = run_of(document, name, previous=False)
    around = Scripts(facts).others(document, one, STAGES.answers, run.started_ms + round(1000 * seconds))
    printer = Printer(document, one.spec, run, facts, STAGES.answers, None, around)
    lines = printer.upto(run.started_ms + round(1000 * seconds), None)
    return [((line.ms - run.started_ms) // 1000, line.text) for line in lines]


def shared(*containers: Document, inits: tuple[Document, ...] = ()) -> Lab:
    more = {"initContainers": list(inits)} if inits else {}
    lab = Lab([node("n1"), pod("web", containers=list(containers), volumes=[{"name": "logs", "emptyDir": {}}], **more)])
    lab.run(15)
    return lab


def test_what_comes_at_the_end_of_a_file_is_shown_when_it_comes() -> None:
    lab = shared(
        shell("app", "echo zero >> /logs/app; while true; do sleep 3; echo more >> /logs/app; done"),
        shell("shows", "tail -n+1 -f /logs/app"),
    )
    lines = printed(lab, "shows", 10)
    assert [text for _, text in lines] == ["zero", "more", "more", "more"]
    assert [at for at, _ in lines] == sorted({at for at, _ in lines}), "each at its time"


def test_a_sidecar_waits_for_a_file_that_comes() -> None:
    lab = shared(
        shell("app", "sleep 2; while true; do echo logging >> /logs/app; sleep 1; done"),
        inits=(shell("ships", "tail -F /logs/app", restartPolicy="Always"),),
    )
    first, second, *lines = (text for _, text in printed(lab, "ships", 8))
    assert first == "tail: can't open '/logs/app': No such file or directory"
    assert second == "tail: /logs/app has appeared; following end of new file"
    assert len(lines) >= 4
    assert set(lines) == {"logging"}


def test_of_several_files_it_is_told_which_one_goes_on() -> None:
    lab = shared(
        shell(
            "app", "echo 1 > /logs/a; echo 2 > /logs/b; sleep 5; echo 3 >> /logs/a; sleep 1; echo 4 > /logs/b; sleep 9"
        ),
        shell("shows", "tail -f /logs/a /logs/b"),
    )
    text = "\n".join(text for _, text in printed(lab, "shows", 20))
    assert text == "==> /logs/a <==\n1\n\n==> /logs/b <==\n2\n\n==> /logs/a <==\n3\n\n==> /logs/b <==\n4"


def test_nothing_comes_of_a_file_that_nobody_writes() -> None:
    lab = shared(shell("shows", "echo ready; tail -f /dev/null; echo never"))
    assert printed(lab, "shows", 500) == [(0, "ready")]
    (status,) = lab.get("pods", "web")["status"]["containerStatuses"]
    assert status["ready"]


def test_a_loop_that_writes_is_followed_for_hours() -> None:
    lab = shared(
        shell("app", "while true; do date >> /logs/app; sleep 5; done"),
        shell("shows", "tail -n+1 -F /logs/app"),
    )
    lines = [text for _, text in printed(lab, "shows", 6 * 3600) if text.endswith("2026")]
    assert 4310 <= len(lines) <= 4321
    assert lines == sorted(set(lines)), "each is told once, in order"


def test_a_file_that_grows_keeps_its_end_alone() -> None:
    lab = shared(shell("app", f"while true; do echo $((i++)) {'x' * 60} >> /logs/app; sleep 5; done"))
    document, facts = lab.get("pods", "web"), LabFacts(lab)
    (app,) = Containers(document).mains
    after_ms = run_of(document, "app", previous=False).started_ms + 3 * 3600 * 1000
    scripts = Scripts(facts)
    text = scripts.disk(document, app, STAGES.answers, after_ms)["/logs/app"] or ""
    assert len(text) <= VALUE_LENGTH_MAX
    first, *_, last = (int(line.split()[0]) for line in text.splitlines())
    assert first > 0
    assert last == 2160
    assert text == Scripts(facts).disk(document, app, STAGES.answers, after_ms)["/logs/app"]


def test_a_kubelet_plays_a_loop_that_writes_no_further_than_it_has_to() -> None:
    script = "while true; do echo up >> /logs/app; sleep 1; [ $SECONDS -gt 0 ] && touch /logs/ready; done"
    probe = {"exec": {"command": ["sh", "-c", "test $(wc -l < /logs/app) -lt 1200"]}, "periodSeconds": 5}
    lab = shared(shell("app", script, readinessProbe=probe))
    (status,) = lab.get("pods", "web")["status"]["containerStatuses"]
    assert status["ready"]
    lab.run(1500)
    (status,) = lab.get("pods", "web")["status"]["containerStatuses"]
    assert not status["ready"], "what it writes later is known when it is looked at"
