"""Templates that replace the payload of a webhook: JSON with fields of the payload, such as ``{{project.name}}``."""

import re
from typing import Any

import msgspec

from ingot.core.api.params import number_or_none

_FIELD = re.compile(r"\{\{\s*([A-Za-z0-9_.]+)\s*\}\}")


class InvalidTemplate(Exception):
    """A template that does not become JSON with the fields of a payload."""


def is_valid_template(template: str) -> bool:
    """Return whether a template is JSON if each field is a number, which is valid inside and outside of texts."""
    try:
        msgspec.json.decode(_FIELD.sub("0", template))
    except msgspec.DecodeError:  # The caller reports it.
        return False
    return True


def fill_template(template: str, payload: str) -> str:
    """Replace the fields by their values: texts without quotes, others as JSON, missing ones by nothing."""
    fields = msgspec.json.decode(payload)
    filled = _FIELD.sub(lambda match: _value(fields, match[1]), template)
    try:
        msgspec.json.decode(filled)
    except msgspec.DecodeError as error:
        raise InvalidTemplate("The custom template is not valid JSON with the fields of this event") from error
    return filled


def _value(fields: Any, path: str) -> str:
    for name in path.split("."):
        index = number_or_none(name)
        if isinstance(fields, list) and index is not None and index < len(fields):
            fields = fields[index]
        elif isinstance(fields, dict) and name in fields:
            fields = fields[name]
        else:
            return ""
    encoded = msgspec.json.encode(fields).decode()
    return encoded[1:-1] if isinstance(fields, str) else encoded
