"""What is pinned is whole on every Python that is welcome: an installer that wants hashes adds nothing by itself."""

from __future__ import annotations

import importlib.metadata
import re

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.tools.server import ROOT

PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[.*\])?==", re.MULTILINE)


def pinned(*files: str) -> set[str]:
    """Return the names of the packages that these files pin."""
    return {canonicalize_name(name) for file in files for name in PINNED.findall((ROOT / file).read_text())}


@pytest.mark.parametrize("version", ["3.11.2", "3.11.7", "3.12.0", "3.13.0"])
@pytest.mark.parametrize(
    "files",
    [("requirements.txt",), ("requirements.txt", "requirements-dev.txt")],
    ids=["to run it", "to test it"],
)
def test_all_that_the_pinned_packages_ask_for_is_pinned(files: tuple[str, ...], version: str) -> None:
    """Debian 12's Python is 3.11.2, and some packages ask for more there than on a later one."""
    names = pinned(*files)
    where = {"python_full_version": version, "python_version": version.rpartition(".")[0], "extra": ""}
    lacking = {
        f"{name}: {text}"
        for name in names
        for text in importlib.metadata.requires(name) or ()
        if (asked := Requirement(text)).marker is None or asked.marker.evaluate(where)
        if canonicalize_name(asked.name) not in names
    }
    assert len(names) > 20
    assert lacking == set()
