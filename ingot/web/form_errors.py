"""Error messages for forms, built from exceptions."""

from ingot.core.api.params import MissingParameter
from ingot.errors import Conflict, Denied, Failure, Invalid, NotFound, Unavailable, Unchanged

RequestRefusal = (Failure, MissingParameter)
"""Exceptions that a form page reports to the user; it then shows the form again with the submitted values."""


def error_messages(refusal: Exception) -> list[str]:
    """Return one sentence for each error."""
    match refusal:
        case MissingParameter():
            return [_error_message(str(refusal), "is missing")]
        case Invalid() | Conflict() if refusal.errors:
            return [_error_message(field, reason) for field, reasons in refusal.errors.items() for reason in reasons]
        case Invalid() | Conflict():
            return [_with_full_stop(refusal.message.removeprefix("400 Bad request - "))]
        case NotFound():
            return [_with_full_stop(refusal.message or f"{refusal.what or 'This'} was not found")]
        case Unchanged():
            return ["Nothing to change: this is already the current state."]
        case Denied():
            return [_with_full_stop(refusal.reason or "You do not have permission to do this")]
        case Unavailable():
            return ["The server cannot answer right now. Try again in a moment."]
    return ["The request failed. Check your input and try again."]


def _error_message(field: str, reason: str) -> str:
    name = field.replace("_", " ")
    return _with_full_stop(reason if field == "base" else f"{name[:1].upper()}{name[1:]} {reason}")


def _with_full_stop(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
