"""Hashes that name what was made of a template: `pod-template-hash` and `controller-revision-hash`, as upstream's.

Both are pure functions of the template, so that a set or a revision made here carries the name that a real cluster
would give it. The one for Deployments is FNV-1a over what Go's spew prints of the struct (`%#v`), the one for revisions
is FNV-1 over their JSON.

Source: `ComputeHash` (k8s.io/kubernetes/pkg/controller/controller_utils.go), `HashControllerRevision`
(pkg/controller/history), `ForHash` (k8s.io/utils/dump), `SafeEncodeString` (k8s.io/apimachinery/pkg/util/rand).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.kit.gotypes import MAPS, structs, zero
from scheduler_core.api import quantity
from scheduler_core.api.draw import SAFE_LETTERS

_FNV_OFFSET: Final = 2166136261
_FNV_PRIME: Final = 16777619

_INTEGER_DIGITS: Final = 18
"""Decimal digits that upstream's quantities keep as an integer; longer ones are kept as big decimals."""

_EXPONENTS: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_EXPONENTS: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_QUANTITY: Final = re.compile(r"([+-]?)0*(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d+)|([a-zA-Z]*))")


def template_hash(template: Mapping[str, Any], collisions: int | None) -> str:
    """Return the `pod-template-hash` of a Deployment's template; `collisions` is its status.collisionCount."""
    data = printed("v1.PodTemplateSpec", template).encode()
    if collisions is not None:
        data += collisions.to_bytes(4, "little") + bytes(4)
    number = _FNV_OFFSET
    for byte in data:
        number = ((number ^ byte) * _FNV_PRIME) & 0xFFFFFFFF
    return safe(number)


def revision_hash(data: bytes, collisions: int | None) -> str:
    """Return the `controller-revision-hash` of a ControllerRevision's data."""
    if collisions is not None:
        data += str(collisions).encode()
    number = _FNV_OFFSET
    for byte in data:
        number = ((number * _FNV_PRIME) & 0xFFFFFFFF) ^ byte
    return safe(number)


def safe(number: int) -> str:
    """Return a number in letters that spell nothing."""
    return "".join(SAFE_LETTERS[ord(digit) % len(SAFE_LETTERS)] for digit in str(number))


def printed(of: str, value: Any) -> str:
    """Return what spew's `%#v` prints of a value of a Go type, with the type in front."""
    if of.startswith("*") and value is not None:
        # What a pointer points at follows its type at once.
        return f"({of}){_bare(of[1:], value)}"
    # Go's names of types tell packages by their last word alone.
    return f"({of.rpartition('/')[2]}){_bare(of, value)}"


def _bare(of: str, value: Any) -> str:
    """Return the printed value without its type."""
    if of.startswith("*"):
        return "<nil>" if value is None else _bare(of[1:], value)
    if of.startswith("[]"):
        return _items(of[2:], value)
    of_map = MAPS.get(of, of)
    if of_map.startswith("map["):
        return _pairs(of_map.partition("]")[2], value)
    if of == "resource.Quantity":
        return _quantity(value)
    if of == "intstr.IntOrString":
        return _int_or_string(value)
    if of == "v1.Time":
        # A template's own times are never set: the server makes them.
        return "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"
    if of in structs():
        return _struct(of, value or {})
    if value is None:
        return zero(of)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _struct(of: str, value: Mapping[str, Any]) -> str:
    parts = []
    for field in structs()[of]:
        inner = value.get(field.json) if field.json else value
        parts.append(f"{field.name}:{printed(field.type, inner)}")
    return "{" + " ".join(parts) + "}"


def _items(of: str, value: Sequence[Any] | None) -> str:
    if not value:
        # On upstream's wire an empty list is no list.
        return "<nil>"
    return "[" + " ".join(_bare(of, item) for item in value) + "]"


def _pairs(of: str, value: Mapping[str, Any] | None) -> str:
    if not value:
        return "<nil>"
    ordered = sorted(value.items(), key=lambda pair: pair[0].encode())
    return "map[" + " ".join(f"{key}:{_bare(of, item)}" for key, item in ordered) + "]"


def _int_or_string(value: Any) -> str:
    kind, number, text = (1, 0, value) if isinstance(value, str) else (0, value or 0, "")
    return f"{{Type:(intstr.Type){kind} IntVal:(int32){number} StrVal:(string){text}}}"


def _quantity(value: Any) -> str:
    """Return a quantity as its struct: an integer with a decimal scale, or a big decimal, and the text if canonical.

    Source: `ParseQuantity`, k8s.io/apimachinery/pkg/api/resource/quantity.go.
    """
    if value is None:
        return _quantity_struct(0, 0, "", "")
    text = quantity.canonical(str(value))
    if text == "0":
        return _quantity_struct(0, 0, "0", "DecimalSI")
    match = _QUANTITY.fullmatch(text)
    assert match is not None, f"a canonical quantity: {text}"
    sign, whole, fraction, letter, power, suffix = match.groups()
    digits = whole + (fraction or "")
    if suffix in _BINARY_EXPONENTS:
        exponent = _BINARY_EXPONENTS[suffix]
        number = int(sign + digits) << exponent
        if 15 - len(whole) - exponent * 3 // 10 - 1 < 0 or fraction:
            return _big_quantity(number, 0, "BinarySI")
        return _quantity_struct(number, 0, text if int(digits) & 7 else "", "BinarySI")
    scale = (int(power) if letter else _EXPONENTS[suffix or ""]) - len(fraction or "")
    form = "DecimalExponent" if letter else "DecimalSI"
    if len(digits) > _INTEGER_DIGITS:
        return _big_quantity(int(sign + digits), -scale, form)
    canonical = scale % 3 == 0 and not digits.endswith("000") and digits[:1] != "0"
    return _quantity_struct(int(sign + digits), scale, text if canonical else "", form)


def _quantity_struct(number: int, scale: int, text: str, form: str, big: str = "<nil>") -> str:
    exact = f"i:(resource.int64Amount){{value:(int64){number} scale:(resource.Scale){scale}}}"
    inexact = f"d:(resource.infDecAmount){{Dec:(*inf.Dec){big}}}"
    return f"{{{exact} {inexact} s:(string){text} Format:(resource.Format){form}}}"


def _big_quantity(number: int, scale: int, form: str) -> str:
    size, words = abs(number), []
    while size:
        words.append(str(size & 0xFFFFFFFFFFFFFFFF))
        size >>= 64
    negative = "true" if number < 0 else "false"
    unscaled = f"(big.Int){{neg:(bool){negative} abs:(big.nat)[{' '.join(words)}]}}"
    return _quantity_struct(0, 0, "", form, f"{{unscaled:{unscaled} scale:(inf.Scale){scale}}}")
