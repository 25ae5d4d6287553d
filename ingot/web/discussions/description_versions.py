"""Pages that compare a description with its previous version, and delete that version."""

from markupsafe import Markup

from ingot.collaboration.notes.description_versions import DescriptionChange, delete_version, find_change
from ingot.core.api.params import number_or_none
from ingot.core.errors import NotFound
from ingot.repositories.browser import draft_diff
from ingot.web.code.patch_rows import parse_hunks, unified_rows
from ingot.web.discussions.discussable import Discussable, DiscussableKind, PlannedHandlers, discussable_finder
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit

_MAX_ROWS = 2_000


def add_version_pages(pages: PageRoutes, kind: DiscussableKind, planned: PlannedHandlers) -> None:
    """Declare the pages of the versions of descriptions of a kind of subject."""
    find, route = discussable_finder(kind), f"{kind.route}/descriptions/:note_id"

    @pages.get(route, open=True)
    def show_description_change(visit: Visit) -> PageResponse:
        """Show the words that a change of a description removed and added."""
        discussable, note_id = find(visit), _note_id(visit)
        access, present = discussable.subject_access(), discussable.ask(planned.get).description
        change = visit.database.read(lambda db: find_change(db, access, present, note_id))
        rows = _rows(change)
        context = {
            "discussable": discussable,
            "change": change,
            "rows": Markup("".join(rows[:_MAX_ROWS])),  # noqa: S704 - The rows are escaped.
            "more": len(rows) > _MAX_ROWS,
            "note_id": note_id,
            "may_delete": change.before is not None and _may_delete(discussable),
        }
        return TemplateResponse("discussions/description_version.html", context)

    @pages.delete(route, notice="Previous version deleted.")
    def delete_description_version(visit: Visit) -> PageResponse:
        """Delete the text before a change."""
        discussable, note_id = find(visit), _note_id(visit)
        if not _may_delete(discussable):
            raise NotFound("Description version")
        access = discussable.subject_access()
        visit.database.write(lambda db: delete_version(db, access, note_id))
        return LocalRedirect(f"{discussable.url}/descriptions/{note_id}")


def _note_id(visit: Visit) -> int:
    return number_or_none(visit.request.path["note_id"]) or 0


def _may_delete(discussable: Discussable) -> bool:
    access = discussable.subject_access()
    return discussable.visit.viewer.user is not None and access.may_moderate and access.may_participate


def _rows(change: DescriptionChange) -> list[str]:
    if change.before is None or change.after is None:
        return []
    patch = draft_diff("", "", _lines(change.before), _lines(change.after)).diff
    return [row.html for row in unified_rows(parse_hunks(patch, "").hunks, "line", "#")]


def _lines(text: str) -> bytes:
    """Return the text with a newline at its end, whose absence would be shown otherwise."""
    return "".join(f"{line}\n" for line in text.splitlines()).encode()
