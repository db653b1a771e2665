"""Flags and help of metrics, billing, routers, reservations, datasets, jobs, secrets and users."""

from __future__ import annotations

from fwctl.simulator.commands.table import LIST, OUTPUT, PLAIN, Command, Flag

METRICS = (
    Command(
        "deployment-metrics list",
        "Prints metrics of deployments.",
        "metrics:list_series",
        (
            Flag("end", "string", "The end of the range, exclusive, YYYY-MM-DD."),
            Flag("group-by", "string", "The label to group by."),
            Flag("interval", "duration", "The distance of two values."),
            Flag("metric", "string", "The metric to print."),
            Flag("start", "string", "The start of the range, YYYY-MM-DD."),
            OUTPUT,
        ),
        examples=(
            (
                "firectl deployment-metrics list --metric tokens-per-second --group-by deployment "
                "--start 2026-07-02 --end 2026-07-09 --interval 24h -o json"
            ),
        ),
    ),
)
_ROUTER_FLAGS = (
    Flag("deployments", "strings", "The deployments to route to."),
    Flag("display-name", "string", "The display name."),
    Flag("public", "bool", "Whether other accounts may use the router."),
    Flag(
        "strategy",
        "string",
        'The routing strategy, one of {weighted-random, even-load}. (default "weighted-random")',
    ),
)
_ROUTERS = (
    Command(
        "router create",
        "Creates a router over deployments.",
        "router:create",
        (
            Flag("model", "string", "The model of the router."),
            Flag("router-id", "string", "The ID of the router. If not specified, a random ID is generated."),
            *_ROUTER_FLAGS,
            *PLAIN,
        ),
        mutating=True,
        examples=("firectl router create --router-id=my-router --deployments=old-deployment,new-deployment",),
        message="Router",
    ),
    Command("router get", "Prints information about a router.", "router:get", PLAIN, 1, 1, message="Router"),
    Command("router list", "Prints all routers.", "router:list_all", LIST, message="Router"),
    Command(
        "router update",
        "Updates a router.",
        "router:update",
        (
            *_ROUTER_FLAGS,
            Flag("session-affinity", "bool", "Keep a session on its deployment."),
            *PLAIN,
        ),
        1,
        1,
        True,
        examples=("firectl router update my-router --deployments=new-deployment",),
        message="Router",
    ),
    Command("router delete", "Deletes a router.", "router:delete", PLAIN, 1, 1, True),
)
_RESERVATIONS = (
    Command(
        "reservation get",
        "Prints information about a reservation.",
        "generic:get",
        PLAIN,
        1,
        1,
        message="Reservation",
    ),
    Command("reservation list", "Prints all reservations.", "generic:list_all", LIST, message="Reservation"),
)
_BILLING = (
    Command(
        "billing export-metrics",
        "Exports billing metrics to a CSV file.",
        "billing:export_metrics",
        (
            Flag("end-time", "string", "The end of the range (exclusive)."),
            Flag("filename", "string", 'The file to write. (default "billing_metrics.csv")'),
            Flag("start-time", "string", "The start of the range (inclusive)."),
        ),
        examples=(
            "firectl billing export-metrics",
            (
                'firectl billing export-metrics --start-time "2026-07-01" --end-time "2026-07-31" '
                "--filename billing.csv"
            ),
        ),
    ),
    Command(
        "billing get-usage",
        "Prints usage and its cost.",
        "billing:get_usage",
        (
            Flag("end-time", "string", "The end of the range (exclusive)."),
            Flag("start-time", "string", "The start of the range (inclusive)."),
            Flag("usage-type", "string", "Only this kind of usage."),
            OUTPUT,
        ),
        since=(1, 7, 20),
    ),
    Command(
        "billing list-invoices", "Prints all invoices.", "billing:list_invoices", LIST, message="Invoice"
    ),
)


_HANDLERS = {"list": "list_all"}


