"""Every lexer with runs of every kind of character: the time of each is limited, and no character is lost."""

import html
import os
import re
from collections.abc import Iterator

import pytest

from ingot.core.markup.highlighting import MAX_FILE_LENGTH, highlight_lines
from ingot.core.markup.lexers import LEXERS, lexer_for

SOAK = "INGOT_SOAK_ROUNDS" in os.environ
NAMES = sorted(set(LEXERS.values()))
SINGLE = [*map(chr, range(32, 127)), "\n", "\t", "\r", "\f", "\x00", "\x0b", "\x85", "\xa0", "é", "\u2028"]
SEVERAL = ["a b", "a.", "a=", "a(", "a ", "1e", "()", "[]", "{}", "{%", "<a ", "</", "<!", "<?", "<%", "${", "#{", "r#"]
LINES = ["a", " ", "\t", "/*", "<!--", "<?", "\\", '"', "'", "`", "#", "//", "--", "@a", "a:", "- ", "#if 0", "#if"]
LINES += ["#define a\\", "<<a", '"""', "%%", "=begin", "@@ -1 +1 @@", "def a", "a(b", "a, b", "a b c"]
PIECES = [*SINGLE, *SEVERAL, *(f"{line}\n" for line in LINES), "\n "]


def codes(lexer: str) -> Iterator[str]:
    """Runs of each piece, as one line as long as is highlighted and as many lines; all in the long tests."""
    lengths = (8_000, MAX_FILE_LENGTH) if SOAK else (4_000,)
    step = 1 if SOAK else 24
    for index, piece in enumerate(PIECES):
        if (index + NAMES.index(lexer)) % step == 0:
            for length in lengths:
                line = (piece * 500)[:490] + "\n"
                yield (line * (length // len(line) + 1))[:length]
                if "\n" in piece or piece.isspace():
                    yield (piece * length)[:length]


def visible(lines: list[str]) -> str:
    """The text of highlighted lines."""
    return html.unescape(re.sub(r"<[^>]*>", "", "\n".join(lines)))


@pytest.mark.parametrize("lexer", NAMES)
def test_every_run_of_characters_is_shown(lexer: str) -> None:
    """Without colors if the lexer takes too long: the kernel then ends the process at its limit."""
    for code in codes(lexer):
        highlighted = highlight_lines([code], lexer)
        assert highlighted.lasting
        assert len(highlighted.pieces[0]) == code.count("\n") + 1


@pytest.mark.parametrize("lexer", NAMES)
def test_highlighting_loses_no_character(lexer: str) -> None:
    code = "begin <a href='x'>\n  if (x == 1) { y = \"z\"; } # note\n\n// end & more\n\ttail"
    assert visible(highlight_lines([code], lexer).pieces[0]) == code


def test_code_that_is_known_to_be_slow_is_not_tried() -> None:
    for code in ("\n" * 8_000, "/*\n" * 1_000, "a" * 501, "<!--\n" * 100, " \n" * 5_000):
        assert lexer_for("c", code, MAX_FILE_LENGTH) is None
    assert lexer_for("c", "int a;\n\n\n/* b */\n" * 500, MAX_FILE_LENGTH) == "c"
