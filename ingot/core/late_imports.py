"""References to modules that are imported when they are first needed, but never within a transaction.

Only the composition root uses the references, for what a server does not need to start (docs/internals.md). A test
resolves all of them, because neither mypy nor import-linter reads them.
"""

import threading
from functools import partial
from importlib import import_module
from typing import Any

from ingot.core.offload import require_no_transaction

_UNRESOLVED = object()
_resolving = threading.RLock()
"""Lets one thread at a time resolve a reference; a transaction never waits for it."""
required_modules: set[str] = set()
"""Modules that were completely imported for ``require_modules``; ``sys.modules`` has them before that."""


def require_modules(*names: str) -> None:
    """Import modules that the caller imports in its next lines; a transaction is rolled back and repeated."""
    if not required_modules.issuperset(names):
        require_no_transaction(partial(require_modules, *names))
        for name in names:
            import_module(name)
        required_modules.update(names)


class Deferred:
    """Object of a module, by a reference such as ``"ingot.projects.projects.service:delete_project"``.

    With arguments, the object is called with them first: the reference ``"ingot.projects.forks.jobs:ForkJobs.run"``
    with the argument ``store`` is ``ForkJobs(store).run``. Deferred arguments are resolved, functions excepted.
    """

    def __init__(self, reference: str, *arguments: object) -> None:
        self.reference = reference
        self._arguments = arguments
        self._value: Any = _UNRESOLVED

    @property
    def value(self) -> Any:
        """The object; the first access imports its module."""
        if self._value is _UNRESOLVED:
            require_no_transaction(lambda: self.value)
            with _resolving:
                if self._value is _UNRESOLVED:
                    self._value = self._resolve()
        return self._value

    def _resolve(self) -> Any:
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
