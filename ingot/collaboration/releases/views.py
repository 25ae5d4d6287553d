"""Response structs of releases."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import UNSET, UnsetType

from ingot.accounts.users.views import UserBrief, user_brief
from ingot.collaboration.milestones.tables import Milestone
from ingot.collaboration.milestones.views import MilestoneView, milestone_view
from ingot.collaboration.releases.queries import (
    ReleaseAuthor,
    authors_by_id,
    links_by_release,
    milestones_by_release,
    previous_release_or_none,
)
from ingot.collaboration.releases.tables import LinkType, ReleaseLink
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, day_of
from ingot.git.core.errors import MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import branch_tip, commit_or_none, tag_tip
from ingot.git.history.tags import tag_or_none
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.code_access import project_repository
from ingot.projects.projects.queries import projects_by_ids
from ingot.projects.projects.tables import Project
from ingot.repositories.commits.signature_lists import tag_badges
from ingot.repositories.commits.views import CommitView, SignatureView, commit_view
from ingot.repositories.context import RepositoryContext
from ingot.repositories.tags.tables import Release
from ingot.repositories.trees.views import archive_name

ARCHIVE_FORMATS = ("zip", "tar.gz", "tar.bz2", "tar")


class SourceView(View):
    """A source archive of a release."""

    format: str
    url: str


class ReleaseLinkView(View):
    """A link of a release to an asset or a page."""

    id: int
    name: str
    url: str
    direct_asset_url: str
    external: bool
    link_type: LinkType


class AssetsView(View):
    """The source archives and links of a release."""

    count: int
    sources: list[SourceView]
    links: list[ReleaseLinkView]


class EvidenceView(View):
    """The evidence of a release; never collected so far."""

    sha: str
    filepath: str
    collected_at: Timestamp


class ReleaseLinksView(View):
    """The URLs of the pages of a release."""

    self_: str = msgspec.field(name="self")
    edit_url: str


class SimpleReleaseView(View):
    """A release without its commit, author, milestones and assets."""

    tag_name: str
    name: str
    description: str | None
    created_at: Timestamp
    released_at: Timestamp
    upcoming_release: bool


class ReleaseView(SimpleReleaseView):
    """A release of a tag."""

    author: UserBrief | None
    commit: CommitView | None
    milestones: list[MilestoneView]
    commit_path: str | None
    tag_path: str
    assets: AssetsView
    evidences: list[EvidenceView]
    links: ReleaseLinksView = msgspec.field(name="_links")
    description_html: str | UnsetType = UNSET


class ReleaseUrls(msgspec.Struct, frozen=True):
    """The base URLs of the instance and the project's pages."""

    base: str
    project: str


class _ReleaseParts(NamedTuple):
    """Related records of a page of releases, by the id of the release or author."""

    links: dict[int, list[ReleaseLink]]
    authors: dict[int, ReleaseAuthor]
    milestones: dict[int, list[Milestone]]


def _read_parts(db: Connection, releases: list[Release]) -> _ReleaseParts:
    return _ReleaseParts(
        links_by_release(db, releases), authors_by_id(db, releases), milestones_by_release(db, releases)
    )


def release_views(
    db: Connection, context: RepositoryContext, releases: Sequence[Release], urls: ReleaseUrls
) -> list[ReleaseView]:
    """Build the views of a page of releases, with at most four statements and one git read per tag."""
    parts = _read_parts(db, list(releases))
    return [_release_view(db.now, release, context.project, context.repository, urls, parts) for release in releases]


def group_release_views(
    db: Connection, store: RepositoryStore, releases: Sequence[Release], base: str
) -> list[ReleaseView]:
    """Build the views of a page of releases of several projects, with at most five statements."""
    parts = _read_parts(db, list(releases))
    projects = projects_by_ids(db, sorted({release.project_id for release in releases}))
    views = []
    for release in releases:
        project = projects[release.project_id]
        try:
            repository = project_repository(store, project)
        except MissingRepository:  # The release is shown without its commit.
            repository = None
        urls = ReleaseUrls(base, f"{base}/{project.full_path}")
        views.append(_release_view(db.now, release, project, repository, urls, parts))
    return views


