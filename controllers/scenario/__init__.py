"""Scenarios: a cluster and what happens to it, as data; run headless, deterministically. Format: docs/scenarios.md."""

from __future__ import annotations

from controllers.scenario.reading import read
from controllers.scenario.running import run
from controllers.scenario.shape import Start
from controllers.scenario.summing import summary

__all__ = ["Start", "read", "run", "summary"]
