"""Lessons: where a session's lesson stands, and the script that its owner performs."""

from __future__ import annotations

from typing import Final

from controllers.kinds.clustersim.common import command, shown, with_spec
from controllers.registry.kind import Column
from controllers.registry.models.clustersim_v1 import LessonSpec

RESOURCE: Final = "lessons.clustersim.io"

NAME: Final = "lesson"
"""The one lesson of a session."""

KIND: Final = command(
    "Lesson",
    "lessons",
    Column("Package", "string", "The lesson.", shown("spec", "package")),
    Column("Step", "string", "The step that it has come to.", shown("spec", "step")),
    Column("Phase", "string", "scene, ask, wait, reveal or so.", shown("spec", "phase")),
    Column("Script", "string", "How far what happens has come.", shown("status", "script", "state")),
    spec=LessonSpec,
    defaults=with_spec,
    page={"spec": {"*": True, "script": False}, "status": True},
)
