"""The deployment commands and their help."""

from __future__ import annotations

from fwctl.simulator.commands.deployment_flags import CREATE_FLAGS, UPDATE_FLAGS
from fwctl.simulator.commands.table import DRY_RUN, LIST, OUTPUT, PLAIN, WAIT, Command, Flag

TAGS_SINCE = (1, 8, 3)
_ID = (
    "firectl deployment {verb} my-deployment",
    "firectl deployment {verb} accounts/my-account/deployments/my-deployment",
)


def _examples(verb: str, *flags: str) -> tuple[str, ...]:
    tail = "".join(f" {flag}" for flag in flags)
    return tuple(line.format(verb=verb) + tail for line in _ID)


COMMANDS = (
    Command(
        "deployment create",
        "Creates a new deployment from a model.",
        "deployment:create",
        CREATE_FLAGS,
        1,
        1,
        True,
        long="Creates a new deployment from a model.\n\n"
        "Use 'deployment get <ID>' to check status; the State field takes values\n"
        "CREATING, READY, FAILED, UPDATING, DELETING, or DELETED. --wait blocks\n"
        "until READY and errors on FAILED.",
        examples=(
            "firectl deployment create falcon-7b",
            "firectl deployment create accounts/fireworks/models/falcon-7b",
            "firectl deployment create falcon-7b --file=/path/to/deployment-config.json",
            "firectl deployment create falcon-7b --deployment-shape=falcon-7b-shape",
            (
                "firectl deployment create accounts/monetization-genai/models/my-flumina-model --region "
                "eu-iceland-2 --accelerator-type NVIDIA_H200_141GB --min-replica-count 130 "
                "--max-replica-count 130"
            ),
        ),
        message="Deployment",
    ),
    Command(
        "deployment get",
        "Prints information about a deployment.",
        "deployment:get",
        PLAIN,
        1,
        1,
        examples=_examples("get"),
        message="Deployment",
    ),
    Command(
        "deployment list",
        "Prints all deployments in the account.",
        "deployment:list_all",
        (*LIST, Flag("show-deleted", "bool", "Show deleted deployments.", switch="list_show_deleted")),
        examples=("firectl deployment list",),
        message="Deployment",
    ),
    Command(
        "deployment update",
        "Updates a deployment.",
        "deployment:update",
        UPDATE_FLAGS,
        1,
        1,
        True,
        examples=(
            "firectl deployment update my-deployment --min-replica-count=1",
            "firectl deployment update my-deployment --file=/path/to/deployment-config.json",
        ),
        message="Deployment",
    ),
    Command(
        "deployment scale",
        "Scales a deployment to the given number of replicas.",
        "deployment:scale",
        (Flag("replica-count", "int32", "The number of replicas to scale to. Must be non-negative."),),
        1,
        1,
        True,
        examples=_examples("scale", "--replica-count=3"),
    ),
    Command(
        "deployment delete",
        "Deletes a deployment.",
        "deployment:delete",
        (
            DRY_RUN,
            Flag("hard", "bool", "Permanently delete the deployment; it cannot be undeleted."),
            Flag("ignore-checks", "bool", "Delete even if the deployment received requests recently."),
            OUTPUT,
            *WAIT,
        ),
        1,
        1,
        True,
        examples=_examples("delete"),
    ),
    Command(
        "deployment undelete",
        "Undeletes a deployment.",
        "deployment:undelete",
        WAIT,
        1,
        1,
        True,
        examples=_examples("undelete"),
    ),
    Command(
        "deployment tag set",
        "Sets tags on a deployment.",
        "deployment:tag_set",
        (
            Flag("key", "string", "The key of the tag."),
            Flag("tag", "stringArray", "A tag as key=value. Can be repeated."),
            Flag("value", "string", "The value of the tag."),
        ),
        1,
        1,
        True,
        examples=(
            "firectl deployment tag set my-deployment --key environment --value prod",
            "firectl deployment tag set my-deployment --tag environment=prod --tag team=search",
        ),
        since=TAGS_SINCE,
    ),
    Command(
        "deployment tag list",
        "Lists the tags of a deployment.",
        "deployment:tag_list",
        (),
        1,
        1,
        examples=("firectl deployment tag list my-deployment",),
        since=TAGS_SINCE,
    ),
    Command(
        "deployment tag unset",
        "Removes tags from a deployment.",
        "deployment:tag_unset",
        (Flag("key", "stringArray", "The key of the tag to remove. Can be repeated."),),
        1,
        1,
        True,
        examples=("firectl deployment tag unset my-deployment --key environment",),
        since=TAGS_SINCE,
    ),
)
