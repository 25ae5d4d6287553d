"""Parameters of REST endpoints from the inputs of mutations."""

from collections.abc import Iterable, Sequence
from typing import Any

from ingot.accounts.users.queries import users_by_usernames
from ingot.collaboration.planning.durations import parse_duration
from ingot.core.api.params import number_or_none
from ingot.core.errors import Invalid
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import number_of

Input = dict[str, Any]


def renamed(sent: Input, **names: str) -> dict[str, Any]:
    """Return the parameters whose fields were sent, also as null; ``names`` maps parameters to fields."""
    return {name: sent[field] for name, field in names.items() if field in sent}


def row_number(text: str) -> int:
    """Return the number of a global id or of a plain number."""
    number = number_or_none(text)
    return number_of(text) if number is None else number


def optional_number(sent: Input, field: str) -> dict[str, int | None]:
    """Return the number of an id under the name of its parameter, such as ``milestone_id``; nothing if not sent."""
    if field not in sent:
        return {}
    name = field.removesuffix("Id") + "_id"
    return {name: None if sent[field] is None else row_number(sent[field])}


def require_duration(sent: Input) -> None:
    """Raise ``Invalid`` if the time estimate is no duration, before anything is changed."""
    estimate = sent.get("timeEstimate")
    if estimate is not None and parse_duration(estimate) is None:
        raise Invalid("timeEstimate must be formatted correctly, for example `1h 30m`")


def user_numbers(context: QueryContext, usernames: Iterable[str]) -> list[int]:
    """Return the ids of users by name; raise ``Invalid`` if one does not exist."""
    names = [name.removeprefix("@").lower() for name in usernames]
    found = {name.lower(): user.id for name, user in context.read(lambda db: users_by_usernames(db, names)).items()}
    missing = [name for name in names if name not in found]
    if missing:
        raise Invalid(f"No user is named {missing[0][:100]}")
    return [found[name] for name in names]


def combined(mode: str | None, current: Sequence[int], changed: Sequence[int]) -> list[int]:
    """Return ids after they were appended, removed or replaced."""
    if mode == "APPEND":
        return list(dict.fromkeys((*current, *changed)))
    if mode == "REMOVE":
        return [each for each in current if each not in changed]
    return list(changed)
