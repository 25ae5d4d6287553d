"""Context in which quick actions execute, and the registry of their handlers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.markup.quick_actions import Command
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
    """The handlers of the quick actions of a kind of subject."""

    def __init__(self, *shared: "CommandRegistry[Any]") -> None:
        self._handlers: dict[str, CommandHandler[C]] = {}
        for registry in shared:
            self._handlers |= registry._handlers

    @property
    def names(self) -> frozenset[str]:
        """The names of the commands."""
        return frozenset(self._handlers)

    def on(self, *names: str) -> Callable[[CommandHandler[C]], CommandHandler[C]]:
        """Register a function as the handler of the commands with these names."""

        def register(handler: CommandHandler[C]) -> CommandHandler[C]:
            self._handlers.update(dict.fromkeys(names, handler))
            return handler

        return register

    def execute(self, context: C, commands: Sequence[Command]) -> None:
        """Call the handler of each command in order and collect the summaries."""
        for command in commands:
            sentence = self._handlers[command.name](context, command.argument)
            if sentence is not None:
                context.summary.append(sentence)
