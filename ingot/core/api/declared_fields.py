"""Params and views whose fields are declared once, by the struct of a stored document."""

import types
from collections.abc import Iterable
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, UNSET, Meta, UnsetType

from ingot.core.api.params import Params
from ingot.core.api.views import View

_FIXED = "fixed"
_DEFAULT = "default"


def fixed(reason: str) -> Meta:
    """Declare that a field always has its default: requests may send that value only, and stored ones do not count."""
    return Meta(extra={_FIXED: reason})


def effect(description: str, default: Any) -> Meta:
    """Declare what a parameter does that has a column of its own, and what new objects have."""
    return Meta(description=description, extra={_DEFAULT: default})


def params_of(*stored: type[msgspec.Struct], without: Iterable[str] = ()) -> type[msgspec.Struct]:
    """Return a struct of optional parameters with the names and types of the fields of structs."""
    fields = [(name, hint | UnsetType, UNSET) for struct in stored for name, hint in _fields(struct, without)]
    constants = {"fixed_values": {name: value for struct in stored for name, value in fixed_values(struct).items()}}
    return msgspec.defstruct("DeclaredParams", fields, bases=(Params,), module=__name__, namespace=constants)


def view_of(base: type[View], stored: type[msgspec.Struct], without: Iterable[str] = ()) -> type[msgspec.Struct]:
    """Return a view with the fields of another view, then those of a struct."""
    return msgspec.defstruct("DeclaredView", _fields(stored, without), bases=(base,), module=__name__, gc=False)


def optional_view_of(base: type[View], stored: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return a view with the fields of another view, then those of a struct, which are left out until they are set."""
    fields = [(name, hint | UnsetType, UNSET) for name, hint in _fields(stored, ())]
    return msgspec.defstruct("DeclaredOptionalView", fields, bases=(base,), module=__name__, gc=False)


def fixed_values(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the values of the fields that are declared as fixed."""
    hints = get_type_hints(struct, include_extras=True)
    fields = (field for field in msgspec.structs.fields(struct) if fixed_reason(hints[field.name]))
    return {field.name: default_of(field) for field in fields}


def default_of(field: msgspec.structs.FieldInfo, hint: Any = None) -> Any:
    """Return the default of a field, or the one that its type declares; a tuple as the list that a request contains."""
    for meta in metadata_of(hint):
        if meta.extra and _DEFAULT in meta.extra:
            return meta.extra[_DEFAULT]
    value = field.default_factory() if field.default is NODEFAULT else field.default
    return list(value) if isinstance(value, tuple) else value


def fixed_reason(hint: Any) -> str:
    """Return why a field with a type is fixed; empty if it is not."""
    reasons = (meta.extra[_FIXED] for meta in metadata_of(hint) if meta.extra and _FIXED in meta.extra)
    return next(reasons, "")


def metadata_of(hint: Any) -> list[Meta]:
    """Return the metadata of a type, or of the types of a union."""
    if get_origin(hint) is Annotated:
        return [meta for meta in hint.__metadata__ if isinstance(meta, Meta)]
    if get_origin(hint) in (Union, types.UnionType):
        return [meta for part in get_args(hint) for meta in metadata_of(part)]
    return []


def _fields(struct: type[msgspec.Struct], without: Iterable[str]) -> list[tuple[str, Any]]:
    hints = get_type_hints(struct, include_extras=True)
    return [(name, hints[name]) for name in struct.__struct_fields__ if name not in without]
