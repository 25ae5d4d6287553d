"""Releases."""

from collections.abc import Sequence
from typing import Any

from ingot.collaboration.releases.views import ReleaseView
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import to_global_id
from ingot.graphql.loaders import render_html
from ingot.graphql.params import order
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()
resolvers.rename("ReleaseLinks", selfUrl="self_")


@resolvers.single("Project.releases")
def list_releases(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the releases of a project."""
    return listed(
        context, "GET /projects/:id/releases", arguments, order(arguments.get("sort"), "released_at"), id=project.id
    )


@resolvers.single("Project.release")
def find_release(context: QueryContext, project: Any, arguments: Arguments) -> Any:
    """Return a release by its tag."""
    return context.call("GET /projects/:id/releases/:tag_name", id=project.id, tag_name=arguments["tagName"])


@resolvers.value("Release.id")
def release_id(_: QueryContext, release: ReleaseView) -> str:
    """Return the global id; releases are identified by their tag."""
    return to_global_id("Release", release.tag_name)


@resolvers.batch("Release.descriptionHtml")
def description_html(context: QueryContext, releases: Sequence[ReleaseView], _: Arguments) -> list[str | None]:
    """Return the descriptions as HTML."""
    return render_html(context, releases, lambda release: release.description, lambda _: None)


@resolvers.value("Release.historicalRelease")
def is_historical(_: QueryContext, release: ReleaseView) -> bool:
    """Return whether the release was published before it was created."""
    return release.released_at < release.created_at


@resolvers.batch("Release.milestones")
def list_milestones(_: QueryContext, releases: Sequence[ReleaseView], arguments: Arguments) -> list[ConnectionPage]:
    """Return the milestones of releases."""
    return [connection_of(release.milestones, arguments) for release in releases]


@resolvers.batch("Release.evidences")
def list_evidences(_: QueryContext, releases: Sequence[ReleaseView], arguments: Arguments) -> list[ConnectionPage]:
    """Return the evidences of releases."""
    return [connection_of(release.evidences, arguments) for release in releases]


@resolvers.value("ReleaseEvidence.id")
def evidence_id(_: QueryContext, evidence: Any) -> str:
    """Return the global id."""
    return to_global_id("Releases::Evidence", evidence.sha)


@resolvers.batch("ReleaseAssets.links")
def list_links(_: QueryContext, assets: Sequence[Any], arguments: Arguments) -> list[ConnectionPage]:
    """Return the links of releases."""
    return [connection_of(each.links, arguments) for each in assets]


@resolvers.batch("ReleaseAssets.sources")
def list_sources(_: QueryContext, assets: Sequence[Any], arguments: Arguments) -> list[ConnectionPage]:
    """Return the archives of releases."""
    return [connection_of(each.sources, arguments) for each in assets]


@resolvers.value("ReleaseAssetLink.id")
def link_id(_: QueryContext, link: Any) -> str:
    """Return the global id."""
    return to_global_id("Releases::Link", link.id)
