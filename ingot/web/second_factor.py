"""Whether somebody holds their second factor; guesses are bounded wherever they are asked."""

from ingot.accounts.instance.throttles import count_attempt, seconds_left, uncount_attempt
from ingot.accounts.sessions.service import FAILURE_WINDOW_SECONDS, MAX_FAILURES_PER_ACCOUNT, record_failure
from ingot.accounts.two_factor.service import verify_second_factor
from ingot.accounts.users.tables import User
from ingot.core.db.connection import Connection
from ingot.errors import Throttled
from ingot.web.page_routes import Visit


def check_second_factor(visit: Visit, user: User, code: str) -> bool:
    """Use a code of the app or a recovery code; a try is counted first, and given back where it was right."""
    key = f"second step of {user.id}"

    def check(db: Connection) -> bool:
        counted = count_attempt(db, key, FAILURE_WINDOW_SECONDS)
        if counted.count > MAX_FAILURES_PER_ACCOUNT:
            raise Throttled(seconds_left(db, counted))
        matched = verify_second_factor(db, user, code)
        if matched:
            uncount_attempt(db, key)
        return matched

    matched = visit.database.write(check)
    if not matched:
        record_failure(visit.database, user.id, visit.request.origin.ip, visit.request.origin.user_agent, "two-factor")
    return matched
