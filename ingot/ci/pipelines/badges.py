"""Badges of projects: status of the newest pipeline, coverage and latest release, as SVG images."""

from html import escape
from typing import NamedTuple

from sqlalchemy import bindparam, select

from ingot.collaboration.releases.params import ReleaseOrder
from ingot.collaboration.releases.queries import latest_release_or_none
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.pipelines.tables import IS_NO_CHILD, Pipeline, Status, commit_statuses, pipelines
from ingot.projects.projects.tables import Project

_NEWEST = (
    select(pipelines)
    .where(pipelines.c.project_id == bindparam("project"), pipelines.c.ref == bindparam("ref"), IS_NO_CHILD)
    .order_by(pipelines.c.id.desc())
    .limit(1)
)
_SUCCESSFUL = _NEWEST.where(pipelines.c.status == "success")
_JOB_COVERAGE = select(commit_statuses.c.coverage).where(
    commit_statuses.c.pipeline_id == bindparam("pipeline"),
    commit_statuses.c.name == bindparam("name"),
    ~commit_statuses.c.retried,
)
_GREEN, _RED, _YELLOW, _BLUE, _GRAY = "#4c1", "#e05d44", "#dfb317", "#5f9ed1", "#9f9f9f"
_DARK_BLUE = "#3076af"
_STATUS_COLORS: dict[Status, tuple[str, str]] = {
    "success": ("passed", _GREEN),
    "failed": ("failed", _RED),
    "running": ("running", _YELLOW),
    "pending": ("pending", _YELLOW),
    "canceled": ("canceled", _GRAY),
    "canceling": ("canceling", _GRAY),
    "skipped": ("skipped", _GRAY),
    "manual": ("manual", _BLUE),
    "scheduled": ("scheduled", _BLUE),
    "created": ("created", _GRAY),
    "waiting_for_resource": ("waiting", _YELLOW),
}
_UNKNOWN = "unknown", _GRAY
_COVERAGE_COLORS = ((95.0, _GREEN), (90.0, "#a3c51c"), (75.0, _YELLOW), (0.0, _RED))
MAX_LABEL_LENGTH = 64
MAX_LABEL_WIDTH, MAX_VALUE_WIDTH = 512, 200
_CHARACTER_WIDTH, _PADDING = 6.5, 10


class CiBadge(NamedTuple):
    """Texts and color of a badge; widths in pixels, unless they follow from the texts."""

    label: str
    value: str
    color: str
    label_width: int | None = None
    value_width: int | None = None


def pipeline_badge(db: Connection, project_id: int, ref: str, label: str = "") -> CiBadge:
    """Return the badge of the newest pipeline of a branch or tag."""
    pipeline = db.first(Pipeline, _NEWEST, project=project_id, ref=ref)
    value, color = _UNKNOWN if pipeline is None else _STATUS_COLORS[pipeline.status]
    return CiBadge(label[:MAX_LABEL_LENGTH] or "pipeline", value, color)


def coverage_badge(db: Connection, project_id: int, ref: str, job: str = "", label: str = "") -> CiBadge:
    """Return the badge of the coverage of the last successful pipeline, or of one of its jobs."""
    pipeline = db.first(Pipeline, _SUCCESSFUL, project=project_id, ref=ref)
    coverage: float | None = None
    if pipeline is not None:
        coverage = db.value(_JOB_COVERAGE, pipeline=pipeline.id, name=job) if job else pipeline.coverage
    label = label[:MAX_LABEL_LENGTH] or "coverage"
    if coverage is None:
        return CiBadge(label, *_UNKNOWN)
    return CiBadge(label, f"{coverage:.2f}%", next(color for least, color in _COVERAGE_COLORS if coverage >= least))


def release_badge(db: Connection, project: Project | None, order_by: str = "", label: str = "") -> CiBadge:
    """Return the badge of the tag of the latest release; None is a project whose releases the caller may not read.

    Any other order than ``created_at`` is the default order.
    """
    order: ReleaseOrder = "created_at" if order_by == "created_at" else "released_at"
    release = None if project is None else latest_release_or_none(db, project, order)
    value, color = ("none", _RED) if release is None else (release.tag, _DARK_BLUE)
    return CiBadge(label[:MAX_LABEL_LENGTH] or "latest release", value, color)


def with_widths(badge: CiBadge, label_width: str, value_width: str = "") -> CiBadge:
    """Return a badge with the requested widths in pixels; those out of range are ignored."""
    return badge._replace(
        label_width=_width_or_none(label_width, MAX_LABEL_WIDTH),
        value_width=_width_or_none(value_width, MAX_VALUE_WIDTH),
    )


def _width_or_none(text: str, maximum: int) -> int | None:
    width = number_or_none(text)
    return width if width is not None and 1 <= width <= maximum else None


def render_badge(badge: CiBadge) -> bytes:
    """Return a badge as an SVG image."""
    left = badge.label_width or _text_width(badge.label)
    right = badge.value_width or _text_width(badge.value)
    label, value = escape(badge.label), escape(badge.value)
    texts = "".join(
        f'<text x="{x:g}" y="{y}" fill="{fill}">{text}</text>'
        for x, text in ((left / 2, label), (left + right / 2, value))
        for y, fill in ((15, "#010101"), (14, "#fff"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{label}: {value}"><title>{label}: {value}</title>'
        f'<rect width="{left}" height="20" fill="#555"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{badge.color}"/>'
        f'<g text-anchor="middle" font-family="DejaVu Sans,Verdana,Geneva,sans-serif" font-size="11">{texts}</g></svg>'
    ).encode()


def _text_width(text: str) -> int:
    return round(len(text) * _CHARACTER_WIDTH) + _PADDING
