"""Counts what each ResourceQuota's namespace uses, and writes it into the quota's status.

Admission charges what comes; this counts anew what there is: when something goes or becomes less, when the quota
changes, and every `resource-quota-sync-period`.

Source: k8s.io/kubernetes/pkg/controller/resourcequota/resource_quota_controller.go, k8s.io/apiserver/pkg/quota/v1.
"""

from __future__ import annotations

from typing import ClassVar, Final

from controllers.custom.kinds import RESOURCE as DEFINITIONS
from controllers.custom.kinds import established
from controllers.kinds.table import KINDS
from controllers.kit.informer import DefinedLister
from controllers.kit.interest import NAMESPACE, Handler
from controllers.kit.manager import RESYNC_KEY, Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.services import by_namespace
from controllers.log.operations import Update
from controllers.loop.component import DEFINED
from controllers.quota.evaluator import COUNT, Evaluator, evaluator_of
from controllers.quota.usage import Usage, add, equal, only, read, written
from controllers.registry.kind import CLUSTERSIM_GROUP
from scheduler_core.api.document import Document

QUOTAS: Final = "resourcequotas"

_HOME: Final = "home"

COUNTED: Final = tuple(
    kind.resource for kind in KINDS if kind.namespaced and not kind.passing and kind.group != CLUSTERSIM_GROUP
)
"""Kinds whose objects a quota may count."""


class ResourceQuotaController:
    """Reconciles quotas, by namespace and name, first come first served."""

    NAME: ClassVar[str] = "resourcequota"
    RESOURCES: ClassVar[tuple[str, ...]] = (*COUNTED, DEFINITIONS, DEFINED)

    def __init__(self, setup: Setup) -> None:
        """Listen to quotas and to all that they may count."""
        self._quotas = setup.informers[QUOTAS]
        self._listers = {resource: setup.informers[resource] for resource in COUNTED}
        self._evaluators = {resource: evaluator_of(resource) for resource in COUNTED}
        self._queue = setup.queue
        self._quotas.add_index("namespace", by_namespace, of=(NAMESPACE,))
        for resource, lister in self._listers.items():
            lister.add_index("namespace", by_namespace, of=(NAMESPACE,))
            lister.add_handler(self._handler(self._evaluators[resource]), while_any=(self._quotas, "namespace"))
        self._quotas.add_handler(self._quota_changed)
        defined = setup.informers[DEFINED]
        assert isinstance(defined, DefinedLister), "it lists what is defined"
        self._defined = defined
        self._defined.add_index(_HOME, lambda document: (_home(defined.resource_of(document), document),))
        self._defined.add_handler(self._defined_changed)
        self._definitions = setup.informers[DEFINITIONS]
        self._definitions.add_handler(self._definition_changed)

    def _definition_changed(self, old: Document | None, new: Document | None) -> None:
        """Count anew where a quota names a kind that has come."""
        resource = "" if new is None else _resource_of(new)
        if resource and (old is None or _resource_of(old) != resource):
            for quota in self._quotas.all():
                if f"{COUNT}{resource}" in _asked(quota):
                    self._queue.add(key_of(quota))

    def _defined_changed(self, old: Document | None, new: Document | None) -> None:
        if (old is None) == (new is None):
            # It is counted, whatever it says.
            return
        document = new or old
        assert document is not None, "a change has a state before or after"
        name = f"{COUNT}{self._defined.resource_of(document)}"
        for quota in self._quotas.indexed("namespace", document["metadata"].get("namespace", "")):
            if name in _asked(quota):
                self._queue.add(key_of(quota))

    def _quota_changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None and (old is None or _asked(old) != _asked(new)):
            self._queue.add(key_of(new))

    def _handler(self, evaluator: Evaluator) -> Handler:
        def changed(old: Document | None, new: Document | None) -> None:
            document = new or old
            assert document is not None, "a change has a state before or after"
            quotas = self._quotas.indexed("namespace", document["metadata"]["namespace"])
            if not quotas or _same(evaluator, old, new):
                return
            for quota in quotas:
                if evaluator.matching(_asked(quota)):
                    self._queue.add(key_of(quota))

        return changed

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Count what one quota's namespace uses; all of them in the periodic round."""
        if key == RESYNC_KEY:
            for each in self._quotas.all():
                work.queue.add(key_of(each))
            return
        quota = self._quotas.get(*split_key(key))
        if quota is None:
            return
        hard, status = _asked(quota), quota.get("status") or {}
        counted = self._count(quota, hard, work)
        used = only({**read(status.get("used")), **counted}, hard)
        known = status.get("used")
        same = status.get("hard") is not None and equal(read(status["hard"]), read(hard))
        reason = ""
        if not same:
            reason = "status.hard is not spec.hard: written"
        elif known is None:
            reason = "usage was not counted yet: written"
        elif not equal(read(known), used):
            reason = "usage has changed: written"
        work.tell(
            reason or "as counted",
            desired={"spec.hard": dict(hard), "counted": written(used)},
            actual={"status.hard": status.get("hard"), "status.used": known},
        )
        if not reason:
            return
        metadata = {field: quota["metadata"][field] for field in ("uid", "resourceVersion")}
        body = {"metadata": metadata, "status": {"hard": dict(hard), "used": written(used)}}
        # Somebody may have been charged meanwhile: then this is a conflict, and the next turn counts anew.
        must((yield [Update(QUOTAS, quota["metadata"]["namespace"], quota["metadata"]["name"], body, "status")])[0])

    def _count(self, quota: Document, hard: dict[str, str], work: Work) -> Usage:
        total: Usage = {}
        for resource, evaluator in self._evaluators.items():
            names = evaluator.matching(hard)
            if not names:
                continue
            there = self._listers[resource].indexed("namespace", quota["metadata"]["namespace"])
            total = add(total, evaluator.total(quota, there, names, work.unix_ms))
        return {**total, **self._count_defined(quota, hard, work)}

    def _count_defined(self, quota: Document, hard: dict[str, str], work: Work) -> Usage:
        """Count objects of the kinds that the session defines."""
        asked = {name.removeprefix(COUNT) for name in hard if name.startswith(COUNT)} - self._evaluators.keys()
        if not asked:
            return {}
        total: Usage = {}
        for resource in sorted(asked & {_resource_of(one) for one in self._definitions.all()}):
            evaluator, names = evaluator_of(resource), [COUNT + resource]
            there = self._defined.indexed(_HOME, _home(resource, quota))
            total |= evaluator.total(quota, there, names, work.unix_ms)
        return total


def _resource_of(definition: Document) -> str:
    """Return the resource of which a definition serves objects in namespaces; empty: of none."""
    spec = definition["spec"]
    served = established(definition) and spec["scope"] == "Namespaced"
    return f"{spec['names']['plural']}.{spec['group']}" if served else ""


def _home(resource: str, document: Document) -> str:
    return f"{resource}|{document['metadata'].get('namespace', '')}"


def _asked(quota: Document) -> dict[str, str]:
    hard: dict[str, str] = (quota.get("spec") or {}).get("hard") or {}
    return hard


def _same(evaluator: Evaluator, old: Document | None, new: Document | None) -> bool:
    """Return whether a change leaves what an object counts for, and where, whenever it is looked at."""
    if old is None or new is None or (evaluator.moves is not None and evaluator.moves(new, old)):
        return False
    return evaluator.usage(old, 0) == evaluator.usage(new, 0)
