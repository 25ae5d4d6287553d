"""Response structs of tags."""

from collections.abc import Sequence

from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.git.core.sorted_refs import NamedRef
from ingot.git.history.commits import decode_text
from ingot.git.history.tags import read_tags
from ingot.repositories.commits.views import CommitView, commit_view, signature_time
from ingot.repositories.context import RepositoryContext
from ingot.repositories.protection.policy import matching_tag_rules
from ingot.repositories.protection.queries import tag_rules
from ingot.repositories.tags.policy import may_read_releases
from ingot.repositories.tags.queries import releases_by_tag
from ingot.repositories.tags.tables import Release


class TagReleaseView(View):
    """Release of a tag in the older format."""

    tag_name: str
    description: str | None


class TagView(View):
    """A tag with its commit."""

    name: str
    message: str | None
    target: str
    commit: CommitView | None
    release: TagReleaseView | None
    protected: bool
    created_at: str | None


def tag_views(
    db: Connection, actor: Actor, context: RepositoryContext, tags: Sequence[NamedRef], project_url: str
) -> list[TagView]:
    """Return the views of a page of tags, with two statements; reads only the objects of the page."""
    releases: dict[str, Release] = {}
    if may_read_releases(actor, context.access, context):
        releases = releases_by_tag(db, context.project.id, [decode_text(tag.name) for tag in tags])
    rules = tag_rules(db, context.project.id)
    views = []
    for tag in read_tags(context.repository, tags):
        name = decode_text(tag.name)
        release = releases.get(name)
        views.append(
            TagView(
                name=name,
                message=tag.message,
                target=tag.target,
                commit=commit_view(tag.commit, project_url) if tag.commit else None,
                release=tag_release_view(release) if release else None,
                protected=bool(matching_tag_rules(rules, name)),
                created_at=signature_time(tag.tagger) if tag.tagger else None,
            )
        )
    return views


def tag_release_view(release: Release) -> TagReleaseView:
    """Return the older view of a release."""
    return TagReleaseView(release.tag, release.description)
