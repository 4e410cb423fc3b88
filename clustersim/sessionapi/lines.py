"""The lines in which requests wait for one of a few threads (`clustersim.answering`): a route says which."""

from __future__ import annotations

from typing import Final

NONE: Final = ""
"""No line: one of many threads."""

CROWD: Final = "crowd"
"""What a whole class asks for at once; a teacher does not stand in it."""

SEARCH: Final = "search"
"""What is worked out for seconds."""