def _crud(
    noun: str,
    summary: str,
    message: str,
    create: tuple[Flag, ...],
    *,
    least: int = 0,
    most: int = 0,
    verbs: tuple[str, ...] = ("create", "get", "list", "delete"),
    update: tuple[Flag, ...] = (),
) -> tuple[Command, ...]:
    """The usual verbs over one kind of resource that the simulator only stores."""
    texts = {
        "create": f"Creates a {summary}.",
        "get": f"Prints information about a {summary}.",
        "list": f"Prints all {summary}s.",
        "update": f"Updates a {summary}.",
        "delete": f"Deletes a {summary}.",
        "cancel": f"Cancels a {summary}.",
    }
    own = {"create": (*create, *PLAIN), "list": LIST, "update": (*update, *PLAIN)}
    counts = {"create": (least, most), "list": (0, 0)}
    return tuple(
        Command(
            f"{noun} {verb}",
            texts[verb],
            f"generic:{_HANDLERS.get(verb, verb)}",
            own.get(verb, PLAIN),
            *counts.get(verb, (1, 1)),
            verb not in {"get", "list"},
            message=message,
        )
        for verb in verbs
    )


def _strings(*names: str) -> tuple[Flag, ...]:
    return tuple(Flag(name, "string", f"The {name.replace('-', ' ')}.") for name in names)


def _ints(*names: str) -> tuple[Flag, ...]:
    return tuple(Flag(name, "int32", f"The {name.replace('-', ' ')}.") for name in names)


_TRAINING = (
    *_strings(
        "base-model",
        "dataset",
        "display-name",
        "evaluation-dataset",
        "job-id",
        "learning-rate",
        "output-model",
        "warm-start-from",
        "wandb-api-key",
        "wandb-entity",
        "wandb-project",
    ),
    *_ints("batch-size", "epochs", "lora-rank", "max-context-length"),
    Flag("early-stop", "bool", "Stop when the evaluation loss no longer falls."),
)
_JOB_VERBS = ("create", "get", "list", "delete", "cancel")
_RESOURCES = (
    *_crud(
        "dataset",
        "dataset",
        "Dataset",
        (*_strings("display-name"), Flag("quiet", "bool", "No progress.")),
        least=2,
        most=2,
    ),
    *_crud(
        "supervised-fine-tuning-job",
        "supervised fine-tuning job",
        "SupervisedFineTuningJob",
        _TRAINING,
        verbs=_JOB_VERBS,
    ),
    *_crud(
        "reinforcement-fine-tuning-job",
        "reinforcement fine-tuning job",
        "ReinforcementFineTuningJob",
        (*_TRAINING, *_strings("evaluator", "grader-url")),
        verbs=_JOB_VERBS,
    ),
    *_crud("dpo-job", "preference optimisation job", "DpoJob", _TRAINING, verbs=_JOB_VERBS),
    *_crud(
        "rlor-trainer-job",
        "trainer job",
        "RlorTrainerJob",
        (*_TRAINING, *_strings("training-shape", "region"), *_ints("replica-count")),
        verbs=_JOB_VERBS,
    ),
    *_crud(
        "batch-inference-job",
        "batch inference job",
        "BatchInferenceJob",
        _strings("display-name", "input-dataset-id", "job-id", "model", "output-dataset-id"),
        verbs=("create", "get", "list", "delete"),
    ),
    *_crud("training-shape", "training shape", "TrainingShape", (), verbs=("get", "list")),
    *_crud(
        "evaluator-revision", "evaluator revision", "EvaluatorRevision", (), verbs=("get", "list", "delete")
    ),
    *_crud(
        "identity-provider",
        "identity provider",
        "IdentityProvider",
        _strings("display-name"),
        least=1,
        most=1,
        verbs=("create", "get", "list"),
    ),
    *_crud(
        "credit-redemption",
        "credit redemption",
        "CreditRedemption",
        (),
        least=1,
        most=1,
        verbs=("create", "get", "list"),
    ),
    *_crud(
        "secret",
        "secret",
        "Secret",
        _strings("key", "value"),
        most=1,
        verbs=("create", "get", "list", "update", "delete"),
        update=_strings("value"),
    ),
    *_crud(
        "user",
        "user",
        "User",
        _strings("email", "role", "user-id", "display-name"),
        verbs=("create", "get", "list", "update"),
        update=_strings("role", "display-name"),
    ),
    *_crud(
        "api-key",
        "API key",
        "ApiKey",
        _strings("display-name", "key-id", "expire-time"),
        verbs=("create", "list", "delete"),
    ),
)
_POLICY = (
    Command("policy residency get", "Prints the residency policy.", "policy:get"),
    Command(
        "policy residency set", "Limits placement to an area, US or EU.", "policy:set_area", (), 1, 1, True
    ),
    Command("policy residency clear", "Removes the residency policy.", "policy:clear", mutating=True),
)
COMMANDS = (*_ROUTERS, *_RESERVATIONS, *_BILLING, *_RESOURCES, *_POLICY)
