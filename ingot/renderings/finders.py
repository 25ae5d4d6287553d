"""What leads into projects: all that has numbers or titles there, and commits, each kind found all at once."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar
from urllib.parse import urlencode

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.git.commits import Commit, commit_with_id
from ingot.git.faults import MissingRepository
from ingot.git.repository import Repository
from ingot.issues.policy import Place
from ingot.issues.queries import seen_issues
from ingot.labels.queries import named_labels
from ingot.markup.links import Link
from ingot.markup.references import Reference
from ingot.merge_requests.queries import seen_merge_requests
from ingot.milestones.queries import named_milestones
from ingot.milestones.views import milestone_view
from ingot.projects.code import code_of_project
from ingot.projects.policy import may_download_code
from ingot.projects.tables import Project
from ingot.renderings.reading import Finder, Named, Reader
from ingot.snippets.queries import seen_snippets

SHORT = 8
"""So many letters of a commit's id are shown."""
MOST_COMMITS = 200
"""So many commits of a text are looked for; each takes git some work."""
T = TypeVar("T")


def _places(named: Iterable[Named]) -> list[Place]:
    return list({one.project.id: Place(one.here, one.project) for one in named}.values())


Numbers = Collection[tuple[int, int]]
"""Projects' numbers, each with one of something in it."""
Seen = Callable[[Connection, Actor, Sequence[Place], Numbers], Mapping[tuple[int, int], "Shown"]]
"""Says which of these somebody may see in projects that they may see; what they may not is left out."""


class Shown(NamedTuple):
    """A row, and what it is called."""

    id: int
    title: str


def numbered(sign: str, pages: str, data: str, seen: Seen) -> Finder:
    """A finder of what has numbers within projects: by its sign, where its pages are, and what links say of it."""

    def find(reader: Reader, named: Sequence[Named]) -> dict[Reference, Link]:
        wanted = [(one, (one.project.id, one.reference.number)) for one in named if one.reference.number is not None]
        found = seen(reader.db, reader.actor, _places(named), [key for _, key in wanted])
        links = {}
        for one, key in wanted:
            if key in found:
                url = one.reference.url or one.url(reader, f"{pages}/{key[1]}")
                facts = {"project": str(one.project.id), data: str(found[key].id)}
                links[one.reference] = Link(url, found[key].title, "", one.text(reader, f"{sign}{key[1]}"), facts)
        return links

    return find


def _seen_issues(db: Connection, actor: Actor, places: Sequence[Place], named: Numbers) -> dict[tuple[int, int], Shown]:
    """Of confidential ones nothing is told to those who may not know of them."""
    found = seen_issues(db, actor, places, named)
    return {key: Shown(one.issue.id, one.issue.title) for key, one in found.items()}


def _seen_merge_requests(
    db: Connection, actor: Actor, places: Sequence[Place], named: Numbers
) -> dict[tuple[int, int], Shown]:
    found = seen_merge_requests(db, actor, places, named)
    return {key: Shown(one.id, one.title) for key, one in found.items()}


issues = numbered("#", "issues", "issue", _seen_issues)
merge_requests = numbered("!", "merge_requests", "merge-request", _seen_merge_requests)


def labels(reader: Reader, named: Sequence[Named]) -> dict[Reference, Link]:
    """Labels by number or title, of projects that have something to label."""
    named = [one for one in named if one.project.issues_enabled or one.project.merge_requests_enabled]
    titles, numbers = _titles_and_numbers(named)
    known = named_labels(reader.db, [place.project.id for place in _places(named)], titles, numbers)
    by_title = {(project_id, label.title): label for project_id, label in known}
    by_number = {(project_id, label.id): label for project_id, label in known}
    links = {}
    for one in named:
        label = _either(one, by_number.get, by_title.get)
        if label is not None:
            url = one.url(reader, f"issues?{urlencode({'label_name': label.title})}")
            data = {"project": str(one.project.id), "label": str(label.id)}
            near = one.reference.project is None
            words = label.title if near else f"{label.title} in {one.project.full_path}"
            links[one.reference] = Link(url, label.description or "", "", words, data)
    return links


