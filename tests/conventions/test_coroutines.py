"""Coroutines run on the event loop, which also answers liveness, so they never wait for the database."""

import re

from tests.conventions.source_files import source_files

_WAITING = re.compile(r"(.*\.)?_?database\.(read|write|announce)")
"""Calls to make with ``Database.read_async``, or in a thread."""


def test_coroutines_do_not_wait_for_the_database() -> None:
    waiting = [
        f"{file.name}:{line} {call}"
        for file in source_files("ingot")
        for call, line in file.calls_in_coroutines
        if _WAITING.fullmatch(call)
    ]
    assert waiting == []
