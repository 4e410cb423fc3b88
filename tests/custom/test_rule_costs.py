"""What rules cost at most: as upstream's compiler (apiextensions-apiserver v1.34, `cel.Compile`) answered for each."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.custom.node import read
from controllers.custom.rulecosts import Costs
from controllers.custom.rules import escaped, shape_of
from scheduler_core.expressions.language import compiled

INT: dict[str, Any] = {"type": "integer"}
TEXT: dict[str, Any] = {"type": "string", "maxLength": 10}
INTS: dict[str, Any] = {"type": "array", "items": INT, "maxItems": 1000}
OBJECT: dict[str, Any] = {"type": "object", "properties": {"a": INT, "b": INT, "t": TEXT}}
MAP: dict[str, Any] = {"type": "object", "maxProperties": 10}
SELF: dict[str, Any] = {
    "type": "object",
    "properties": {
        "x": INT,
        "y": INT,
        "yes": {"type": "boolean"},
        "t": TEXT,
        "few": INTS,
        "more": INTS,
        "o": OBJECT,
        "items": {"type": "array", "items": OBJECT, "maxItems": 100},
        "m": {**MAP, "additionalProperties": OBJECT},
        "mm": {**MAP, "additionalProperties": {**MAP, "additionalProperties": INT}},
        "lists": {"type": "array", "maxItems": 10, "items": INTS},
        "nums": {"type": "array", "items": {"type": "number"}, "maxItems": 5},
        "when": {"type": "string", "format": "date-time"},
        "span": {"type": "string", "format": "duration"},
        "bytes": {"type": "string", "format": "byte", "maxLength": 10},
        "either": {"x-kubernetes-int-or-string": True, "maxLength": 10},
        "whole": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
    },
}
NO_BOUND = 1844674407370955270
"""What it costs to compare two texts of which nothing is known."""


def cost(rule: str) -> int:
    node = read(SELF)
    tree = compiled(rule, {"self": shape_of(node)}).tree
    return Costs(tree, node, lambda one: {escaped(name): name for name in one.properties}, root=False).most()


@pytest.mark.parametrize(
    ("rule", "most"),
    [
        ("(self.few.sum() + self.more.sum()) % 2 == 0", 2007),
        ("self.few.sum() < self.more.sum()", 2005),
        ("self.few.indexOf(1) < self.more.lastIndexOf(2)", 2005),
        ("(self.x + self.y) + (self.x - self.y) < self.few.max() * (self.x + self.y)", 1020),
        ("-self.x < -self.y", 7),
        ("self.yes ? self.x < 3 : self.y < 3", 5),
        ("(has(self.t) ? self.t : 'b') == (has(self.t) ? self.t : 'c')", 10),
        ("self.nums.sum() / self.nums.max() < 1.5 * self.nums[0]", 20),
        ("[self.x, self.y].sum() < [self.x].max()", 30),
        ("{'a': self.x}['a'] + {'a': self.y}['a'] < 3", 68),
        ("{'a': self.x}.a < {'b': self.y}.b", 67),
    ],
)
def test_what_is_worked_out_of_numbers_is_a_number(rule: str, most: int) -> None:
    assert cost(rule) == most


@pytest.mark.parametrize(
    ("rule", "most"),
    [
        ("self.items.all(i, i.a + i.b < i.b + i.a)", 1403),
        ("self.items.exists_one(i, i.a < i.b)", 704),
        ("self.items[0].a + self.items[0].b < self.items[1].a + self.items[0].b", 19),
        ("self.items.map(i, i.a).sum() < self.items.map(i, i.b).sum()", 3027),
        ("self.items.filter(i, i.a > 1).map(i, i.a).sum() < self.items.filter(i, i.a > 1).map(i, i.b).sum()", 6249),
        ("self.items.filter(i, i.a < i.b)[0].a < self.items[0].b", 1820),
        ("self.items.map(i, i.a < i.b, i.a).max() < 3", 2014),
        ("self.items.map(i, [i.a, i.b]).all(p, p.sum() > p[0])", 3314),
        ("self.items.map(i, {'k': i.a}).all(d, d.k < d.k)", 5214),
        ("self.items.map(i, i.a).exists(i, self.items.map(j, j.b).exists(j, i + i < j + j))", 253214),
        ("(self.yes ? self.items : self.items.filter(i, i.a > 1)).all(i, i.a + i.a < i.b + i.b)", 3016),
        ("self.m.all(k, self.m[k].a + self.m[k].b < self.m[k].b - self.m[k].a)", 263),
        ("self.mm.all(k, self.mm[k].all(j, self.mm[k][j] < self.mm[j][k]))", 1683),
        ("self.lists.map(r, r.sum()).sum() < self.lists.map(r, r.max()).max()", 20307),
    ],
)
def test_members_of_objects_in_lists_and_maps_have_their_types(rule: str, most: int) -> None:
    assert cost(rule) == most


@pytest.mark.parametrize(
    ("rule", "most"),
    [
        ("self.?x.orValue(1) + self.?y.orValue(1) > 1", 8),
        ("self.?x.hasValue() && self.?x.value() + self.?y.value() > 1", 11),
        ("self.?x.optMap(x, x + 1).orValue(3) + self.?y.optMap(x, x + 1).orValue(3) < 4", 42),
        ("self.?o.t == optional.of('a')", 3),
        ("self.?m['a'].?t.orValue('') == self.t", 11),
        ("self.items[?0].?a.orValue(1) < self.items[?1].?b.orValue(3)", 11),
        ("self.?t.orValue('a') == self.?t.orValue('a')", NO_BOUND),
    ],
)
def test_optionals_cost_what_their_values_do(rule: str, most: int) -> None:
    assert cost(rule) == most


@pytest.mark.parametrize(
    ("rule", "most"),
    [
        ("timestamp(self.t) + duration(self.t) < timestamp(self.t) - duration('1h')", 13),
        ("self.when - self.when < self.span", 8),
        ("self.bytes + self.bytes == self.bytes", 9),
        ("self.either == 'a'", 3),
        ("self.whole.metadata.name == self.whole.kind", 314580),
        ("quantity(self.t) == quantity(self.t)", 13),
        ("quantity(self.t) != quantity(self.t)", NO_BOUND + 6),
        ("ip(self.t) == ip(self.t)", 13),
        ("cidr(self.t) == cidr('10.0.0.0/8')", 8),
        ("semver(self.t) == semver(self.t)", 13),
        ("url(self.t) == url(self.t)", 16),
        ("format.dns1123Label() == format.dns1123Label()", 9),
        ("type(self.x) == int", 4),
    ],
)
def test_values_of_other_types_cost_what_upstream_charges(rule: str, most: int) -> None:
    assert cost(rule) == most
