from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api.quantity import QuantityError, amount, canonical, milli_value, nano, value


@pytest.mark.parametrize(
    ("text", "whole", "milli", "spelled"),
    [
        ("0", 0, 0, "0"),
        ("1", 1, 1000, "1"),
        ("250m", 1, 250, "250m"),
        ("1.5", 2, 1500, "1500m"),
        (".5", 1, 500, "500m"),
        ("5.", 5, 5000, "5."),
        ("64Mi", 67108864, 67108864000, "64Mi"),
        ("1024Mi", 1073741824, 1073741824000, "1Gi"),
        ("1.5Gi", 1610612736, 1610612736000, "1536Mi"),
        ("3k", 3000, 3000000, "3k"),
        ("12e6", 12000000, 12000000000, "12e6"),
        ("0.1m", 1, 1, "100u"),
        ("100n", 1, 1, "100n"),
        ("-5", -5, -5000, "-5"),
        ("+5", 5, 5000, "+5"),
        ("Mi", 0, 0, "0"),
        (".", 0, 0, "0"),
        ("-e3", 0, 0, "0"),
    ],
)
def test_reads_and_spells_as_upstream(text: str, whole: int, milli: int, spelled: str) -> None:
    assert (value(text), milli_value(text), canonical(text)) == (whole, milli, spelled)


@pytest.mark.parametrize("text", ["", " 1", "1 ", "1..2", "abc", "1K", "1mi", "--1", "1e", "0x10", "1e999", "٣"])
def test_refuses_what_is_no_quantity(text: str) -> None:
    with pytest.raises(QuantityError):
        nano(text)


def test_numbers_are_quantities_too() -> None:
    assert (value(3), milli_value(0.5), amount("cpu", 2), amount("memory", "1Ki")) == (3, 500, 2000, 1024)


def test_values_stay_within_int64() -> None:
    assert milli_value("9Ei") == 2**63 - 1


@given(st.integers(0, 10**12), st.integers(0, 999_999_999), st.sampled_from(["", "k", "M", "m", "u", "Ki", "Mi"]))
def test_rounds_up_to_whole_units(whole: int, fraction: int, suffix: str) -> None:
    scale = {"": 1, "k": 10**3, "M": 10**6, "m": Fraction(1, 10**3), "u": Fraction(1, 10**6), "Ki": 2**10, "Mi": 2**20}
    exact = Fraction(f"{whole}.{fraction:09}") * scale[suffix]
    assert value(f"{whole}.{fraction:09}{suffix}") - 1 < exact <= value(f"{whole}.{fraction:09}{suffix}")


@given(st.integers(-(10**15), 10**15), st.sampled_from(["", "k", "M", "G", "m", "u", "n", "Ki", "Mi", "Gi", "e3"]))
def test_the_canonical_spelling_means_the_same_and_stays(number: int, suffix: str) -> None:
    spelled = canonical(f"{number}{suffix}")
    assert nano(spelled) == nano(f"{number}{suffix}")
    assert canonical(spelled) == spelled
