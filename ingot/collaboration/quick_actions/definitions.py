"""Quick actions shared by issues and merge requests: title, state, assignees, labels, milestone, todos and emoji."""

from collections.abc import Sequence

from ingot.accounts.users.queries import users_by_usernames
from ingot.accounts.users.tables import User
from ingot.collaboration.emoji.service import toggle_award
from ingot.collaboration.labels.queries import usable_labels_in_projects
from ingot.collaboration.labels.tables import Label
from ingot.collaboration.milestones.queries import usable_milestones_in_projects
from ingot.collaboration.quick_actions.command_context import CommandContext, CommandRegistry
from ingot.collaboration.quick_actions.events import TodoCommandGiven
from ingot.collaboration.subjects import Subject
from ingot.collaboration.subscriptions.service import set_subscription
from ingot.core.access.actor import Actor
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.core.events.bus import emit
from ingot.core.markup.emoji import canonical_name
from ingot.core.markup.references import extract_references

MAX_TITLE_LENGTH = 255
MAX_NAMES = 100
PLANNING_COMMANDS: CommandRegistry[CommandContext] = CommandRegistry()


@PLANNING_COMMANDS.on("close", routes=["PUT {}"])
def close(context: CommandContext, _: str) -> str | None:
    """Close the subject if it is open."""
    if not context.may_edit or context.subject is None or context.subject.state != "opened":
        return None
    context.pending_edits["state_event"] = "close"
    return "Closed this."


@PLANNING_COMMANDS.on("reopen", routes=["PUT {}"])
def reopen(context: CommandContext, _: str) -> str | None:
    """Reopen the subject if it is closed."""
    if not context.may_edit or context.subject is None or context.subject.state != "closed":
        return None
    context.pending_edits["state_event"] = "reopen"
    return "Reopened this."


@PLANNING_COMMANDS.on("title", routes=["PUT {}"])
def retitle(context: CommandContext, title: str) -> str | None:
    """Change the title."""
    if not context.may_edit or context.subject is None or not 0 < len(title) <= MAX_TITLE_LENGTH:
        return None
    context.pending_edits["title"] = title
    return f'Changed the title to "{title}".'


@PLANNING_COMMANDS.on("assign", "reassign", routes=["PUT {}"])
def assign(context: CommandContext, names: str) -> str | None:
    """Assign a user; of several, the last one, because only one assignee is supported."""
    users = _users_named(context, names) if context.may_triage else []
    if not users:
        return None
    context.pending_edits["assignee_ids"] = [users[-1].id]
    return f"Assigned @{users[-1].username}."


@PLANNING_COMMANDS.on("unassign", routes=["PUT {}"])
def unassign(context: CommandContext, names: str) -> str | None:
    """Remove the assignee; ignored if only other users are named."""
    if not context.may_triage or not context.assignees:
        return None
    if names and not {user.id for user in _users_named(context, names)} & set(context.assignees):
        return None
    context.pending_edits["assignee_ids"] = []
    return "Removed the assignee."


@PLANNING_COMMANDS.on("label", "labels", routes=["PUT {}"])
def label(context: CommandContext, names: str) -> str | None:
    """Add existing labels."""
    labels = labels_named(context, names) if context.may_triage else []
    if not labels:
        return None
    context.extend_edit("add_labels", [label_to_add.title for label_to_add in labels])
    return f"Added {_label_list(labels)}."


@PLANNING_COMMANDS.on("unlabel", "remove_label", routes=["PUT {}"])
def unlabel(context: CommandContext, names: str) -> str | None:
    """Remove the named labels, or all labels if none is named."""
    if not context.may_triage or context.subject is None:
        return None
    if not names:
        context.pending_edits["labels"] = []
        return "Removed all labels."
    labels = labels_named(context, names)
    if not labels:
        return None
    context.extend_edit("remove_labels", [label_to_remove.title for label_to_remove in labels])
    return f"Removed {_label_list(labels)}."


@PLANNING_COMMANDS.on("relabel", routes=["PUT {}"])
def relabel(context: CommandContext, names: str) -> str | None:
    """Replace all labels by the named ones."""
    labels = labels_named(context, names) if context.may_triage and context.subject is not None else []
    if not labels:
        return None
    context.extend_edit("labels", [new_label.title for new_label in labels])
    return f"Replaced all labels with {_label_list(labels)}."


