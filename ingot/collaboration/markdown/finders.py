"""Lookup of references into projects, one function per kind, each for all references at once."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar
from urllib.parse import urlencode

from ingot.collaboration.issues.queries import visible_issues_by_iid
from ingot.collaboration.labels.queries import usable_labels_in_projects
from ingot.collaboration.markdown.reader_context import Finder, ProjectReference, ReferenceContext
from ingot.collaboration.merge_requests.queries import visible_merge_requests_by_iid
from ingot.collaboration.milestones.policy import may_read_milestones
from ingot.collaboration.milestones.queries import usable_milestones_in_projects
from ingot.collaboration.milestones.views import milestone_view
from ingot.collaboration.planning.scope import ProjectScope
from ingot.collaboration.snippets.queries import visible_snippets_by_id
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.markup.links import Link
from ingot.core.markup.references import Reference
from ingot.git.core.errors import MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit, commit_by_prefix_or_none
from ingot.projects.projects.code_access import readable_repository
from ingot.projects.projects.policy import may_download_code
from ingot.projects.projects.tables import Project

SHORT_OID_LENGTH = 8
"""Length of abbreviated commit ids in links."""
MAX_COMMITS = 200
"""Limit of commit lookups per text, since each one calls git."""
T = TypeVar("T")


def _issue_contexts(references: Iterable[ProjectReference]) -> list[ProjectScope]:
    return list({entry.project.id: ProjectScope(entry.access, entry.project) for entry in references}.values())


ProjectIids = Collection[tuple[int, int]]
"""Pairs of project id and number in the project."""
VisibleLookup = Callable[
    [Connection, Actor, Sequence[ProjectScope], ProjectIids], Mapping[tuple[int, int], "LinkTarget"]
]
"""Returns those of these objects that the actor may see; the projects must be visible to the actor."""


class LinkTarget(NamedTuple):
    """Row id and title of a reference's target."""

    id: int
    title: str


def iid_finder(prefix: str, path: str, data_key: str, lookup: VisibleLookup) -> Finder:
    """Return a finder for objects numbered per project, given the prefix, path and data attribute of their links."""

    def find(reader: ReferenceContext, references: Sequence[ProjectReference]) -> dict[Reference, Link]:
        keyed = [
            (entry, (entry.project.id, entry.reference.number))
            for entry in references
            if entry.reference.number is not None
        ]
        targets = lookup(reader.db, reader.actor, _issue_contexts(references), [key for _, key in keyed])
        links = {}
        for entry, key in keyed:
            if key in targets:
                url = entry.reference.url or entry.url(reader, f"{path}/{key[1]}")
                data = {"project": str(entry.project.id), data_key: str(targets[key].id)}
                links[entry.reference] = Link(
                    url, targets[key].title, "", entry.text(reader, f"{prefix}{key[1]}"), data
                )
        return links

    return find


def _visible_issues(
    db: Connection, actor: Actor, contexts: Sequence[ProjectScope], numbers: ProjectIids
) -> dict[tuple[int, int], LinkTarget]:
    """Look up issues; confidential ones that the actor may not see are left out."""
    visible = visible_issues_by_iid(db, actor, contexts, numbers, to_name_only=True)
    return {key: LinkTarget(item.issue.id, item.issue.title) for key, item in visible.items()}


def _visible_merge_requests(
    db: Connection, actor: Actor, contexts: Sequence[ProjectScope], numbers: ProjectIids
) -> dict[tuple[int, int], LinkTarget]:
    visible = visible_merge_requests_by_iid(db, actor, contexts, numbers)
    return {key: LinkTarget(item.id, item.title) for key, item in visible.items()}


find_issues = iid_finder("#", "issues", "issue", _visible_issues)
find_merge_requests = iid_finder("!", "merge_requests", "merge-request", _visible_merge_requests)


def find_labels(reader: ReferenceContext, references: Sequence[ProjectReference]) -> dict[Reference, Link]:
    """Find labels by id or title, in projects with issues or merge requests."""
    references = [entry for entry in references if may_read_milestones(reader.actor, entry.access, entry.project)]
    titles, numbers = _titles_and_numbers(references)
    labels = usable_labels_in_projects(
        reader.db, [context.project.id for context in _issue_contexts(references)], titles, numbers
    )
    by_title = {(project_id, label.title): label for project_id, label in labels}
    by_number = {(project_id, label.id): label for project_id, label in labels}
    links = {}
    for entry in references:
        label = _by_number_or_title(entry, by_number.get, by_title.get)
        if label is not None:
            url = entry.url(reader, f"issues?{urlencode({'label_name': label.title})}")
            data = {"project": str(entry.project.id), "label": str(label.id)}
            is_local = entry.reference.project is None
            text = label.title if is_local else f"{label.title} in {entry.project.full_path}"
            links[entry.reference] = Link(url, label.description or "", "", text, data)
    return links


