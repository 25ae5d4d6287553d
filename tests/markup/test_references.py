"""References in texts."""

import pytest

from ingot.core.markup.references import (
    MAX_REFERENCES,
    Reference,
    closing_references,
    extract_references,
    full_project_path,
)
from ingot.core.markup.tasks import count_tasks, tick_task

BASE = "https://forge.example"

FOUND = [
    ("#1", [("issue", None, "1")]),
    ("(#1)", [("issue", None, "1")]),
    ("修复#12了", [("issue", None, "12")]),
    ("#1#2", [("issue", None, "1"), ("issue", None, "2")]),
    ("!2", [("merge_request", None, "2")]),
    ("$3", [("snippet", None, "3")]),
    ("~bug", [("label", None, "bug")]),
    ("~bug.", [("label", None, "bug")]),
    ("~7", [("label", None, "7")]),
    ('~"two words"', [("label", None, "two words")]),
    ('~"scoped::x"', [("label", None, "scoped::x")]),
    ("%v1.0.", [("milestone", None, "v1.0")]),
    ("%5", [("milestone", None, "5")]),
    ('%"two words"', [("milestone", None, "two words")]),
    ("Thanks @joe.", [("user", None, "joe")]),
    ("@joe's", [("user", None, "joe")]),
    ("@group/sub, @all", [("user", None, "group/sub"), ("user", None, "all")]),
    ("project#3", [("issue", "project", "3")]),
    ("group/sub/project#3", [("issue", "group/sub/project", "3")]),
    ("group/project!4", [("merge_request", "group/project", "4")]),
    ("group/project~label", [("label", "group/project", "label")]),
    ("group/project%x", [("milestone", "group/project", "x")]),
    ("in abcdef1,", [("commit", None, "abcdef1")]),
    ("g/p@0123456789abcdef0123456789abcdef01234567", [("commit", "g/p", "0123456789abcdef0123456789abcdef01234567")]),
    ("abcdef1..abcdef2", [("commit_range", None, "abcdef1..abcdef2")]),
    ("g/p@abcdef1...abcdef2", [("commit_range", "g/p", "abcdef1...abcdef2")]),
    (f"{BASE}/g/s/p/issues/4#note_3", [("issue", "g/s/p", "4")]),
    (f"see {BASE}/g/p/-/merge_requests/5/diffs.", [("merge_request", "g/p", "5")]),
    (f"<{BASE}/g/p/issues/4>", [("issue", "g/p", "4")]),
    (f"{BASE}/g/p/commit/abcdef12", [("commit", "g/p", "abcdef12")]),
    ("<b>#1</b>", [("issue", None, "1")]),
    ("- item\n\n    #1", [("issue", None, "1")]),
    ("\\\\#1", [("issue", None, "1")]),
    ("`a` #1 `b`", [("issue", None, "1")]),
    ("$a$ #1 $b$", [("issue", None, "1")]),
    ("$$\n#1", [("issue", None, "1")]),
    ("$3 and $4", [("snippet", None, "3"), ("snippet", None, "4")]),
    ("a[^1]\n\n[^1]: about #1", [("issue", None, "1")]),
]

