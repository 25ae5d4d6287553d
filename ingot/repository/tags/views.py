"""How tags are shown."""

from collections.abc import Sequence

from ingot.api.views import View
from ingot.db.connection import Connection
from ingot.git.commits import decoded
from ingot.git.sorted_refs import NamedRef
from ingot.git.tagging import read_tags
from ingot.repository.commits.views import CommitView, commit_view, shown_time
from ingot.repository.place import Place
from ingot.repository.protection.policy import tag_rules_on
from ingot.repository.protection.queries import tag_rules
from ingot.repository.tags.queries import releases_of
from ingot.repository.tags.tables import Release


class TagReleaseView(View):
    """What is told about a tag, in the older form."""

    tag_name: str
    description: str | None


class TagView(View):
    """A tag with the commit that it leads to."""

    name: str
    message: str | None
    target: str
    commit: CommitView | None
    release: TagReleaseView | None
    protected: bool
    created_at: str | None


def tag_views(db: Connection, place: Place, tags: Sequence[NamedRef], project_url: str) -> list[TagView]:
    """A page of tags: two statements, and the objects of the page alone."""
    told = releases_of(db, place.project.id, [decoded(tag.name) for tag in tags])
    rules = tag_rules(db, place.project.id)
    views = []
    for tag in read_tags(place.repository, tags):
        name = decoded(tag.name)
        release = told.get(name)
        views.append(
            TagView(
                name=name,
                message=tag.message,
                target=tag.target,
                commit=commit_view(tag.commit, project_url) if tag.commit else None,
                release=tag_release_view(release) if release else None,
                protected=bool(tag_rules_on(rules, name)),
                created_at=shown_time(tag.tagger) if tag.tagger else None,
            )
        )
    return views


def tag_release_view(release: Release) -> TagReleaseView:
    """What is told about a tag."""
    return TagReleaseView(release.tag, release.description)
