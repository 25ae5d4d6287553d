"""What a merge request brings: its commits, what they change, version by version, and its pipelines."""

from typing import Any

import msgspec

from ingot.db.connection import Connection
from ingot.db.paging import Page as ListPage
from ingot.errors import NotFound
from ingot.git.diffs import Diff, diff_between
from ingot.merge_requests.tables import Version
from ingot.merge_requests.versions.queries import diff_of, list_versions, span_of
from ingot.merge_requests.versions.views import diff_views
from ingot.web.code.diffs import Code, shown_diff
from ingot.web.code.pipelines import outcomes_of
from ingot.web.discussions.reading import thread_of
from ingot.web.merge_requests.frame import Frame, frame_of
from ingot.web.merge_requests.lines import slots_of
from ingot.web.pages import File, Page, Pages, Reply, Visit

pages = Pages()
FORM = "form"
"""Stands below the line that somebody wants to write about."""
_VERSIONS = 100


class Chosen(msgspec.Struct, frozen=True):
    """Which version is looked at, and since which other one, if any."""

    versions: list[Version]
    version: Version
    since: Version | None

    @property
    def newest(self) -> bool:
        """Whether it is all that the merge request brings now."""
        return self.since is None and self.version is self.versions[0]


@pages.get("/:path/-/merge_requests/:merge_request_iid/commits", open=True)
def show_commits(visit: Visit, db: Connection) -> Reply:
    """The commits that it brings, the newest first."""
    frame = frame_of(visit)
    commits = frame.ground.get("/commits", {"page": visit.page, "per_page": 50})
    context = {"commits": commits, "outcomes": outcomes_of(frame.place, db, commits.items)}
    return frame.page("merge_requests/commits.html", "commits", context)


@pages.get("/:path/-/merge_requests/:merge_request_iid/pipelines", open=True)
def show_pipelines(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """What became of the heads that it has had."""
    frame = frame_of(visit)
    found = frame.ground.get("/pipelines", {"page": visit.page, "per_page": 30})
    return frame.page("merge_requests/pipelines.html", "pipelines", {"pipelines": found})


@pages.get("/:path/-/merge_requests/:merge_request_iid/raw_diffs", open=True)
def send_patch(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """What it changes as one patch."""
    patch = frame_of(visit).ground.get("/raw_diffs")
    return File(patch.body, patch.content_type)


@pages.get("/:path/-/merge_requests/:merge_request_iid/diffs", open=True)
def show_changes(visit: Visit, db: Connection) -> Reply:
    """What it changes; ``at`` names a line to write about, ``diff_id`` a version, ``start_id`` one to compare with."""
    frame = frame_of(visit)
    chosen = _chosen(frame, db)
    if chosen is None:
        return frame.page("merge_requests/diffs.html", "diffs", {"chosen": None})
    items = diff_views(_diff(frame, chosen))
    thread = thread_of(frame.ground)
    talks = thread.may_write and chosen.since is None
    slots: dict[Any, list[Any]] = dict(slots_of(thread, chosen.version)) if chosen.since is None else {}
    wanted = shown_diff(items, {"first": str(len(items))}).line_at(visit.query.get("at")) if talks else None
    if wanted is not None and not visit.fragment:
        slots[wanted] = [*slots.get(wanted, []), FORM]
    code = Code(frame.place.url, chosen.version.head_oid)
    diff = shown_diff(items, visit.query, slots=slots, talk="any" if talks else "no", code=code)
    back = f"{frame.url}/diffs{diff.split_address if diff.split else diff.unified_address}".removesuffix("?")
    context: dict[str, Any] = {"chosen": chosen, "diff": diff, "thread": thread, "back": back, "at": None}
    if wanted is not None:
        context["at"] = _position(chosen.version, wanted, {item.new_path: item.old_path for item in items})
    context["blob_url"] = f"{frame.place.url}/-/blob/{chosen.version.head_oid}"
    if visit.fragment and (wanted is not None or diff.part):
        template = "merge_requests/_line_form.html" if wanted is not None else "merge_requests/_diff_part.html"
        return Page(template, {**context, "ground": frame.ground})
    return frame.page("merge_requests/diffs.html", "diffs", context)


def _chosen(frame: Frame, db: Connection) -> Chosen | None:
    """Nothing only in the moment after it was opened."""
    versions = list_versions(db, frame.found.merge_request, ListPage(1, _VERSIONS)).items
    if not versions:
        return None
    query = frame.visit.query
    version, since = _named(versions, query.get("diff_id")), _named(versions, query.get("start_id"))
    return Chosen(versions, version or versions[0], since if since is not version else None)


def _named(versions: list[Version], number: Any) -> Version | None:
    if not number:
        return None
    found = next((version for version in versions if str(version.id) == number), None)
    if found is None:
        raise NotFound("Merge Request Diff")
    return found


def _diff(frame: Frame, chosen: Chosen) -> Diff:
    if chosen.since is None:
        return diff_of(frame.repository, span_of(chosen.version))
    old, new = chosen.since.head_oid, chosen.version.head_oid
    return Diff(()) if old == new else diff_between(frame.repository, old, new)


def _position(version: Version, line: tuple[str, int | None, int | None], old_paths: dict[str, str]) -> dict[str, Any]:
    """A line as the API wants it to be named."""
    path, old, new = line
    named = {
        "base_sha": version.base_oid,
        "start_sha": version.start_oid,
        "head_sha": version.head_oid,
        "old_path": old_paths.get(path, path),
        "new_path": path,
        "old_line": old,
        "new_line": new,
    }
    return {name: value for name, value in named.items() if value is not None}
