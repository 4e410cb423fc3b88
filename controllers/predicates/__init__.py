"""Predicates: what a lesson, a poll or a run waits for, said of a session's state and its newest decisions.

The language is that of expressions (`scheduler_core.cel`), with functions instead of variables; `docs/lessons.md`
documents the view that they look at.
"""

from __future__ import annotations

from controllers.predicates.predicate import Predicate, Unanswered
from controllers.predicates.view import Moment, View
from scheduler_core.cel.language import ExpressionError

__all__ = ["ExpressionError", "Moment", "Predicate", "Unanswered", "View"]
