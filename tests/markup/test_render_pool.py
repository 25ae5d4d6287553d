"""Rendering processes: limits of time and memory, shared computations, and what happens without a process."""

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ingot.core.markup import highlighting, markdown, render_pool
from ingot.core.markup.highlighting import highlight_lines
from ingot.core.markup.links import Link, LinkContext
from ingot.core.markup.markdown import MAX_LOCAL_LENGTH, render_markdown
from ingot.core.markup.render_messages import CodeBlock, HighlightTask, MarkdownTask
from ingot.core.markup.render_pool import RendererUnavailable, RenderLimitExceeded, RenderPool, _has_ended
from ingot.core.offload import WouldBlock, forbid_blocking
from tests.jobs.conftest import until

HERE = LinkContext("https://h", "g/p")
LONG_CODE = "x = {'a': 1}  # A comment\n" * 6_000


@pytest.fixture
def pool() -> Iterator[RenderPool]:
    pool = RenderPool()
    yield pool
    pool.close()


def task(code: str, cpu_seconds: float = 10.0) -> HighlightTask:
    return HighlightTask(cpu_seconds, [CodeBlock("python", code)], all_classes=True)


def test_a_task_that_exceeds_its_time_ends_and_is_not_tried_again(
    pool: RenderPool, caplog: pytest.LogCaptureFixture
) -> None:
    hostile = task(LONG_CODE, cpu_seconds=0.02)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            with pytest.raises(RenderLimitExceeded):
                pool.highlight(hostile)
    assert [record.getMessage() for record in caplog.records] == ["rendering limit exceeded"]
    assert "<span" in pool.highlight(task("x = 1\n"))[0], "Another process renders the next task."


def test_a_task_that_exceeds_its_memory_ends(pool: RenderPool) -> None:
    with pytest.raises(RenderLimitExceeded):
        pool.highlight(task("a" * (65 * 2**20), cpu_seconds=60.0))
    assert "<span" in pool.highlight(task("y = 1\n"))[0]


