"""Request parameters of services: one struct per service, generated from the registry."""

from typing import Annotated, Any, cast

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ingot.core.api.params import Params
from ingot.integrations.registry import EVENTS, REGISTRY, Integration, Property, PropertyKind

MAX_LENGTH = 65_536
_TYPES: dict[PropertyKind, Any] = {
    "text": Annotated[str, Meta(max_length=MAX_LENGTH)],
    "secret": Annotated[str, Meta(max_length=MAX_LENGTH)],
    "address": Annotated[str, Meta(max_length=2048)],
    "secret address": Annotated[str, Meta(max_length=2048)],
    "server address": Annotated[str, Meta(max_length=2048)],
    "host address": Annotated[str, Meta(max_length=253)],
    "flag": bool,
    "number": int,
}


def event_param_names(event: str) -> tuple[str, ...]:
    """Return the parameter names of an event's flag: the name in responses and that of version 9.4."""
    return tuple(dict.fromkeys((EVENTS[event], f"{event}_events")))


def _field(definition: Property) -> tuple[Any, ...]:
    kind = _TYPES[definition.kind]
    if definition.required and definition.secret:
        return (definition.name, kind | UnsetType, UNSET)  # May be left out once it is stored: no response contains it.
    return (definition.name, kind) if definition.required else (definition.name, kind | UnsetType | None, UNSET)


def _params_struct(integration: Integration) -> type[Params]:
    flag = bool | UnsetType
    flags = [(name, flag, UNSET) for event in integration.events for name in event_param_names(event)]
    properties = [_field(each) for each in integration.properties]
    name = integration.title.title().replace(" ", "")
    fields = [*properties, *flags, ("active", flag, UNSET), ("use_inherited_settings", flag, UNSET)]
    return cast(type[Params], msgspec.defstruct(f"Set{name}", fields, bases=(Params,), kw_only=True, module=__name__))


PARAMS_BY_SLUG = {slug: _params_struct(integration) for slug, integration in REGISTRY.items()}