NOT_FOUND = [
    "#0",
    "#99999999999",
    "#1a",
    "\\#1",
    "&#35;",
    "`#1`",
    "`` ` #1 ``",
    "```\n#1\n```",
    "~~~ruby\n#1 @joe\n~~~",
    "```\n#1",
    "> ```\n> #1\n> ```",
    "$a #1 @joe$",
    "$$\n#1\n\n@joe\n$$",
    "> $$\n> #1\n> $$",
    "    #1",
    "a\n\n    #1\n    #2",
    "\t#1",
    "[a](http://x/#1)",
    "[a #1](b)",
    "![#1](b)",
    "[a]: http://x/#1",
    "<a href='#1'>",
    "<!-- #1 -->",
    "<div>\n#1\n</div>",
    "<pre>\n\n#1</pre>",
    "joe@example.com",
    "~~gone~~",
    "https://elsewhere.example/g/p/issues/4",
    "http://x/#1",
    f"{BASE}/g/p/issues/0",
    f"{BASE}/issues/1",
    "abcdef",
    "abcdefg1234567",
    "a.#1",
    "100 % of",
    '~""',
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_references_that_are_found(text: str, expected: list[tuple[str, str | None, str]]) -> None:
    found = [(one.kind, one.project, one.name) for one in extract_references(text, BASE)]
    assert found == expected


@pytest.mark.parametrize("text", NOT_FOUND)
def test_texts_that_are_no_references(text: str) -> None:
    assert extract_references(text, BASE) == []


@pytest.mark.parametrize("text", [text for text, _ in FOUND])
def test_references_have_positions(text: str) -> None:
    for one in extract_references(text, BASE):
        assert one.name in text[one.start : one.end]
        assert not text[one.start : one.end].endswith((",", ".", ")"))


def test_numbers_are_validated() -> None:
    assert [one.number for one in extract_references("#12 ~bug ~3")] == [12, None, 3]


def test_only_the_first_thousand_count() -> None:
    assert len(extract_references("#1 " * 100_000)) == MAX_REFERENCES
    numbered = " ".join(f"#{number}" for number in range(1, 100_001))
    assert len(closing_references(f"closes {numbered}")) == MAX_REFERENCES


def test_a_project_name_alone_is_in_the_same_namespace() -> None:
    def path(project: str | None) -> str:
        return full_project_path(Reference("issue", project, "1", 0, 0), "a/b/own")

    assert [path(None), path("other"), path("c/other")] == ["a/b/own", "a/b/other", "c/other"]


CLOSING = [
    ("Closes #1, #2 and group/p#3", [(None, "1"), (None, "2"), ("group/p", "3")]),
    ("closes: #1 or #2, and #3", [(None, "1"), (None, "2"), (None, "3")]),
    ("fix issue #1 #2", [(None, "1"), (None, "2")]),
    ("Resolves issues #1, #1", [(None, "1")]),
    (f"Implements {BASE}/g/p/issues/9", [("g/p", "9")]),
    ("closes #1. And #2", [(None, "1")]),
    ("Closes #1\n\nFixed p#2", [(None, "1"), ("p", "2")]),
    ("see #1", []),
    ("prefixes #1", []),
    ("closes !1", []),
    ("closes\n#1", []),
    ("`closes #1`", []),
    ("closes `#1`", []),
]
VERBS = [
    *("close", "closes", "closed", "closing", "fix", "fixes", "fixed", "fixing"),
    *("resolve", "resolves", "resolved", "resolving", "implement", "implements", "implemented", "implementing"),
    *("Close", "Fixes", "Resolved", "Implementing"),
]


@pytest.mark.parametrize(("text", "expected"), CLOSING)
def test_issues_closed_by_a_text(text: str, expected: list[tuple[str | None, str]]) -> None:
    assert [(one.project, one.name) for one in closing_references(text, BASE)] == expected


@pytest.mark.parametrize("verb", VERBS)
def test_every_form_of_the_verbs_closes(verb: str) -> None:
    assert [one.name for one in closing_references(f"{verb} #5")] == ["5"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (0, 0)),
        ("- [ ] a\n- [x] b\n* [X] c\n+ [ ] d\n1. [x] e\n2) [ ] f", (6, 3)),
        ("> - [x] quoted\n  - [ ] nested", (2, 1)),
        ("```\n- [x] code\n```\n\n    - [ ] code", (0, 0)),
        ("- [x]a\n- [ ]\n[ ] a\n- [y] b", (0, 0)),
    ],
)
def test_tasks_are_counted(text: str, expected: tuple[int, int]) -> None:
    assert count_tasks(text) == expected


def test_one_task_is_checked_and_nothing_else_changes() -> None:
    text = "ä - [ ] no\n```\n- [ ] code\n```\n> 1. [ ] quoted\n- [X] done"

    assert tick_task(text, 0, done=True) == text.replace("1. [ ]", "1. [x]")
    assert tick_task(text, 1, done=False) == text.replace("[X]", "[ ]")
    assert tick_task(text, 2, done=True) is None
    assert tick_task(text, -1, done=True) is None