def test_concurrent_calls_for_the_same_code_share_one_computation(
    pool: RenderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    performed: list[Any] = []
    perform = render_pool._perform
    all_wait = threading.Event()

    def counted(*arguments: Any) -> Any:
        performed.append(arguments)
        all_wait.wait(30)
        return perform(*arguments)

    monkeypatch.setattr(render_pool, "_perform", counted)
    with ThreadPoolExecutor(8) as threads:
        calls = [threads.submit(pool.highlight, task(LONG_CODE[:1000])) for _ in range(8)]
        all_wait.set()
        results = {call.result()[0] for call in calls}
    assert len(results) == 1
    assert len(performed) <= 2, "A call that began after the first had ended may compute again."


def test_no_more_processes_than_the_limit(pool: RenderPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render_pool, "_QUEUE_SECONDS", 30.0)
    with ThreadPoolExecutor(render_pool.MAX_PROCESSES + render_pool.MAX_WAITING) as threads:
        list(threads.map(lambda number: pool.highlight(task(f"x = {number}\n")), range(60)))
    assert 1 <= len(pool._idle) <= render_pool.MAX_PROCESSES


def _has_waiting_task(pool: RenderPool) -> bool:
    if not pool._queue.acquire(blocking=False):
        return True
    pool._queue.release()
    return False


def test_renderings_occupy_a_bounded_number_of_threads(pool: RenderPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: files that take long to render, requested at once, must not keep other requests waiting."""
    perform, started, finish = render_pool._perform, threading.Semaphore(0), threading.Event()

    def slow(*arguments: Any) -> Any:
        started.release()
        finish.wait(30)
        return perform(*arguments)

    monkeypatch.setattr(render_pool, "_perform", slow)
    monkeypatch.setattr(render_pool, "_QUEUE_SECONDS", 30.0)
    with ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(pool.highlight, task(f"y = {number}\n")) for number in range(3)]
        for _ in range(render_pool.MAX_PROCESSES):
            assert started.acquire(timeout=30)
        until(lambda: _has_waiting_task(pool))
        with pytest.raises(RendererUnavailable):
            pool.highlight(task("y = 3\n"))
        finish.set()
        assert all("<span" in call.result()[0] for call in calls)


def test_the_event_loop_never_waits_for_a_process(pool: RenderPool) -> None:
    with forbid_blocking(), pytest.raises(WouldBlock):
        pool.highlight(task("z = 1\n"))


def test_without_a_process_code_is_plain_for_the_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither end of the socket is served, as if the supervisor were stopped."""
    monkeypatch.setattr(render_pool, "_START_SECONDS", 0.05)
    control, unserved = socket.socketpair()
    pool = RenderPool()
    pool.use_fork_server(control)
    monkeypatch.setattr(highlighting, "POOL", pool)
    monkeypatch.setattr(markdown, "POOL", pool)
    with pytest.raises(RendererUnavailable):
        pool.highlight(task("x = 1\n"))
    assert highlight_lines(["a = '<b>'\nb = 2"], "python") == ([["a = '&lt;b&gt;'", "b = 2"]], False)
    html, lasting = render_markdown("```python\nx = 1\n```\n\n*a*", HERE)
    assert ("x = 1" in html, "<em>a</em>" in html, lasting) == (True, True, False)
    html, lasting = render_markdown("*a* <b>\n" * MAX_LOCAL_LENGTH, HERE)
    assert (html.startswith("<pre>*a* &lt;b&gt;\n"), lasting) == (True, False)
    pool.close()
    unserved.close()


def test_a_process_that_was_killed_is_replaced(pool: RenderPool) -> None:
    assert "<span" in pool.highlight(task("x = 1\n"))[0]
    server = pool._server
    assert server is not None
    for pid in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split():
        os.kill(int(pid), signal.SIGKILL)
    until(lambda: _has_ended(pool._idle[0][0]))
    assert "<span" in pool.highlight(task("x = 2\n"))[0]
    server.kill()
    server.wait()
    pool._idle.pop()[0].close()
    with pytest.raises(RendererUnavailable):
        pool.highlight(task("x = 3\n"))
    assert "<span" in pool.highlight(task("x = 3\n"))[0]


def test_text_that_cannot_be_sent_is_plain() -> None:
    assert highlight_lines(["a = '\ud800'"], "python") == ([["a = '\ud800'"]], True)


def test_each_piece_keeps_its_lines() -> None:
    pieces = ["x = '''\n<a>\n'''", "", "def f():\n    pass\n", "'''unfinished\nthing"]
    highlighted = highlight_lines(pieces, "py")
    assert highlighted.lasting
    assert [len(lines) for lines in highlighted.pieces] == [piece.count("\n") + 1 for piece in pieces]
    assert all("<span" in "".join(lines) for piece, lines in zip(pieces, highlighted.pieces, strict=True) if piece)


def test_a_long_text_is_rendered_as_a_short_one_is() -> None:
    paragraph = "Some *words* about #1 and @joe.\n\n```python\nx = 1\n```\n\n"
    asked: list[int] = []

    def resolve(references: Any) -> list[Link | None]:
        asked.append(len(references))
        return [Link(f"/{reference.name}") for reference in references]

    short = render_markdown(paragraph * 2, HERE, resolve).html
    times = 2 * MAX_LOCAL_LENGTH // len(paragraph)
    long, lasting = render_markdown(paragraph * times, HERE, resolve)
    assert lasting
    assert asked == [4, min(1000, 2 * times)]
    assert long.startswith(short)


def test_a_long_text_with_slow_code_loses_its_colors_only(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[bool] = []
    pool = render_pool.POOL

    class SlowCode:
        def render(self, task: MarkdownTask, resolve: Any) -> str:
            attempts.append(task.highlights)
            return pool.render(msgspec.structs.replace(task, cpu_seconds=0.01 if task.highlights else 30), resolve)

    monkeypatch.setattr(markdown, "POOL", SlowCode())
    html, lasting = render_markdown("*a*\n\n" * 3_000 + f"```python\n{LONG_CODE[:40_000]}\n```\n", HERE)
    assert (attempts, lasting) == ([True, False], True)
    assert html.count("<em>a</em>") == 3_000
    assert "<span" not in html
