"""Whether somebody holds their second factor; guesses are bounded wherever they are asked."""

from ingot.db.connection import Connection
from ingot.errors import Throttled
from ingot.instance.throttles import count_try, give_try_back, seconds_left
from ingot.users.accounts.tables import User
from ingot.users.sessions.service import FAILURE_WINDOW_SECONDS, MOST_FAILURES_OF_ACCOUNT, note_failure
from ingot.users.two_factor.service import use_second_factor
from ingot.web.pages import Visit


def holds_second_factor(visit: Visit, user: User, code: str) -> bool:
    """Use a code of the app or a recovery code; a try is counted first, and given back where it was right."""
    key = f"second step of {user.id}"

    def check(db: Connection) -> bool:
        counted = count_try(db, key, FAILURE_WINDOW_SECONDS)
        if counted.count > MOST_FAILURES_OF_ACCOUNT:
            raise Throttled(seconds_left(db, counted))
        matched = use_second_factor(db, user, code)
        if matched:
            give_try_back(db, key)
        return matched

    matched = visit.database.write(check)
    if not matched:
        note_failure(visit.database, user.id, visit.origin.ip, visit.origin.user_agent, "two-factor")
    return matched
