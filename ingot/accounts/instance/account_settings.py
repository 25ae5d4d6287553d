"""Settings of accounts: passwords, sign-in, tokens, keys and terms of service."""

from typing import Annotated, Literal

from msgspec import Meta

from ingot.accounts.instance.limit_settings import LimitSettings
from ingot.core.api.audience import Affected
from ingot.core.api.declared_fields import fixed

_Line = Annotated[str, Meta(max_length=10_000)]
_Number = Annotated[int, Meta(ge=-1, le=2**53)]
_Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]


class AccountSettings(LimitSettings, frozen=True):
    """Settings of accounts; docs/attributes.md lists their effects."""

    admin_mode: Annotated[
        bool,
        Meta(
            description="Administrators act as such only for six hours after they have signed in again for it, and "
            "with tokens that have the scope `admin_mode`; git is not affected."
        ),
        Affected.ADMINISTRATORS,
    ] = False
    allow_account_deletion: Annotated[
        bool, Meta(description="Users may delete their accounts; administrators always may."), Affected.USERS
    ] = True
    allow_project_creation_for_guest_and_below: Annotated[
        bool,
        Meta(description="If off, only users who are reporters somewhere can create projects of their own."),
        Affected.USERS,
    ] = True
    can_create_group: Annotated[bool, Meta(description="Whether new users may create groups."), Affected.NEW_USERS] = (
        True
    )
    commit_email_hostname: (
        Annotated[
            _Line,
            Meta(
                description="Host of private addresses of users for commits; without it, `users.noreply.` and the host "
                "of the server."
            ),
            Affected.USERS,
        ]
        | None
    ) = None
    deactivate_dormant_users: Annotated[
        bool,
        Meta(description="Users other than administrators who are not active for a time are deactivated."),
        Affected.INACTIVE_USERS,
    ] = False
    deactivate_dormant_users_period: Annotated[
        int,
        Meta(ge=90, le=36_500, description="Days without activity after which a user is deactivated."),
        Affected.INACTIVE_USERS,
    ] = 90
    default_preferred_language: Annotated[
        Literal["en", "de"],
        Meta(
            description="Language of pages for users who have chosen none; with `en`, that of the browser if available."
        ),
        Affected.USERS,
    ] = "en"
    disable_admin_oauth_scopes: Annotated[
        bool,
        Meta(
            description="Administrators cannot grant applications access to the API, repositories or registries, nor "
            "get such tokens with their password (OAuth)."
        ),
        Affected.ADMINISTRATORS,
    ] = False
    dynamic_client_registration_enabled: Annotated[
        bool,
        Meta(description="OAuth clients such as agents can register themselves (RFC 7591)."),
        Affected.APPLICATIONS,
    ] = True
    delete_unconfirmed_users: Annotated[
        bool,
        Meta(
            description="Users who never sign in and never confirm their address are deleted after a time, if "
            "`email_confirmation_setting` is not `off`; the only owners of groups stay."
        ),
        Affected.UNCONFIRMED_USERS,
    ] = False
    disable_feed_token: Annotated[
        bool, Meta(description="Feed tokens are neither shown nor accepted."), Affected.USERS
    ] = False
    dsa_key_restriction: Annotated[_Number, fixed("OpenSSH does not accept DSA keys any more.")] = -1
    ecdsa_key_restriction: Annotated[
        Literal[0, -1, 256, 384, 521],
        Meta(description="Smallest size of such SSH keys in bits; 0 allows all, -1 none."),
        Affected.SSH_KEYS,
    ] = 0
    ecdsa_sk_key_restriction: Annotated[
        Literal[0, -1, 256],
        Meta(description="SSH keys of this type: 0 or 256 allows them, -1 does not."),
        Affected.SSH_KEYS,
    ] = 0
    ed25519_key_restriction: Annotated[
        Literal[0, -1, 256],
        Meta(description="SSH keys of this type: 0 or 256 allows them, -1 does not."),
        Affected.SSH_KEYS,
    ] = 0
    ed25519_sk_key_restriction: Annotated[
        Literal[0, -1, 256],
        Meta(description="SSH keys of this type: 0 or 256 allows them, -1 does not."),
        Affected.SSH_KEYS,
    ] = 0
    email_restrictions: (
        Annotated[
            str,
            Meta(
                max_length=10_000,
                description="Regular expression (RE2, ignores case) of addresses that may not sign up.",
            ),
            Affected.SIGN_UPS,
        ]
        | None
    ) = None
    email_restrictions_enabled: Annotated[
        bool,
        Meta(description="Addresses that match `email_restrictions` may not sign up, be invited or be added by users."),
        Affected.SIGN_UPS,
    ] = False
    enforce_terms: Annotated[
        bool,
        Meta(description="Users must accept `terms` before they use pages, the API or git; bots need not."),
        Affected.USERS,
    ] = False
    failed_login_attempts_unlock_period_in_minutes: (
        Annotated[
            int,
            Meta(ge=1, le=525_600, description="Minutes until a locked account is unlocked; null means 10."),
            Affected.PASSWORDS,
        ]
        | None
    ) = None
    globally_allowed_ips: (
        Annotated[
            _Line,
            Meta(description="Networks, separated by commas, from which groups with `ip_restriction_ranges` are open."),
            Affected.EVERYONE,
        ]
        | None
    ) = ""
    max_login_attempts: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=10_000,
                description="Failed sign-ins after which the password of an account is refused until it is unlocked; "
                "null means never. Attempts are limited by address and account in any case.",
            ),
            Affected.PASSWORDS,
        ]
        | None
    ) = None
    max_personal_access_token_lifetime: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=400,
                description="Days in which personal, impersonation, project and group access tokens expire at the "
                "latest; existing ones are shortened within an hour. Without an expiry date, new ones get the "
                "latest, unless `require_personal_access_token_expiry` refuses them.",
            ),
            Affected.TOKENS,
        ]
        | None
    ) = None
    minimum_password_length: Annotated[
        int, Meta(ge=8, le=128, description="Smallest length of new passwords."), Affected.PASSWORDS
    ] = 8
    notify_on_unknown_sign_in: Annotated[
        bool,
        Meta(description="Users get a mail about a sign-in from a network where they had not signed in before."),
        Affected.SIGN_INS,
    ] = False
    password_authentication_enabled_for_git: Annotated[
        bool,
        Meta(description="Git over HTTP accepts passwords; also requires `signin_enabled`. Not for passwords of LDAP."),
        Affected.PASSWORDS,
    ] = True
    password_lowercase_required: Annotated[
        bool, Meta(description="New passwords need a lowercase letter."), Affected.PASSWORDS
    ] = False
    password_number_required: Annotated[bool, Meta(description="New passwords need a number."), Affected.PASSWORDS] = (
        False
    )
    password_symbol_required: Annotated[
        bool,
        Meta(description="New passwords need a character that is neither a letter, a number nor a space."),
        Affected.PASSWORDS,
    ] = False
    password_uppercase_required: Annotated[
        bool, Meta(description="New passwords need an uppercase letter."), Affected.PASSWORDS
    ] = False
    personal_access_token_prefix: (
        Annotated[
            str,
            Meta(max_length=20, description="Prefix of new personal, project and group access tokens."),
            Affected.TOKENS,
        ]
        | None
    ) = "ingotp-"  # noqa: S105 - A prefix, not a secret.
    remember_me_enabled: Annotated[
        bool,
        Meta(description="The sign-in page offers sessions of two weeks that outlast the browser."),
        Affected.SIGN_INS,
    ] = True
    require_admin_approval_after_user_signup: Annotated[
        bool,
        Meta(description="Users who sign up cannot sign in until an administrator approves them."),
        Affected.SIGN_UPS,
    ] = False
    require_personal_access_token_expiry: Annotated[
        bool,
        Meta(description="New personal and impersonation tokens need an expiry date; those of projects have one."),
        Affected.TOKENS,
    ] = False
    ropc_without_client_credentials: Annotated[
        bool, Meta(description="OAuth's password grant needs no application."), Affected.APPLICATIONS
    ] = True
    rsa_key_restriction: Annotated[
        Literal[0, -1, 2048, 3072, 4096],
        Meta(description="Smallest size of RSA keys in bits; 0 means 2048, and -1 allows none."),
        Affected.SSH_KEYS,
    ] = 0
    service_access_tokens_expiration_enforced: Annotated[bool, fixed("There are no service accounts.")] = False
    # Not GitLab's false: a session that is used does not stay valid for ever.
    session_expire_from_init: Annotated[
        bool,
        Meta(description="If on, the duration counts from the sign-in, otherwise from the last use."),
        Affected.SIGN_INS,
    ] = True
    terms: (
        Annotated[
            str,
            Meta(
                max_length=100_000,
                description="Terms of service in Markdown. After a change, users must accept them again; the "
                "administrator who changes them has accepted them.",
            ),
            Affected.USERS,
        ]
        | None
    ) = None
    unconfirmed_users_delete_after_days: Annotated[
        int,
        Meta(ge=1, le=36_500, description="Days after which a user who has not confirmed the address is deleted."),
        Affected.UNCONFIRMED_USERS,
    ] = 7
    unique_ips_limit_enabled: Annotated[
        bool,
        Meta(
            description="A user is refused at further addresses (IPv6: networks of 64 bits) after "
            "`unique_ips_limit_per_user` others; jobs do not count."
        ),
        Affected.USERS,
    ] = False
    unique_ips_limit_per_user: Annotated[
        _Positive, Meta(description="Addresses of a user in `unique_ips_limit_time_window`."), Affected.USERS
    ] = 10
    unique_ips_limit_time_window: Annotated[
        _Positive, Meta(description="Seconds for which an address of a user counts after its last use."), Affected.USERS
    ] = 3600
    updating_name_disabled_for_users: Annotated[
        bool, Meta(description="Only administrators may change the names of users."), Affected.USERS
    ] = False
    user_deactivation_emails_enabled: Annotated[
        bool, Meta(description="Users get a mail when they are deactivated."), Affected.INACTIVE_USERS
    ] = False
    user_default_internal_regex: (
        Annotated[
            str,
            Meta(
                max_length=10_000,
                description="Regular expression (RE2, ignores case) of addresses of new users who are not external, "
                "although `user_default_external` is on.",
            ),
            Affected.NEW_USERS,
        ]
        | None
    ) = None
    user_defaults_to_private_profile: Annotated[
        bool, Meta(description="Profiles of new users are private."), Affected.NEW_USERS
    ] = False
