"""Scripts that want much: each ends, is stopped after so many steps, or is not played, whatever a person writes."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.kubelet.shell.patterns import compiled, fits, of_basic
from controllers.kubelet.shell.running import STEPS_MAX, VALUE_LENGTH_MAX, TooLong
from controllers.kubelet.shell.tree import Unplayable
from tests.controllers.kubelet.test_bash import BASH
from tests.controllers.kubelet.test_shell import done, shell_in

LONG = "x=a; for i in {1..16}; do x=$x$x; done; "
"""Makes a variable as long as they can be."""

FRAMES_MAX = 700
"""Python's own limit is 1000, and whoever runs a shell stands on some already."""


@pytest.mark.parametrize(
    "script",
    [
        f"{LONG} [[ $x =~ (a*)*b ]]; echo $?",
        f"{LONG} while :; do [[ $x =~ (a|aa)+(a|b)*c{{1,20}} ]]; done",
        f"{LONG} while :; do case $x in {'*a' * 300}b) ;; esac; done",
        f"{LONG} while :; do y=${{x//{'*a?' * 200}b/c}}; done",
        f"{LONG} while :; do y=${{x%%{'*a' * 200}b}}; done",
        f"{LONG} while :; do echo $x | sed 's/{'a*' * 200}b/c/g'; done",
        f"{LONG} while :; do echo $x | grep -E '(a|a?)*(b|c)*d'; done",
        f"{LONG} while :; do echo $x | awk '/{'a*' * 200}b/ {{ gsub(/a/, \"bb\") }}'; done",
        "echo {1..999999999}",
        f"echo {'{1..9}' * 9}",
        f"echo {'{a,' * 40}b{'}' * 40}",
        'a=(x); while :; do a+=("${a[@]}"); done',
        "a[999999999999]=1; a[-1]=2; echo ${#a[@]}",
        "a[-5]=1",
        "x=1; while :; do x=$((x * 7919 ** 1000)); done",
        f"echo $(({'(' * 200}1{')' * 200}))",
        f"echo $(({'2**' * 240}1)) $(({'-~' * 240}1))",
        f"echo $(({'1?' * 100}1{':1' * 100}))",
        "a=b; b=a; echo $((a))",
        f"{'((' * 60}1{'))' * 60}",
        f"[[ {'( ' * 60}a{' )' * 60} ]]",
        f"[[ {'! ' * 200}a ]]",
        f"[ {'! ' * 2000}a ]; [ {'a -o ' * 2000}a ]",
        f"echo {'${a:-' * 60}x{'}' * 60}",
        f"{'if :; then ' * 60}:{'; fi' * 60}",
        f"{'$(echo ' * 60}:{')' * 60}",
        f"{'case a in a) ' * 60}:{';; esac' * 60}",
        f"{'f() { ' * 60}:{'; }' * 60}",
        "f() { f; }; f",
        "f() { f | f; }; f",
        "f() { x=$(f); }; f",
        'f() { eval "f"; }; f',
        'x=\'sh -c "$x"\'; export x; sh -c "$x"',
        "echo '. /tmp/a' > /tmp/a; . /tmp/a",
        "printf '#!/bin/sh\\n/tmp/a\\n' > /tmp/a; /tmp/a",
        "trap 'trap \"exit 1\" EXIT; exit 2' EXIT",
        f"{'command ' * 2000}:",
        f"{'xargs ' * 900} echo",
        f"{'env ' * 900} true",
        f"{'timeout 1 ' * 900} true",
        "yes | yes | head -n 1",
        "seq 1 1000000000 | tail -n 1; shuf -i 1-1000000000 | wc -l",
        "printf '%999d%*d' 1 999999999 2 | wc -c",
        f"printf '{'%s' * 5000}' {'x ' * 500}",
        "nl -w 999999999 /etc/hostname; paste -d '' /etc/hostname",
        "awk 'BEGIN { while (1) x = x \"y\" }'",
        f"awk 'BEGIN {{ print {'(' * 100}1{')' * 100} }}'",
        f"awk 'BEGIN {{ print {'1 ' * 900} }}'",
        f"awk '{'{ if (1) ' * 60}print{'}' * 60}'",
        "awk 'BEGIN { for (;;) a[i++] = 1 }'",
        "awk 'BEGIN { $999999999 = 1; NF = 999999999; print 2 ^ 99999 }'",
        f"sed '{'s/a/b/;' * 900}' /etc/hostname",
        f"cat {'<<E ' * 50}\n" + "x\nE\n" * 50,
        f"echo {'`' * 99}",
        "while read -r l; do :; done < <(yes)",
        "mapfile -t a < <(yes); echo ${#a[@]}",
        "tr '\\0-\\377' 'a-z' < /etc/hostname",
        'set -- {1..4000}; while :; do set -- "$@"; done',
    ],
)
def test_whatever_is_asked_for_ends(script: str) -> None:
    shell = shell_in(BASH)
    deepest = 0
    spend = type(shell).spend

    class Watched(type(shell)):  # type: ignore[misc]
        __slots__ = ()

        def spend(self, work: int) -> None:
            nonlocal deepest
            frame, depth = sys._getframe(), 0
            while frame is not None:
                frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
            deepest = max(deepest, depth)
            spend(self, work)

    shell.__class__ = Watched
    try:
        out, wrong, _, _ = done(shell, script)
    except (TooLong, Unplayable):
        out = wrong = ""
    assert len(out) <= 4 * VALUE_LENGTH_MAX
    assert len(wrong) <= STEPS_MAX * 200
    assert deepest < FRAMES_MAX


letters = st.text("ab*?[]!-.", max_size=12)


@given(letters, st.text("ab-.!", max_size=12))
def test_a_pattern_fits_what_the_libraries_own_would(pattern: str, text: str) -> None:
    """Where both read brackets alike: shells take `[!]` and ranges without an end for letters, or for nothing."""
    if "[" not in pattern:
        assert fits(pattern, text) == fnmatchcase(text, pattern)
    else:
        assert isinstance(_tried(pattern, text), bool | None)


@given(
    st.lists(st.sampled_from(["[ab]", "[!a]", "[a-b]", "*", "?", "a", "."]), max_size=6), st.text("abc.", max_size=8)
)
def test_brackets_fit_what_the_librarys_own_would(parts: list[str], text: str) -> None:
    pattern = "".join(parts)
    assert fits(pattern, text) == fnmatchcase(text, pattern)


def _tried(pattern: str, text: str) -> bool | None:
    try:
        return fits(pattern, text)
    except Unplayable:
        return None


@pytest.mark.parametrize(
    ("pattern", "text", "hit"),
    [
        (r"a\(b\|c\)*d", "abcbd", True), (r"a+", "a+", True), (r"a\+$", "aa", True), (r"^\*", "*x", True),
        (r"[]]", "]", True), (r"[^]a]", "]", False), (r"a\{2\}", "aa", True), (r"a.c", "abc", True),
        (r"\.", "a", False),
    ],
)  # fmt: skip
def test_basic_expressions_mean_what_they_say(pattern: str, text: str, hit: bool) -> None:
    assert (compiled(of_basic(pattern), posix=True).search(text) is not None) is hit


@pytest.mark.parametrize(
    "word", ["return", "break", "exit", "let 1/0", "shift", "read", "exec", "local x", "awk @", ". /none"]
)
def test_what_only_a_script_can_say_ends_a_command_too(word: str) -> None:
    shell = shell_in(BASH)
    for one in shell.call(word.split()):
        assert one is not None
