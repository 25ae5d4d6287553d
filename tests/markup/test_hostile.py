"""Expensive texts are rendered with bounded work."""

import os
import subprocess
import sys

import pytest

from ingot.core.markup import parser
from ingot.core.markup.links import LinkContext
from ingot.core.markup.markdown import render
from ingot.core.markup.parser import TooMuchWork, WorkBudget, parse
from tests.markup.hostile import PAYLOADS

# Enough for a slow machine, and far below the time of a quadratic algorithm on a million characters.
SECONDS_OF_CPU = 60
# The slow tests use the longest texts; a tenth also reveals quadratic behaviour.
LONGER = 10 if "INGOT_SOAK_ROUNDS" in os.environ else 1

PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
from ingot.core.markup.links import Link, LinkContext
from ingot.core.markup.references import closing_references, extract_references
from ingot.core.markup.renderer import plain_text, render_text
from ingot.core.markup.tasks import count_tasks
from tests.markup.hostile import KNOWN, PAYLOADS

for name in sys.argv[1:]:
    text = PAYLOADS[name][:{longest_known} if name in KNOWN else {longest}]
    assert len(extract_references(text, "https://h")) <= 1000
    closing_references(text, "https://h")
    count_tasks(text)
    plain_text(text)
    place = LinkContext("https://h", "g/p", wiki=True)
    html = render_text(text, place, lambda given: [Link("/a") for _ in given], None)
    assert len(html) < 10_000_000, name
"""


@pytest.mark.parametrize("first", range(0, len(PAYLOADS), 9))
def test_every_payload_is_rendered_within_its_limit(first: int) -> None:
    names = list(PAYLOADS)[first : first + 9]
    limits = {"longest": 15_000 * LONGER, "longest_known": 100_000 * LONGER}
    program = PROGRAM.format(seconds=SECONDS_OF_CPU, **limits)
    done = subprocess.run([sys.executable, "-c", program, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (names, done.stderr[-2000:])


@pytest.mark.parametrize("name", PAYLOADS)
def test_no_text_gets_more_steps_than_the_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "MAX_STEPS", 5_000)
    work = WorkBudget(None, gfm=True)
    try:
        parse(PAYLOADS[name][:50_000], work)
    except TooMuchWork:
        assert work.spent <= 5_000 + 12
    else:
        assert work.spent <= 5_000


def test_texts_over_the_limit_are_shown_as_plain_text() -> None:
    shown = render("*a* <b>\n" * 100_000, LinkContext("https://h"))
    assert shown.startswith("<pre>*a* &lt;b&gt;\n")


def test_a_long_ordinary_text_is_rendered() -> None:
    paragraph = "The quick brown fox *jumps* over [a dog](https://x.example) and `says` hello to it. " * 10
    html = render(f"{paragraph}\n\n" * 1_000, LinkContext("https://h"))
    assert html.count("<em>jumps</em>") == 10_000


def test_nesting_is_limited() -> None:
    for text in (">" * 5000 + "a", "".join("  " * depth + "- a\n" for depth in range(500)), "[" * 5000 + "](a)" * 5000):
        assert len(render(text, LinkContext("https://h"))) < 50_000


@pytest.mark.parametrize("prefix", ["- ", "> ", "1. ", "> - ", "* > 1. "])
@pytest.mark.parametrize("depth", [1, 12, 19, 20, 38, 39, 40, 41, 300])
def test_deeply_nested_text_is_kept(prefix: str, depth: int) -> None:
    html = render(f"first\n\n{prefix * depth}deep\n\nlast", LinkContext("https://h"))
    assert [html.count(word) for word in ("first", "deep", "last")] == [1, 1, 1]
    assert html.index("deep") < html.index("last")


def test_all_items_of_deep_lists_are_kept() -> None:
    text = "".join("  " * depth + f"- item-{depth:02}\n" for depth in range(60))
    html = render(f"{text}\n- last", LinkContext("https://h"))
    assert all(html.count(f"item-{depth:02}") == 1 for depth in range(60))
    assert html.count("last") == 1
