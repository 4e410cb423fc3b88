"""Whoever writes into a session goes through one door, so that nobody who reads its log is forgotten."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
OPENS: Final = re.compile(r"\.(?:transaction|apply_all)\(")
"""Opening a transaction of a session's store, by hand or through the registry."""


def test_only_the_door_of_peoples_writes_opens_transactions_of_sessions() -> None:
    files = [file for file in sorted((ROOT / "clustersim").rglob("*.py")) if "store" not in file.parts]
    opening = [str(file.relative_to(ROOT)) for file in files if OPENS.search(file.read_text())]
    assert opening == ["clustersim/classroom/writing.py"]
