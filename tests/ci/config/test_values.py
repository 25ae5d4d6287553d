"""Durations, path patterns and the expansion of variables."""

import pytest

from ingot.ci.config.durations import parse_duration
from ingot.ci.config.globs import matches_any, path_matcher
from ingot.ci.config.variables import MAX_LENGTH, ExpandedVariables, expand_text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 30),
        (90, 90),
        ("42 seconds", 42),
        ("3 mins 4 sec", 184),
        ("2 hrs 20 min", 8400),
        ("2h20min", 8400),
        ("1.5 hours", 5400),
        ("1 week 2 days", 777_600),
        ("3 weeks and 2 days", 1_987_200),
        ("6 mos 1 day", 15_638_400),
        ("2 mos", 5_184_000),
        ("47 yrs 6 mos and 4d", 1_499_104_800),
        ("1 year", 31_557_600),
        ("01:30", 90),
        ("1:00:00", 3600),
        ("1 Day, 2 Hours", 93_600),
        ("", None),
        ("soon", None),
        ("1 fortnight", None),
        ("day", None),
        ("-1 day", None),
        ("1 day x", None),
        ("1000 years", None),
        ("9" * 500, None),
        ("1 day " * 1000, None),
    ],
)
def test_durations(text: str | int, seconds: int | None) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("Dockerfile", "Dockerfile", True),
        ("Dockerfile", "a/Dockerfile", False),
        ("Dockerfile", "Dockerfile2", False),
        ("./a", "a", True),
        ("/a", "a", True),
        ("*.md", "README.md", True),
        ("*.md", "docs/README.md", False),
        ("docs/*", "docs/a", True),
        ("docs/*", "docs/a/b", False),
        ("docs/**/*", "docs/a", True),
        ("docs/**/*", "docs/a/b/c", True),
        ("docs/**", "docs/a/b", True),
        ("**/*.py", "a.py", True),
        ("**/*.py", "x/y/a.py", True),
        ("**/*.py", ".hidden/a.py", True),
        ("a/**/z", "a/z", True),
        ("a/**/z", "a/b/c/z", True),
        ("a/**/z", "abz", False),
        ("?.c", "a.c", True),
        ("?.c", "/.c", False),
        ("[ab].c", "a.c", True),
        ("[!ab].c", "a.c", False),
        ("[^ab].c", "z.c", True),
        ("[a-c].c", "b.c", True),
        ("*.{rb,py}", "a.py", True),
        ("*.{rb,py}", "a.pyc", False),
        ("{src/{a,b},lib}/*", "src/b/x", True),
        ("{src/{a,b},lib}/*", "lib/x", True),
        ("{a", "{a", True),
        ("a,b", "a,b", True),
        ("a.b", "axb", False),
        ("a+(b)$", "a+(b)$", True),
        ("[", "[", True),
        ("**", "any/thing", True),
        ("", "", False),
    ],
)
def test_globs(pattern: str, path: str, matches: bool) -> None:
    assert matches_any([pattern], [path]) is matches
    if path:
        assert path_matcher(pattern)(path) is matches


def test_globs_of_many_patterns_and_paths() -> None:
    paths = [f"dir{n}/sub/file{n}.txt" for n in range(20_000)]
    assert matches_any(["nope", "dir19999/**/*.txt"], paths)
    assert not matches_any([f"x{n}/{{a,b}}{{c,d}}{{e,f}}{{g,h}}{{i,j}}/**/*" for n in range(50)], paths)
    assert not matches_any(["{a,b}" * 500 + "*" * 100, "*/" * 1000], paths)
    assert not matches_any(["x" * 100_000], paths)
    assert not matches_any([], paths)
    assert not matches_any(["a"], [])


@pytest.mark.parametrize(
    ("text", "expanded", "kept"),
    [
        ("$A", "a", "a"),
        ("${A}-%A%", "a-a", "a-a"),
        ("x$A/y", "xa/y", "xa/y"),
        ("$AB", "", "$AB"),
        ("${NO}", "", "${NO}"),
        ("$$A", "$$A", "$$A"),
        ("100% $A %", "100% a %", "100% a %"),
        ("$1", "$1", "$1"),
    ],
)
def test_expansion_of_a_text(text: str, expanded: str, kept: str) -> None:
    assert expand_text(text, {"A": "a"}) == expanded
    assert expand_text(text, {"A": "a"}, keep_unknown=True) == kept


def test_nested_variables() -> None:
    variables = ExpandedVariables({"A": "$B/$NO", "B": "${C}", "C": "c", "RAW": "$C", "D": "$RAW"}, {"RAW"})
    assert dict(variables) == {"A": "c/$NO", "B": "c", "C": "c", "RAW": "$C", "D": "$C"}
    assert variables.get("missing") is None


def test_cycles_of_variables_remain_text() -> None:
    variables = ExpandedVariables({"A": "$A", "B": "$C", "C": "$B", "D": "x$B"})
    assert variables["A"] == "$A"
    assert "$" in variables["B"]
    assert variables["D"].startswith("x$")


def test_hostile_variables() -> None:
    """Exponential values are cut, and long chains need no recursion."""
    doubling = {f"V{n}": f"$V{n - 1}$V{n - 1}" for n in range(1, 60)} | {"V0": "x" * 10}
    assert len(ExpandedVariables(doubling)["V59"]) == MAX_LENGTH
    chain = {f"V{n}": f"$V{n + 1}" for n in range(5_000)} | {"V5000": "end"}
    assert ExpandedVariables(chain)["V0"] == "end"
    wide = {"LONG": "x" * 100_000, "WIDE": "$LONG" * 10_000}
    assert len(ExpandedVariables(wide)["WIDE"]) == MAX_LENGTH
