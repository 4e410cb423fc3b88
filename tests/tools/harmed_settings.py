"""The project's settings over a database that SQLite itself lets grow no more, or write no more.

`HARM=full`: each connection finds the file as large as it may be. `HARM=read-only`: each connection may only read.
"""

from __future__ import annotations

import os
from typing import Final

from clustersim.settings import *  # noqa: F403 - settings are a namespace
from clustersim.settings import DATABASES

PRAGMAS: Final = {"full": "PRAGMA max_page_count = 1;", "read-only": "PRAGMA query_only = ON;"}
"""SQLite cuts no file: the smallest allowance is the size that the file has."""

_options = DATABASES["default"].setdefault("OPTIONS", {})
_options["init_command"] = _options.get("init_command", "") + PRAGMAS[os.environ["HARM"]]
