"""Writes into ClusterRoles with an `aggregationRule` the rules of the ClusterRoles that it selects.

Source: pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go, v1.34. The default roles that gather
(`admin`, `edit`, `view`) are not stored: what they gather is found out when they are read.
"""

from __future__ import annotations

from typing import ClassVar

from controllers.kinds.rbac.bootstrap import CLUSTER_ROLES, gathered
from controllers.kit.manager import Reconcile, Setup, Work, key_of, split_key
from controllers.log.operations import Patch
from scheduler_core.api.document import Document


class ClusterRoleAggregation:
    """Reconciles ClusterRoles that gather, by key."""

    NAME: ClassVar[str] = "clusterrole-aggregation"
    RESOURCES: ClassVar[tuple[str, ...]] = (CLUSTER_ROLES,)

    def __init__(self, setup: Setup) -> None:
        """Listen to ClusterRoles: any of them may be gathered by any."""
        self._roles = setup.informers[CLUSTER_ROLES]
        self._queue = setup.queue
        self._roles.add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        for role in self._roles.all():
            if role.get("aggregationRule") is not None:
                self._queue.add(key_of(role))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Put one ClusterRole's rules right."""
        role = self._roles.get(*split_key(key))
        if role is None or role.get("aggregationRule") is None:
            work.tell("gathers nothing", desired={}, actual={})
            return
        rules, before = gathered(role, self._roles.all()), role.get("rules") or []
        work.tell(
            "has all rules" if rules == before else "its rules are gathered",
            desired={"rules": len(rules)},
            actual={"rules": len(before)},
        )
        if rules == before:
            return
        (result,) = yield [Patch(CLUSTER_ROLES, "", role["metadata"]["name"], {"rules": rules})]
        if result.error is not None and result.error.code != 404:
            raise result.error
