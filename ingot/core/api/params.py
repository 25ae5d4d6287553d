"""Conversion of request parameters to one struct per endpoint, lenient as clients expect, with exact errors."""

import re
import types
import typing
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, NewType, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, UnsetType

from ingot.core.db.times import Date, Timestamp, parse_date, parse_timestamp
from ingot.core.errors import Invalid, too_long_message

INT64_MAX = 2**63 - 1
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_ROW_NUMBER = re.compile(r"[0-9]{1,19}")
_TRUE = frozenset({"true", "1", "t", "on", "yes", "y"})
_FALSE = frozenset({"false", "0", "f", "off", "no", "n"})
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+")


class Params(msgspec.Struct):
    """Base of the parameter structs of endpoints; a field without a default is required."""

    refuses_unknown: typing.ClassVar[bool] = False
    """Raise an error if all given parameters are unknown, since the caller meant to change something."""
    required: typing.ClassVar[str] = ""
    """Error message of a request without any parameter of the endpoint; empty if that is allowed."""
    fixed_values: typing.ClassVar[Mapping[str, Any]] = {}
    """Parameters that may only be sent with the value that they always have."""
    absent: typing.ClassVar[frozenset[str]] = frozenset()
    """Parameters of GitLab for parts that this server does not have; they are ignored, and the response names them."""
    names_unknown: typing.ClassVar[bool] = False
    """Name unknown parameters in the response, too: the caller may rely on what they do in GitLab."""


P = TypeVar("P", bound=Params)
_CREDENTIAL_FIELDS = {"private_token", "access_token", "job_token", "sudo", "authenticity_token", "_method"}
_MAX_NAMES_LISTED = 10
_MAX_NAME_LENGTH = 100
_MAX_UNKNOWN = 50
_NAME = re.compile(r"[a-z][a-z0-9_]{0,99}")


class Upload(msgspec.Struct):
    """A file of a multipart body, limited by the endpoint's body limit."""

    filename: str
    content_type: str
    file: Any

    def read(self) -> bytes:
        """Return the whole content."""
        self.file.seek(0)
        content: bytes = self.file.read()
        return content


RawText = NewType("RawText", str)
"""Content of a file: unlike other text it may contain NUL, since it is never stored in a row."""


TextOrFile = NewType("TextOrFile", str)
"""Text that clients send as such or as the content of a file of a multipart body."""


class MissingParameter(Exception):
    """A required parameter is missing."""


class InvalidValue(Exception):
    """A value does not match its type."""


Converter = Callable[[Any], Any]


_MAX_JSON_DEPTH = 10


def _string(value: Any) -> str:
    text = _raw_text(value)
    if "\0" in text:
        raise InvalidValue("is invalid")
    return text


def _text_or_file(value: Any) -> TextOrFile:
    if isinstance(value, Upload):
        value = value.read().decode(errors="replace")
    return TextOrFile(_string(value))


def _raw_text(value: Any) -> RawText:
    if isinstance(value, bool):
        value = "true" if value else "false"
    if isinstance(value, int | float):
        value = str(value)
    if not isinstance(value, str):
        raise InvalidValue("is invalid")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidValue("is invalid") from error
    return RawText(value)


def _integer(value: Any) -> int:
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not -INT64_MAX <= value <= INT64_MAX:
        raise InvalidValue("is invalid")
    return value


def _decimal(value: Any) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except (ValueError, OverflowError) as error:
        raise InvalidValue("is invalid") from error
    if number is None or number != number or number in (float("inf"), float("-inf")):
        raise InvalidValue("is invalid")
    return number


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, str | int) else ""
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise InvalidValue("is invalid")


def _timestamp(value: Any) -> Timestamp:
    if not isinstance(value, str) or _PLAIN_NUMBER.fullmatch(value.strip()):
        raise InvalidValue("is invalid")
    try:
        return parse_timestamp(value)
    except ValueError as error:
        raise InvalidValue("is invalid") from error


def _date(value: Any) -> Date:
    if not isinstance(value, str):
        raise InvalidValue("is invalid")
    try:
        return parse_date(value)
    except ValueError as error:
        raise InvalidValue("is invalid") from error


