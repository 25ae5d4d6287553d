"""Commands that everything knows which is planned: its title and state, who has it to do, labels, milestones, emoji."""

from collections.abc import Sequence

from ingot.access.actor import Actor
from ingot.commands.desk import Commands, Desk
from ingot.commands.events import TodoCommanded
from ingot.db.connection import Connection
from ingot.emoji.service import toggle_award
from ingot.errors import NotFound
from ingot.events.bus import emit
from ingot.followers.service import follow
from ingot.labels.queries import named_labels
from ingot.labels.tables import Label
from ingot.markup.emoji import proper_name
from ingot.markup.references import references
from ingot.milestones.queries import named_milestones
from ingot.subjects import Subject
from ingot.users.accounts.queries import users_by_usernames
from ingot.users.accounts.tables import User

LONGEST_TITLE = 255
MOST_NAMES = 100
PLANNING: Commands[Desk] = Commands()


@PLANNING.on("close")
def close(desk: Desk, _: str) -> str | None:
    """Close it, where it is open."""
    if not desk.edits or desk.subject is None or desk.subject.state != "opened":
        return None
    desk.wishes["state_event"] = "close"
    return "Closed this."


@PLANNING.on("reopen")
def reopen(desk: Desk, _: str) -> str | None:
    """Open it again, where it is closed."""
    if not desk.edits or desk.subject is None or desk.subject.state != "closed":
        return None
    desk.wishes["state_event"] = "reopen"
    return "Reopened this."


@PLANNING.on("title")
def retitle(desk: Desk, title: str) -> str | None:
    """Call it differently."""
    if not desk.edits or desk.subject is None or not 0 < len(title) <= LONGEST_TITLE:
        return None
    desk.wishes["title"] = title
    return f'Changed the title to "{title}".'


@PLANNING.on("assign", "reassign")
def assign(desk: Desk, names: str) -> str | None:
    """Let somebody have it to do; of several the last one, since there can be one."""
    people = _people(desk, names) if desk.triages else []
    if not people:
        return None
    desk.wishes["assignee_ids"] = [people[-1].id]
    return f"Assigned @{people[-1].username}."


@PLANNING.on("unassign")
def unassign(desk: Desk, names: str) -> str | None:
    """Let nobody have it to do, or not those who are named."""
    if not desk.triages or not desk.assignees:
        return None
    if names and not {user.id for user in _people(desk, names)} & set(desk.assignees):
        return None
    desk.wishes["assignee_ids"] = []
    return "Removed the assignee."


@PLANNING.on("label", "labels")
def label(desk: Desk, names: str) -> str | None:
    """Add labels that there are."""
    found = labels_named(desk, names) if desk.triages else []
    if not found:
        return None
    desk.wish_more("add_labels", [one.title for one in found])
    return f"Added {_listed(found)}."


@PLANNING.on("unlabel", "remove_label")
def unlabel(desk: Desk, names: str) -> str | None:
    """Take labels off, or all of them where none is named."""
    if not desk.triages or desk.subject is None:
        return None
    if not names:
        desk.wishes["labels"] = []
        return "Removed all labels."
    found = labels_named(desk, names)
    if not found:
        return None
    desk.wish_more("remove_labels", [one.title for one in found])
    return f"Removed {_listed(found)}."


@PLANNING.on("relabel")
def relabel(desk: Desk, names: str) -> str | None:
    """Replace all labels by those that are named."""
    found = labels_named(desk, names) if desk.triages and desk.subject is not None else []
    if not found:
        return None
    desk.wish_more("labels", [one.title for one in found])
    return f"Replaced all labels with {_listed(found)}."


@PLANNING.on("milestone")
def set_milestone(desk: Desk, name: str) -> str | None:
    """Plan it for a milestone that is not over."""
    if not desk.triages or not name:
        return None
    named = next((one.name for one in references(name) if one.kind == "milestone" and one.project is None), name)
    number = [int(named)] if named.isascii() and named.isdecimal() and len(named) < 10 else []
    found = [one for _, one in named_milestones(desk.db, [desk.project.id], [named], number) if one.state == "active"]
    # A name of digits is a number first; of two with the same title, the nearer one counts.
    numbered = [one for one in found if one.iid in number and one.project_id == desk.project.id]
    if not found:
        return None
    milestone = (numbered or found)[-1]
    desk.wishes["milestone_id"] = milestone.id
    return f"Set the milestone to %{milestone.title}."