def simple_release_view(release: Release, now: Timestamp) -> SimpleReleaseView:
    """Build the view of a release with the columns of its row only."""
    return SimpleReleaseView(
        tag_name=release.tag,
        name=release.name or release.tag,
        description=release.description,
        created_at=release.created_at,
        released_at=release.released_at,
        upcoming_release=release.released_at > now,
    )


def _release_view(
    now: Timestamp,
    release: Release,
    project: Project,
    repository: Repository | None,
    urls: ReleaseUrls,
    parts: _ReleaseParts,
) -> ReleaseView:
    tag, path = quote(release.tag, safe=""), urlsplit(urls.project).path
    tip = tag_tip(repository, release.tag) if repository else None
    commit = commit_or_none(repository, tip) if repository and tip else None
    author = parts.authors.get(release.author_id or 0)
    # Users who can read the code can see the project, and therefore its milestones if these are enabled.
    milestones_enabled = project.issues_enabled or project.merge_requests_enabled
    links = [link_view(link, release, urls) for link in parts.links.get(release.id, [])]
    # The full ref name if a branch with the same name would be archived instead.
    ambiguous = repository is not None and branch_tip(repository, release.tag)
    ref = f"refs/tags/{release.tag}" if ambiguous else release.tag
    sources = [SourceView(kind, source_url(urls.project, project.path, ref, kind)) for kind in ARCHIVE_FORMATS]
    return ReleaseView(
        **msgspec.structs.asdict(simple_release_view(release, now)),
        author=user_brief(author, urls.base) if author else None,
        commit=commit_view(commit, urls.project) if commit else None,
        milestones=[
            milestone_view(milestone, day_of(now), urls.base)
            for milestone in parts.milestones.get(release.id, [])
            if milestones_enabled
        ],
        commit_path=f"{path}/-/commit/{commit.oid}" if commit else None,
        tag_path=f"{path}/-/tags/{tag}",
        assets=AssetsView(len(sources) + len(links), sources, links),
        evidences=[],
        links=ReleaseLinksView(
            self_=f"{urls.project}/-/releases/{tag}", edit_url=f"{urls.project}/-/releases/{tag}/edit"
        ),
    )


def source_url(project_url: str, project_path: str, ref: str, kind: str) -> str:
    """Return the URL of a source archive; it ends with the name that a downloaded file gets."""
    return f"{project_url}/-/archive/{quote(ref)}/{quote(archive_name(project_path, ref))}.{kind}"


def link_view(link: ReleaseLink, release: Release, urls: ReleaseUrls) -> ReleaseLinkView:
    """Build the view of a link."""
    direct = f"{urls.project}/-/releases/{quote(release.tag, safe='')}/downloads{link.filepath}"
    return ReleaseLinkView(
        id=link.id,
        name=link.name,
        url=link.url,
        direct_asset_url=direct if link.filepath else link.url,
        external=not link.url.startswith(f"{urls.project}/"),
        link_type=link.link_type,
    )


def previous_release_time(db: Connection, project_id: int, moment: Timestamp) -> Timestamp | None:
    """Return when the last release before a moment was published; None if there is none."""
    release = previous_release_or_none(db, project_id, moment)
    return release.released_at if release else None


def release_signatures(
    db: Connection, repository: Repository, releases: Sequence[ReleaseView]
) -> dict[str, SignatureView | None]:
    """Return the signatures of the tags of releases by the name of the tag; None for tags without one."""
    tags = {release.tag_name: tag_or_none(repository, release.tag_name) for release in releases}
    badges = tag_badges(db, repository, [tag.oid for tag in tags.values() if tag])
    return {name: badges.get(tag.oid) if tag else None for name, tag in tags.items()}
