"""Functions that upstream adds to the language: what they answer, and what they say where they cannot.

Values and sentences are those that a kube-apiserver v1.34 gave for the same expressions.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.expressions import patterns
from scheduler_core.expressions.language import CompileError, Failed, compiled
from scheduler_core.expressions.rewriting import rewritten
from scheduler_core.expressions.shapes import DYN, TEXT, Shape

NAMES = {"self": TEXT, "texts": Shape("list<string>"), "pairs": Shape("map<string,string>"), "any": DYN}
GIVEN: dict[str, Any] = {
    "self": "abc",
    "texts": ["b", "a"],
    "pairs": {"k": "w", "l": "v"},
    "any": {"names": ["x", "y"]},
}


def value(source: str) -> Any:
    return compiled(source, NAMES).evaluate(GIVEN)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("'%s'.format([1.5])", "1.5"),
        ("'%s'.format([1e21])", "1e+21"),
        ("'%s'.format([1.0/3.0])", "0.3333333333333333"),
        ("'%s'.format([[1,'a',2.5,null,true,b'x']])", '[1, "a", 2.500000, null, true, b"x"]'),
        ("'%s'.format([{'b':1,'a':'x','c':2.5}])", '{"a":"x", "b":1, "c":2.500000}'),
        ("'%s'.format([duration('1h45m47s')])", "6347s"),
        ("'%s'.format([timestamp('2023-02-03T23:31:20Z')])", "2023-02-03T23:31:20Z"),
        ("'%f'.format([1234567.891])", "1,234,567.891000"),
        ("'%.0f'.format([2.5])", "2"),
        ("'%e'.format([1052.032911275])", "1.052033\u00d710\u2070\u00b3"),
        ("'%.3e'.format([0.00012345])", "1.234500\u00d710\u207b\u2070\u2074"),
        ("'%b %o %X %%'.format([true, -11, -255])", "1 -13 -FF %"),
        ("'%x'.format(['\u00ff'])", "c3bf"),
        ("'abc'.charAt(3)", ""),
        ("'tacocat'.indexOf('ac', 3)", -1),
        ("'tacocat'.indexOf('a', 8)", -1),
        ("'tacocat'.lastIndexOf('at', 5)", 5),
        ("'tacocat'.lastIndexOf('')", 7),
        ("'abc'.replace('', '_', 2)", "_a_bc"),
        ("'abc'.replace('b', '_', -1)", "a_c"),
        ("'a,b,c'.split(',', 2)", ["a", "b,c"]),
        ("'a,b,c'.split(',', 0)", []),
        ("'\u00c4Bc'.lowerAscii() + '\u00e4b'.upperAscii()", "\u00c4bc\u00e4B"),
        ("' \\ta\\u2003 '.trim()", "a"),
        ("strings.quote('a\"b\\n')", '"a\\"b\\n"'),
        ("'ab'.find('(?i)B')", "b"),
        ("'xabcd'.find('(a|ab)(c|bcd)')", "abcd"),
        ("'axb'.findAll('x*')", ["", "x", ""]),
        ("'a1b2'.findAll('[0-9]+', 1)", ["1"]),
        ("string(ip('0:0::1'))", "::1"),
        ("string(cidr('10.0.0.1/8').masked())", "10.0.0.0/8"),
        ("string(cidr('10.0.0.1/8').ip())", "10.0.0.1"),
        ("cidr('10.0.0.0/8') == cidr('10.0.0.1/8')", False),
        ("cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.5/16'))", True),
        ("isIP('::ffff:1.2.3.4') || isIP('fe80::1%eth0') || isIP('01.2.3.4')", False),
        ("isCIDR('10.0.0.1')", False),
        ("ip.isCanonical('::0001')", False),
        ("ip('255.255.255.255').isGlobalUnicast()", False),
        ("ip('10.0.0.1').isGlobalUnicast()", True),
        ("ip('ff01::1').isLinkLocalMulticast()", False),
        ("semver('v1.2', true).minor()", 2),
        ("semver('1.0.0').compareTo(semver('1.0.0-rc.2'))", 1),
        ("semver('1.0.0-rc.10').isGreaterThan(semver('1.0.0-rc.2'))", True),
        ("semver('1.0.0+a') == semver('1.0.0+b')", True),
        ("isSemver('01.0.0')", False),
        ("isSemver('01.0.0', true)", True),
        ("sign(quantity('-1'))", -1),
        ("quantity('1Ki').sub(quantity('24')).asInteger()", 1000),
        ("[duration('1m'), duration('1s')].sum() == duration('61s')", True),
        ("[1,2,1].lastIndexOf(1)", 2),
        ("[[1]].indexOf([1])", 0),
        ("['a'].indexOf('x')", -1),
        ("url('https://u:p@example.com:80/path to?k=a&k=b#f').getHost()", "example.com:80"),
        ("url('https://example.com/path to').getEscapedPath()", "/path%20to"),
        ("url('https://e.com/p?k2=b&k2=c').getQuery()['k2'].join(',')", "b,c"),
        ("url('http://[::1%25en0]/').getHostname()", "::1%en0"),
        ("[isURL('../x'), isURL('https://a:b:c/'), isURL('*'), isURL('1http://x')]", [False, False, True, False]),
        ("format.dns1123Label().validate('a').hasValue()", False),
        ("format.dns1123LabelPrefix().validate('A-').hasValue()", False),
        ("format.named('uri').value().validate('x').value()", ['parse "x": invalid URI for request']),
        ("format.named('nothing').hasValue()", False),
        ("format.date().validate('2021-13-01').value()", ["invalid date"]),
        ("string(duration('1h1m1.5s')) + string(1.0) + string(b'x')", "3661.5s1x"),
    ],
)
def test_what_functions_answer(source: str, expected: Any) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("texts.all(i, v, i < 2 && v != 'x')", True),
        ("texts.exists(i, v, i == 1 && v == 'b')", False),
        ("texts.exists_one(i, v, v == 'a')", True),
        ("[1, 1].existsOne(i, v, v == 1)", False),
        ("texts.transformList(i, v, v + string(i))", ["b0", "a1"]),
        ("texts.transformList(i, v, i > 0, v)", ["a"]),
        ("pairs.transformMap(k, v, k == 'k', v + 'x')", {"k": "wx"}),
        ("pairs.transformMapEntry(k, v, {v: k})", {"w": "k", "v": "l"}),
        ("[[1, 2], [3]].transformList(i, v, v.transformList(j, w, w + i + j)[0])", [1, 4]),
        ("any.names.all(i, n, any.names[i] == n)", True),
        ("self.split('').exists(i, v, (i + 1) * 2 == 6 && v == 'c')", True),
        ("{'a': [1]}['a'].all(i, v, v == i + 1) && true", True),
    ],
)
def test_loops_over_two_variables(source: str, expected: Any) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("'abc'.substring(4)", "index out of range: 4"),
        ("'abc'.substring(2, 1)", "invalid substring range. start: 2, end: 1"),
        ("'abc'.charAt(-1)", "index out of range: -1"),
        ("'%d'.format([any])", "error during formatting: decimal clause can only be used on integers, was given map"),
        ("'ab'.find(self + '(')", "Illegal regex: error parsing regexp: missing closing ): `abc(`"),
        ("ip('no')", 'IP Address "no" parse error during conversion from string: ParseAddr("no"): unable to parse IP'),
        ("ip('fe80::1%eth0')", 'IP address "fe80::1%eth0" with zone value is not allowed'),
        ("cidr('10.0.0.0/8').containsIP('no')", "no such overload"),
        ("semver('1.0')", "No Major.Minor.Patch elements found"),
        (
            "semver('1.2.3-01', true)",
            'Numeric PreRelease version must not contain leading zeroes "01"',
        ),
        ("semver('1.2-beta', true)", "short version cannot contain PreRelease/Build meta data"),
        ("url('https://e.com:x/')", 'URL parse error during conversion from string: parse "https://e.com:x/": '
                                    'invalid port ":x" after host'),
        ("int(self)", "type conversion error from 'string' to 'int'"),
        ("timestamp(self)", "type conversion error from 'string' to 'google.protobuf.Timestamp'"),
        ("[].min()", "min called on empty list"),
        ("['a', 'a'].transformMapEntry(i, v, {v: i})", "insert failed: key a already exists"),
        ("optional.none().value()", "optional.none() dereference"),
    ],
)  # fmt: skip
def test_what_has_no_value_says_why(source: str, why: str) -> None:
    with pytest.raises(Failed) as failed:
        value(source)
    assert str(failed.value) == why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1.2.3", "IPv4 address too short"),
        ("1.2.3.4.5", "IPv4 address too long"),
        ("1.2.3.256", "IPv4 field has value >255"),
        ("01.2.3.4", "IPv4 field has octet with leading zero"),
        ("1..2.3", 'IPv4 field must have at least one digit (at ".2.3")'),
        ("1.2.3.x", 'unexpected character (at "x")'),
        (":::", 'each colon-separated field must have at least one digit (at ":")'),
        ("1:2:3", "address string too short"),
        ("12345::", 'each group must have 4 or less digits (at "12345::")'),
        ("1:2:3:4:5:6:7:8:9", 'trailing garbage after address (at "9")'),
        ("::1::", 'multiple :: in address (at ":")'),
        ("fe80::1%", "zone must be a non-empty string"),
    ],
)
def test_what_is_no_address(text: str, why: str) -> None:
    with pytest.raises(Failed) as failed:
        value(f"ip('{text}')")
    assert str(failed.value) == (
        f'IP Address "{text}" parse error during conversion from string: ParseAddr("{text}"): {why}'
    )


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("self.matches('(?!a)')", "invalid matches argument", 14),
        ("timestamp('x') < timestamp(self)", "invalid timestamp argument", 11),
        ("'%s'.format([self, 3])", "too many arguments supplied to string.format (expected 1, got 2)", 12),
        ("'%s %s'.format(['a'])", "index 1 out of range", 15),
        ("'100%'.format([])", "unexpected end of string", 14),
        ("texts.all(i, i, true)", "duplicate variable name: i", 14),
        ("texts.all(i.x, v, true)", "argument must be a simple name", 12),
        ("texts.all(i, v, foo)", "undeclared reference to 'foo' (in container '')", 17),
        ("string(url(self)) == ''", "found no matching overload for 'string' applied to '(kubernetes.URL)'", 7),
        ("[1,2].join()", "found no matching overload for 'join' applied to 'list(int).()'", 11),
        ("self.size.foo", "type 'string' does not support field selection", 5),
        ("math.least(1, 2) == 1", "undeclared reference to 'math' (in container '')", 1),
    ],
)  # fmt: skip
def test_what_does_not_compile_is_pointed_at_where_it_was_written(source: str, line: str, column: int) -> None:
    with pytest.raises(CompileError) as raised:
        compiled(source, NAMES)
    first = str(raised.value).split("\n")[:3]
    assert first == [f"ERROR: <input>:1:{column}: {line}", f" | {source}", f" | {'.' * (column - 1)}^"]


def test_a_pattern_to_look_for_is_refused_when_the_program_is_made() -> None:
    with pytest.raises(CompileError) as raised:
        compiled("self.find('(') == ''", NAMES)
    assert raised.value.told == "program instantiation failed: error parsing regexp: missing closing ): `(`"


def test_an_optional_is_asked_whether_it_is_there() -> None:
    asked = compiled("self == oldSelf.orValue('none')", {"self": TEXT, "oldSelf": TEXT}, frozenset({"oldSelf"}))
    assert asked.evaluate({"self": "none", "oldSelf": []}) is True
    assert asked.evaluate({"self": "none", "oldSelf": ["other"]}) is False
    assert "oldSelf" in asked.roots


_WORDS = st.sampled_from(
    ["a", "b.c", "f(x, [1])", "'q(, \"'", "[i][0]", "{'k': v}", "(a + b)", "r'\\n'", "x.all(i, v, p)"]
)


@given(st.lists(_WORDS, min_size=1, max_size=4), st.lists(_WORDS, min_size=3, max_size=3))
def test_what_is_not_rewritten_stays_and_all_of_it_is_known_by_its_place(words: list[str], parts: list[str]) -> None:
    source = f"{' + '.join(words)} + l.all(i, v, {' && '.join(parts)})"
    given_ = rewritten(source)
    assert len(given_.origins) == len(given_.text) + 1
    assert ".all(i, v," not in given_.text
    assert given_.origin(len(given_.text)) == len(source)
    # Whatever stands there still stands where its place says.
    kept = [at for at in range(len(given_.text)) if given_.text[at] == source[given_.origins[at]]]
    assert len(kept) >= len(source) // 2


@given(st.text(alphabet="ab", max_size=12), st.sampled_from(["a", "b+", "a*b", "(a|b)b", "a|b"]))
def test_all_matches_lie_one_behind_the_other_in_the_text(text: str, pattern: str) -> None:
    found = patterns.find_all(text, pattern)
    at = 0
    for match in found:
        at = text.index(match, at) + len(match)
    assert found[:1] == [patterns.find(text, pattern)] if found else patterns.find(text, pattern) == ""
    assert patterns.find_all(text, pattern, 1) == found[:1]
