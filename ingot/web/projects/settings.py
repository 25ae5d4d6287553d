"""The general settings of a project, and what is dangerous to do with it."""

from functools import partial
from typing import Any

from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.projects import general
from ingot.web.projects.forms import Forms, texts_of, tried
from ingot.web.projects.general import Parts, part_of
from ingot.web.projects.namespaces import offered_namespaces, typed_namespace
from ingot.web.projects.place import Place, place_of
from ingot.web.refusals import Refusal, sentences

pages = Pages()
FEATURES = {
    "issues_enabled": "Issues",
    "merge_requests_enabled": "Merge requests",
    "wiki_enabled": "Wiki",
    "snippets_enabled": "Snippets",
    "jobs_enabled": "Pipelines",
    "public_jobs": "Everybody who sees the project sees its pipelines",
    "lfs_enabled": "Large files (Git LFS)",
    "request_access_enabled": "People may ask for access",
    "printing_merge_request_link_enabled": "A push shows how to open a merge request",
}
REPOSITORY = {"enabled": "Everybody who sees the project", "private": "Its members", "disabled": "Nobody"}
MERGING = {
    "only_allow_merge_if_pipeline_succeeds": "Merge only after the pipeline succeeded",
    "only_allow_merge_if_all_discussions_are_resolved": "Merge only after all discussions are resolved",
    "remove_source_branch_after_merge": "Remove the source branch, unless somebody says otherwise",
}
METHODS = {
    "merge": "A merge commit",
    "rebase_merge": "A merge commit, once the branch was rebased",
    "ff": "Fast-forward, without a merge commit",
}
SQUASHING = {
    "default_off": "If somebody asks for it",
    "default_on": "Unless somebody says otherwise",
    "always": "Always",
    "never": "Never",
}
VISIBILITIES = {"private": "Only its members", "internal": "Everybody who is signed in", "public": "Everybody"}
_PARTS: Parts = {
    "general": (("name", "description", "topics"), ()),
    "features": (("repository_access_level",), tuple(FEATURES)),
    "merging": (("merge_method", "squash_option"), tuple(MERGING)),
    "visibility": (("visibility",), ()),
    "path": (("path",), ()),
}


def settings_of(visit: Visit) -> Place:
    """The project, for those who administer it; nobody else learns that it has settings."""
    place = place_of(visit)
    if not place.may("GET", "/protected_branches"):
        raise NotFound("Page")
    return place


@pages.get("/:path/-/edit")
def show_settings(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """What is set."""
    return _page(settings_of(visit), Forms())


@pages.put("/:path/-/edit")
def change_settings(visit: Visit) -> Reply:
    """Change what one of the forms holds; another path leads elsewhere."""
    place = settings_of(visit)
    part, typed = part_of(visit, _PARTS)
    sent = {name: value for name, value in typed.items() if value != "" or name != "repository_access_level"}
    if "topics" in sent:
        sent["topics"] = [topic.strip() for topic in typed["topics"].split(",") if topic.strip()]
    path = typed.get("path") or place.project.path
    there = f"/{place.project.namespace.full_path}/{path}/-/edit"
    return tried(part, typed, lambda: place.call("PUT", "", sent), partial(_page, place), there)


@pages.post("/:path/-/settings/avatar")
def change_picture(visit: Visit) -> Reply:
    """Show another picture, or none."""
    place = settings_of(visit)
    return general.change_picture(place, partial(_page, place))


@pages.post("/:path/-/settings/archive")
def archive(visit: Visit) -> Reply:
    """Make it read-only."""
    return _acted(settings_of(visit), "POST", "/archive", "archive")


@pages.post("/:path/-/settings/unarchive")
def unarchive(visit: Visit) -> Reply:
    """Make it writable again."""
    return _acted(settings_of(visit), "POST", "/unarchive", "archive")


@pages.delete("/:path/-/settings/fork")
def remove_fork_relation(visit: Visit) -> Reply:
    """Forget what it is a copy of."""
    return _acted(settings_of(visit), "DELETE", "/fork", "fork")


@pages.put("/:path/-/settings/transfer")
def transfer(visit: Visit) -> Reply:
    """Put it elsewhere, and lead there."""
    place = settings_of(visit)
    typed = texts_of(visit, "transfer", ("namespace",))
    try:
        there = typed_namespace(visit, typed["namespace"]).full_path
        place.call("PUT", "/transfer", {"namespace": there})
    except Refusal as refusal:
        return _page(place, Forms("transfer", typed, sentences(refusal)))
    return Redirect(f"/{there}/{place.project.path}")


@pages.delete("/:path/-/edit")
def delete(visit: Visit) -> Reply:
    """Delete it with everything in it, for those who typed its path, and show how that goes."""
    place = settings_of(visit)
    return general.delete(place, place.project.path_with_namespace, 1, partial(_page, place))


def _acted(place: Place, method: str, route: str, form: str) -> Reply:
    return tried(form, {}, lambda: place.call(method, route), partial(_page, place), f"{place.url}/-/edit")


def _page(place: Place, forms: Forms) -> Page:
    offered = offered_namespaces(place.visit)
    context: dict[str, Any] = {
        "section": "edit",
        "forms": forms,
        "features": FEATURES,
        "repository": REPOSITORY,
        "merging": MERGING,
        "methods": METHODS,
        "squashing": SQUASHING,
        "visibilities": VISIBILITIES,
        "may_change": place.may("PUT", ""),
        "may_own": place.may("POST", "/archive"),
        "may_unlink": place.may("DELETE", "/fork") and bool(place.project.forked_from_project),
        "namespaces": [
            (each.full_path, each.full_path) for each in offered.items if each.id != place.project.namespace.id
        ],
        "searched": offered.items if offered.more else [],
    }
    return place.page("projects/edit.html", "settings", context, forms.status)


@pages.get("/:path/-/settings")
def lead_to_settings(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """The menu begins with the general ones."""
    return Redirect(f"{settings_of(visit).url}/-/edit")
