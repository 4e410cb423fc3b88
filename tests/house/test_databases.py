"""pytest-django's own database stays out of the tests: it changes the settings that the application's threads read.

A test that wants a database names one of the fixtures of tests/conftest.py (`database`, `own_database`,
`application_database`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]

FORBIDDEN = re.compile(r"mark\.django_db\b|\bdjango_db_setup\b|\btransactional_db\b|\(db: |\bdef \w+\(db\b")


def test_no_test_uses_the_database_of_pytest_django() -> None:
    uses = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path.name != "test_databases.py"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if FORBIDDEN.search(line)
    ]
    assert uses == []
