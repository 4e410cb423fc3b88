"""How long tests wait for a condition before they call it failed.

Only a test that fails waits this long, so the number says nothing about the product's speed: it has to be out of
reach of a slow machine that does other work beside. Speed is measured in `tests/bench`.
"""

from __future__ import annotations

from typing import Final

PATIENCE_SECONDS: Final = 150.0
"""Below the `timeout` of pytest in pyproject.toml, so that a wait fails with its own words."""
