"""Imports that wait until they are first needed, but never happen within a transaction.

The functions that ``Late`` and ``LateFunction`` take contain ordinary imports, so mypy, import-linter and a search for
usages see them (docs/internals.md).
"""

import threading
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Generic, ParamSpec, TypeVar

from ingot.core.offload import require_no_transaction

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")
_NOT_LOADED: Any = object()
_loading = threading.RLock()
"""Lets one thread at a time load; a transaction never waits for it."""
required_modules: set[str] = set()
"""Modules that were completely imported for ``require_modules``; ``sys.modules`` has them before that."""


def require_modules(*names: str) -> None:
    """Import modules that the caller imports in its next lines; a transaction is rolled back and repeated."""
    if not required_modules.issuperset(names):
        require_no_transaction(partial(require_modules, *names))
        for name in names:
            import_module(name)
        required_modules.update(names)


class Late(Generic[T]):
    """Object that a function imports and builds when it is first needed."""

    def __init__(self, load: Callable[[], T]) -> None:
        self._load = load
        self._value: T = _NOT_LOADED

    @property
    def value(self) -> T:
        """The object; a transaction that needs it first is rolled back and repeated."""
        if self._value is _NOT_LOADED:
            require_no_transaction(lambda: self.value)
            with _loading:
                if self._value is _NOT_LOADED:
                    self._value = self._load()
        return self._value


class LateFunction(Late[Callable[P, R]]):
    """Function that is imported by its first call; decorates a function that imports and returns it."""

    def __call__(self, *arguments: P.args, **options: P.kwargs) -> R:
        """Call the function."""
        return self.value(*arguments, **options)
