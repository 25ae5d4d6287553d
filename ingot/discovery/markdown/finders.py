"""What leads into projects: all that has numbers or titles there, and commits, each kind found all at once."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar
from urllib.parse import urlencode

from ingot.collaboration.issues.queries import visible_issues_by_iid
from ingot.collaboration.labels.queries import usable_labels_in_projects
from ingot.collaboration.merge_requests.queries import visible_merge_requests_by_iid
from ingot.collaboration.milestones.queries import usable_milestones_in_projects
from ingot.collaboration.milestones.views import milestone_view
from ingot.collaboration.planning.scope import ProjectScope
from ingot.collaboration.snippets.queries import visible_snippets_by_id
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference
from ingot.discovery.markdown.reader_context import Finder, ProjectReference, ReferenceContext
from ingot.git.core.errors import MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit, commit_by_prefix_or_none
from ingot.projects.projects.code_access import project_repository
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.tables import Project

SHORT_OID_LENGTH = 8
"""So many letters of a commit's id are shown."""
MAX_COMMITS = 200
"""So many commits of a text are looked for; each takes git some work."""
T = TypeVar("T")


def _issue_contexts(named: Iterable[ProjectReference]) -> list[ProjectScope]:
    return list({one.project.id: ProjectScope(one.here, one.project) for one in named}.values())


ProjectIids = Collection[tuple[int, int]]
"""Projects' numbers, each with one of something in it."""
VisibleLookup = Callable[
    [Connection, Actor, Sequence[ProjectScope], ProjectIids], Mapping[tuple[int, int], "LinkTarget"]
]
"""Says which of these somebody may see in projects that they may see; what they may not is left out."""


class LinkTarget(NamedTuple):
    """A row, and what it is called."""

    id: int
    title: str


def iid_finder(sign: str, pages: str, data: str, seen: VisibleLookup) -> Finder:
    """A finder of what has numbers within projects: by its sign, where its pages are, and what links say of it."""

    def find(reader: ReferenceContext, named: Sequence[ProjectReference]) -> dict[Reference, Link]:
        wanted = [(one, (one.project.id, one.reference.number)) for one in named if one.reference.number is not None]
        found = seen(reader.db, reader.actor, _issue_contexts(named), [key for _, key in wanted])
        links = {}
        for one, key in wanted:
            if key in found:
                url = one.reference.url or one.url(reader, f"{pages}/{key[1]}")
                facts = {"project": str(one.project.id), data: str(found[key].id)}
                links[one.reference] = Link(url, found[key].title, "", one.text(reader, f"{sign}{key[1]}"), facts)
        return links

    return find


def _visible_issues(
    db: Connection, actor: Actor, places: Sequence[ProjectScope], named: ProjectIids
) -> dict[tuple[int, int], LinkTarget]:
    """Of confidential ones nothing is told to those who may not know of them."""
    found = visible_issues_by_iid(db, actor, places, named)
    return {key: LinkTarget(one.issue.id, one.issue.title) for key, one in found.items()}


def _visible_merge_requests(
    db: Connection, actor: Actor, places: Sequence[ProjectScope], named: ProjectIids
) -> dict[tuple[int, int], LinkTarget]:
    found = visible_merge_requests_by_iid(db, actor, places, named)
    return {key: LinkTarget(one.id, one.title) for key, one in found.items()}


find_issues = iid_finder("#", "issues", "issue", _visible_issues)
find_merge_requests = iid_finder("!", "merge_requests", "merge-request", _visible_merge_requests)


def find_labels(reader: ReferenceContext, named: Sequence[ProjectReference]) -> dict[Reference, Link]:
    """Labels by number or title, of projects that have something to label."""
    named = [one for one in named if one.project.issues_enabled or one.project.merge_requests_enabled]
    titles, numbers = _titles_and_numbers(named)
    known = usable_labels_in_projects(
        reader.db, [place.project.id for place in _issue_contexts(named)], titles, numbers
    )
    by_title = {(project_id, label.title): label for project_id, label in known}
    by_number = {(project_id, label.id): label for project_id, label in known}
    links = {}
    for one in named:
        label = _by_number_or_title(one, by_number.get, by_title.get)
        if label is not None:
            url = one.url(reader, f"issues?{urlencode({'label_name': label.title})}")
            data = {"project": str(one.project.id), "label": str(label.id)}
            near = one.reference.project is None
            words = label.title if near else f"{label.title} in {one.project.full_path}"
            links[one.reference] = Link(url, label.description or "", "", words, data)
    return links


