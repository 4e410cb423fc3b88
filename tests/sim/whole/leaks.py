"""What components keep of objects that are long gone: nothing that grows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from types import FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

from controllers.cluster import Cluster
from controllers.kit.recorder import Recorder
from controllers.kit.reporting import Reconciled
from controllers.log.memory import MemoryStore
from controllers.loop.component import Slot, Tick
from controllers.loop.loop import Loop
from scheduler_core.framework.metrics import Metrics
from tests.sim.whole.world import World

BESIDE = (FunctionType, GeneratorType, MethodType, ModuleType, type, MemoryStore, Loop, Slot, Tick, Metrics)
"""What is no memory of a component's own."""

LATE_MS = 60_000

BOUNDED = (Recorder, Reconciled)
"""What keeps a bounded number of the newest things, whatever becomes of them."""


PLAIN = frozenset({str, bytes, int, float, bool, type(None)})
"""Types of what keeps nothing."""

PASSING = ("queue._due", "queue._spins", "._kept_kin[]")
"""Keys that wait for their time; what goes with the pod it is about."""


def leaks(world: World) -> list[str]:
    """Return what components still keep of what went more than a minute ago."""
    mirror, now_ms = world.books.mirror, world.cluster.now_ms
    live = {row.uid for rows in mirror.values() for row in rows.values()}
    live |= {f"{namespace}/{name}" for rows in mirror.values() for namespace, name in rows}
    dead = frozenset(text for text, ms in world.books.gone.items() if ms < now_ms - LATE_MS and text not in live)
    return [
        f"{name}{path} keeps {text}"
        for name, component in memories(world.cluster)
        for path, text in kept(component, dead)
        if not path.endswith(PASSING)
    ]


def memories(cluster: Cluster) -> Iterator[tuple[str, Any]]:
    """Yield the components that live, by name."""
    for name, slot in cluster._loop.slots.items():
        if slot.component is not None:
            yield name, slot.component


def kept(root: Any, dead: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield (where, text) of each key of a table and each member of a set that names something dead."""
    seen: set[int] = set()
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        path, value = waiting.pop()
        if id(value) in seen or isinstance(value, (str, bytes, int, float, *BESIDE, *BOUNDED)):
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            yield from ((path, text) for key in value for text in _texts(key) if text in dead)
            below = f"{path}[]"
            waiting.extend((below, inner) for inner in value.values() if type(inner) not in PLAIN)
        elif isinstance(value, (set, frozenset)):
            yield from ((path, text) for one in value for text in _texts(one) if text in dead)
        elif isinstance(value, (list, tuple, deque)):
            below = f"{path}[]"
            waiting.extend((below, one) for one in value if type(one) not in PLAIN)
        else:
            waiting.extend((f"{path}.{name}", inner) for name, inner in _members(value))


def _texts(key: Any) -> Iterable[str]:
    if isinstance(key, str):
        return (key,)
    return tuple(one for one in key if isinstance(one, str)) if isinstance(key, tuple) else ()


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    yield from getattr(value, "__dict__", {}).items()
    for kind in type(value).__mro__:
        slots = getattr(kind, "__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                yield name, getattr(value, name)
