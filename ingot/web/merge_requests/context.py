"""Context of the pages of a merge request: the request, its source branch and the viewer's permissions."""

import shlex
from functools import cached_property
from typing import Any, NamedTuple

from ingot.collaboration.labels.views import LabelBrief, label_briefs_of
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests import policy
from ingot.collaboration.merge_requests.merge import stack_api
from ingot.collaboration.merge_requests.versions.views import PushedVersion, newest_version
from ingot.collaboration.merge_requests.views import MergeRequestDetailView, MergeRequestView
from ingot.core.errors import NotFound
from ingot.projects.projects import api as projects_api
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.views import ProjectView
from ingot.repositories import browser
from ingot.repositories.branches import api as branches_api
from ingot.repositories.trees import api as trees_api
from ingot.web.discussions.discussable import MERGE_REQUEST, discussable_in
from ingot.web.merge_requests.reviewers import reviewer_states
from ingot.web.merge_requests.source_branch import SourceBranch
from ingot.web.page_routes import TemplateResponse, Visit
from ingot.web.projects.clone_urls import clone_urls
from ingot.web.projects.context import ProjectContext, project_context


class OwnReview(NamedTuple):
    """Results that the viewer may give to a review besides a comment and an approval."""

    may_request: bool
    """Whether the viewer may request changes."""
    has_requested: bool
    """Whether the viewer has requested changes, and may withdraw this."""


