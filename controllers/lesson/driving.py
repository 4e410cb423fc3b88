"""The script of a session's lesson, performed by the session's owner; the one writer of the lesson's status.

Like other commands it is read from the store itself. What has been done is told after every action, so that another
owner goes on from there.
"""

from __future__ import annotations

from typing import Any

from controllers.cluster import Cluster
from controllers.commands import SESSION, generation_of
from controllers.kinds.clustersim.lesson import NAME, RESOURCE
from controllers.kit.client import Client
from controllers.lesson.performing import Performer
from controllers.lesson.scripts import actions
from controllers.log.operations import Patch
from controllers.registry.models.clustersim_v1 import LessonSpec, LessonStatus, ScriptStatus
from controllers.registry.structs import read
from scheduler_core.api.document import Document


class ScriptDriver:
    """Performs what the lesson of one session asks for."""

    def __init__(self, cluster: Cluster, fence: int | None = None) -> None:
        """Take up what a former owner left.

        Args:
            cluster: the session's.
            fence: the owner's epoch.
        """
        self._cluster = cluster
        self._store = cluster.store
        self._client = Client(cluster.store, fence=fence)
        self._performer = Performer(cluster, fence)
        self._generation = 0
        self._script = 0
        self._before = 0
        """How many actions of the script a former owner has done."""
        self._of = 0
        self._told: Document = {}
        found = self._store.get(RESOURCE, "", NAME)
        if found is not None:
            status = read(found.object.get("status"), LessonStatus)
            self._generation = status.observed_generation
            if status.script is not None:
                self._take_up(read(found.object.get("spec"), LessonSpec), status.script)

    def _take_up(self, spec: LessonSpec, left: ScriptStatus) -> None:
        self._script = left.id
        self._performer.began_ms, self._performer.waits_ms = left.began_ms, left.waits_ms
        if left.state == PLAYING and spec.script is not None and spec.script.id == left.id:
            self._of, self._before = left.of, left.done
            self._performer.begin(actions(spec.script.actions, spec.script.path)[left.done :])

    @property
    def busy(self) -> bool:
        """Return whether a script is under way."""
        return self._performer.busy

    @property
    def can_go_on(self) -> bool:
        """Return whether there is something to do that waits for no run."""
        return self.busy and not self._cluster.clock.runs_on

    def obey(self) -> None:
        """Begin a script that is asked for anew."""
        found = self._store.get(RESOURCE, "", NAME)
        if found is None or generation_of(found.object) == self._generation:
            return
        self._generation = generation_of(found.object)
        spec = read(found.object.get("spec"), LessonSpec)
        if spec.script is not None and spec.script.id > self._script:
            script = actions(spec.script.actions, spec.script.path)
            self._script, self._before, self._of = spec.script.id, 0, len(script)
            self._performer.begin(script)
        self._tell()

    def go_on(self) -> bool:
        """Do what can be done now; return whether something was, which the cluster has to obey."""
        performer = self._performer
        if not performer.busy:
            return False
        before, waited = performer.done, performer.waits_for
        performer.go_on()
        if performer.done != before or not performer.busy:
            self._tell()
        return performer.done != before or performer.waits_for != waited

    def _tell(self) -> None:
        if self._store.get(RESOURCE, "", NAME) is None:
            return
        performer = self._performer
        script: dict[str, Any] = {
            "id": self._script,
            "done": self._before + performer.done,
            "of": self._of,
            "state": PLAYING if performer.busy else FAILED if performer.error else DONE,
            "message": performer.error,
            "beganMs": performer.began_ms,
            "waitsMs": performer.waits_ms,
        }
        status = {"observedGeneration": self._generation, "script": script}
        if status != self._told:
            self._told = status
            self._client.apply(Patch(RESOURCE, "", NAME, {"status": status}, "merge", "status"), SESSION)


PLAYING, DONE, FAILED = "playing", "done", "failed"
"""States of a script."""
