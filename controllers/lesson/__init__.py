"""Lessons: packages read and checked, their steps played, live and headless. Format: docs/lessons.md."""

from __future__ import annotations

from controllers.lesson.checking import check
from controllers.lesson.reading import Files, read
from controllers.lesson.shape import Package

__all__ = ["Files", "Package", "check", "read"]
