"""Results of code searches: matching lines grouped by file, and the search in all visible projects."""

import re
from time import monotonic
from typing import Any

import msgspec
from markupsafe import Markup

from ingot.core.db.paging import Listing, Page, slice_page
from ingot.core.log import log_failure
from ingot.core.markup.highlighting import highlight_pieces
from ingot.core.markup.lexers import language_of
from ingot.projects.projects import api as projects_api
from ingot.search import api as search_api
from ingot.search.code import cannot_be_searched
from ingot.web.bidi import mark_bidi_characters
from ingot.web.code.word_diff import mark_spans
from ingot.web.form_errors import REQUEST_ERRORS
from ingot.web.page_routes import Visit

MAX_PROJECTS = 50
MAX_MATCHES_PER_PROJECT = 50
MAX_SECONDS = 5.0
_SHOWN_MATCHES = 3
"""Matches of a file that are shown at once."""
_FILTER = re.compile(r"(?<!\S)-?(?:filename|path|extension|language):\S+", re.IGNORECASE)


class MatchedLine(msgspec.Struct):
    """Line of a file, with the matches marked."""

    number: int
    html: Markup
    follows_gap: bool


class MatchedFile(msgspec.Struct):
    """File with its matches, each with the lines around it."""

    project_id: int
    path: str
    ref: str
    matches: list[list[MatchedLine]]

    @property
    def first_lines(self) -> list[MatchedLine]:
        """Return the lines of the first matches."""
        return [line for match in self.matches[:_SHOWN_MATCHES] for line in match]

    @property
    def other_lines(self) -> list[MatchedLine]:
        """Return the lines of the matches that are shown on request."""
        return [line for match in self.matches[_SHOWN_MATCHES:] for line in match]

    @property
    def more(self) -> int:
        """Return the number of matches that are shown on request."""
        return max(len(self.matches) - _SHOWN_MATCHES, 0)


class CodeSearch(msgspec.Struct):
    """Matches in several projects, and how many projects were searched."""

    results: Listing[Any]
    searched: int
    is_cut: bool


def search_code_of_projects(visit: Visit, term: str, page: Page) -> CodeSearch:
    """Search the default branches of the most recently active projects that the user may see.

    The endpoint of each project checks the permission; projects whose code is hidden or damaged or takes too long are
    skipped.
    """
    end = monotonic() + MAX_SECONDS
    filters = {"order_by": "last_activity_at", "per_page": str(MAX_PROJECTS), "simple": "true"}
    projects = visit.ask(projects_api.list_projects, filters)
    matches: list[Any] = []
    searched = 0
    for project in projects.items:
        if monotonic() > end:
            break
        params = {"scope": "blobs", "search": term, "per_page": str(MAX_MATCHES_PER_PROJECT)}
        searched += 1
        try:
            matches += visit.ask(search_api.search_project, params, id=project.id).items
        except REQUEST_ERRORS:
            continue
        except Exception as error:  # The other repositories can be searched.
            if not cannot_be_searched(error):
                raise
            log_failure("repository unreadable", error, project_id=project.id)
    is_cut = searched < len(projects.items) or (projects.total or 0) > len(projects.items)
    return CodeSearch(slice_page(matches, page), searched, is_cut)


def group_by_file(results: list[Any], term: str) -> list[MatchedFile]:
    """Group matches by file, in the order of the results, with the colors of their language."""
    wanted = " ".join(_FILTER.sub("", term).split())
    pattern = re.compile(re.escape(wanted), re.IGNORECASE) if wanted else None
    texts = [match.data.removesuffix("\n") for match in results]
    html = highlight_pieces(texts, [language_of(match.path) for match in results]).pieces
    files: dict[tuple[int, str, str], MatchedFile] = {}
    for match, text, highlighted in zip(results, texts, html, strict=True):
        key = match.project_id, match.ref, match.path
        file = files.setdefault(key, MatchedFile(match.project_id, match.path, match.ref, []))
        follows = bool(file.matches)
        file.matches.append(
            [
                MatchedLine(match.startline + offset, _marked(line, html, pattern), follows and offset == 0)
                for offset, (line, html) in enumerate(zip(text.split("\n"), highlighted, strict=True))
            ]
        )
    return list(files.values())


def _marked(line: str, html: str, pattern: "re.Pattern[str] | None") -> Markup:
    """Mark the matches of a line in its highlighted HTML."""
    spans = [found.span() for found in pattern.finditer(line)] if pattern else []
    return Markup(mark_bidi_characters(mark_spans(html, spans, "mark")))  # noqa: S704 - The highlighter has escaped it.
