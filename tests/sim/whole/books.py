"""What must be true after every tick, whatever has happened: a follower of the log that disbelieves what it reads."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from typing import Any

from controllers.kinds.table import KINDS
from controllers.log.store import ADDED, DELETED, MODIFIED, Event
from controllers.quota.evaluator import evaluator_of
from controllers.quota.usage import NONE, Usage, add, read
from scheduler_core.api.document import Document

LEASES = "leases.coordination.k8s.io"
COMPONENTS = ("kube-scheduler", "kube-controller-manager")
RESOURCES = tuple(kind.resource for kind in KINDS)
NAMESPACED = frozenset(kind.resource for kind in KINDS if kind.namespaced)

EXCUSED_MS = 240_000
"""After a fault of a clock two replicas may lead at once: for the fault's two minutes, and until all is level again."""

ENDED = ("Succeeded", "Failed")

Place = tuple[str, str]


class Books:
    """Follows one store, and holds each row against what the rows before it said."""

    def __init__(self, store: Any, *, checked: bool = True) -> None:
        self.store = store
        self.checked = checked
        self.position = 0
        self.now_ms = 0
        self._digest = sha256()
        self.rows: Counter[str] = Counter()
        """Rows read, by resource."""
        self.mirror: dict[str, dict[Place, Event]] = {resource: {} for resource in RESOURCES}
        self.uids: set[str] = set()
        self.gone: dict[str, int] = {}
        """When what is named so went: uids, and `namespace/name` of what has such a place."""
        self.node_of: dict[str, str] = {}
        self.holders: dict[str, tuple[str, int]] = {}
        """Component → (who leads by its Lease, that leadership's number)."""
        self.changes = 0
        """How often a Lease changed hands."""
        self.charged = 0
        """How many objects were made under a quota that limits them."""
        self._excused: dict[str, int] = {}

    def troubled(self, identity: str, kind: str) -> None:
        """A replica has a fault."""
        if kind in ("rate", "pause"):
            self._excused[identity.rpartition("-")[0]] = self.now_ms + EXCUSED_MS

    @property
    def log_sha256(self) -> str:
        """Return the hash over all rows so far, compacted ones too, as `manage.py simulate` makes it."""
        return self._digest.hexdigest()

    def read(self) -> None:
        """Read what is new.

        Raises:
            AssertionError: it cannot be true.
        """
        store = self.store
        while rows := store.events(self.position):
            for row in rows:
                head = f"{row.revision} {row.now_ms} {row.verb} {row.resource} {row.namespace} {row.name} {row.actor} "
                self._digest.update(head.encode() + row.data + b"\n")
                self.rows[row.resource] += 1
                if self.checked:
                    self._check(row)
                self.position = row.revision

    def level(self) -> None:
        """Check that list and events are the list of now.

        Raises:
            AssertionError: they are not.
        """
        for resource in RESOURCES:
            listed = {(one.namespace, one.name): one.data for one in self.store.list(resource)[0]}
            followed = {place: row.data for place, row in self.mirror[resource].items()}
            assert listed == followed, f"{resource}: {sorted(listed.keys() ^ followed.keys()) or 'they differ'}"

    def _check(self, row: Event) -> None:
        what = f"revision {row.revision} ({row.verb} {row.resource} {row.namespace}/{row.name} by {row.actor})"
        assert row.revision == self.position + 1, f"{what} does not follow {self.position}"
        assert row.now_ms >= self.now_ms, f"{what} is written before {self.now_ms}"
        self.now_ms = row.now_ms
        document = row.object
        assert document["metadata"]["resourceVersion"] == str(row.revision), what
        known = self.mirror[row.resource].get((row.namespace, row.name))
        if row.verb == ADDED:
            assert known is None, f"{what} was there"
            assert row.uid not in self.uids, f"{what} has the uid of another"
            self.uids.add(row.uid)
            self.gone.pop(f"{row.namespace}/{row.name}", None)
            self.mirror[row.resource][row.namespace, row.name] = row
        else:
            assert known is not None, f"{what} was not there"
            assert (known.uid, known.revision) == (row.uid, row.previous_revision), f"{what} follows another state"
            if row.verb == MODIFIED:
                self.mirror[row.resource][row.namespace, row.name] = row
            else:
                del self.mirror[row.resource][row.namespace, row.name]
                # What goes with its last finalizer is told as it was stored last, with that one.
                held = len(document["metadata"].get("finalizers") or ())
                assert held <= ("deletionTimestamp" in known.object["metadata"]), f"{what} is still held"
                self.gone[row.uid] = row.now_ms
                if row.namespace and row.resource != "events":
                    self.gone[f"{row.namespace}/{row.name}"] = row.now_ms
            self._kept(known.object["metadata"], document["metadata"], what)
        if row.resource == "pods":
            self._pod(row, None if known is None else known.object, what)
        elif row.resource == LEASES:
            self._lease(row, what)
        elif row.resource == "services" and row.verb != DELETED:
            self._addresses(row, what)
        self._led(row, what)
        if row.verb == ADDED and row.namespace.startswith("s-"):
            self._quotas(row, what)

    @staticmethod
    def _kept(old: Document, new: Document, what: str) -> None:
        assert old["creationTimestamp"] == new["creationTimestamp"], f"{what} was made again"
        assert old.get("generation", 0) <= new.get("generation", 0), f"{what} goes back"
        assert "deletionTimestamp" in new or "deletionTimestamp" not in old, f"{what} does not end any more"

    def _pod(self, row: Event, known: Document | None, what: str) -> None:
        pod = row.object
        place = pod["spec"].get("nodeName")
        if place:
            assert self.node_of.setdefault(row.uid, place) == place, f"{what} is bound twice"
        if known is None:
            return
        was, now = known["status"].get("phase"), pod["status"].get("phase")
        assert was not in ENDED or was == now, f"{what} was {was} and is {now}"
        before = {one["name"]: one["restartCount"] for one in known["status"].get("containerStatuses") or ()}
        for one in pod["status"].get("containerStatuses") or ():
            assert one["restartCount"] >= before.get(one["name"], 0), f"{what} forgets restarts"

    def _lease(self, row: Event, what: str) -> None:
        if row.namespace != "kube-system" or row.name not in COMPONENTS or row.verb == DELETED:
            return
        spec = row.object["spec"]
        holder, number = spec.get("holderIdentity") or "", spec.get("leaseTransitions") or 0
        was, before = self.holders.get(row.name, ("", number))
        assert number >= before, f"{what}: leadership {before} was followed by {number}"
        if holder and was and holder != was:
            assert number > before, f"{what}: {was} and {holder} both lead under the number {number}"
        assert row.actor == (holder or was), f"{what} speaks for {holder or was}"
        self.changes += holder != was
        self.holders[row.name] = (holder, number)

    def _led(self, row: Event, what: str) -> None:
        """What replicas write, but for what is about themselves, is written by the one that leads."""
        identity = row.actor.partition("/")[0]
        component = identity.rpartition("-")[0]
        if component not in COMPONENTS or row.resource in (LEASES, "events") or "clustersim" in row.resource:
            return
        holder = self.holders.get(component, ("", 0))[0]
        if holder != identity:
            assert self._excused.get(component, -1) >= row.now_ms, f"{what}, while {holder or 'nobody'} leads"

    def _addresses(self, row: Event, what: str) -> None:
        address = row.object["spec"].get("clusterIP")
        if address not in (None, "", "None"):
            taken = [
                f"{other.namespace}/{other.name}"
                for other in self.mirror["services"].values()
                if other.uid != row.uid and other.object["spec"].get("clusterIP") == address
            ]
            assert not taken, f"{what} has the address of {taken}"

    def _quotas(self, row: Event, what: str) -> None:
        quotas = [one for (namespace, _), one in self.mirror["resourcequotas"].items() if namespace == row.namespace]
        if not quotas or row.resource == "resourcequotas":
            return
        now_ms = self.store.epoch_ms + row.now_ms
        evaluator = evaluator_of(row.resource)
        own = evaluator.usage(row.object, now_ms)
        for quota in quotas:
            hard = read((quota.object.get("status") or {}).get("hard") or {})
            limited = [name for name in own if name in hard and own[name].nano > 0]
            if not limited:
                continue
            self.charged += 1
            total: Usage = dict.fromkeys(limited, NONE)
            for (namespace, _), one in self.mirror[row.resource].items():
                if namespace == row.namespace:
                    usage = evaluator.usage(one.object, now_ms)
                    total = add(total, {name: usage[name] for name in limited if name in usage})
            for name in limited:
                assert total[name].nano <= hard[name].nano, (
                    f"{what} makes {total[name]} of {name}, quota {quota.name} allows {hard[name]}"
                )
