"""Cookie of a browser in which a user has signed in, so that failed sign-ins elsewhere do not lock them out of it."""

import secrets

from ingot.accounts.sessions.password_check import KnownDevice
from ingot.core.db.signed_values import sign_value, verify_signed
from ingot.core.http.request import Header
from ingot.web.cookies import DEVICE_COOKIE, set_cookie
from ingot.web.page_routes import Visit

MAX_AGE_SECONDS = 365 * 24 * 3600
_PURPOSE = "known device"


def known_device(visit: Visit) -> KnownDevice | None:
    """Return the device of the request's cookie; None without a valid one."""
    return verify_signed(visit.database.vault, _PURPOSE, visit.headers.cookies.get(DEVICE_COOKIE, ""), KnownDevice)


def device_cookie(visit: Visit, user_id: int) -> Header:
    """Return the header that marks the browser as a known device of a user; the device keeps its id."""
    device = known_device(visit)
    if device is None or device.user_id != user_id:
        device = KnownDevice(user_id, secrets.token_hex(8))
    return set_cookie(
        visit.settings, DEVICE_COOKIE, sign_value(visit.database.vault, _PURPOSE, device), max_age=MAX_AGE_SECONDS
    )
