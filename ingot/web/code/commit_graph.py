"""Commit graph beside a list of commits, as one small SVG image for each commit."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from ingot.repositories.commits.views import CommitView

MAX_LANES = 8
_STEP = 12
_TOP, _MIDDLE, _BOTTOM = "0", "50%", "100%"


class CommitGraph(NamedTuple):
    """Number of lanes, and one image for each commit."""

    lanes: int
    rows: list[Markup]


def topologically_sorted(commits: Sequence[CommitView]) -> list[CommitView]:
    """Sort commits so that children precede their parents, which an order by time does not guarantee."""
    left = {commit.id: commit for commit in commits}
    children: dict[str, set[str]] = {}
    for commit in commits:
        for parent in commit.parent_ids:
            children.setdefault(parent, set()).add(commit.id)
    ordered: list[CommitView] = []
    for commit in commits:
        waiting = [commit.id]
        while waiting:
            above = [child for child in sorted(children.get(waiting[-1], ())) if child in left]
            if above:
                waiting.append(above[0])
            elif (oid := waiting.pop()) in left:
                ordered.append(left.pop(oid))
    return ordered


def commit_graph(commits: Sequence[CommitView]) -> CommitGraph:
    """Draw the graph of a list without gaps; lanes beyond the eighth are drawn on top of each other."""
    lanes: list[str | None] = []
    drawn = [_row(commit, lanes) for commit in commits]
    most = max([1, *(size for size, _ in drawn)])
    start = f'<svg class="graph" width="{_STEP * most}" aria-hidden="true">'
    return CommitGraph(most, [Markup(f"{start}{marks}</svg>") for _, marks in drawn])  # noqa: S704 - Built from numbers only.


def _row(commit: CommitView, lanes: list[str | None]) -> tuple[int, str]:
    """Draw one commit and update the lanes for the row below."""
    above = list(lanes)
    own_lane = above.index(commit.id) if commit.id in above else _free_lane(lanes, commit.id)
    lines = [_line(lane, _TOP, own_lane, _MIDDLE) for lane, expected in enumerate(above) if expected == commit.id]
    lines += [
        _line(lane, _TOP, lane, _BOTTOM) for lane, expected in enumerate(above) if expected not in (None, commit.id)
    ]
    for lane, expected in enumerate(lanes):
        if expected == commit.id:
            lanes[lane] = None
    for number, parent in enumerate(commit.parent_ids):
        if parent in lanes:
            lane = lanes.index(parent)
        elif number == 0:
            lanes[own_lane], lane = parent, own_lane
        else:
            lane = _free_lane(lanes, parent)
        lines.append(_line(own_lane, _MIDDLE, lane, _BOTTOM))
    size = min(MAX_LANES, max(len(lanes), len(above)))
    while lanes and lanes[-1] is None:
        lanes.pop()
    return size, f'{"".join(dict.fromkeys(lines))}<circle cx="{_lane_x(own_lane)}" cy="50%" r="4"/>'


def _free_lane(lanes: list[str | None], oid: str) -> int:
    if None in lanes:
        lane = lanes.index(None)
        lanes[lane] = oid
        return lane
    lanes.append(oid)
    return len(lanes) - 1


def _lane_x(lane: int) -> int:
    return min(lane, MAX_LANES - 1) * _STEP + _STEP // 2


def _line(start: int, top: str, end: int, bottom: str) -> str:
    return f'<line x1="{_lane_x(start)}" y1="{top}" x2="{_lane_x(end)}" y2="{bottom}"/>'
