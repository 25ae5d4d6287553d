"""Quick actions in texts: command lines and remaining text."""

from datetime import date

import pytest

from ingot.collaboration.issues.quick_actions.dates import parse_day
from ingot.core.markup.quick_actions import MAX_COMMANDS, extract_commands

NAMES = frozenset({"close", "label", "title"})


@pytest.mark.parametrize(
    ("text", "stays", "found"),
    [
        ("/close", "", [("close", "")]),
        ("/CLOSE", "", [("close", "")]),
        ("/close \n", "", [("close", "")]),
        ("before\n/close\nafter", "before\nafter", [("close", "")]),
        ('a\n\n/label ~a ~"b c"\n/title x `y`\n', "a", [("label", '~a ~"b c"'), ("title", "x `y`")]),
        ("/closed", "/closed", []),
        ("/nothing", "/nothing", []),
        ("say /close", "say /close", []),
        (" /close", " /close", []),
        ("> /close", "> /close", []),
        (">>>\n/close\n>>>", ">>>\n/close\n>>>", []),
        (">>>\n/close", ">>>", [("close", "")]),
        ("```\n/close\n```", "```\n/close\n```", []),
        ("```\n/close", "```\n/close", []),
        ("~~~ruby\n/close\n~~~\n/title a", "~~~ruby\n/close\n~~~", [("title", "a")]),
        ("`a\n/close\nb`", "`a\n/close\nb`", []),
        ("<!--\n/close\n-->", "<!--\n/close\n-->", []),
        ("<pre>\n/close\n</pre>", "<pre>\n/close\n</pre>", []),
        ("/shrug", "¯\\\\＿(ツ)＿/¯", []),
        ("/tableflip oh no\n/close", "oh no (╯°□°)╯︵ ┻━┻", [("close", "")]),
        ("/cc @somebody", "/cc @somebody", []),
        ("  untouched  \n", "  untouched  \n", []),
        ("", "", []),
    ],
)
def test_lines_that_are_commands(text: str, stays: str, found: list[tuple[str, str]]) -> None:
    said = extract_commands(text, NAMES)
    assert (said.text, [tuple(command) for command in said.commands]) == (stays, found)


def test_hostile_texts_are_parsed_in_linear_time() -> None:
    assert len(extract_commands("/close\n" * 140_000, NAMES).commands) == MAX_COMMANDS
    assert extract_commands("/close\n>>>\n" * 90_000, NAMES).text.startswith(">>>")
    assert extract_commands("/" * 1_000_000, NAMES).commands == ()
    assert extract_commands("/close " + "a" * 900_000, NAMES).text == ""


TODAY = date(2026, 11, 15)  # A Sunday.


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2030-01-31", "2030-01-31"),
        ("today", "2026-11-15"),
        ("Tomorrow", "2026-11-16"),
        ("in 2 days", "2026-11-17"),
        ("in a week", "2026-11-22"),
        ("3 months from now", "2027-02-15"),
        ("in 1 year", "2027-11-15"),
        ("next month", "2026-12-15"),
        ("this Friday", "2026-11-20"),
        ("sunday", "2026-11-22"),
        ("December 31st", "2026-12-31"),
        ("1 feb", "2027-02-01"),
        ("Jan 2, 2031", "2031-01-02"),
        ("February 30", None),
        ("2030-13-01", None),
        ("in 9999 years", None),
        ("someday", None),
        ("٣ days", None),
        ("", None),
        ("1" * 10_000, None),
    ],
)
def test_dates(text: str, day: str | None) -> None:
    found = parse_day(text, TODAY)
    assert (found.isoformat() if found else None) == day
