"""Bars of charts, which the templates draw as SVG; the texts stay in the templates, where they are translated."""

from collections.abc import Iterable
from typing import NamedTuple

HEIGHT = 100


class Bar(NamedTuple):
    """Value of one period; without a value, the period has no bar."""

    label: str
    value: float | None
    height: int


def scaled_bars(values: Iterable[tuple[str, float | None]]) -> list[Bar]:
    """Return bars of which the highest has the whole height, and every other at least two units of it."""
    pairs = list(values)
    highest = max((value for _, value in pairs if value), default=0) or 1
    return [
        Bar(label, value, 0 if value is None else max(2, round(HEIGHT * value / highest))) for label, value in pairs
    ]
