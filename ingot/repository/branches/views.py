"""How branches are shown."""

from collections.abc import Sequence
from urllib.parse import quote

from ingot.access.actor import Actor
from ingot.api.views import View
from ingot.db.connection import Connection
from ingot.git.commits import branch_tip, decoded, read_commits
from ingot.git.merged import merged_into
from ingot.git.sorted_refs import NamedRef
from ingot.projects.policy import may_push_code
from ingot.repository.commits.views import CommitView, commit_view
from ingot.repository.place import Place
from ingot.repository.protection import policy as protection
from ingot.repository.protection.queries import branch_rules


class BranchView(View):
    """A branch with the commit at its head."""

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
    db: Connection, actor: Actor, place: Place, branches: Sequence[NamedRef], project_url: str
) -> list[BranchView]:
    """A page of branches: one statement, and one walk through history where it is not known what is merged."""
    here, project, repository = place
    default = branch_tip(repository, project.default_branch)
    merged = merged_into(repository, branches, default) if default else set()
    rules = branch_rules(db, project.id)
    may_write = may_push_code(actor, here, project)
    views = []
    for branch, commit in zip(branches, read_commits(repository, [each.oid for each in branches]), strict=True):
        name = decoded(branch.name)
        matching = protection.branch_rules_on(rules, name)
        views.append(
            BranchView(
                name=name,
                commit=commit_view(commit, project_url),
                # One that was only just made from the default branch has nothing that could be merged.
                merged=branch.oid in merged and branch.oid != default,
                protected=bool(matching),
                developers_can_push=protection.developers_can_push(matching),
                developers_can_merge=protection.developers_can_merge(matching),
                can_push=may_write and (not matching or protection.may_push_to(actor, here, matching)),
                default=name == project.default_branch,
                web_url=f"{project_url}/-/tree/{quote(name)}",
            )
        )
    return views
