"""Why something did not work, in sentences that stand above a form."""

from ingot.api.params import Missing
from ingot.errors import Conflict, Denied, Failure, Invalid, NotFound, Unavailable, Unchanged

Refusal = (Failure, Missing)
"""What a form may be answered with; the page then shows it again with what was typed."""


def sentences(refusal: Exception) -> list[str]:
    """One sentence for each reason."""
    match refusal:
        case Missing():
            return [_sentence(str(refusal), "is missing")]
        case Invalid() | Conflict() if refusal.errors:
            return [_sentence(field, reason) for field, reasons in refusal.errors.items() for reason in reasons]
        case Invalid() | Conflict():
            return [_ended(refusal.message.removeprefix("400 Bad request - "))]
        case NotFound():
            return [_ended(refusal.message or f"{refusal.what or 'This'} was not found")]
        case Unchanged():
            return ["It is so already."]
        case Denied():
            return [_ended(refusal.reason or "You may not do this")]
        case Unavailable():
            return ["The server cannot answer right now. Try again in a moment."]
    return ["That did not work. Check what you entered and try again."]


def _sentence(field: str, reason: str) -> str:
    name = field.replace("_", " ")
    return _ended(reason if field == "base" else f"{name[:1].upper()}{name[1:]} {reason}")


def _ended(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