def find_milestones(reader: ReferenceContext, references: Sequence[ProjectReference]) -> dict[Reference, Link]:
    """Find milestones by number or title, in projects with issues or merge requests."""
    references = [entry for entry in references if may_read_milestones(reader.actor, entry.access, entry.project)]
    titles, numbers = _titles_and_numbers(references)
    milestones = usable_milestones_in_projects(
        reader.db, [context.project.id for context in _issue_contexts(references)], titles, numbers
    )
    by_title = {(project_id, milestone.title): milestone for project_id, milestone in milestones}
    by_number = {(project_id, item.iid): item for project_id, item in milestones if item.project_id == project_id}
    links = {}
    for entry in references:
        milestone = _by_number_or_title(entry, by_number.get, by_title.get)
        if milestone is not None:
            url = milestone_view(milestone, reader.db.today, reader.base_url).web_url
            data = {"project": str(entry.project.id), "milestone": str(milestone.id)}
            is_local = entry.reference.project is None
            text = f"%{milestone.title}" if is_local else f"%{milestone.title} in {entry.project.full_path}"
            links[entry.reference] = Link(url, "", "", text, data)
    return links


def find_snippets(reader: ReferenceContext, references: Sequence[ProjectReference]) -> dict[Reference, Link]:
    """Find snippets of projects by id."""
    numbers = sorted({entry.reference.number for entry in references if entry.reference.number is not None})
    snippets = visible_snippets_by_id(reader.db, reader.actor, _issue_contexts(references), numbers)
    links = {}
    for entry in references:
        snippet = snippets.get(entry.reference.number or 0)
        if snippet is not None and snippet.project_id == entry.project.id:
            data = {"project": str(entry.project.id), "snippet": str(snippet.id)}
            url = entry.reference.url or entry.url(reader, f"snippets/{snippet.id}")
            links[entry.reference] = Link(url, snippet.title, "", entry.text(reader, f"${snippet.id}"), data)
    return links


def find_commits(reader: ReferenceContext, references: Sequence[ProjectReference]) -> dict[Reference, Link]:
    """Find commits by their (abbreviated) ids, if the reader may read the code."""
    find = _commit_lookup(reader)
    links = {}
    for entry in references:
        commit = find(entry, entry.reference.name)
        if commit is not None:
            url = entry.reference.url or entry.url(reader, f"commit/{commit.oid}")
            data = {"project": str(entry.project.id), "commit": commit.oid}
            links[entry.reference] = Link(
                url, commit.title, "", _commit_text(entry, commit.oid[:SHORT_OID_LENGTH]), data
            )
    return links


def find_commit_ranges(reader: ReferenceContext, references: Sequence[ProjectReference]) -> dict[Reference, Link]:
    """Find ranges of commits; both ends must exist."""
    find = _commit_lookup(reader)
    links = {}
    for entry in references:
        dots = "..." if "..." in entry.reference.name else ".."
        first, _, last = entry.reference.name.partition(dots)
        start_commit, end_commit = find(entry, first), find(entry, last)
        if start_commit is not None and end_commit is not None:
            # Two dots include the first commit here, unlike on the compare page, which uses three.
            start = start_commit.oid if dots == "..." else f"{start_commit.oid}^"
            url = entry.reference.url or entry.url(reader, f"compare/{start}...{end_commit.oid}")
            text = _commit_text(
                entry, f"{start_commit.oid[:SHORT_OID_LENGTH]}{dots}{end_commit.oid[:SHORT_OID_LENGTH]}"
            )
            title = f"Commits {start_commit.oid[:SHORT_OID_LENGTH]} through {end_commit.oid[:SHORT_OID_LENGTH]}"
            links[entry.reference] = Link(url, title, "", text, {"project": str(entry.project.id)})
    return links


def _titles_and_numbers(references: Sequence[ProjectReference]) -> tuple[list[str], list[int]]:
    titles = {entry.reference.name for entry in references}
    return sorted(titles), sorted(
        {entry.reference.number for entry in references if entry.reference.number is not None}
    )


def _by_number_or_title(
    entry: ProjectReference,
    by_number: Callable[[tuple[int, int]], T | None],
    by_title: Callable[[tuple[int, str]], T | None],
) -> T | None:
    """Return the object with this number or title; a name of digits is tried as a number first."""
    number, project_id = entry.reference.number, entry.project.id
    match = by_number((project_id, number)) if number is not None else None
    return match if match is not None else by_title((project_id, entry.reference.name))


def _commit_text(entry: ProjectReference, short: str) -> str:
    return short if entry.reference.project is None else f"{entry.project.full_path}@{short}"


def _commit_lookup(reader: ReferenceContext) -> Callable[[ProjectReference, str], Commit | None]:
    """Return a lookup of commits that caches results and stops after ``MAX_COMMITS`` names."""
    repositories: dict[int, Repository | None] = {}
    commits: dict[tuple[int, str], Commit | None] = {}

    def find(entry: ProjectReference, name: str) -> Commit | None:
        key = entry.project.id, name
        if key not in commits:
            if len(commits) >= MAX_COMMITS:
                return None
            if entry.project.id not in repositories:
                repositories[entry.project.id] = _repository(reader, entry, entry.project)
            repository = repositories[entry.project.id]
            commits[key] = None if repository is None else _commit(repository, name)
        return commits[key]

    return find


def _repository(reader: ReferenceContext, entry: ProjectReference, project: Project) -> Repository | None:
    if reader.store is None or not may_download_code(reader.actor, entry.access, project):
        return None
    try:
        return readable_repository(reader.store, reader.actor, entry.access, project)
    except (MissingRepository, FileNotFoundError):  # Deleted since the row was read.
        return None


def _commit(repository: Repository, name: str) -> Commit | None:
    try:
        return commit_by_prefix_or_none(repository, name)
    except (MissingRepository, FileNotFoundError):  # Deleted in the meantime.
        return None
