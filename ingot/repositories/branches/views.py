"""Response structs of branches."""

from collections.abc import Sequence
from urllib.parse import quote

from ingot.core.access.actor import Actor
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.git.core.sorted_refs import NamedRef
from ingot.git.history.commits import branch_tip, decode_text, read_commits
from ingot.git.history.merged_branches import merged_branches
from ingot.repositories.commits.views import CommitView, commit_view
from ingot.repositories.context import RepositoryContext
from ingot.repositories.protection import policy as protection
from ingot.repositories.protection.queries import branch_rules
from ingot.repositories.ref_changes.policy import branch_push_refusal


class BranchView(View):
    """A branch with the commit at its tip."""

    name: str
    commit: CommitView
    merged: bool
    protected: bool
    developers_can_push: bool
    developers_can_merge: bool
    can_push: bool
    default: bool
    web_url: str


def branch_views(
    db: Connection, actor: Actor, context: RepositoryContext, branches: Sequence[NamedRef], project_url: str
) -> list[BranchView]:
    """Return the views of a page of branches, with one statement and at most one walk through the history."""
    access, project, repository = context
    default = branch_tip(repository, project.default_branch)
    merged = merged_branches(repository, branches, default) if default else set()
    rules = branch_rules(db, project.id)
    views = []
    for branch, commit in zip(branches, read_commits(repository, [each.oid for each in branches]), strict=True):
        name = decode_text(branch.name)
        matching = protection.matching_branch_rules(rules, name)
        views.append(
            BranchView(
                name=name,
                commit=commit_view(commit, project_url),
                # A branch that was just created from the default branch has nothing to merge.
                merged=branch.oid in merged and branch.oid != default,
                protected=bool(matching),
                developers_can_push=protection.developers_can_push(matching),
                developers_can_merge=protection.developers_can_merge(matching),
                can_push=branch_push_refusal(actor, access, project, rules, name) is None,
                default=name == project.default_branch,
                web_url=f"{project_url}/-/tree/{quote(name)}",
            )
        )
    return views
