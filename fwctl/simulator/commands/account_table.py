"""Flags and help of accounts, quotas, sign-in and the build itself."""

from __future__ import annotations

from fwctl.simulator.commands.table import LIST, PLAIN, Command, Flag

COMMANDS = (
    Command(
        "account get", "Prints information about an account.", "account:get", PLAIN, 0, 1, message="Account"
    ),
    Command(
        "account list", "Prints all accounts of the caller.", "account:list_all", LIST, message="Account"
    ),
    Command(
        "quota get", "Prints information about a quota.", "account:quota_get", PLAIN, 1, 1, message="Quota"
    ),
    Command("quota list", "Prints all quotas.", "account:quota_list", LIST, message="Quota"),
    Command(
        "quota update",
        "Updates a quota.",
        "account:quota_update",
        (Flag("value", "string", "The new value."), *PLAIN),
        1,
        1,
        True,
        message="Quota",
    ),
    Command("whoami", "Prints who is signed in.", "account:whoami"),
    Command(
        "version",
        "Prints the version of firectl.",
        "account:version",
        (Flag("long", "bool", "Print more about the build.", "l"),),
    ),
    Command(
        "signin",
        "Signs into Fireworks via OIDC.",
        "account:signin",
        (),
        0,
        1,
        long="Signs into Fireworks via OIDC.\n\n"
        "The optional positional argument selects which account to use when your\n"
        "email is associated with multiple accounts (note: this is not the same as\n"
        "'-a').\n\n"
        "For enterprise SSO accounts, pass the account ID as the positional argument\n"
        "so firectl opens that account's SSO provider instead of the default Google\n"
        "sign-in flow.\n\n"
        "For non-interactive use (CI / scripts), prefer '--api-key' or\n"
        "'firectl set-api-key <KEY>' over interactive sign-in. For 'firectl session'\n"
        "commands, auth precedence is: --api-key, then stored OIDC sign-in from\n"
        "'firectl signin', then 'firectl set-api-key' credentials.",
        examples=(
            "firectl signin",
            "firectl signin my-account-id",
            "# Enterprise SSO account:",
            "firectl signin my-sso-account",
            "",
        ),
    ),
    Command(
        "set-api-key",
        "Sets the default API key in ~/.fireworks/auth.ini.",
        "account:set_api_key",
        (),
        1,
        1,
        examples=("firectl set-api-key API_KEY",),
    ),
    Command("upgrade", "Upgrades firectl to the latest version.", "account:upgrade"),
)