class MergeRequestContext:
    """Merge request as seen by one viewer."""

    def __init__(self, parent: ProjectContext, iid: str) -> None:
        self.parent = parent
        self.visit = parent.visit
        self.discussable = discussable_in(parent, MERGE_REQUEST, iid)
        self.lookup = self.discussable.find(merge_requests_api.get_merge_request)

    @cached_property
    def view(self) -> MergeRequestDetailView:
        """Return the view of the API."""
        view: MergeRequestDetailView = self.discussable.ask(merge_requests_api.get_merge_request)
        return view

    @cached_property
    def change_requests(self) -> list[str]:
        """Return the usernames of the reviewers who have requested changes."""
        if not self.lookup.merge_request.change_requests:
            return []
        return [each.username for each in self.view.reviewers if self.reviews.get(each.id) == "requested_changes"]

    @cached_property
    def reviews(self) -> dict[int, str]:
        """Return the result of each reviewer's review, by the reviewer's id."""
        return reviewer_states(self.discussable, self.view.reviewers)

    @property
    def own_review(self) -> OwnReview:
        """Return the results that the viewer may give."""
        viewer, lookup = self.visit.viewer, self.lookup
        if viewer.user is None or lookup.merge_request.state != "opened":
            return OwnReview(may_request=False, has_requested=False)
        is_author = lookup.merge_request.author_id == viewer.user.id and viewer.user.id not in lookup.reviewers
        return OwnReview(
            may_request=not is_author and policy.may_request_changes(viewer.actor, lookup.access, lookup),
            has_requested=viewer.user.username in self.change_requests,
        )

    @cached_property
    def stack(self) -> list[MergeRequestView]:
        """Return the merge requests of its stack: each before those stacked on it."""
        views: list[MergeRequestView] = (
            self.discussable.ask(stack_api.list_stack) if self.view.stack is not None else []
        )
        return views

    @property
    def layers_below(self) -> list[MergeRequestView]:
        """Return the merge requests below it in its stack, the nearest first."""
        layers: dict[int, MergeRequestView] = {}
        for view in self.stack:
            if view.id == self.view.id:
                break
            layers[view.stack.position if view.stack else 0] = view
        return [layers[place] for place in sorted(layers, reverse=True) if place < self._position]

    @property
    def _position(self) -> int:
        return self.view.stack.position if self.view.stack else 0

    @property
    def layer_below(self) -> MergeRequestView | None:
        """Return the merge request on which it is stacked."""
        return next(iter(self.layers_below), None)

    @property
    def layer_above(self) -> MergeRequestView | None:
        """Return the oldest merge request that is stacked on it."""
        following = iter(self.stack)
        for view in following:
            if view.id == self.view.id:
                above = next(following, None)
                return above if above and above.stack and above.stack.position == self._position + 1 else None
        return None

    @property
    def url(self) -> str:
        """Return the base path of its pages."""
        return self.discussable.url

    @cached_property
    def repository(self) -> Any:
        """Return the target project's repository, which has all commits of the merge request."""
        return repository_store(self.visit.settings).open(self.lookup.project.repository_key)

    @cached_property
    def target_tip(self) -> str | None:
        """Return the head of the target branch, or None if the branch does not exist."""
        return browser.branch_head(self.repository, self.view.target_branch)

    @cached_property
    def version(self) -> PushedVersion | None:
        """Return the newest version."""
        return self.visit.database.read(lambda db: newest_version(db, self.view.id))

    @cached_property
    def may_edit(self) -> bool:
        """Return whether the viewer may edit the title and description."""
        return policy.may_edit_merge_request(self.visit.viewer.actor, self.lookup.access, self.lookup)

    @cached_property
    def may_triage(self) -> bool:
        """Return whether the viewer may change labels, milestone and assignees."""
        return policy.may_triage(self.visit.viewer.actor, self.lookup.access, self.lookup.project)

    @cached_property
    def labels(self) -> list[LabelBrief]:
        """Return the labels with their colors."""

        if not self.view.labels:
            return []
        number = self.view.id
        return self.visit.database.read(lambda db: label_briefs_of(db, "merge_request", [number])).get(number, [])

    @cached_property
    def source(self) -> SourceBranch:
        """Return the source branch as far as the viewer may see it: a fork may be private or deleted."""
        view, project = self.view, self.parent.project
        if view.source_project_id == project.id:
            exists = browser.has_branch(self.repository, view.source_branch)
            return SourceBranch(view.source_branch, project, own=True, branch_exists=exists)
        fork = self._fork()
        if fork is None:
            return SourceBranch(view.source_branch, None)
        urls = self.visit.database.read(lambda db: clone_urls(db, fork))
        return SourceBranch(
            view.source_branch,
            fork,
            branch_exists=self._has_source_branch(fork),
            address=next(iter(urls.values())),
        )

    def source_tip(self) -> str | None:
        """Return the head of the source branch, or None if its project is not visible."""
        if self.source.own:
            return browser.branch_head(self.repository, self.view.source_branch)
        if self.source.project is None:
            return None
        path = {"id": self.source.project.id, "branch": self.view.source_branch}
        head: str = self.visit.ask(branches_api.get_branch, **path).commit.id
        return head

    def _fork(self) -> ProjectView | None:
        if self.view.source_project_id is None:
            return None
        try:
            fork: ProjectView = self.visit.ask(projects_api.get_project, id=self.view.source_project_id)
        except NotFound:
            return None
        return fork

    def _has_source_branch(self, fork: ProjectView) -> bool:
        """Return whether the branch exists; for code that the viewer may not read, assume that it does."""
        try:
            self.visit.ask(branches_api.get_branch, id=fork.id, branch=self.view.source_branch)
        except NotFound:
            return not self.visit.may(trees_api.list_tree, id=fork.id)
        return True

    def checkout(self) -> str:
        """Return the git command that checks out the merge request."""
        branch = shlex.quote(self.view.source_branch)
        if self.source.own and self.source.branch_exists:
            return f"git fetch origin && git checkout -b {branch} {shlex.quote(f'origin/{self.view.source_branch}')}"
        name = shlex.quote(f"merge-request-{self.view.iid}")
        return f"git fetch origin merge-requests/{self.view.iid}/head && git checkout -b {name} FETCH_HEAD"

    def page(self, template: str, selected: str, context: dict[str, Any], status: int = 200) -> TemplateResponse:
        """Render one of its pages; ``selected`` is the selected tab."""
        return self.parent.page(template, "merge_requests", {**self.shared_context(selected), **context}, status)

    def shared_context(self, selected: str) -> dict[str, Any]:
        """Return the context that all of its pages need."""
        tabs = [
            ("overview", self.url, "Overview", self.view.user_notes_count),
            ("commits", f"{self.url}/commits", "Commits", self.version.commits_count if self.version else None),
            ("diffs", f"{self.url}/diffs", "Changes", self.view.changes_count),
            ("pipelines", f"{self.url}/pipelines", "Pipelines", None),
        ]
        return {
            "merge_request": self,
            "parent": self.parent,
            "errors": [],
            "request": self.view,
            "discussable": self.discussable,
            "merge_request_tab": selected,
            "merge_request_tabs": tabs,
        }


def merge_request_context(visit: Visit, iid: str | None = None) -> MergeRequestContext:
    """Return the merge request of the URL or with this number; raise NotFound if it is not visible."""
    parent, iid = project_context(visit), iid or visit.request.path[MERGE_REQUEST.path_parameter]
    if not (iid.isascii() and iid.isdigit()):
        raise NotFound("Merge Request")
    return MergeRequestContext(parent, iid)
