"""Charts of a project's pipelines: duration and success of the newest finished ones, as SVG and as a table."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from markupsafe import Markup

from ingot.ci.pipelines.summaries import PipelineSummary, pipeline_summaries
from ingot.core.db.connection import Connection
from ingot.repositories.commit_statuses import api as statuses_api
from ingot.web.analytics.sections import analytics_page
from ingot.web.formats import duration
from ingot.web.page_routes import PageResponse, PageRoutes, Visit, text_field
from ingot.web.projects.context import project_context

pages = PageRoutes()
PIPELINES = 100
"""Pipelines of a chart; a fixed number, so that a page costs the same for every history."""
_FINISHED = ("success", "failed")
_MIN_PLACES = 40
"""A few pipelines do not become broad bars."""
_HEIGHT = 100


class PipelineChart(NamedTuple):
    """Chart of the duration of pipelines, oldest first, with the figures of its caption."""

    bars: Markup
    width: int
    passed: int
    failed: int
    passed_percent: int
    median_seconds: float | None


@pages.get("/:path/-/pipelines/charts", open=True)
def show_charts(visit: Visit, db: Connection) -> PageResponse:
    """Show duration and success of the pipelines that passed or failed among the newest, optionally of one ``ref``."""
    parent, ref = project_context(visit), text_field(visit.request.query, "ref")
    listing = parent.ask(statuses_api.list_pipelines, {"ref": ref, "per_page": PIPELINES})
    found = pipeline_summaries(db, [pipeline.id for pipeline in listing.items], visit.request.origin.base)
    finished = [found[each.id] for each in listing.items if each.id in found and each.status in _FINISHED]
    context = {
        "pipelines": [each.pipeline for each in finished],
        "chart": pipeline_chart(finished[::-1]) if finished else None,
        "ref": ref,
    }
    return analytics_page(parent, "ci/charts.html", "pipelines/charts", context)


def pipeline_chart(summaries: Sequence[PipelineSummary]) -> PipelineChart:
    """Return the chart of finished pipelines in the order of their bars."""
    pipelines = [summary.pipeline for summary in summaries]
    seconds = [pipeline.duration for pipeline in pipelines if pipeline.duration is not None]
    longest = max([1, *seconds])
    bars = "".join(_bar(summary, place, longest) for place, summary in enumerate(summaries))
    passed = sum(pipeline.status == "success" for pipeline in pipelines)
    return PipelineChart(
        Markup(bars),  # noqa: S704 - Built from numbers only.
        10 * max(_MIN_PLACES, len(pipelines)),
        passed,
        len(pipelines) - passed,
        round(100 * passed / len(pipelines)),
        median(seconds) if seconds else None,
    )


def _bar(summary: PipelineSummary, place: int, longest: int) -> str:
    """Return the bar of a pipeline; a failed one has a mark below, so that color alone does not tell it."""
    pipeline = summary.pipeline
    height = max(2, round(_HEIGHT * (pipeline.duration or 0) / longest))
    title = f"<title>#{pipeline.id}: {duration(pipeline.duration or 0)}</title>"
    bar = f'x="{place * 10}" y="{_HEIGHT - height}" width="8" height="{height}"'
    if pipeline.status == "success":
        return f"<rect {bar}>{title}</rect>"
    mark = f'<rect class="failed" x="{place * 10}" y="{_HEIGHT + 6}" width="8" height="8"/>'
    return f'<rect class="failed" {bar}>{title}</rect>{mark}'
