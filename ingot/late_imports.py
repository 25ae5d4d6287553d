"""References to functions and objects of modules that are imported when they are first needed.

Only the composition root uses them, for what a server does not need to start (docs/internals.md). A test resolves all
of them, because neither mypy nor import-linter reads them.
"""

from functools import cached_property
from importlib import import_module
from typing import Any


class Deferred:
    """Object of a module, by a reference such as ``"ingot.projects.projects.service:delete_project"``.

    With arguments, the object is called with them first: the reference ``"ingot.projects.forks.jobs:ForkJobs.run"``
    with the argument ``store`` is ``ForkJobs(store).run``. Deferred arguments are resolved, functions excepted.
    """

    def __init__(self, reference: str, *arguments: object) -> None:
        self.reference = reference
        self._arguments = arguments

    @cached_property
    def value(self) -> Any:
        """The object; the first access imports its module."""
        module, _, path = self.reference.partition(":")
        name, _, attribute = path.partition(".")
        value = getattr(import_module(module), name)
        if self._arguments:
            value = value(*map(_resolved, self._arguments))
        return getattr(value, attribute) if attribute else value


class DeferredFunction(Deferred):
    """Function that imports the one it stands for when it is first called."""

    def __init__(self, reference: str, *arguments: object) -> None:
        super().__init__(reference, *arguments)
        self.__module__, _, self.__qualname__ = reference.partition(":")

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function."""
        return self.value(*arguments, **options)


def _resolved(argument: object) -> object:
    if isinstance(argument, tuple):
        return tuple(map(_resolved, argument))
    return argument.value if type(argument) is Deferred else argument
