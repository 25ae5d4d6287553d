"""Context in which quick actions execute, and the registry of their handlers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.api.granular_permissions import permission_of, with_permission
from ingot.core.api.responses import InsufficientScope
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.core.markup.quick_actions import Command
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project

Effect = Callable[[Connection, Subject], None]


class CommandResult(NamedTuple):
    """The applied edits, and a sentence for each executed command."""

    changes: dict[str, Any]
    summary: list[str]


@dataclass(slots=True)
class CommandContext:
    """The caller, the subject and the changes collected by command handlers.

    The package of the subject applies the changes in one transaction.
    """

    db: Connection
    actor: Actor
    project: Project
    subject: Subject | None
    """None while the subject is being created; commands that need it are ignored then."""
    may_edit: bool
    """Whether the caller may edit, close and reopen the subject."""
    may_triage: bool
    """Whether the caller may assign, label and plan the subject."""
    assignees: Sequence[int] = ()
    pending_edits: dict[str, Any] = field(default_factory=dict)
    """Edits to apply, by the names of the API parameters."""
    effects: list[Effect] = field(default_factory=list)
    """Functions to call after the subject has been created or edited."""
    summary: list[str] = field(default_factory=list)

    def extend_edit(self, name: str, values: Sequence[str]) -> None:
        """Add values to a list in the pending edits."""
        self.pending_edits[name] = list(dict.fromkeys([*self.pending_edits.get(name, ()), *values]))

    def apply_effects(self, subject: Subject) -> CommandResult:
        """Call the collected effects and return the result of all commands."""
        for effect in self.effects:
            effect(self.db, subject)
        return CommandResult(self.pending_edits, self.summary)


C = TypeVar("C", bound=CommandContext)
CommandHandler = Callable[[C, str], str | None]
"""Adds the changes of a command to the context and returns a summary; None if it is not applicable."""


class CommandRegistry(Generic[C]):
    """The handlers of the quick actions of a kind of subject, and the endpoints that do the same.

    A caller whose token does not cover these endpoints has no quick action that stands for them.
    """

    def __init__(self, subject_path: str = "{}", *shared: "CommandRegistry[Any]") -> None:
        self._subject_path = subject_path
        self._handlers: dict[str, CommandHandler[C]] = {}
        self._routes: dict[str, tuple[str, ...]] = {}
        for registry in shared:
            self._handlers |= registry._handlers
            self._routes |= {name: self._absolute(routes) for name, routes in registry._routes.items()}

    def _absolute(self, routes: Sequence[str]) -> tuple[str, ...]:
        return tuple(route.replace("{}", self._subject_path) for route in routes)

    @property
    def names(self) -> frozenset[str]:
        """The names of the commands."""
        return frozenset(self._handlers)

    @property
    def routes(self) -> Mapping[str, tuple[str, ...]]:
        """The method and path of the endpoints that each command stands for."""
        return self._routes

    def on(self, *names: str, routes: Sequence[str]) -> Callable[[CommandHandler[C]], CommandHandler[C]]:
        """Register a function as the handler of the commands with these names.

        ``routes`` are the endpoints that the commands stand for; ``{}`` is the path of the subject.
        """

        def register(handler: CommandHandler[C]) -> CommandHandler[C]:
            self._handlers.update(dict.fromkeys(names, handler))
            self._routes.update(dict.fromkeys(names, self._absolute(routes)))
            return handler

        return register

    def execute(self, context: C, commands: Sequence[Command]) -> None:
        """Call the handler of each command in order and collect the summaries; ignore those that the token lacks."""
        for command in commands:
            actor = self.permitted_actor(context.db, context.actor, context.project, command.name)
            if actor is None:
                continue
            permitted = context if actor is context.actor else replace(context, actor=actor)
            sentence = self._handlers[command.name](permitted, command.argument)
            if sentence is not None:
                context.summary.append(sentence)

    def permitted_actor(self, db: Connection, actor: Actor, project: Project, name: str) -> Actor | None:
        """Return the caller within the boundary of the permissions that a command needs; None without one of them."""
        routes = self._routes[name]
        if actor.tool_routes is not None and not actor.tool_routes.issuperset(routes):
            return None
        if actor.restrictions.granular_scopes is None:
            return actor
        try:
            for route in routes:
                actor = with_permission(actor, *permission_of(*route.split()))
                find_project(db, actor, project.id)
        except (InsufficientScope, NotFound):
            return None
        return actor
