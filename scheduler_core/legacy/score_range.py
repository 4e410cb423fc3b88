"""The range of the era's scores."""

from __future__ import annotations

from typing import Final

SCORE_MAX: Final = 10
"""What a priority gives the best node, before its weight."""
