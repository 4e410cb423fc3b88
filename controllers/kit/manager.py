"""The controller manager: one process with shared informers in which many controllers reconcile.

A controller is told what changed by its informers' handlers, which do nothing but add keys to its queue. `reconcile`
is a generator: it yields the operations that it wants and is sent their results, so that a step may follow from
another's outcome without anybody waiting.

As upstream's, controllers are made by who begins to lead, and are told of all that there is then: a follower keeps
copies, and remembers nothing of what comes and goes meanwhile.

    class ThingController:
        NAME = "thing"
        RESOURCES = ("things", "pods")
        def __init__(self, setup: Setup) -> None: ...           # indexes and handlers
        def reconcile(self, key: str, work: Work) -> Reconcile:
            results = yield [Create(...), Create(...)]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, Protocol

from controllers.flags.controllermanager import CONTROLLERS as CONTROLLERS_FLAG
from controllers.flags.flag import Flag, InForce
from controllers.kit.informer import RELIST_TIMER, Informers
from controllers.kit.recorder import Recorder
from controllers.kit.reporting import Reconciled
from controllers.kit.workqueue import Workqueue
from controllers.log.operations import Operation, Result
from controllers.log.store import Event
from controllers.loop.loop import Answer, Tick
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError

RECENT_MAX: Final = 10
"""Reconciliations of one controller that its panel shows: the newest."""

WORKERS: Final = 5
"""Keys of one controller that are worked on at the same time, as kube-controller-manager's concurrent syncs."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A certificate that is asked for: times in Unix seconds."""

    request: str
    """A request of PKCS #10, PEM in base64."""
    usages: tuple[str, ...]
    serial: str
    """From which the number of the certificate is made: the same one for the same request."""
    not_before: int
    not_after: int


@dataclass(frozen=True, slots=True)
class Keys:
    """What is done with the keys of a session."""

    sign: Callable[[Document], str]
    """Claims of a ServiceAccount → the token that says them."""
    issue: Callable[[Asked], str]
    """What is asked for → the certificate, PEM. ValueError: for this one there is none."""


Reconcile = Generator[Sequence[Operation], Sequence[Result], None]
"""Yields operations, is sent their results in order. Raising ApiError retries the key after its back-off."""


@dataclass(slots=True)
class Setup:
    """What a controller is made of."""

    informers: Informers
    queue: Workqueue
    recorder: Recorder
    flags: InForce
    """The flags in force: `setup.flags[FLAG]`, read whenever the value is needed (`controllers.flags`)."""
    keys: Keys | None = None
    """Sign tokens and certificates; None: there are none."""


class Work:
    """The present call, for a generator that outlives it: `tick` is always the one of now."""

    __slots__ = ("_recorder", "flags", "queue", "report", "tick")

    def __init__(self, tick: Tick, queue: Workqueue, recorder: Recorder, flags: InForce, report: Reconciled) -> None:
        self.tick = tick
        self.queue = queue
        self.flags = flags
        self.report = report
        self._recorder = recorder

    def tell(self, reason: str, *, desired: Mapping[str, Any], actual: Mapping[str, Any]) -> None:
        """Say what this reconciliation found, for the controller's panel (contract 25).

        Args:
            reason: what it does about the difference, in a few words: `too few pods`, `as asked`.
            desired: what is asked for, by where it stands: `{"spec.replicas": 3}`.
            actual: what there is, by where it was counted: `{"pods": 2}`.
        """
        self.report.reason = reason
        self.report.desired = desired
        self.report.actual = actual

    @property
    def now_ms(self) -> int:
        """Return simulated milliseconds."""
        return self.tick.now_ms

    @property
    def unix_ms(self) -> int:
        """Return the present wire time in Unix milliseconds."""
        return self.tick.epoch_ms + self.tick.now_ms

    def event(self, about: dict[str, Any], kind: str, reason: str, message: str, *, event_type: str = "Normal") -> None:
        """Write an event as this controller."""
        self._recorder.event(self.tick, about, kind, reason, message, event_type=event_type)


