"""PodTemplates: kept for others to copy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import NAME, pairs
from controllers.kinds.core.pod import defaults, warnings
from controllers.kinds.core.pod import validation as pod
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.document import Document, at, child
from scheduler_core.api.errors import Cause


def _defaults(document: Document) -> None:
    template = child(document, "template")
    child(template, "metadata")
    defaults.pod_spec(child(template, "spec"))


def _validate(document: Document) -> list[Cause]:
    template = document["template"]
    causes = fields.labels("template.labels", template["metadata"].get("labels"))
    causes += pod.annotations_of("template", template)
    return causes + pod.pod_spec("template.spec", template["spec"]) + pod.no_ephemeral("template", template["spec"])


def _of_containers(key: str) -> Any:
    def cell(document: Mapping[str, Any], age: Any) -> str:
        return ",".join(one.get(key, "") for one in at(document, "template", "spec", "containers") or ())

    return cell


KIND: Final = Kind(
    "PodTemplate",
    "podtemplates",
    whole_rules=True,
    defaults=_defaults,
    validate=_validate,
    generation=True,
    returned_when_deleted=True,
    warns_spec=lambda document: warnings.of_template("template.", document.get("template")),
    metadata_looks="c",
    columns=(
        NAME,
        Column("Containers", "string", "Names of each container in the template.", _of_containers("name")),
        Column("Images", "string", "Images referenced by each container in the template.", _of_containers("image")),
        Column(
            "Pod Labels",
            "string",
            "The labels for the pod template.",
            lambda doc, age: pairs(at(doc, "template", "metadata", "labels")),
        ),
    ),
    rank=30,
)
