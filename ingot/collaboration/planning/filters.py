"""Filters of lists of issuables: SQL conditions and bound values for the parameters of a request."""

from typing import Any, Generic, TypeVar

from sqlalchemy import select

from ingot.accounts.users.queries import user_by_username_or_none
from ingot.collaboration.labels.tables import labels
from ingot.collaboration.planning.params import IssuableExclusions, ListIssuables
from ingot.core.access.actor import Actor
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, like_pattern
from ingot.core.db.search import is_indexed, search_term
from ingot.core.errors import Invalid
from ingot.core.markup.emoji import canonical_name

_MAX_LABELS = 20
_LABELS = select(labels.c.title, labels.c.id).where(in_list(labels.c.title, "titles"))


W = TypeVar("W", bound=ListIssuables)


class IssuableFilter(Generic[W]):
    """The conditions of one list, by name, and the values that are bound to them."""

    def __init__(self, db: Connection, actor: Actor, params: W, default_scope: str) -> None:
        self._db = db
        self._actor = actor
        self._params = params
        self._filters: set[str] = set()
        self._values: dict[str, Any] = {}
        self._labels = self._excluded_labels = 0
        self._matches_nothing = False
        self._read(default_scope)
        self.narrowed = (
            bool(self._filters - {"state"}) or self._labels + self._excluded_labels > 0 or self._matches_nothing
        )

    def add(self, name: str, **values: Any) -> None:
        """Add a condition."""
        self._filters.add(name)
        self._values |= values

    def only_visible(self) -> None:
        """Restrict the list to issuables that the caller may see."""
        if self._actor.admin:
            self.add("with_feature")
            return
        name = "visible_to_external" if self._actor.external else "visible"
        self.add(name, actor=self._actor.user_id, today=self._db.today)

    def _read(self, default_scope: str) -> None:
        params = self._params
        if params.state not in (None, "all"):
            self.add("state", state=params.state)
        if params.iids is not None:
            self.add("iids", iids=params.iids)
        for name in ("created_after", "created_before", "updated_after", "updated_before"):
            if getattr(params, name) is not None:
                self.add(name, **{name: getattr(params, name)})
        self._read_labels(params.labels)
        self._read_milestone(params.milestone)
        self._read_people(default_scope)
        self._read_reaction(params.my_reaction_emoji)
        if params.search:
            self._read_search(params.search)
        self._read_more()

    def _read_more(self) -> None:
        """Read the parameters that only one kind of issuable has."""

    def _read_labels(self, titles: list[str] | None) -> None:
        if not titles:
            return
        word = titles[0].casefold() if len(titles) == 1 else ""
        if word in ("no label", "no+label", "none"):
            self.add("without_labels")
        elif word == "any":
            self.add("any_label")
        else:
            self._labels = self._bind_labels("label", titles)

    def _bind_labels(self, prefix: str, titles: list[str]) -> int:
        if len(titles) > _MAX_LABELS:
            raise Invalid(labels=[f"cannot be more than {_MAX_LABELS}"])
        ids_by_title: dict[str, list[int]] = {}
        for title, label_id in self._db.rows(_LABELS, titles=titles):
            ids_by_title.setdefault(title, []).append(label_id)
        if prefix == "label" and len(ids_by_title) < len(set(titles)):
            self._matches_nothing = True  # No row has a label that does not exist.
        self._values |= {f"{prefix}_{index}": label_ids for index, label_ids in enumerate(ids_by_title.values())}
        return len(ids_by_title)

    def _read_milestone(self, title: str | None) -> None:
        if not title:
            return
        word = title.casefold()
        if word in ("no milestone", "none"):
            self.add("without_milestone")
        elif word in ("any milestone", "any"):
            self.add("any_milestone")
        elif word in ("#upcoming", "upcoming", "#started", "started"):
            self.add(f"{word.removeprefix('#')}_milestone", today=self._db.today)
        else:
            self.add("milestone", milestone=title)

    def _read_people(self, default_scope: str) -> None:
        params = self._params
        scope = (params.scope or default_scope).replace("-", "_")
        if params.scope is None and (params.author_id or params.author_username):
            scope = "all"
        if scope == "created_by_me":
            self.add("written_by_me", me=self._actor.user_id)
        elif scope == "assigned_to_me":
            self.add("assigned_to_me", me=self._actor.user_id)
        author = params.author_id or self._user_id(params.author_username)
        if author is not None:
            self.add("author", author=author)
        self._read_assignee(params.assignee_id)
        if params.assignee_username:
            self.add("assignees", assignees=[self._user_id(name) for name in params.assignee_username])

    def _read_assignee(self, assignee: str | None) -> None:
        self._read_person("assignee", assignee)

    def _read_person(self, role: str, named: str | None) -> None:
        """Filter by a user's id, or by whether there is any user in this role."""
        word = (named or "").casefold()
        if word in ("none", "0"):
            self.add(f"no_{role}")
        elif word == "any":
            self.add(f"any_{role}")
        elif word:
            number = number_or_none(word)
            if number is None:
                raise Invalid(**{f"{role}_id": ["is invalid"]})
            self.add(f"{role}s", **{f"{role}s": [number]})

    def _user_id(self, username: str | None) -> int | None:
        """Return the id of a user; 0, which no user has, for an unknown username."""
        if not username:
            return None
        user = user_by_username_or_none(self._db, username)
        return user.id if user else 0

    def _read_reaction(self, name: str | None) -> None:
        if not name:
            return
        word = name.casefold()
        if word == "none":
            self.add("no_reaction", giver=self._actor.user_id)
        elif word == "any":
            self.add("any_reaction", giver=self._actor.user_id)
        else:
            self.add("reaction", giver=self._actor.user_id, reaction=canonical_name(name) or name)

    def _read_search(self, text: str) -> None:
        """Search the title and the description, or only the field that ``in`` names; other values are ignored."""
        within = {part.strip() for part in (self._params.within or "").split(",")} & {"title", "description"}
        filter_name = f"{within.pop()}_search" if len(within) == 1 else "search"
        if is_indexed(text):
            self.add(filter_name, needle=search_term(text))
        else:
            self.add(f"short_{filter_name}", pattern=like_pattern(text))

    def _read_excluded(self, excluded: IssuableExclusions) -> None:
        if excluded.labels:
            self._excluded_labels = self._bind_labels("not_label", excluded.labels)
        if excluded.milestone:
            self.add("not_milestone", not_milestone=excluded.milestone)
        if excluded.milestone_ids:
            self.add("not_milestones", not_milestones=excluded.milestone_ids)
        author = excluded.author_id or self._user_id(excluded.author_username)
        if author is not None:
            self.add("not_author", not_author=author)
        assignees = [excluded.assignee_id, *(self._user_id(name) for name in excluded.assignee_username or ())]
        assignees = [user_id for user_id in assignees if user_id is not None]
        if assignees:
            self.add("not_assignees", not_assignees=assignees)
        if excluded.my_reaction_emoji:
            name = excluded.my_reaction_emoji
            self.add("not_reaction", giver=self._actor.user_id, not_reaction=canonical_name(name) or name)
