"""Regular expressions for branches: as Python understands them, but always soon done."""

import random
import re

import pytest

from ingot.integrations.webhooks.branch_patterns import MAX_STEPS, PatternError, compile_pattern
from ingot.integrations.webhooks.policy import matches_branch

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
def test_what_both_engines_know(text: str) -> None:
    """Each finds what the other finds."""
    known = re.compile(text.replace(r"\z", r"\Z"), re.ASCII)
    wanted = {sample: known.search(sample) is not None for sample in SAMPLES}
    assert {sample: compile_pattern(text).matches(sample) for sample in SAMPLES} == wanted


def _random_pattern(dice: random.Random, depth: int) -> str:
    if depth == 0 or dice.random() < 0.3:
        return dice.choice(["a", "b", ".", "[ab]", "[^b]", "^", "$", "c"])
    made = [_random_pattern(dice, depth - 1) for _ in range(2)]
    return dice.choice(["{}{}", "(?:{}|{})", "({})*{}", "({})+{}", "({})?{}", "({}){{0,2}}{}"]).format(*made)


def test_what_nobody_thought_of() -> None:
    """Hundreds of patterns that came by chance."""
    dice = random.Random(7)
    for _ in range(400):
        text = _random_pattern(dice, 4)
        try:
            pattern = compile_pattern(text)
        except PatternError as error:
            assert "large" in str(error)
            continue
        for _ in range(5):
            sample = "".join(dice.choice("abc") for _ in range(dice.randrange(7)))
            assert pattern.matches(sample) == (re.search(text, sample) is not None), (text, sample)


@pytest.mark.parametrize(
    "text",
    [
        "(", ")", "a)", "[", "[]", "[a", "*", "a**", "+a", "(?=a)", "(?!a)", "(?<=a)", "(?P<x>a)", r"(a)\1",
        "\\", r"\b", "a{3,2}",
        "[b-a]", "[[:alpha:]]", f"a{{{MAX_STEPS + 1}}}", "((a{50}){50}){50}", "(){999999999}", "(){0,9999999}",
        "(" * 200 + ")" * 200,
    ],
)  # fmt: skip
def test_what_is_no_pattern(text: str) -> None:
    """Or one that would take too much."""
    with pytest.raises(PatternError):
        compile_pattern(text)


@pytest.mark.parametrize("text", ["^(a+)+$", "(a|aa)+$", "(.*)*b", "^(a?){100}a{100}$", "(x+x+)+y"])
def test_what_explodes_elsewhere(text: str) -> None:
    """Attack: a filter for which other engines need longer than the world is old, asked by every push."""
    assert compile_pattern(text).matches("a" * 250 + "!") is False


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
    ],
)
def test_which_branches_a_hook_hears_of(strategy: str, wanted: str | None, branch: str, hears: bool) -> None:
    """By the way in which its filter is meant."""
    assert matches_branch(strategy, wanted, branch) is hears
