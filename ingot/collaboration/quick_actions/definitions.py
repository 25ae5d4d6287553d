"""Commands that everything knows which is planned: its title and state, who has it to do, labels, milestones, emoji."""

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
from ingot.core.db.connection import Connection
from ingot.core.events.bus import emit
from ingot.core.markup.emoji import canonical_name
from ingot.core.markup.references import extract_references
from ingot.errors import NotFound

MAX_TITLE_LENGTH = 255
MAX_NAMES = 100
PLANNING_COMMANDS: CommandRegistry[CommandContext] = CommandRegistry()


@PLANNING_COMMANDS.on("close")
def close(context: CommandContext, _: str) -> str | None:
    """Close it, where it is open."""
    if not context.may_edit or context.subject is None or context.subject.state != "opened":
        return None
    context.wishes["state_event"] = "close"
    return "Closed this."


@PLANNING_COMMANDS.on("reopen")
def reopen(context: CommandContext, _: str) -> str | None:
    """Open it again, where it is closed."""
    if not context.may_edit or context.subject is None or context.subject.state != "closed":
        return None
    context.wishes["state_event"] = "reopen"
    return "Reopened this."


@PLANNING_COMMANDS.on("title")
def retitle(context: CommandContext, title: str) -> str | None:
    """Call it differently."""
    if not context.may_edit or context.subject is None or not 0 < len(title) <= MAX_TITLE_LENGTH:
        return None
    context.wishes["title"] = title
    return f'Changed the title to "{title}".'


@PLANNING_COMMANDS.on("assign", "reassign")
def assign(context: CommandContext, names: str) -> str | None:
    """Let somebody have it to do; of several the last one, since there can be one."""
    people = _users_named(context, names) if context.may_triage else []
    if not people:
        return None
    context.wishes["assignee_ids"] = [people[-1].id]
    return f"Assigned @{people[-1].username}."


@PLANNING_COMMANDS.on("unassign")
def unassign(context: CommandContext, names: str) -> str | None:
    """Let nobody have it to do, or not those who are named."""
    if not context.may_triage or not context.assignees:
        return None
    if names and not {user.id for user in _users_named(context, names)} & set(context.assignees):
        return None
    context.wishes["assignee_ids"] = []
    return "Removed the assignee."


@PLANNING_COMMANDS.on("label", "labels")
def label(context: CommandContext, names: str) -> str | None:
    """Add labels that there are."""
    found = labels_named(context, names) if context.may_triage else []
    if not found:
        return None
    context.extend_edit("add_labels", [one.title for one in found])
    return f"Added {_label_list(found)}."


@PLANNING_COMMANDS.on("unlabel", "remove_label")
def unlabel(context: CommandContext, names: str) -> str | None:
    """Take labels off, or all of them where none is named."""
    if not context.may_triage or context.subject is None:
        return None
    if not names:
        context.wishes["labels"] = []
        return "Removed all labels."
    found = labels_named(context, names)
    if not found:
        return None
    context.extend_edit("remove_labels", [one.title for one in found])
    return f"Removed {_label_list(found)}."


@PLANNING_COMMANDS.on("relabel")
def relabel(context: CommandContext, names: str) -> str | None:
    """Replace all labels by those that are named."""
    found = labels_named(context, names) if context.may_triage and context.subject is not None else []
    if not found:
        return None
    context.extend_edit("labels", [one.title for one in found])
    return f"Replaced all labels with {_label_list(found)}."


@PLANNING_COMMANDS.on("milestone")
def set_milestone(context: CommandContext, name: str) -> str | None:
    """Plan it for a milestone that is not over."""
    if not context.may_triage or not name:
        return None
    named = next(
        (one.name for one in extract_references(name) if one.kind == "milestone" and one.project is None), name
    )
    number = [int(named)] if named.isascii() and named.isdecimal() and len(named) < 10 else []
    found = [
        one
        for _, one in usable_milestones_in_projects(context.db, [context.project.id], [named], number)
        if one.state == "active"
    ]
    # A name of digits is a number first; of two with the same title, the nearer one counts.
    numbered = [one for one in found if one.iid in number and one.project_id == context.project.id]
    if not found:
        return None
    milestone = (numbered or found)[-1]
    context.wishes["milestone_id"] = milestone.id
    return f"Set the milestone to %{milestone.title}."


