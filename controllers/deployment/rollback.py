"""Rolling a Deployment back to a revision that an annotation names, as clients of before apps/v1 asked for it.

Source: k8s.io/kubernetes/pkg/controller/deployment/rollback.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from controllers.deployment import sets as rs
from controllers.deployment.rollout import RESOURCE, Rollout, Steps, ensure_new
from controllers.kit.informer import Lister
from controllers.kit.manager import must
from controllers.log.operations import Update
from scheduler_core.api.document import Document

_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_INT64_END: Final = 2**63


def wanted_revision(deployment: Mapping[str, Any]) -> int | None:
    """Return the revision to roll back to, 0 for the last one; None where nothing is asked that can be read."""
    text = (deployment["metadata"].get("annotations") or {}).get(rs.ROLLBACK_TO, "")
    if _WHOLE.fullmatch(text) is None:
        return None
    number = int(text)
    return number if -_INT64_END <= number < _INT64_END else None


def roll_back(rollout: Rollout, revision: int, known: Lister) -> Steps:
    """Put the template of that revision's set into the Deployment; in any case nothing is asked any more afterwards."""
    yield from ensure_new(rollout, known)
    deployment, work = rollout.deployment, rollout.work
    if revision == 0:
        revision = _last_revision(rollout)
        if revision == 0:
            work.event(deployment, "Deployment", *_NO_LAST, event_type="Warning")
            yield from _written(deployment)
            return
    new = [rollout.new] if rollout.new is not None else []
    found = next((one for one in [*rollout.old, *new] if rs.revision_of(one) == revision), None)
    if found is None:
        work.event(deployment, "Deployment", *_NOT_FOUND, event_type="Warning")
        yield from _written(deployment)
    elif rs.template_of(found) == rs.template_of(deployment):
        text = (
            f'The rollback revision contains the same template as current deployment "{deployment["metadata"]["name"]}"'
        )
        work.event(deployment, "Deployment", "DeploymentRollbackTemplateUnchanged", text, event_type="Warning")
        yield from _written(deployment)
    else:
        yield from _written(_with_template_of(deployment, found))
        text = f'Rolled back deployment "{deployment["metadata"]["name"]}" to revision {revision}'
        work.event(deployment, "Deployment", "DeploymentRollback", text)


_NO_LAST: Final = ("DeploymentRollbackRevisionNotFound", "Unable to find last revision.")
_NOT_FOUND: Final = ("DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to.")


def _last_revision(rollout: Rollout) -> int:
    """Return the second highest revision; of two sets with the same it is that one, and 0 where there is none."""
    numbers = sorted((0, 0, *map(rs.revision_of, rollout.sets)))
    return numbers[-2]


def _with_template_of(deployment: Document, one: Document) -> Document:
    """Return the Deployment with a set's template and with what that set inherited of it."""
    kept = _annotations(deployment, skipped=True)
    metadata = {**deployment["metadata"], "annotations": {**kept, **_annotations(one, skipped=False)}}
    return {
        **deployment,
        "metadata": metadata,
        "spec": {**deployment["spec"], "template": rs.template_of(one)},
    }


def _annotations(document: Document, *, skipped: bool) -> dict[str, str]:
    annotations = document["metadata"].get("annotations") or {}
    return {key: value for key, value in annotations.items() if (key in rs.SKIPPED_ANNOTATIONS) == skipped}


def _written(deployment: Document) -> Steps:
    """Write the Deployment without the annotation."""
    annotations = {key: value for key, value in deployment["metadata"]["annotations"].items() if key != rs.ROLLBACK_TO}
    metadata = {**deployment["metadata"], "annotations": annotations}
    body = {**deployment, "metadata": metadata}
    results = yield [Update(RESOURCE, metadata["namespace"], metadata["name"], body)]
    must(results[0])
