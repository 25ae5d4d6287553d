"""Global ids, such as ``gid://gitlab/Issue/7``."""

from typing import NamedTuple

from ingot.core.api.params import number_or_none
from ingot.core.errors import Invalid

_PREFIX = "gid://gitlab/"


class GlobalId(NamedTuple):
    """A parsed global id; ``key`` is the number of a row, or the name of a discussion."""

    model: str
    key: str

    @property
    def number(self) -> int:
        """Return the number of the row; raise ``Invalid`` if the id has none."""
        number = number_or_none(self.key)
        if number is None:
            raise Invalid(f'"{_PREFIX}{self.model}/{self.key[:100]}" is not a valid global id')
        return number


def to_global_id(model: str, key: object) -> str:
    """Return the global id of an object."""
    return f"{_PREFIX}{model}/{key}"


def parse_global_id(text: str, *models: str) -> GlobalId:
    """Parse a global id of one of the models, or of any if none is given; raise ``Invalid`` for another text."""
    model, _, key = text.removeprefix(_PREFIX).rpartition("/")
    if not text.startswith(_PREFIX) or not model or not key:
        raise Invalid(f'"{text[:100]}" is not a valid global id')
    if models and model not in models:
        raise Invalid(f'"{text[:100]}" does not represent an instance of {" or ".join(models)}')
    return GlobalId(model, key)


def number_of(text: str, *models: str) -> int:
    """Return the number in a global id."""
    return parse_global_id(text, *models).number