@PLANNING_COMMANDS.on("remove_milestone")
def remove_milestone(context: CommandContext, _: str) -> str | None:
    """Plan it for no milestone."""
    if not context.may_triage or context.subject is None:
        return None
    context.wishes["milestone_id"] = None
    return "Removed the milestone."


@PLANNING_COMMANDS.on("subscribe")
def subscribe(context: CommandContext, _: str) -> str | None:
    """Follow it."""
    return _set_subscription(context, following=True, sentence="Subscribed to this.")


@PLANNING_COMMANDS.on("unsubscribe")
def unsubscribe(context: CommandContext, _: str) -> str | None:
    """Follow it no more."""
    return _set_subscription(context, following=False, sentence="Unsubscribed from this.")


@PLANNING_COMMANDS.on("todo")
def add_todo(context: CommandContext, _: str) -> str | None:
    """Note that one has to look at it."""
    if context.subject is None:
        return None
    context.effects.append(lambda db, subject: emit(db, TodoCommandGiven(context.actor.user_id, subject, "add")))
    return "Added a todo."


@PLANNING_COMMANDS.on("done")
def mark_todo_done(context: CommandContext, _: str) -> str | None:
    """Note that one has looked at it."""
    if context.subject is None:
        return None
    context.effects.append(lambda db, subject: emit(db, TodoCommandGiven(context.actor.user_id, subject, "done")))
    return "Marked the todo as done."


@PLANNING_COMMANDS.on("award")
def toggle_award_emoji(context: CommandContext, emoji: str) -> str | None:
    """Give it an emoji, or take it back."""
    name = canonical_name(emoji)
    if context.subject is None or name is None:
        return None
    context.effects.append(lambda db, subject: _toggle_award(db, context.actor, subject, name))
    return f"Toggled :{name}: emoji award."


def _toggle_award(db: Connection, actor: Actor, subject: Subject, name: str) -> None:
    try:
        toggle_award(db, actor, subject, name)
    except NotFound:  # A vote for what one wrote oneself.
        return


def _set_subscription(context: CommandContext, *, following: bool, sentence: str) -> str | None:
    if context.subject is None:
        return None

    def say(db: Connection, subject: Subject) -> None:
        if subject.id is not None:
            set_subscription(db, context.actor.user_id, subject.kind, subject.id, following=following)

    context.effects.append(say)
    return sentence


def _users_named(context: CommandContext, names: str) -> list[User]:
    """Those who are named, with a sign before their names or without; ``me`` is who says it."""
    plain = names.replace(",", " ").split()[:MAX_NAMES]
    wanted = [context.actor.username if name == "me" else name.removeprefix("@") for name in plain]
    found = users_by_usernames(context.db, wanted)
    return [found[name.lower()] for name in wanted if name.lower() in found]


def labels_named(context: CommandContext, names: str) -> list[Label]:
    """The labels that are named by their signs, or by words, and can be used in the project."""
    signs = [one for one in extract_references(names) if one.kind == "label" and one.project is None][:MAX_NAMES]
    rest = names
    for one in reversed(signs):
        rest = f"{rest[: one.start]} {rest[one.end :]}"
    titles = [one.name for one in signs] + [word.strip('"~') for word in rest.split()[:MAX_NAMES]]
    numbers = [one.number for one in signs if one.number is not None]
    if not titles:
        return []
    found = usable_labels_in_projects(context.db, [context.project.id], titles, numbers)
    by_title = {one.title: one for _, one in found}
    by_number = {str(one.id): one for _, one in found if one.id in numbers}
    chosen = (by_number.get(title) or by_title.get(title) for title in titles)
    return list({one.id: one for one in chosen if one is not None}.values())


def _label_list(labels: Sequence[Label]) -> str:
    titles = " ".join(f'~"{one.title}"' if " " in one.title else f"~{one.title}" for one in labels)
    return f"{titles} {'label' if len(labels) == 1 else 'labels'}"