def milestones(reader: Reader, named: Sequence[Named]) -> dict[Reference, Link]:
    """Milestones by number within the project or by title, of projects that have something to plan."""
    named = [one for one in named if one.project.issues_enabled or one.project.merge_requests_enabled]
    titles, numbers = _titles_and_numbers(named)
    known = named_milestones(reader.db, [place.project.id for place in _places(named)], titles, numbers)
    by_title = {(project_id, milestone.title): milestone for project_id, milestone in known}
    by_number = {(place, milestone.iid): milestone for place, milestone in known if milestone.project_id == place}
    links = {}
    for one in named:
        milestone = _either(one, by_number.get, by_title.get)
        if milestone is not None:
            url = milestone_view(milestone, reader.db.now, reader.base_url).web_url
            data = {"project": str(one.project.id), "milestone": str(milestone.id)}
            near = one.reference.project is None
            words = f"%{milestone.title}" if near else f"%{milestone.title} in {one.project.full_path}"
            links[one.reference] = Link(url, "", "", words, data)
    return links


def snippets(reader: Reader, named: Sequence[Named]) -> dict[Reference, Link]:
    """Snippets of projects."""
    numbers = sorted({one.reference.number for one in named if one.reference.number is not None})
    found = seen_snippets(reader.db, reader.actor, _places(named), numbers)
    links = {}
    for one in named:
        snippet = found.get(one.reference.number or 0)
        if snippet is not None and snippet.project_id == one.project.id:
            data = {"project": str(one.project.id), "snippet": str(snippet.id)}
            url = one.reference.url or one.url(reader, f"snippets/{snippet.id}")
            links[one.reference] = Link(url, snippet.title, "", one.text(reader, f"${snippet.id}"), data)
    return links


def commits(reader: Reader, named: Sequence[Named]) -> dict[Reference, Link]:
    """Commits by their ids or the beginnings of these, for those who may read the code."""
    look = _looking(reader)
    links = {}
    for one in named:
        commit = look(one, one.reference.name)
        if commit is not None:
            url = one.reference.url or one.url(reader, f"commit/{commit.oid}")
            data = {"project": str(one.project.id), "commit": commit.oid}
            links[one.reference] = Link(url, commit.title, "", _shown(one, commit.oid[:SHORT]), data)
    return links


def commit_ranges(reader: Reader, named: Sequence[Named]) -> dict[Reference, Link]:
    """What lies between two commits, where both are there."""
    look = _looking(reader)
    links = {}
    for one in named:
        dots = "..." if "..." in one.reference.name else ".."
        first, _, last = one.reference.name.partition(dots)
        begin, end = look(one, first), look(one, last)
        if begin is not None and end is not None:
            # With two dots the first commit itself is meant too, as in git; the page takes three.
            start = begin.oid if dots == "..." else f"{begin.oid}^"
            url = one.reference.url or one.url(reader, f"compare/{start}...{end.oid}")
            words = _shown(one, f"{begin.oid[:SHORT]}{dots}{end.oid[:SHORT]}")
            title = f"Commits {begin.oid[:SHORT]} through {end.oid[:SHORT]}"
            links[one.reference] = Link(url, title, "", words, {"project": str(one.project.id)})
    return links


def _titles_and_numbers(named: Sequence[Named]) -> tuple[list[str], list[int]]:
    titles = {one.reference.name for one in named}
    return sorted(titles), sorted({one.reference.number for one in named if one.reference.number is not None})


def _either(
    one: Named, by_number: Callable[[tuple[int, int]], T | None], by_title: Callable[[tuple[int, str]], T | None]
) -> T | None:
    """A name of digits is a number first."""
    number, project_id = one.reference.number, one.project.id
    found = by_number((project_id, number)) if number is not None else None
    return found if found is not None else by_title((project_id, one.reference.name))


def _shown(one: Named, short: str) -> str:
    return short if one.reference.project is None else f"{one.project.full_path}@{short}"


def _looking(reader: Reader) -> Callable[[Named, str], Commit | None]:
    """How commits are looked for: each name once in each project, and not more than a few of them."""
    repositories: dict[int, Repository | None] = {}
    known: dict[tuple[int, str], Commit | None] = {}

    def look(one: Named, name: str) -> Commit | None:
        key = one.project.id, name
        if key not in known:
            if len(known) >= MOST_COMMITS:
                return None
            if one.project.id not in repositories:
                repositories[one.project.id] = _repository(reader, one, one.project)
            repository = repositories[one.project.id]
            known[key] = None if repository is None else _commit(repository, name)
        return known[key]

    return look


def _repository(reader: Reader, one: Named, project: Project) -> Repository | None:
    if reader.store is None or not may_download_code(reader.actor, one.here, project):
        return None
    try:
        return code_of_project(reader.store, project)
    except (MissingRepository, FileNotFoundError):
        return None


def _commit(repository: Repository, name: str) -> Commit | None:
    try:
        return commit_with_id(repository, name)
    except (MissingRepository, FileNotFoundError):  # Deleted meanwhile.
        return None
