"""Loaded by the interpreter of a node with a faked clock; libfaketime refuses the system call of ``time.sleep``."""

import select
import time
from typing import SupportsIndex


def _sleep(seconds: float | SupportsIndex, /) -> None:
    select.select([], [], [], float(seconds))


time.sleep = _sleep
