"""Line positions across patches, compared with git."""

import difflib
import random

import pytest

from ingot.git.diffs.line_maps import LineMap


def _patch(before: list[str], after: list[str], context: int = 3) -> str:
    return "\n".join(difflib.unified_diff(before, after, "a/file", "b/file", lineterm="", n=context))


def test_a_patch_moves_lines() -> None:
    lines = LineMap("--- a/x\n+++ b/x\n@@ -2,3 +2,4 @@ head\n two\n-three\n+3\n+3.5\n four\n")
    assert [lines.forth(line) for line in (1, 2, 3, 4, 5, 100)] == [1, 2, None, 5, 6, 101]
    assert [lines.back(line) for line in (1, 2, 3, 4, 5, 6, 101)] == [1, 2, None, None, 4, 5, 100]
    assert (lines.removed, lines.added) == ({3}, {3, 4})


def test_without_a_patch_lines_stay() -> None:
    lines = LineMap("")
    assert (lines.forth(7), lines.back(7)) == (7, 7)


def test_sides_without_lines() -> None:
    added, removed = LineMap("@@ -0,0 +1,2 @@\n+one\n+two\n"), LineMap("@@ -2,1 +1,0 @@\n-two\n")
    assert (added.added, added.back(3)) == ({1, 2}, 1)
    assert (removed.removed, removed.forth(1), removed.forth(3)) == ({2}, 1, 2)


@pytest.mark.parametrize("context", [0, 1, 3])
def test_random_patches_match_the_actual_positions(context: int) -> None:
    dice = random.Random(context)
    for _ in range(100):
        before = [f"line {number}" for number in range(dice.randrange(1, 40))]
        after = [line for line in before if dice.random() > 0.2]
        for number in range(dice.randrange(5)):
            after.insert(dice.randrange(len(after) + 1), f"new {number}")
        lines = LineMap(_patch(before, after, context))
        for number, line in enumerate(before, 1):
            there = lines.forth(number)
            assert there is None if line not in after else there is not None and after[there - 1] == line
        for number, line in enumerate(after, 1):
            here = lines.back(number)
            assert here is None if line not in before else here is not None and before[here - 1] == line
