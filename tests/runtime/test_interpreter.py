"""The Python that `.venv` is made with: `python3`, or the system's own where that is clearly faster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clustersim.runtime import interpreter
from clustersim.runtime.interpreter import Found, chosen
from tests.tools.server import ROOT


def a(path: str, version: str = "3.11.7", seconds: float = 0.01, makes: bool = True) -> Found:
    return Found(path, tuple(int(number) for number in version.split(".")), makes, seconds)


@pytest.mark.parametrize(
    ("own", "other", "wanted"),
    [
        (a("own", seconds=0.020), a("other", seconds=0.010), "other"),
        (a("own", seconds=0.011), a("other", seconds=0.010), "own"),
        (a("own", seconds=0.010), a("other", seconds=0.020), "own"),
        (a("own", "3.13.0", seconds=0.020), a("other", "3.11.2"), "other"),
        (a("own", "3.11.7", seconds=0.020), a("other", "3.14.1"), "own"),
        (a("own", seconds=0.020), a("other", "3.10.13"), "own"),
        (a("own", seconds=0.020), a("other", makes=False), "own"),
        (a("own", "3.9.18"), a("other", "3.11.2", seconds=0.020), "other"),
        (a("own", makes=False), a("other", "3.13.0", seconds=0.020), "other"),
        (a("own", "3.9.18"), a("other", "3.10.13"), "own"),
    ],
    ids=[
        "a faster one",
        "hardly faster",
        "slower",
        "older and faster",
        "newer: there may be no packages for it",
        "too old for Clustersim",
        "without venv",
        "python3 is too old",
        "python3 has no venv",
        "both are too old",
    ],
)
def test_who_is_taken(own: Found, other: Found, wanted: str) -> None:
    assert chosen(own, [other]).path == wanted


def test_the_fastest_of_three_is_taken() -> None:
    three = [a("own", seconds=0.040), a("second", seconds=0.030), a("third", seconds=0.010)]
    assert chosen(three[0], three[1:]).path == "third"


def test_a_python_tells_of_itself_and_what_is_none_does_not(tmp_path: Path) -> None:
    told = interpreter.ask(sys.executable)
    assert told is not None
    assert (told.path, told.version) == (sys.executable, sys.version_info[:3])
    assert told.makes
    assert told.seconds > 0
    silent = tmp_path / "python3"
    silent.write_text("#!/bin/sh\necho I am no Python\n")
    silent.chmod(0o755)
    assert interpreter.ask(str(silent)) is None
    assert interpreter.ask(str(tmp_path / "nothing")) is None


def test_what_is_printed_makes_a_virtual_environment(tmp_path: Path) -> None:
    line = subprocess.run(
        [sys.executable, str(ROOT / "clustersim/runtime/interpreter.py")], capture_output=True, text=True, check=True
    ).stdout
    path = line.removesuffix("\n")
    subprocess.run([path, "-m", "venv", "--without-pip", str(tmp_path / "made")], check=True)
    asked = [str(tmp_path / "made/bin/python"), "-c", "import sys; print(sys.version_info >= (3, 11))"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "True\n"
