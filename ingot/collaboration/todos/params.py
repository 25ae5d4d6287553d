"""Request parameters of todos."""

from typing import Literal

from ingot.core.api.params import Params

Action = Literal[
    "assigned",
    "mentioned",
    "build_failed",
    "marked",
    "approval_required",
    "unmergeable",
    "directly_addressed",
    "review_requested",
    "review_submitted",
    "merge_train_removed",
    "member_access_requested",
]
TargetType = Literal[
    "Issue",
    "MergeRequest",
    "Commit",
    "Epic",
    "DesignManagement::Design",
    "AlertManagement::Alert",
    "Project",
    "Namespace",
    "Vulnerability",
    "WikiPage::Meta",
]


class ListTodos(Params):
    """Filters of the list; without ``state``, only pending todos are listed."""

    action: Action | None = None
    author_id: int | None = None
    project_id: int | None = None
    group_id: int | None = None
    state: Literal["pending", "done"] | None = None
    type: TargetType | None = None
