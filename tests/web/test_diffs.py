"""Diffs as shown on pages, from the text of the API."""

import re
from typing import Any

import pytest

from ingot.repositories.commits.views import DiffView
from ingot.web.code.diffs import count_changed_lines, render_diff
from ingot.web.code.patch_rows import line_keys
from ingot.web.code.word_diff import changed_words, mark_spans

PATCH = """--- a/x.py
+++ b/x.py
@@ -1,4 +1,5 @@ def f():
 same
-total = count + 1
+total = sum(count) + 1
+more = "<b>"
 last
@@ -20 +21 @@
-old
+new
\\ No newline at end of file
"""


def item(path: str = "x.py", diff: str = PATCH, **changes: Any) -> DiffView:
    """Return one file of a diff."""
    fields = {"a_mode": "100644", "b_mode": "100644", "old_path": path, "new_path": path, "diff": diff}
    flags = dict.fromkeys(("new_file", "renamed_file", "deleted_file", "too_large", "collapsed"), False)
    return DiffView(**{**fields, **flags, **changes})


def html_of(diff: Any) -> str:
    """Return all rows as HTML."""
    return "".join(rows for file in diff.shown for rows, _ in file.parts)


def test_lines_have_numbers_and_are_escaped() -> None:
    diff = render_diff([item()], {})

    (file,) = diff.shown
    assert (file.added, file.removed, count_changed_lines(PATCH)) == (3, 2, (3, 2))
    ids = re.findall(r'id="d[0-9a-f]+_(\d*_\d*)"', html_of(diff))
    assert ids == ["1_1", "2_", "_2", "_3", "3_4", "20_", "_21"]
    assert '<b>"' not in html_of(diff)
    assert "&lt;b&gt;" in re.sub(r"</?b>|</?span[^>]*>", "", html_of(diff))
    assert "No newline at end of file" in html_of(diff)


@pytest.mark.parametrize("view", ["", "split"])
def test_notes_are_placed_below_their_line(view: str) -> None:
    slots = {("x.py", None, 3): "about more", ("x.py", 2, None): "about the old one", ("y.py", 1, 1): "elsewhere"}

    diff = render_diff([item()], {"view": view}, slots=slots)

    below = [(rows, slot) for rows, slots in diff.shown[0].parts for slot in slots]
    assert [slot for _, slot in below] == ["about the old one", "about more"]
    assert below[0][0].rstrip().endswith("</tr>")
    assert "_2_" in below[0][0]


def test_side_by_side_view() -> None:
    html = html_of(render_diff([item()], {"view": "split"}))

    row = next(row for row in html.split("</tr>") if "_2_" in row)
    assert re.findall(r'id="d[0-9a-f]+_(\d*_\d*)"', row) == ["2_", "_2"]
    assert html.count('class="none"') == 2, "One added line has nothing to its left."


def test_changed_words_are_marked_and_tags_stay_intact() -> None:
    old, new = changed_words("total = count + 1", "total = sum(count) + 1")

    assert [("total = sum(count) + 1")[start:end] for start, end in new] == ["sum(", ")"]
    assert old == []
    assert changed_words("nothing alike", "zzz") == ([], [])
    assert mark_spans('a<i class="x">bc</i>&lt;d', [(1, 2), (3, 4)]) == 'a<i class="x"><b>b</b>c</i><b>&lt;</b>d'
    assert changed_words("x" * 500, "y" * 500) == ([], [])


@pytest.mark.parametrize(
    ("changes", "notes", "reason"),
    [
        ({"new_file": True, "diff": ""}, ["New file"], "This file is empty."),
        ({"renamed_file": True, "old_path": "a", "diff": ""}, ["Renamed from a"], "Renamed without changes."),
        ({"b_mode": "100755", "diff": ""}, ["Mode changed from 100644 to 100755"], "Only the file mode changed."),
        ({"too_large": True, "diff": ""}, [], "This diff is too large to display."),
        ({"collapsed": True, "diff": ""}, [], "Not displayed, because the whole diff is too large."),
        ({"diff": "Binary files a/x and b/x differ\n"}, [], "Binary file, changes not displayed."),
        ({"b_mode": "160000", "a_mode": "0", "new_file": True}, ["New file", "Submodule"], ""),
    ],
)
def test_files_without_lines_show_the_reason(changes: dict[str, Any], notes: list[str], reason: str) -> None:
    (file,) = render_diff([item(**changes)], {}).shown

    assert (file.notes, file.empty_reason) == (notes, reason)


def test_further_files_are_loaded_on_request() -> None:
    items = [item(f"f{number}.txt") for number in range(200)]

    first = render_diff(items, {"view": "split", "only": "x"})
    second = render_diff(items, {"view": "split", "first": "50"})
    one = render_diff(items, {"only": "120"})
    beyond = render_diff(items, {"first": "5000"})

    assert (len(first.files), len(first.shown), first.left, first.part) == (200, 20, 180, False)
    assert first.next_address == "?view=split&first=20"
    assert [second.shown[0].new_path, second.left, second.part] == ["f50.txt", 130, True]
    assert [file.new_path for file in one.shown] == ["f120.txt"]
    assert (one.left, one.part, beyond.shown) == (0, True, [])


def test_a_long_file_is_collapsed() -> None:
    long = "--- a/x\n+++ b/x\n@@ -0,0 +1,2000 @@\n" + "+line\n" * 2000

    folded, whole = render_diff([item(diff=long)], {}), render_diff([item(diff=long)], {"only": "0"})

    assert (folded.shown[0].collapsed, folded.shown[0].parts) == (True, [])
    assert html_of(whole).count("<tr") == 2001


def test_a_line_is_found_by_its_name_and_side() -> None:
    diff = render_diff([item()], {"a": "\"'>"}, commentable="any")
    anchor = diff.files[0].anchor

    assert f'href="?a=%22%27%3E&amp;at={anchor}_1_1"' in html_of(diff)
    assert diff.line_at(f"{anchor}_2_") == ("x.py", 2, None)
    assert diff.line_at("d0_1_1") is diff.line_at(None) is diff.line_at(["x"]) is None
    keys = line_keys(PATCH)
    assert (keys["new", 4], keys["old", 2], keys.get(("new", 99))) == ((3, 4), (2, None), None)