@PLANNING.on("remove_milestone")
def remove_milestone(desk: Desk, _: str) -> str | None:
    """Plan it for no milestone."""
    if not desk.triages or desk.subject is None:
        return None
    desk.wishes["milestone_id"] = None
    return "Removed the milestone."


@PLANNING.on("subscribe")
def subscribe(desk: Desk, _: str) -> str | None:
    """Follow it."""
    return _follow(desk, following=True, sentence="Subscribed to this.")


@PLANNING.on("unsubscribe")
def unsubscribe(desk: Desk, _: str) -> str | None:
    """Follow it no more."""
    return _follow(desk, following=False, sentence="Unsubscribed from this.")


@PLANNING.on("todo")
def look_later(desk: Desk, _: str) -> str | None:
    """Note that one has to look at it."""
    if desk.subject is None:
        return None
    desk.effects.append(lambda db, subject: emit(db, TodoCommanded(desk.actor.user_id, subject, "add")))
    return "Added a todo."


@PLANNING.on("done")
def done(desk: Desk, _: str) -> str | None:
    """Note that one has looked at it."""
    if desk.subject is None:
        return None
    desk.effects.append(lambda db, subject: emit(db, TodoCommanded(desk.actor.user_id, subject, "done")))
    return "Marked the todo as done."


@PLANNING.on("award")
def award(desk: Desk, emoji: str) -> str | None:
    """Give it an emoji, or take it back."""
    name = proper_name(emoji)
    if desk.subject is None or name is None:
        return None
    desk.effects.append(lambda db, subject: _toggle(db, desk.actor, subject, name))
    return f"Toggled :{name}: emoji award."


def _toggle(db: Connection, actor: Actor, subject: Subject, name: str) -> None:
    try:
        toggle_award(db, actor, subject, name)
    except NotFound:  # A vote for what one wrote oneself.
        return


def _follow(desk: Desk, *, following: bool, sentence: str) -> str | None:
    if desk.subject is None:
        return None

    def say(db: Connection, subject: Subject) -> None:
        if subject.id is not None:
            follow(db, desk.actor.user_id, subject.kind, subject.id, following=following)

    desk.effects.append(say)
    return sentence


def _people(desk: Desk, names: str) -> list[User]:
    """Those who are named, with a sign before their names or without; ``me`` is who says it."""
    plain = names.replace(",", " ").split()[:MOST_NAMES]
    wanted = [desk.actor.username if name == "me" else name.removeprefix("@") for name in plain]
    found = users_by_usernames(desk.db, wanted)
    return [found[name.lower()] for name in wanted if name.lower() in found]


def labels_named(desk: Desk, names: str) -> list[Label]:
    """The labels that are named by their signs, or by words, and can be used in the project."""
    signs = [one for one in references(names) if one.kind == "label" and one.project is None][:MOST_NAMES]
    rest = names
    for one in reversed(signs):
        rest = f"{rest[: one.start]} {rest[one.end :]}"
    titles = [one.name for one in signs] + [word.strip('"~') for word in rest.split()[:MOST_NAMES]]
    numbers = [one.number for one in signs if one.number is not None]
    if not titles:
        return []
    found = named_labels(desk.db, [desk.project.id], titles, numbers)
    by_title = {one.title: one for _, one in found}
    by_number = {str(one.id): one for _, one in found if one.id in numbers}
    chosen = (by_number.get(title) or by_title.get(title) for title in titles)
    return list({one.id: one for one in chosen if one is not None}.values())


def _listed(labels: Sequence[Label]) -> str:
    titles = " ".join(f'~"{one.title}"' if " " in one.title else f"~{one.title}" for one in labels)
    return f"{titles} {'label' if len(labels) == 1 else 'labels'}"
