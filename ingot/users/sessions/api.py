"""Signing in over the API, as scripts of 9.4 do: it gives the private token and no cookie."""

from ingot.access.rules import anyone
from ingot.api.params import Missing
from ingot.api.routes import Ahead, Call, Routes
from ingot.errors import Unauthenticated
from ingot.users.accounts.queries import find_user
from ingot.users.accounts.views import UserForAdministrators, admin_view
from ingot.users.sessions.params import SignIn
from ingot.users.sessions.service import check_password
from ingot.users.tokens.queries import private_token_of

routes = Routes("session")


def _check(ahead: Ahead, params: SignIn) -> int:
    login = params.login or params.email
    if not login:
        raise Missing("login")
    if params.password is None:
        raise Missing("password")
    user = check_password(ahead.database, login, params.password, ahead.ip, settings=ahead.settings)
    if user.two_factor_enabled:
        # A password alone must not open such an account.
        raise Unauthenticated("You have 2FA enabled. Please use a personal access token to access the API")
    if user.password_expired:
        raise Unauthenticated
    return user.id


@routes.post("/session", may=anyone, returns=UserForAdministrators, prepare=_check)
def sign_in(call: Call, params: SignIn, user_id: int) -> UserForAdministrators:  # noqa: ARG001 - Checked ahead.
    """Sign in with a password and get the private token."""
    view = admin_view(call.db, find_user(call.db, user_id), call.origin.base)
    view.private_token = private_token_of(call.db, user_id)
    return view
