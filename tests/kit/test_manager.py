"""The controller manager: who follows remembers nothing, who begins to lead looks at everything."""

from __future__ import annotations

from controllers.kit.informer import Lister
from controllers.kit.manager import ControllerEntry, ControllerManager, Reconcile, Setup, Work, key_of
from controllers.log.operations import Create, Delete
from scheduler_core.api.document import Document
from tests.kit.test_kit import Bench, config_map


class Noting:
    """Notes what it is told of and what it works on."""

    NAME = "noting"
    RESOURCES = ("configmaps",)

    def __init__(self, setup: Setup, worked: list[str]) -> None:
        self.queue, self.worked = setup.queue, worked
        self.copies: Lister = setup.informers["configmaps"]
        self.copies.add_index("first letter", lambda document: [document["metadata"]["name"][0]])
        self.copies.add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        self.queue.add(key_of(new or old or {}))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        letter = key.partition("/")[2][0]
        self.worked.append(f"{key} of {len(self.copies.indexed('first letter', letter))}")
        yield from ()


def test_a_follower_remembers_nothing_and_looks_at_everything_once_it_leads() -> None:
    bench, worked = Bench(), []  # type: ignore[var-annotated]
    entry = ControllerEntry(lambda setup: Noting(setup, worked), "noting", ("configmaps",))
    manager = ControllerManager("manager-0", [entry])
    bench.write(Create("configmaps", "default", config_map("a")))
    slot = bench.loop.add("manager-0", lambda: manager)
    bench.write(Create("configmaps", "default", config_map("b")))
    bench.write(Create("configmaps", "default", config_map("bb")))
    bench.write(Delete("configmaps", "default", "a"))
    bench.run(100)
    panel = manager.panel("noting", 100)
    assert (panel["queue"]["length"], panel["caches"]["configmaps"]["objects"], worked) == (0, 2, [])
    manager.lead(bench.loop.tick_of(slot))
    bench.run(200)
    assert worked == ["default/b of 2", "default/bb of 2"]
    bench.write(Create("configmaps", "default", config_map("c")))
    bench.run(300)
    assert worked[2:] == ["default/c of 1"]
