"""Error responses of the registry protocol."""

from ingot.core.api.responses import ApiResponse, Header, json_response
from ingot.core.errors import Denied, Invalid, NotFound, StorageFull, Throttled, TransfersBusy, Unavailable
from ingot.core.http.transfer_rate import TransferTooSlow
from ingot.packages.containers.service import MissingParts

API_VERSION: Header = (b"docker-distribution-api-version", b"registry/2.0")


class RegistryError(Exception):
    """A response with an error code of the protocol."""

    def __init__(self, status: int, code: str, message: str, *headers: Header) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = headers


def registry_error_response(error: RegistryError) -> ApiResponse:
    """Return the response to an error."""
    content = {"errors": [{"code": error.code, "message": str(error), "detail": {}}]}
    return json_response(error.status, content, [*error.headers, API_VERSION])


def refusal_of(error: Exception) -> RegistryError | None:
    """Return the response to an error of the caller or of the storage; None if it is a bug."""
    match error:
        case RegistryError():
            return error
        case NotFound():
            return RegistryError(404, "NAME_UNKNOWN", "repository name not known to registry")
        case Denied():
            return RegistryError(403, "DENIED", error.reason or "requested access to the resource is denied")
        case MissingParts():
            return RegistryError(404, "MANIFEST_BLOB_UNKNOWN", f"unknown to repository: {error}")
        case Invalid():
            return RegistryError(400, "MANIFEST_INVALID", str(error))
        case Throttled():
            retry = (b"retry-after", b"%d" % error.retry_after)
            return RegistryError(error.status, "TOOMANYREQUESTS", "too many requests", retry)
        case TransferTooSlow():
            return RegistryError(408, "BLOB_UPLOAD_INVALID", "the body arrived too slowly", (b"connection", b"close"))
        case StorageFull():
            return RegistryError(507, "UNAVAILABLE", "the disk of the server is full", (b"retry-after", b"60"))
        case Unavailable():
            text = str(error) if isinstance(error, TransfersBusy) else "service unavailable"
            return RegistryError(503, "UNAVAILABLE", text, (b"retry-after", b"5"))
    return None
