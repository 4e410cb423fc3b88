"""Plays recorded traces of pods into a session."""

from controllers.replay.component import ReplayComponent

__all__ = ["ReplayComponent"]