class Controller(Protocol):
    """One reconciler."""

    NAME: ClassVar[str]
    RESOURCES: ClassVar[tuple[str, ...]]

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Move one key toward what is asked for."""


MakeController = Callable[[Setup], Controller]


@dataclass(frozen=True, slots=True)
class ControllerEntry:
    """One line of the table of controllers."""

    make: MakeController
    name: str
    resources: tuple[str, ...]
    resync_ms: int | Flag[int] = 0
    """Every so often `RESYNC_KEY` is added to the queue; 0: never. A flag: as it says."""
    workers: int | Flag[int] = WORKERS
    """How many keys are worked on at the same time."""
    source: str = ""
    """Who its Events are from; empty: `<name>-controller`."""
    looks_on_flags: bool = False
    """Whether `RESYNC_KEY` is added to the queue when flags have changed."""
    flags: tuple[Flag[Any], ...] = ()
    """What else it reads: told with its panel."""

    @property
    def known_flags(self) -> tuple[Flag[Any], ...]:
        """Return the flags by which it works."""
        own = tuple(flag for flag in (self.workers, self.resync_ms) if isinstance(flag, Flag))
        return (*own, *self.flags)


RESYNC_KEY: Final = "\x00resync"
"""The key under which a controller does its periodic round."""


class _Runner:
    """One controller with its queue, as the manager drives it."""

    __slots__ = (
        "_listed",
        "_on",
        "active",
        "controller",
        "entry",
        "flags",
        "planned_ms",
        "queue",
        "recent",
        "recorder",
    )

    def __init__(self, entry: ControllerEntry, flags: InForce, on_stir: Callable[[], object]) -> None:
        self.entry = entry
        self.flags = flags
        self.queue = Workqueue(on_stir)
        # As client-go's recorder does, which names an instance only where its source has a host.
        self.recorder = Recorder(entry.source or f"{entry.name}-controller")
        self.controller: Controller | None = None
        """None: it does not lead."""
        self.active = 0
        self.planned_ms: int | None = None
        """For when work is planned: every event asks, and most of them change nothing."""
        self._listed: Sequence[str] | None = None
        self._on = True
        self.recent: deque[Reconciled] = deque(maxlen=RECENT_MAX)
        """The newest reconciliations, under way or over; the newest is the last."""

    def begin(self, informers: Informers, keys: Keys | None) -> None:
        """Make the controller."""
        self.controller = self.entry.make(Setup(informers, self.queue, self.recorder, self.flags, keys))

    @property
    def resync_ms(self) -> int:
        """Return how often there is a periodic round; 0: never."""
        return _in_force(self.entry.resync_ms, self.flags)

    @property
    def workers(self) -> int:
        """Return how many keys are worked on at the same time; 0: the controller is switched off."""
        return _in_force(self.entry.workers, self.flags) if self._is_on() else 0

    def _is_on(self) -> bool:
        """Return what the flag `controllers` says of this one, by its name with and without `-controller`."""
        listed = self.flags[CONTROLLERS_FLAG]
        if listed is not self._listed:
            self._listed, self._on = listed, self._is_among(listed)
        return self._on

    def _is_among(self, listed: Sequence[str]) -> bool:
        name = self.entry.name
        names = {name, f"{name}-controller"}
        if any(one in names for one in listed):
            return True
        return "*" in listed and not any(f"-{one}" in listed for one in names)


def _in_force(value: int | Flag[int], flags: InForce) -> int:
    return flags[value] if isinstance(value, Flag) else value


class _Batch:
    """Operations in flight for one key: the token that their answers carry."""

    __slots__ = ("generator", "key", "runner", "work")

    def __init__(self, runner: _Runner, key: str, generator: Reconcile, work: Work) -> None:
        self.runner = runner
        self.key = key
        self.generator = generator
        self.work = work


class ControllerManager:
    """`Elected` component: all controllers over one set of informers."""

    def __init__(
        self,
        identity: str,
        entries: Sequence[ControllerEntry],
        flags: InForce | None = None,
        keys: Keys | None = None,
    ) -> None:
        """Name every controller of the table; nothing runs before `start`, and none is made before `lead`.

        Args:
            identity: who it is among the replicas.
            entries: the table.
            flags: None: all have their defaults.
            keys: sign tokens and certificates; None: there are none, and none is made.
        """
        flags = flags or InForce()
        resources = [resource for entry in entries for resource in entry.resources]
        self.identity = identity
        self.informers = Informers(resources, identity=identity)
        self._stirred: set[int] = set()
        """Places in the table of the controllers whose queues were stirred: most have nothing to do."""
        self._runners = {
            entry.name: _Runner(entry, flags, partial(self._stirred.add, place)) for place, entry in enumerate(entries)
        }
        self._in_order = tuple(self._runners.items())
        self._earliest_ms: int | None = None
        """No work is planned for an earlier time; None: none is."""
        self._keys = keys
        self._leading = False

    @property
    def resources(self) -> frozenset[str]:
        """Return what the shared informers watch."""
        return self.informers.resources

    @property
    def controllers(self) -> tuple[str, ...]:
        """Return the names of the controllers, in the order of the table."""
        return tuple(self._runners)

    def panel(self, name: str, now_ms: int, behind: Mapping[str, int] | None = None) -> dict[str, Any]:
        """Return what a controller's panel shows (contract 25): caches, queue, workers, last reconciliation.

        Times are simulated milliseconds. `behind`: how many revisions of each resource the caches lack, or None.

        Raises:
            KeyError: no such controller.
        """
        runner = self._runners[name]
        caches = {}
        for resource in sorted(runner.entry.resources):
            reflector = self.informers.reflectors[resource]
            caches[resource] = {
                "objects": len(self.informers[resource]),
                "revision": reflector.revision,
                "lag": None if behind is None else behind.get(resource, 0),
                "lists": reflector.lists,
                "synced": reflector.synced,
            }
        return {
            "name": name,
            "leading": self._leading,
            "flags": [flag.name for flag in runner.entry.known_flags],
            "caches": caches,
            "queue": runner.queue.shown(now_ms),
            "workers": {"busy": runner.active, "limit": runner.workers},
            "last": runner.recent[-1].shown() if runner.recent else None,
            "recent": [report.shown() for report in reversed(runner.recent)],
        }

    def workers(self) -> list[tuple[str, int, int]]:
        """Return (controller, workers busy, workers at most), in the order of the table."""
        return [(name, runner.active, runner.workers) for name, runner in self._runners.items()]

    def start(self, tick: Tick) -> None:
        """Fill the caches."""
        self.informers.start(tick)

    def lead(self, tick: Tick) -> None:
        """Make the controllers and begin to reconcile."""
        self._leading = True
        for runner in self._runners.values():
            runner.begin(self.informers, self._keys)
        self.informers.tell_all()
        for name, runner in self._runners.items():
            if runner.resync_ms:
                runner.queue.add(RESYNC_KEY)
                tick.plan(("resync", name), tick.now_ms + runner.resync_ms)
        self._plan(tick)

    def flags_changed(self, tick: Tick) -> None:
        """Begin periods anew and let more workers begin, or fewer go on."""
        if not self._leading:
            return
        for name, runner in self._runners.items():
            if isinstance(runner.entry.resync_ms, Flag):
                tick.plan(("resync", name), tick.now_ms + runner.resync_ms)
            if runner.entry.looks_on_flags:
                runner.queue.add(RESYNC_KEY)
        self._plan(tick)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take watch rows."""
        self.informers.observe(rows)
        self._plan(tick)

    def observe_gone(self, tick: Tick) -> None:
        """List again, after a wait."""
        self.informers.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """Send the results of each key's operations into its generator."""
        results: dict[int, tuple[_Batch, list[Result]]] = {}
        for answer in answers:
            if isinstance(answer.token, _Batch):
                results.setdefault(id(answer.token), (answer.token, []))[1].append(answer.result)
        for batch, own in results.values():
            batch.work.tick = tick
            batch.work.report.answered(own)
            self._advance(batch, own, tick)
        self._plan(tick)

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """Work on one key, list again, or begin a periodic round."""
        if timer == RELIST_TIMER:
            self.informers.relist(tick)
        else:
            assert isinstance(timer, tuple), f"no timer of this component: {timer!r}"
            what, name = timer
            runner = self._runners[name]
            if what == "resync":
                runner.queue.add(RESYNC_KEY)
                tick.plan(timer, tick.now_ms + runner.resync_ms)
            else:
                runner.planned_ms = None
                runner.queue.stir()
                self._work(runner, tick)
        self._plan(tick)

    def _work(self, runner: _Runner, tick: Tick) -> None:
        key = runner.queue.get(tick.now_ms) if runner.active < runner.workers else None
        if key is None or runner.controller is None:
            return
        runner.active += 1
        report = Reconciled(key, tick.now_ms)
        runner.recent.append(report)
        work = Work(tick, runner.queue, runner.recorder, runner.flags, report)
        batch = _Batch(runner, key, runner.controller.reconcile(key, work), work)
        self._advance(batch, None, tick)

    def _advance(self, batch: _Batch, results: list[Result] | None, tick: Tick) -> None:
        """Run a key's generator until it wants something or ends."""
        runner = batch.runner
        actor = f"{self.identity}/{runner.entry.name}"
        try:
            operations: Sequence[Operation] = ()
            while not operations:
                operations = next(batch.generator) if results is None else batch.generator.send(results)
                results = []
        except StopIteration:
            runner.queue.forget(batch.key)
            self._finish(batch, tick)
            return
        except ApiError as error:
            runner.queue.add_limited(batch.key, tick.now_ms)
            self._finish(batch, tick, error)
            return
        for operation in operations:
            tick.emit(operation, batch, actor=actor)

    @staticmethod
    def _finish(batch: _Batch, tick: Tick, error: ApiError | None = None) -> None:
        batch.runner.active -= 1
        batch.runner.queue.done(batch.key)
        batch.work.report.end(tick.now_ms, error)

    def _plan(self, tick: Tick) -> None:
        if not self._leading:
            return
        now_ms = tick.now_ms
        if self._earliest_ms is not None and self._earliest_ms < now_ms:
            self._note_late(now_ms)
        for place in sorted(self._stirred):
            name, runner = self._in_order[place]
            queue = runner.queue
            at_ms = queue.next_ms(now_ms)
            if at_ms is not None and at_ms != runner.planned_ms:
                if runner.active >= runner.workers:
                    # Asked again when one of them has ended.
                    continue
                runner.planned_ms = at_ms
                if self._earliest_ms is None or at_ms < self._earliest_ms:
                    self._earliest_ms = at_ms
                tick.plan(("work", name), at_ms)
            queue.stirred = False
            self._stirred.discard(place)

    def _note_late(self, now_ms: int) -> None:
        """Stir the queues whose work was planned for a time that is over, as on a clock that was changed."""
        planned = [(runner, at_ms) for _, runner in self._in_order if (at_ms := runner.planned_ms) is not None]
        for runner, at_ms in planned:
            if at_ms < now_ms:
                runner.queue.stir()
        self._earliest_ms = min((at_ms for _, at_ms in planned), default=None)


def must(result: Result) -> dict[str, Any]:
    """Return what was stored.

    Raises:
        ApiError: it was refused.
    """
    if result.error is not None:
        raise result.error
    assert result.object is not None, "a result has an object or an error"
    return result.object


def key_of(document: dict[str, Any]) -> str:
    """Return `namespace/name`, or the name alone where there is no namespace."""
    metadata = document["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def split_key(key: str) -> tuple[str, str]:
    """Return (namespace, name) of a key."""
    namespace, _, name = key.rpartition("/")
    return namespace, name
