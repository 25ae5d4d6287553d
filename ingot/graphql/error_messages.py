"""Messages of errors, as a client sees them in ``errors``."""

from ingot.core.api.params import MissingParameter
from ingot.core.api.request_fields import BadRequest
from ingot.core.errors import Conflict, Denied, Invalid, NotFound, Throttled, Unauthenticated, Unchanged

NOT_AVAILABLE = (
    "The resource that you are attempting to access does not exist or you don't have permission to perform this action"
)


def error_messages(error: Exception) -> list[str]:
    """Return the messages of an error that the caller caused."""
    match error:
        case NotFound() | Denied() | Unauthenticated():
            return [NOT_AVAILABLE]
        case MissingParameter():
            return [f"{_attribute(str(error))} can't be blank"]
        case Invalid(errors=errors) | Conflict(errors=errors) if errors:
            return [
                # Reasons that concern no attribute are whole sentences.
                reason if name == "base" else f"{_attribute(name)} {reason}"
                for name, reasons in errors.items()
                for reason in reasons
            ]
        case BadRequest():
            return [error.message]
        case Unchanged():
            return ["Nothing was changed"]
        case Throttled():
            return ["This endpoint has been requested too many times. Try again later."]
    return [str(error) or "The request is not valid"]


def _attribute(name: str) -> str:
    return name.replace("_", " ").capitalize()
