"""Verification of the second factor, rate-limited per account."""

from ingot.accounts.instance.throttles import count_within_limit, uncount_attempt
from ingot.accounts.sessions.password_check import FAILURE_WINDOW_SECONDS, MAX_FAILURES
from ingot.accounts.sessions.service import record_failure
from ingot.accounts.two_factor.service import verify_second_factor
from ingot.accounts.users.tables import User
from ingot.core.db.connection import Connection
from ingot.web.page_routes import Visit


def check_second_factor(visit: Visit, user: User, code: str) -> bool:
    """Check a one-time or recovery code and use it up; raise ``Throttled`` after too many failed attempts.

    The attempt is counted first, so that parallel guesses cannot exceed the limit, and uncounted if the code matches.
    """
    key = f"second step of {user.id}"

    def check(db: Connection) -> bool:
        count_within_limit(db, key, MAX_FAILURES, FAILURE_WINDOW_SECONDS)
        matched = verify_second_factor(db, user, code)
        if matched:
            uncount_attempt(db, key)
        return matched

    matched = visit.database.write(check)
    if not matched:
        record_failure(visit.database, user.id, visit.request.origin.ip, visit.request.origin.user_agent, "two-factor")
    return matched
