"""What callers may send about services: one struct for each, made from what the registry says of it."""

from typing import Annotated, Any, cast

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ingot.api.params import Params
from ingot.services.registry import EVENTS, REGISTRY, Integration, Property, PropertyKind

LONGEST = 65_536
_TYPES: dict[PropertyKind, Any] = {
    "text": Annotated[str, Meta(max_length=LONGEST)],
    "secret": Annotated[str, Meta(max_length=LONGEST)],
    "address": Annotated[str, Meta(max_length=2048)],
    "secret address": Annotated[str, Meta(max_length=2048)],
    "flag": bool,
    "number": int,
}


def spellings(event: str) -> tuple[str, ...]:
    """What callers call the flag of an event: as it is shown, and as version 9.4 takes it."""
    return tuple(dict.fromkeys((EVENTS[event], f"{event}_events")))


def _field(each: Property) -> tuple[Any, ...]:
    kind = _TYPES[each.kind]
    return (each.name, kind) if each.required else (each.name, kind | UnsetType | None, UNSET)


def _struct(integration: Integration) -> type[Params]:
    flag = bool | UnsetType
    flags = [(name, flag, UNSET) for event in integration.events for name in spellings(event)]
    properties = [_field(each) for each in integration.properties]
    name = integration.title.title().replace(" ", "")
    fields = [*properties, *flags, ("active", flag, UNSET)]
    return cast(type[Params], msgspec.defstruct(f"Set{name}", fields, bases=(Params,), kw_only=True, module=__name__))


TAKEN = {slug: _struct(integration) for slug, integration in REGISTRY.items()}
