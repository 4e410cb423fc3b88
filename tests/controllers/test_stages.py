"""What a kubelet does first with a pod that it finds in some state: it has no other memory than the pod's status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from controllers.kubelet.home import Remove, Sleep, Write
from controllers.kubelet.life import Life
from controllers.kubelet.machine import Machine
from controllers.kubelet.orders import orders_of
from controllers.kubelet.scripts import Scripts
from controllers.kubelet.stages.pods import STAGES, read
from controllers.kubelet.watching import live
from tests.tools.lab import Document

GOLDEN = Path(__file__).parents[1] / "golden" / "stages"
NOW_MS = 100_000


class Quiet:
    """A tick at a moment; what is emitted is kept."""

    seed, now_ms, epoch_ms = 1, NOW_MS, 1_767_225_600_000

    def __init__(self) -> None:
        self.emitted: list[Any] = []

    def emit(self, operation: Any, token: Any = None, *, actor: str = "") -> None:
        self.emitted.append(operation)


class NoWants:
    """All that a pod needs is there."""

    def not_mounted(self, document: Document) -> str:
        return ""

    def not_configured(self, document: Document, container: Any) -> str:
        return ""


class Home:
    """A kubelet that knows one pod, with all that the pod needs."""

    stages = STAGES
    wants = NoWants()
    scripts = Scripts(None)  # type: ignore[arg-type]

    def __init__(self, document: Document) -> None:
        self.document, self.tick = document, Quiet()

    def pod(self, uid: str) -> Document:
        return self.document

    def orders(self, document: Any) -> Any:
        return orders_of(document)

    def address(self, machine: Machine) -> str:
        return machine.address

    def arrived(self, machine: Machine) -> None:
        return None

    def refused(self, pod: Document) -> None:
        return None

    def overfull(self, pod: Document) -> None:
        return None

    def taken_in(self, uid: str) -> None:
        return None

    def going(self, uid: str) -> None:
        return None

    def asked_ms(self, uid: str) -> int | None:
        return None


def first_steps(document: Document, count: int = 2) -> list[Any]:
    """Return the first steps of a pod's life, in words."""
    home: Any = Home(document)
    steps, said = live(Life(home, Machine("n", 1), document)), []
    for _ in range(count):
        match next(steps, None):
            case None:
                return [*said, "nothing"]
            case Sleep(at_ms):
                said.append({"sleeps": at_ms - home.tick.now_ms})
                home.tick.now_ms = max(at_ms, home.tick.now_ms)
            case Write(status):
                states = [next(iter(one["state"])) for one in status["containerStatuses"]]
                said.append({"writes": status["phase"], "containers": states})
                home.document = {**home.document, "status": status}
            case Remove():
                return [*said, "removes"]
    return said


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_what_is_done_first(path: Path, request: pytest.FixtureRequest) -> None:
    case: dict[str, Any] = json.loads(path.read_text())
    done = first_steps(case["pod"])
    if request.config.getoption("--update-golden"):
        path.write_text(json.dumps({"pod": case["pod"], "does": done}, indent=1) + "\n")
    assert done == json.loads(path.read_text())["does"]


def test_a_session_says_only_what_differs() -> None:
    own = read("waits: {admit: {base: 7}}")
    assert (own.waits.admit.base, own.waits.admit.jitter) == (7, STAGES.waits.admit.jitter)
    assert (own.waits.create, own.images) == (STAGES.waits.create, STAGES.images)


@pytest.mark.parametrize("text", ["[", "- 1", "waits: {admit: soon}", "wats: {}", "images: [{image: 3}]"])
def test_what_cannot_be_stages_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        read(text)


@pytest.mark.parametrize(
    ("image", "is_there"),
    [
        ("webserver:404", False),
        ("foo:non-existent", False),
        ("invalid.registry.example/invalid/alpine:3.1", False),
        ("registry.invalid/web:1", False),
        ("web:1.404.0", True),
        ("registry.example/invalid-input:1", True),
    ],
)
def test_names_of_images_that_nobody_has(image: str, is_there: bool) -> None:
    found = STAGES.of_image(image)
    assert (found is None or found.pull != "missing") is is_there
