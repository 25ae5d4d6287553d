"""Regular expressions of branch filters: Python's semantics, in linear time."""

import random
import re

import pytest

from ingot.webhooks.branch_patterns import PatternError, compile_pattern
from ingot.webhooks.policy import matches_branch

SAMPLES = [
    "",
    "a",
    "b",
    "ab",
    "aab",
    "abab",
    "a-b",
    "a/b",
    "feature/x-1",
    "FEATURE/1",
    "é",
    "release/1.20",
    "a\nb",
    "]",
]
PATTERNS = [
    "", "a", "^a", "b$", "^a$", "^$", "a|b", "^(a|b)$", "^(?:ab)+$", "^a*b$", "^a?b", "a{2}", "^a{1,2}b",
    "a{2,}", "^feature/.*", r"^release/\d+\.\d+$", r"\Afeature/[a-z]+-\d\z", "[ab]+", "[^a]", "[]a]", "[a-]",
    r"\w-\w", r"\S\s\S", r"[\d\-]", "(?i)^feature", "(?i)[A-F]/", "^(a|ab)(b|ab)$", "(|a)b", "a{x}", ".", "a.b", "x*",
    "[a-z/]+[0-9]", "^(a*)*$", "é",
    r"\.", r"\/", "a+?b", "(a?){3}b", "^(?:(?:a|b)-?)*$",
]  # fmt: skip


@pytest.mark.parametrize("text", PATTERNS)
def test_patterns_match_as_in_python(text: str) -> None:
    """RE2 and Python's engine agree on every sample."""
    known = re.compile(text.replace(r"\z", r"\Z"), re.ASCII)
    wanted = {sample: known.search(sample) is not None for sample in SAMPLES}
    assert {sample: compile_pattern(text).found_in(sample) for sample in SAMPLES} == wanted


def _random_pattern(dice: random.Random, depth: int) -> str:
    if depth == 0 or dice.random() < 0.3:
        return dice.choice(["a", "b", ".", "[ab]", "[^b]", "^", "$", "c"])
    made = [_random_pattern(dice, depth - 1) for _ in range(2)]
    return dice.choice(["{}{}", "(?:{}|{})", "({})*{}", "({})+{}", "({})?{}", "({}){{0,2}}{}"]).format(*made)


def test_random_patterns_match_as_in_python() -> None:
    """Hundreds of random patterns, each against random texts."""
    dice = random.Random(7)
    for _ in range(400):
        text = _random_pattern(dice, 4)
        pattern = compile_pattern(text)
        for _ in range(5):
            sample = "".join(dice.choice("abc") for _ in range(dice.randrange(7)))
            assert pattern.found_in(sample) == (re.search(text, sample) is not None), (text, sample)


@pytest.mark.parametrize(
    "text",
    [
        "(", ")", "a)", "[", "[]", "[a", "*", "a**", "+a", "(?=a)", "(?!a)", "(?<=a)", r"(a)\1", "\\", "a{3,2}",
        "[b-a]", "a{1001}", "((a{50}){50}){50}", "(){999999999}", "(){0,9999999}", "a" * 100_000, r"\pL{900}",
    ],
)  # fmt: skip
def test_invalid_and_too_large_patterns_are_rejected(text: str) -> None:
    """With a reason, because the API shows it."""
    with pytest.raises(PatternError, match=r"."):
        compile_pattern(text)


@pytest.mark.parametrize("text", ["^(a+)+$", "(a|aa)+$", "(.*)*b", "^(a?){100}a{100}$", "(x+x+)+y"])
def test_matching_takes_linear_time(text: str) -> None:
    """Attack: a filter with exponential time in a backtracking engine, evaluated by every push."""
    assert compile_pattern(text).found_in("a" * 250 + "!") is False


@pytest.mark.parametrize(
    ("strategy", "wanted", "branch", "hears"),
    [
        ("regex", "^(main|rel-.*)$", "rel-1", True),
        ("regex", "^(main|rel-.*)$", "my-rel-1", False),
        ("regex", "rel", "my-rel-1", True),
        ("regex", None, "x", True),
        ("regex", "", "x", True),
        ("wildcard", "rel-*", "rel-1", True),
        ("wildcard", "rel.1", "rel-1", False),
        ("wildcard", "^rel", "rel", False),
        ("all_branches", "rel", "x", True),
        ("regex", "(?=x)", "x", False),
    ],
)
def test_branch_filter_strategies(strategy: str, wanted: str | None, branch: str, hears: bool) -> None:
    """A hook receives the pushes to the branches that its filter selects."""
    assert matches_branch(strategy, wanted, branch) is hears
