"""Challenges for passkeys, and the rate-limited check of the browser's responses."""

import secrets
from typing import Literal

import msgspec

from ingot.accounts.instance.throttles import count_within_limit, uncount_attempt
from ingot.accounts.sessions.password_check import FAILURE_WINDOW_SECONDS, MAX_FAILURES, MAX_FAILURES_PER_NETWORK
from ingot.accounts.sessions.policy import may_sign_in
from ingot.accounts.sessions.service import record_failure
from ingot.accounts.two_factor.passkeys import CHALLENGE_SECONDS, find_asserted_passkey, record_use
from ingot.accounts.two_factor.queries import passkeys_of_user
from ingot.accounts.two_factor.tables import Passkey
from ingot.accounts.two_factor.webauthn import (
    RelyingParty,
    encode_bytes,
    read_assertion,
    relying_party_or_none,
    request_options,
    verify_assertion,
)
from ingot.accounts.users.confirmations import has_access_without_confirmation
from ingot.accounts.users.queries import user_or_none
from ingot.accounts.users.tables import User
from ingot.core.db.connection import Connection
from ingot.core.db.signed_values import sign_value, verify_signed
from ingot.core.db.times import to_datetime
from ingot.core.errors import Invalid, Unauthenticated
from ingot.core.http.client_networks import client_network
from ingot.web.page_routes import Visit, form_field

ChallengePurpose = Literal["sign-in", "second factor", "registration"]
_PURPOSE = "passkey challenge"


class PasskeyChallenge(msgspec.Struct):
    """Challenge that a response must sign; signed, stored in the page and bound to its CSRF token."""

    challenge: str
    purpose: ChallengePurpose
    user_id: int
    """User who must respond; 0 if the response tells."""
    csrf: str
    expires_at: float
    name: str = ""
    """Name of the passkey that is being registered."""


class PasskeyPrompt(msgspec.Struct):
    """Values of a form that asks the browser for a passkey."""

    options: str
    """Options of the WebAuthn call as JSON."""
    signed_challenge: str


def relying_party(visit: Visit) -> RelyingParty | None:
    """Return the relying party of the server's external URL; None if browsers offer no passkeys there."""
    return relying_party_or_none(visit.request.origin.base)


def sign_in_prompt(visit: Visit) -> PasskeyPrompt | None:
    """Return the prompt for a sign-in without a password; None if browsers offer no passkeys here."""
    party = relying_party(visit)
    if party is None:
        return None
    issued, signed = issue_challenge(visit, "sign-in")
    return PasskeyPrompt(_json(request_options(party, issued, [], verify_user=True)), signed)


def second_factor_prompt(visit: Visit, user_id: int) -> PasskeyPrompt | None:
    """Return the prompt for the second factor; None if the user has no passkey."""
    party = relying_party(visit)
    passkeys = visit.database.read(lambda db: passkeys_of_user(db, user_id))
    if party is None or not passkeys:
        return None
    issued, signed = issue_challenge(visit, "second factor", user_id)
    return PasskeyPrompt(_json(request_options(party, issued, passkeys, verify_user=False)), signed)


def _json(options: dict[str, object]) -> str:
    return msgspec.json.encode(options).decode()


def issue_challenge(visit: Visit, purpose: ChallengePurpose, user_id: int = 0, name: str = "") -> tuple[str, str]:
    """Return a new challenge, and the signed value that the form sends back with the response."""
    challenge = encode_bytes(secrets.token_bytes(32))
    expires_at = _now(visit) + CHALLENGE_SECONDS
    issued = PasskeyChallenge(challenge, purpose, user_id, visit.viewer.csrf, expires_at, name)
    return challenge, sign_value(visit.database.vault, _PURPOSE, issued)


def read_challenge(visit: Visit, purpose: ChallengePurpose, user_id: int = 0) -> PasskeyChallenge:
    """Return the form's challenge; raise Unauthenticated if it is forged, expired or for another purpose or user."""
    signed = form_field(visit.request.form, "passkey", "challenge")
    issued = verify_signed(visit.database.vault, _PURPOSE, signed, PasskeyChallenge)
    if (
        issued is None
        or issued.purpose != purpose
        or issued.user_id != user_id
        or issued.csrf != visit.viewer.csrf
        or issued.expires_at < _now(visit)
    ):
        raise Unauthenticated
    return issued


def response_text(visit: Visit) -> str:
    """Return the browser's response in the form, as JSON."""
    return form_field(visit.request.form, "passkey", "response")


def check_passkey(visit: Visit, second_step_of: User | None = None) -> User:
    """Return the user whose passkey signed the form's challenge; raise Unauthenticated or Throttled.

    Without a password, the authenticator must have verified its user, so the passkey is both factors. The attempt is
    counted first, so that parallel attempts cannot exceed the limit, and uncounted if it succeeds.
    """
    party = relying_party(visit)
    user_id = second_step_of.id if second_step_of else 0
    issued = read_challenge(visit, "second factor" if second_step_of else "sign-in", user_id)
    if party is None:
        raise Unauthenticated
    key, limit = f"sign-in from {client_network(visit.request.origin.ip)}", MAX_FAILURES_PER_NETWORK
    if second_step_of:
        key, limit = f"second step of {user_id}", MAX_FAILURES
    visit.database.write(lambda db: count_within_limit(db, key, limit, FAILURE_WINDOW_SECONDS))
    passkey = _named_passkey(visit, party)
    try:
        if second_step_of is not None and passkey.user_id != user_id:
            raise Unauthenticated
        counted = verify_assertion(
            party, issued.challenge, passkey, response_text(visit), verify_user=second_step_of is None
        )

        def finish(db: Connection) -> User:
            user = user_or_none(db, passkey.user_id)
            if user is None or not may_sign_in(user, confirmed=has_access_without_confirmation(db, user)):
                raise Unauthenticated
            record_use(db, passkey, issued.challenge, counted)
            uncount_attempt(db, key)
            return user

        return visit.database.write(finish)
    except (Invalid, Unauthenticated) as error:
        origin = visit.request.origin
        record_failure(visit.database, passkey.user_id, origin.ip, origin.user_agent, "passkey")
        raise Unauthenticated from error


def _named_passkey(visit: Visit, party: RelyingParty) -> Passkey:
    try:
        asserted = read_assertion(party, response_text(visit))
    except Invalid as error:
        raise Unauthenticated from error
    return visit.database.read(lambda db: find_asserted_passkey(db, asserted))


def _now(visit: Visit) -> float:
    return to_datetime(visit.database.clock()).timestamp()
