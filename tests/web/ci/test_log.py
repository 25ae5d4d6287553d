"""Rendering of logs: styles, sections, carriage returns, hostile bytes, and parts that continue each other."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl

import pytest

from ingot.web.ci import log as log_module
from ingot.web.ci.ansi import PLAIN, render_line, style_of_classes
from ingot.web.ci.log import LogState, first_state, last_lines, log_state_of_query, render_log


def _texts(html: str) -> list[str]:
    return [re.sub("<[^>]+>", "", row) for row in re.findall(r'<div class="log-line.*?</div>', html)]


@pytest.mark.parametrize(
    ("line", "html"),
    [
        ("plain <b>", "plain &lt;b&gt;"),
        ("\x1b[31mred\x1b[0m!", '<span class="f1">red</span>!'),
        ("\x1b[1;92mgreen", '<span class="f10 bold">green</span>'),
        ("\x1b[38;5;196mred\x1b[39m", '<span class="f9">red</span>'),
        ("\x1b[48;2;0;200;0mx", '<span class="b2">x</span>'),
        ("\x1b[7m\x1b[27mx", "x"),
        ("\x1b[2K\x1b]0;title\x07\x1b(Bx\x08", "x"),
        ("10%\r50%\r100%", "100%"),
        ("done\r", "done"),
        ("\x1b[32m10%\r\x1b[0mnext", "next"),
        ("100%\r\x1b[0K", "100%"),
        ('\x1b[31;"><script>', "[31;&quot;&gt;&lt;script&gt;"),
    ],
)
def test_line(line: str, html: str) -> None:
    assert render_line(line, PLAIN)[0] == html


def test_line_is_bounded() -> None:
    html, _ = render_line("x" * 100_000, PLAIN)
    assert len(html) < 20_000
    assert "83,616 more characters" in html
    html, _ = render_line("\x1b[31mx\x1b[0my" * 100_000, PLAIN)
    assert len(html) < 60_000


@pytest.mark.parametrize("text", ['f1"><script>', "f99", "nonsense", "f1 " * 50, ""])
def test_invalid_styles_are_plain(text: str) -> None:
    assert style_of_classes(text).classes in ("", "f1")


def test_style_is_restored_from_its_classes() -> None:
    style = render_line("\x1b[1;4;31;42m", PLAIN)[1]
    assert style_of_classes(style.classes) == style


def test_sections_nest_and_have_durations() -> None:
    data = (
        b"section_start:100:outer\r\x1b[0KOuter\n"
        b"section_start:101:inner[collapsed=true]\r\x1b[0K\x1b[36mInner\x1b[0m\n"
        b"deep\n"
        b"section_end:131:inner\r\x1b[0Ksection_end:165:outer\r\x1b[0K\n"
        b"after\n"
    )
    html = render_log(data, LogState(), complete=True).html
    assert _texts(html) == ["1Outer1 min 5 s", "2Inner30 s", "3deep", "5after"]
    assert '<div class="log-line" id="L3" data-in="1 2">' in html
    assert 'data-fold="2" aria-expanded="false"' in html
    assert '<div class="log-line" id="L5">' in html


def test_hostile_markers_are_bounded() -> None:
    data = b"".join(b"section_start:1:s%d\r\x1b[0Kx\n" % number for number in range(100))
    data += b"section_end:99999999999:unknown\r\x1b[0K\nsection_start:1:<b>\r\x1b[0K\n"
    part = render_log(data, LogState(), complete=True)
    assert len(part.state.sections) <= 8
    assert "<b>" not in part.html


def test_parts_continue_each_other() -> None:
    text = "section_start:1:a\r\x1b[0KA\n\x1b[32mgrün\nstill\x1b[0m\nsection_end:2:a\r\x1b[0K\nend\n"
    whole = render_log(text.encode(), LogState(), complete=True)
    data, state, shown = text.encode(), LogState(), ""
    for size in range(1, len(data) + 1):
        part = render_log(data[state.offset : size], state, complete=False)
        shown += part.html
        state = log_state_of_query(dict(parse_qsl(part.state.query, keep_blank_values=True)))
        assert state == part.state
    without_times = re.sub('<span class="log-time">[^<]*</span>', "", str(whole.html))
    assert shown == without_times
    assert state.offset == len(data)


def test_incomplete_line_is_shown_and_sent_again() -> None:
    part = render_log("one\n50%\r60% \u00fc".encode()[:-1], LogState(), complete=False)
    assert _texts(part.html) == ["1one"]
    assert _texts(part.rest) == ["260% "]
    assert part.state.offset == 4


def test_invalid_utf8_is_replaced() -> None:
    assert "a\ufffd\ufffdb" in render_log(b"a\xff\xfeb\n", LogState(), complete=False).html


def test_endless_line_is_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "PART_BYTES", 100)
    assert render_log(b"x" * 100, LogState(), complete=False).state.offset == 100


@pytest.mark.parametrize(
    "query", [{}, {"offset": "-1", "line": "x", "style": "<", "sections": "{"}, {"sections": "[[1]]"}]
)
def test_invalid_state_is_ignored(query: dict[str, str]) -> None:
    assert log_state_of_query(query) == LogState()


def test_long_log_begins_at_a_line_near_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "SHOWN_BYTES", 50)
    data = b"".join(b"line %d\n" % number for number in range(1, 101))

    def pieces(start: int, stop: int) -> Iterator[bytes]:
        for position in range(start, stop, 7):
            yield data[position : min(position + 7, stop)]

    state = first_state(len(data), pieces)
    part = render_log(data[state.offset :], state, complete=True)
    assert part.skipped
    assert _texts(part.html) == [f"{number}line {number}" for number in range(state.line, 101)]
    assert 90 < state.line < 100


def test_last_lines_are_plain_text() -> None:
    data = b"first\nsection_start:1:a\r\x1b[0K\x1b[31mred\x1b[0m\r\n10%\r20%\n"
    assert last_lines(data, 2) == "red\n20%"
