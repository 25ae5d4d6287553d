"""Stack of a merge request on its pages: the layers, the steps between them, and rewritten commits."""

import shlex
from typing import NamedTuple

import msgspec

from ingot.collaboration.merge_requests.list_views import ListedState, listed_states
from ingot.collaboration.merge_requests.merge import stack_api
from ingot.collaboration.merge_requests.merge.restack import read_restack
from ingot.collaboration.merge_requests.source_branch import may_push_to_source
from ingot.collaboration.merge_requests.stacks.own_commits import rewritten_base
from ingot.collaboration.merge_requests.views import MergeRequestView
from ingot.web.merge_requests.context import MergeRequestContext


class StackLayer(NamedTuple):
    """A row of the stack."""

    view: MergeRequestView
    state: ListedState
    depth: int
    """Number of times that the stack has branched off below it, beside an older branch."""


class StackPanel(msgspec.Struct, frozen=True):
    """The stack on the page of one of its merge requests."""

    layers: list[StackLayer]
    """The top comes first."""
    may_merge: bool
    """True if the viewer is offered to merge this merge request with all below it."""
    takes_train: bool
    waits_for_drafts: bool
    """True if that is not offered only because one of them is a draft."""


class RewrittenCommits(msgspec.Struct, frozen=True):
    """Commits of a merged layer below that the merge request still contains."""

    lower_iid: int
    commands: list[str]
    is_waiting: bool
    """True if a job is about to rebase the source branch."""
    has_conflict: bool
    may_rebase: bool


def stack_panel(merge_request: MergeRequestContext) -> StackPanel | None:
    """Return the stack with the state of each merge request, or None if there is none."""
    visit, views = merge_request.visit, merge_request.stack
    if not views or merge_request.view.stack is None:
        return None
    states = visit.database.read(lambda db: listed_states(db, visit.viewer.actor, views))
    depths = _depths(views)
    layers = [StackLayer(view, states[view.id], min(depths[view.id], 5)) for view in reversed(views)]
    drafts = any(view.draft for view in merge_request.layers_below) or merge_request.view.draft
    mergeable = (
        merge_request.view.stack.position > 1
        and not merge_request.view.merge_when_pipeline_succeeds
        and merge_request.discussable.may(stack_api.merge_stack)
    )
    takes_train = merge_request.lookup.project.options.has_merge_trains
    return StackPanel(layers, mergeable and not drafts, takes_train, mergeable and drafts)


def _depths(views: list[MergeRequestView]) -> dict[int, int]:
    """Return how often the path to each layer has left the oldest branch; each comes after the one below it."""
    depths: dict[int, int] = {}
    last: dict[int, int] = {}
    carrying: set[int] = set()
    for view in views:
        place = view.stack.position if view.stack else 0
        below = last.get(place - 1)
        depths[view.id] = 0 if below is None else depths[below] + (below in carrying)
        if below is not None:
            carrying.add(below)
        last[place] = view.id
    return depths


def rewritten_commits(merge_request: MergeRequestContext) -> RewrittenCommits | None:
    """Return the commits of a merged layer that a rebase would leave out, or None if there are none."""
    visit, view = merge_request.visit, merge_request.view
    context = visit.database.read(lambda db: read_restack(db, view.id)) if view.state == "opened" else None
    if context is None or context.in_train or merge_request.target_tip is None:
        return None
    base = rewritten_base(merge_request.repository, view.sha, merge_request.target_tip, context.lower_heads)
    if base is None:
        return None
    branch, target = shlex.quote(view.source_branch), shlex.quote(f"origin/{view.target_branch}")
    may_push = visit.database.read(
        lambda db: may_push_to_source(db, visit.viewer.actor, context.merge_request, forced=True)
    )
    return RewrittenCommits(
        lower_iid=context.lower.iid,
        commands=[
            "git fetch origin",
            f"git rebase --onto {target} {base[:12]} {branch}",
            f"git push --force-with-lease origin {branch}",
        ],
        is_waiting=context.restack.state == "waiting",
        has_conflict=context.restack.state == "conflict",
        may_rebase=may_push,
    )
