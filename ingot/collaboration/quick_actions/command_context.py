"""Where commands are obeyed: who gives them, what they may, and what is to come of it."""

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
    """What came of commands: what was to change, and a sentence for each that was obeyed."""

    changes: dict[str, Any]
    summary: list[str]


@dataclass(slots=True)
class CommandContext:
    """Commands put here what they want; the room that the subject belongs to does it, all in one transaction."""

    db: Connection
    actor: Actor
    project: Project
    subject: Subject | None
    """Nothing while it is being written: what needs one is passed over then."""
    may_edit: bool
    """Whether who commands may change what the subject says, close it and open it."""
    may_triage: bool
    """Whether they may plan it: assign, label and the like."""
    assignees: Sequence[int] = ()
    wishes: dict[str, Any] = field(default_factory=dict)
    """What to edit, by the names of the API's parameters."""
    effects: list[Effect] = field(default_factory=list)
    """What else to do once the subject is there and edited."""
    summary: list[str] = field(default_factory=list)

    def extend_edit(self, name: str, values: Sequence[str]) -> None:
        """Add to a list that is wanted."""
        self.wishes[name] = list(dict.fromkeys([*self.wishes.get(name, ()), *values]))

    def apply_effects(self, subject: Subject) -> CommandResult:
        """Do what else was wanted."""
        for effect in self.effects:
            effect(self.db, subject)
        return CommandResult(self.wishes, self.summary)


C = TypeVar("C", bound=CommandContext)
CommandHandler = Callable[[C, str], str | None]
"""Puts what a command wants on the desk and says so; nothing where it may not be or makes no sense."""


class CommandRegistry(Generic[C]):
    """The commands that a kind of subject knows."""

    def __init__(self, *shared: "CommandRegistry[Any]") -> None:
        self._known: dict[str, CommandHandler[C]] = {}
        for one in shared:
            self._known |= one._known

    @property
    def names(self) -> frozenset[str]:
        """What they are called."""
        return frozenset(self._known)

    def on(self, *names: str) -> Callable[[CommandHandler[C]], CommandHandler[C]]:
        """Let a function obey the commands of these names."""

        def register(obey: CommandHandler[C]) -> CommandHandler[C]:
            self._known.update(dict.fromkeys(names, obey))
            return obey

        return register

    def execute(self, context: C, commands: Sequence[Command]) -> None:
        """Let each command put what it wants on the desk, in their order."""
        for command in commands:
            sentence = self._known[command.name](context, command.argument)
            if sentence is not None:
                context.summary.append(sentence)