def find_milestones(reader: ReferenceContext, named: Sequence[ProjectReference]) -> dict[Reference, Link]:
    """Milestones by number within the project or by title, of projects that have something to plan."""
    named = [one for one in named if one.project.issues_enabled or one.project.merge_requests_enabled]
    titles, numbers = _titles_and_numbers(named)
    known = usable_milestones_in_projects(
        reader.db, [place.project.id for place in _issue_contexts(named)], titles, numbers
    )
    by_title = {(project_id, milestone.title): milestone for project_id, milestone in known}
    by_number = {(place, milestone.iid): milestone for place, milestone in known if milestone.project_id == place}
    links = {}
    for one in named:
        milestone = _by_number_or_title(one, by_number.get, by_title.get)
        if milestone is not None:
            url = milestone_view(milestone, reader.db.now, reader.base_url).web_url
            data = {"project": str(one.project.id), "milestone": str(milestone.id)}
            near = one.reference.project is None
            words = f"%{milestone.title}" if near else f"%{milestone.title} in {one.project.full_path}"
            links[one.reference] = Link(url, "", "", words, data)
    return links


def find_snippets(reader: ReferenceContext, named: Sequence[ProjectReference]) -> dict[Reference, Link]:
    """Snippets of projects."""
    numbers = sorted({one.reference.number for one in named if one.reference.number is not None})
    found = visible_snippets_by_id(reader.db, reader.actor, _issue_contexts(named), numbers)
    links = {}
    for one in named:
        snippet = found.get(one.reference.number or 0)
        if snippet is not None and snippet.project_id == one.project.id:
            data = {"project": str(one.project.id), "snippet": str(snippet.id)}
            url = one.reference.url or one.url(reader, f"snippets/{snippet.id}")
            links[one.reference] = Link(url, snippet.title, "", one.text(reader, f"${snippet.id}"), data)
    return links


def find_commits(reader: ReferenceContext, named: Sequence[ProjectReference]) -> dict[Reference, Link]:
    """Commits by their ids or the beginnings of these, for those who may read the code."""
    look = _commit_lookup(reader)
    links = {}
    for one in named:
        commit = look(one, one.reference.name)
        if commit is not None:
            url = one.reference.url or one.url(reader, f"commit/{commit.oid}")
            data = {"project": str(one.project.id), "commit": commit.oid}
            links[one.reference] = Link(url, commit.title, "", _commit_text(one, commit.oid[:SHORT_OID_LENGTH]), data)
    return links


def find_commit_ranges(reader: ReferenceContext, named: Sequence[ProjectReference]) -> dict[Reference, Link]:
    """What lies between two commits, where both are there."""
    look = _commit_lookup(reader)
    links = {}
    for one in named:
        dots = "..." if "..." in one.reference.name else ".."
        first, _, last = one.reference.name.partition(dots)
        begin, end = look(one, first), look(one, last)
        if begin is not None and end is not None:
            # With two dots the first commit itself is meant too, as in git; the page takes three.
            start = begin.oid if dots == "..." else f"{begin.oid}^"
            url = one.reference.url or one.url(reader, f"compare/{start}...{end.oid}")
            words = _commit_text(one, f"{begin.oid[:SHORT_OID_LENGTH]}{dots}{end.oid[:SHORT_OID_LENGTH]}")
            title = f"Commits {begin.oid[:SHORT_OID_LENGTH]} through {end.oid[:SHORT_OID_LENGTH]}"
            links[one.reference] = Link(url, title, "", words, {"project": str(one.project.id)})
    return links


def _titles_and_numbers(named: Sequence[ProjectReference]) -> tuple[list[str], list[int]]:
    titles = {one.reference.name for one in named}
    return sorted(titles), sorted({one.reference.number for one in named if one.reference.number is not None})


def _by_number_or_title(
    one: ProjectReference,
    by_number: Callable[[tuple[int, int]], T | None],
    by_title: Callable[[tuple[int, str]], T | None],
) -> T | None:
    """A name of digits is a number first."""
    number, project_id = one.reference.number, one.project.id
    found = by_number((project_id, number)) if number is not None else None
    return found if found is not None else by_title((project_id, one.reference.name))


def _commit_text(one: ProjectReference, short: str) -> str:
    return short if one.reference.project is None else f"{one.project.full_path}@{short}"


def _commit_lookup(reader: ReferenceContext) -> Callable[[ProjectReference, str], Commit | None]:
    """How commits are looked for: each name once in each project, and not more than a few of them."""
    repositories: dict[int, Repository | None] = {}
    known: dict[tuple[int, str], Commit | None] = {}

    def look(one: ProjectReference, name: str) -> Commit | None:
        key = one.project.id, name
        if key not in known:
            if len(known) >= MAX_COMMITS:
                return None
            if one.project.id not in repositories:
                repositories[one.project.id] = _repository(reader, one, one.project)
            repository = repositories[one.project.id]
            known[key] = None if repository is None else _commit(repository, name)
        return known[key]

    return look


def _repository(reader: ReferenceContext, one: ProjectReference, project: Project) -> Repository | None:
    if reader.store is None or not may_download_code(reader.actor, one.here, project):
        return None
    try:
        return project_repository(reader.store, project)
    except (MissingRepository, FileNotFoundError):  # Deleted since the row was read.
        return None


def _commit(repository: Repository, name: str) -> Commit | None:
    try:
        return commit_by_prefix_or_none(repository, name)
    except (MissingRepository, FileNotFoundError):  # Deleted meanwhile.
        return None