def _upload(value: Any) -> Upload:
    if not isinstance(value, Upload):
        raise InvalidValue("is invalid")
    return value


def _json_value(value: Any, depth: int = 0) -> Any:
    """Return a value of any type as it was sent; refuse files, NUL characters and values that are nested deeply."""
    if depth > _MAX_JSON_DEPTH:
        raise InvalidValue("is invalid")
    if isinstance(value, dict):
        return {_string(key): _json_value(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_json_value(item, depth + 1) for item in value]
    if isinstance(value, str):
        return _string(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    raise InvalidValue("is invalid")


_SCALARS: dict[Any, Converter] = {
    Any: _json_value,
    str: _string,
    RawText: _raw_text,
    TextOrFile: _text_or_file,
    int: _integer,
    float: _decimal,
    bool: _boolean,
    Timestamp: _timestamp,
    Date: _date,
    Upload: _upload,
}


def _list_of(item: Converter) -> Converter:
    def convert(value: Any) -> list[Any]:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if isinstance(value, int | float):
            value = [value]
        if not isinstance(value, list):
            raise InvalidValue("is invalid")
        return [item(part) for part in value if part is not None and part != ""]

    return convert


def _hash_of(item: Converter) -> Converter:
    def convert(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise InvalidValue("is invalid")
        return {_string(key): item(part) for key, part in value.items()}

    return convert


def _one_of(choices: tuple[Any, ...]) -> Converter:
    by_text = {str(choice): choice for choice in choices}

    def convert(value: Any) -> Any:
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value) in by_text:
            return by_text[str(value)]
        raise InvalidValue("is invalid")

    return convert


def _bounded(inner: Converter, meta: msgspec.Meta) -> Converter:
    def convert(value: Any) -> Any:
        value = inner(value)
        if meta.max_length is not None and len(value) > meta.max_length:
            raise InvalidValue(too_long_message(meta.max_length))
        if meta.min_length is not None and len(value) < meta.min_length:
            raise InvalidValue(f"is too short (minimum is {meta.min_length} characters)")
        if meta.ge is not None and value < meta.ge:
            raise InvalidValue(f"must be greater than or equal to {meta.ge}")
        if meta.le is not None and value > meta.le:
            raise InvalidValue(f"must be less than or equal to {meta.le}")
        return value

    return convert


class _Field(typing.NamedTuple):
    name: str
    sent_as: str
    convert: Converter
    required: bool
    nullable: bool
    empties: bool
    """True if an empty string is a value, as for text only."""


def _field(name: str, sent_as: str, hint: Any, required: bool) -> _Field:
    members = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    nullable = type(None) in members
    kinds = [member for member in members if member not in (type(None), UnsetType)]
    if len(kinds) != 1:
        raise TypeError(f"The parameter {name} must have one type, not {hint}")
    convert = _converter(kinds[0])
    type_ = get_args(kinds[0])[0] if get_origin(kinds[0]) is Annotated else kinds[0]
    return _Field(name, sent_as, convert, required, nullable, type_ in (str, RawText, TextOrFile))


def _converter(kind: Any) -> Converter:
    if get_origin(kind) is Annotated:
        inner, *metas = get_args(kind)
        convert = _converter(inner)
        for meta in metas:
            if isinstance(meta, msgspec.Meta):
                convert = _bounded(convert, meta)
        return convert
    if kind in _SCALARS:
        return _SCALARS[kind]
    if get_origin(kind) is list:
        return _list_of(_converter(get_args(kind)[0]))
    if get_origin(kind) is dict:
        return _hash_of(_converter(get_args(kind)[1]))
    if get_origin(kind) is Literal:
        return _one_of(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Params):
        reader = ParamsReader(kind)
        return reader.nested
    raise TypeError(f"Parameters cannot be of type {kind}")


class ParamsReader:
    """Reader of request parameters into one ``Params`` struct; created once per endpoint."""

    def __init__(self, struct: type[Params]) -> None:
        self.struct = struct

    @cached_property
    def fields(self) -> list[_Field]:
        """Return the accepted parameters.

        Built on first use, since all endpoints together would take a tenth of the startup.
        """
        hints = typing.get_type_hints(self.struct, include_extras=True)
        return [
            _field(field.name, field.encode_name, hints[field.name], field.required)
            for field in msgspec.structs.fields(self.struct)
        ]

    def read(self, sent: dict[str, Any]) -> Any:
        """Build the struct; raise ``MissingParameter`` for the first absent field, ``Invalid`` for all invalid ones."""
        values: dict[str, Any] = {}
        errors: dict[str, list[str]] = {}
        for field in self.fields:
            value = sent.get(field.sent_as, UNSET)
            if value is UNSET or value is None or (value == "" and not field.empties):
                if field.required:
                    raise MissingParameter(field.sent_as)
                if value is not UNSET and field.nullable:
                    values[field.name] = None
                continue
            try:
                values[field.name] = field.convert(value)
            except InvalidValue as error:
                errors[field.sent_as] = [str(error)]
        for name in values.keys() & self.struct.fixed_values.keys():
            if values[name] not in (self.struct.fixed_values[name], ""):
                errors[name] = [f"cannot be changed to {_shown(values[name])}: not supported by this server"]
        if errors:
            raise Invalid(**errors)
        if not values:
            self._refuse_nothing(sent)
        return self.struct(**values)

    def ignored(self, sent: dict[str, Any], shown: Collection[str] = ()) -> list[str]:
        """Return the names of the sent parameters that have no meaning on this server.

        ``shown`` names the fields of the response, which clients send back.
        """
        absent = [name for name in sent if name in self.struct.absent]
        if not self.struct.names_unknown:
            return absent
        unknown = self._unknown(sent).difference(absent, shown)
        named = [name for name in sent if name in unknown and _NAME.fullmatch(name)]
        return [*absent, *named[:_MAX_UNKNOWN]]

    def _refuse_nothing(self, sent: dict[str, Any]) -> None:
        if (self.struct.absent | self.struct.fixed_values.keys()) & sent.keys():
            return
        if self.struct.refuses_unknown:
            self._refuse_unknown(sent)
        if self.struct.required:
            raise Invalid(self.struct.required)

    def _refuse_unknown(self, sent: dict[str, Any]) -> None:
        unknown = self._unknown(sent)
        if unknown:
            names = ", ".join(name[:_MAX_NAME_LENGTH] for name in sorted(unknown)[:_MAX_NAMES_LISTED])
            raise Invalid(f"400 (Bad request) unknown parameters: {names}")

    def _unknown(self, sent: dict[str, Any]) -> set[str]:
        return sent.keys() - _CREDENTIAL_FIELDS - {field.sent_as for field in self.fields}

    def nested(self, value: Any) -> Any:
        """Build the struct from an item of another struct."""
        if not isinstance(value, dict):
            raise InvalidValue("is invalid")
        try:
            return self.read(value)
        except MissingParameter as error:
            raise InvalidValue(f'"{error}" not given') from error
        except Invalid as error:
            name, reasons = next(iter(error.errors.items()))
            raise InvalidValue(f"{name} {reasons[0]}") from error


def _shown(value: Any) -> str:
    """Return a short form of a value for an error message."""
    return msgspec.json.encode(value).decode()[:_MAX_NAME_LENGTH]


def given_fields(params: Params, *without: str) -> dict[str, Any]:
    """Return the parameters that the caller has sent; an update leaves the others unchanged."""
    values = {name: getattr(params, name) for name in params.__struct_fields__ if name not in without}
    return {name: value for name, value in values.items() if value is not UNSET}


def path_number(path: dict[str, str], name: str) -> int:
    """Return a number in the path; raise ``Invalid``."""
    number = number_or_none(path[name])
    if number is None:
        raise Invalid(**{name: ["is invalid"]})
    return number


def number_or_none(text: str) -> int | None:
    """Return the row number in a text, or None if no row can have it."""
    number = int(text) if _ROW_NUMBER.fullmatch(text) else None
    return number if number is not None and number <= INT64_MAX else None
