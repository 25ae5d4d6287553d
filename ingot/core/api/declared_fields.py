"""Params and views whose fields are declared once, by the struct of a stored document."""

from collections.abc import Iterable
from typing import Any, get_type_hints

import msgspec
from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.core.api.views import View


def params_of(*stored: type[msgspec.Struct], without: Iterable[str] = ()) -> type[msgspec.Struct]:
    """Return a struct of optional parameters with the names and types of the fields of structs."""
    fields = [(name, hint | UnsetType, UNSET) for struct in stored for name, hint in _fields(struct, without)]
    return msgspec.defstruct("DeclaredParams", fields, bases=(Params,), module=__name__)


def view_of(base: type[View], stored: type[msgspec.Struct], without: Iterable[str] = ()) -> type[msgspec.Struct]:
    """Return a view with the fields of another view, then those of a struct."""
    return msgspec.defstruct("DeclaredView", _fields(stored, without), bases=(base,), module=__name__, gc=False)


def optional_view_of(base: type[View], stored: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return a view with the fields of another view, then those of a struct, which are left out until they are set."""
    fields = [(name, hint | UnsetType, UNSET) for name, hint in _fields(stored, ())]
    return msgspec.defstruct("DeclaredOptionalView", fields, bases=(base,), module=__name__, gc=False)


def _fields(struct: type[msgspec.Struct], without: Iterable[str]) -> list[tuple[str, Any]]:
    hints = get_type_hints(struct, include_extras=True)
    return [(name, hints[name]) for name in struct.__struct_fields__ if name not in without]
