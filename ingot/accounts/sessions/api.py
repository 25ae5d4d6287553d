"""Endpoint for signing in, used by scripts of GitLab 9.4: it returns the private token and sets no cookie."""

from ingot.accounts.sessions.params import SignIn
from ingot.accounts.sessions.password_check import PasswordAttempt, check_password
from ingot.accounts.tokens.queries import private_token_or_none
from ingot.accounts.users.queries import find_user
from ingot.accounts.users.views import AdminUserView, admin_user_view
from ingot.core.access.rules import anyone
from ingot.core.api.params import MissingParameter
from ingot.core.api.routes import Call, PrepareContext, Routes

routes = Routes("session")


def _check_password(context: PrepareContext, params: SignIn) -> int:
    login = params.login or params.email
    if not login:
        raise MissingParameter("login")
    if params.password is None:
        raise MissingParameter("password")
    attempt = PasswordAttempt("session", login, params.password, context.ip)
    return check_password(context.database, context.settings, attempt).id


@routes.post("/session", may=anyone, returns=AdminUserView, prepare=_check_password)
def sign_in(call: Call, params: SignIn, user_id: int) -> AdminUserView:  # noqa: ARG001 - _check_password used them.
    """Sign in with a password and get the private token."""
    view = admin_user_view(call.db, find_user(call.db, user_id), call.origin.base)
    view.private_token = private_token_or_none(call.db, user_id)
    return view
