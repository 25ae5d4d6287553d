"""Error messages for forms, built from exceptions."""

from ingot.core.api.params import MissingParameter
from ingot.core.errors import Conflict, Denied, Failure, Invalid, NotFound, Throttled, Unavailable, Unchanged

FORM_ERRORS = (Invalid, Conflict, MissingParameter)
"""Exceptions for invalid values of a form; the page shows the form again with the submitted values."""
ACTION_ERRORS = (*FORM_ERRORS, NotFound, Denied)
"""Exceptions for an action that failed; the page from which it was sent is shown again with the error."""
REQUEST_ERRORS = (Failure, MissingParameter)
"""All exceptions for requests that cannot be fulfilled, for pages that show each of them above their form."""


def error_messages(error: Exception) -> list[str]:
    """Return one sentence for each error."""
    match error:
        case MissingParameter():
            return [_error_message(str(error), "is missing")]
        case Invalid() | Conflict() if error.errors:
            return [_error_message(field, reason) for field, reasons in error.errors.items() for reason in reasons]
        case Invalid() | Conflict():
            return [_with_full_stop(error.message.removeprefix("400 Bad request - "))]
        case NotFound():
            return [_with_full_stop(error.message or f"{error.what or 'This'} was not found")]
        case Unchanged():
            return ["Nothing to change: this is already the current state."]
        case Denied():
            return [_with_full_stop(error.reason or "You do not have permission to do this")]
        case Throttled():
            return [_with_full_stop(error.text or "Too many requests: wait a few minutes before you try again")]
        case Unavailable():
            return ["The server is temporarily unavailable. Try again in a moment."]
    return ["The request failed. Check your input and try again."]


def _error_message(field: str, reason: str) -> str:
    name = field.replace("_", " ")
    return _with_full_stop(reason if field == "base" else f"{name[:1].upper()}{name[1:]} {reason}")


def _with_full_stop(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