@PLANNING_COMMANDS.on("milestone", routes=["PUT {}"])
def set_milestone(context: CommandContext, name: str) -> str | None:
    """Set an active milestone, given by title, iid or reference."""
    if not context.may_triage or not name:
        return None
    title_or_iid = next(
        (ref.name for ref in extract_references(name) if ref.kind == "milestone" and ref.project is None), name
    )
    iid = number_or_none(title_or_iid)
    iids = [] if iid is None else [iid]
    candidates = [
        candidate
        for _, candidate in usable_milestones_in_projects(context.db, [context.project.id], [title_or_iid], iids)
        if candidate.state == "active"
    ]
    # Digits are an iid first; of two milestones with the same title, the project's own comes last and wins.
    by_iid = [each for each in candidates if each.iid in iids and each.project_id == context.project.id]
    if not candidates:
        return None
    milestone = (by_iid or candidates)[-1]
    context.pending_edits["milestone_id"] = milestone.id
    return f"Set the milestone to %{milestone.title}."


@PLANNING_COMMANDS.on("remove_milestone", routes=["PUT {}"])
def remove_milestone(context: CommandContext, _: str) -> str | None:
    """Remove the milestone."""
    if not context.may_triage or context.subject is None:
        return None
    context.pending_edits["milestone_id"] = None
    return "Removed the milestone."


@PLANNING_COMMANDS.on("subscribe", routes=["POST {}/subscribe"])
def subscribe(context: CommandContext, _: str) -> str | None:
    """Subscribe the caller to the subject."""
    return _set_subscription(context, following=True, sentence="Subscribed to this.")


@PLANNING_COMMANDS.on("unsubscribe", routes=["POST {}/unsubscribe"])
def unsubscribe(context: CommandContext, _: str) -> str | None:
    """Unsubscribe the caller from the subject."""
    return _set_subscription(context, following=False, sentence="Unsubscribed from this.")


@PLANNING_COMMANDS.on("todo", routes=["POST {}/todo"])
def add_todo(context: CommandContext, _: str) -> str | None:
    """Add a todo on the subject for the caller."""
    if context.subject is None:
        return None
    context.effects.append(lambda db, subject: emit(db, TodoCommandGiven(context.actor.user_id, subject, "add")))
    return "Added a todo."


@PLANNING_COMMANDS.on("done", routes=["POST /todos/:id/mark_as_done"])
def mark_todo_done(context: CommandContext, _: str) -> str | None:
    """Mark the caller's todo on the subject as done."""
    if context.subject is None:
        return None
    context.effects.append(lambda db, subject: emit(db, TodoCommandGiven(context.actor.user_id, subject, "done")))
    return "Marked the todo as done."


@PLANNING_COMMANDS.on("award", routes=["POST {}/award_emoji", "DELETE {}/award_emoji/:award_id"])
def toggle_award_emoji(context: CommandContext, emoji: str) -> str | None:
    """Add an award emoji to the subject, or remove it."""
    name = canonical_name(emoji)
    if context.subject is None or name is None:
        return None
    context.effects.append(lambda db, subject: _toggle_award(db, context.actor, subject, name))
    return f"Toggled :{name}: emoji award."


def _toggle_award(db: Connection, actor: Actor, subject: Subject, name: str) -> None:
    try:
        toggle_award(db, actor, subject, name)
    except NotFound:  # Votes on one's own subject are not allowed.
        return


def _set_subscription(context: CommandContext, *, following: bool, sentence: str) -> str | None:
    if context.subject is None:
        return None

    def update(db: Connection, subject: Subject) -> None:
        if subject.id is not None:
            set_subscription(db, context.actor.user_id, subject.kind, subject.id, following=following)

    context.effects.append(update)
    return sentence


def _users_named(context: CommandContext, names: str) -> list[User]:
    """List the named users, with or without ``@``; ``me`` is the caller."""
    words = names.replace(",", " ").split()[:MAX_NAMES]
    usernames = [context.actor.username if name == "me" else name.removeprefix("@") for name in words]
    users = users_by_usernames(context.db, usernames)
    return [users[name.lower()] for name in usernames if name.lower() in users]


def labels_named(context: CommandContext, names: str) -> list[Label]:
    """List the labels usable in the project that are named by references (``~label``) or plain words."""
    references = [ref for ref in extract_references(names) if ref.kind == "label" and ref.project is None][:MAX_NAMES]
    rest = names
    for reference in reversed(references):
        rest = f"{rest[: reference.start]} {rest[reference.end :]}"
    titles = [ref.name for ref in references] + [word.strip('"~') for word in rest.split()[:MAX_NAMES]]
    label_ids = [ref.number for ref in references if ref.number is not None]
    if not titles:
        return []
    usable = usable_labels_in_projects(context.db, [context.project.id], titles, label_ids)
    by_title = {label.title: label for _, label in usable}
    by_id = {str(label.id): label for _, label in usable if label.id in label_ids}
    chosen = (by_id.get(title) or by_title.get(title) for title in titles)
    return list({label.id: label for label in chosen if label is not None}.values())


def _label_list(labels: Sequence[Label]) -> str:
    titles = " ".join(f'~"{label.title}"' if " " in label.title else f"~{label.title}" for label in labels)
    return f"{titles} {'label' if len(labels) == 1 else 'labels'}"
