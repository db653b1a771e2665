"""Flags and help of shapes, models and adapters."""

from __future__ import annotations

from fwctl.simulator.commands.table import LIST, OUTPUT, PLAIN, WAIT, Command, Flag

MATCH_SINCE = (1, 8, 5)
_LORA_WAIT = (
    WAIT[0],
    Flag("wait-timeout", "duration", "The maximum time to wait when using --wait flag. (default 30m0s)"),
)
_DISPLAY = Flag("display-name", "string", "The display name.")
_DESCRIPTION = Flag("description", "string", "The description.")
_PUBLIC = Flag("public", "bool", "Whether it is publicly readable.")

SHAPES = (
    Command(
        "deployment-shape-version list",
        "Prints all deployment shape versions of a deployment shape, or of all with -.",
        "shape:list_versions",
        (Flag("base-model", "string", "Only list versions for this base model."), *LIST),
        0,
        1,
        examples=(
            "firectl deployment-shape-version list my-deployment-shape",
            "firectl deployment-shape-version list --base-model accounts/fireworks/models/gpt-oss-120b",
        ),
        message="DeploymentShapeVersion",
    ),
    Command(
        "deployment-shape-version get",
        "Prints information about a deployment shape version.",
        "shape:get_version",
        PLAIN,
        1,
        1,
        examples=(
            (
                "firectl deployment-shape-version get "
                "accounts/fireworks/deploymentShapes/my-deployment-shape/versions/latest"
            ),
        ),
        message="DeploymentShapeVersion",
    ),
    Command(
        "deployment-shape-version match",
        "Lists the deployment shape versions that can be deployed for a model.",
        "shape:match",
        (
            Flag("account", "string", "The account that would deploy the model."),
            Flag("model", "string", "The model to match."),
            OUTPUT,
        ),
        examples=("firectl deployment-shape-version match --model accounts/fireworks/models/gpt-oss-120b",),
        since=MATCH_SINCE,
        message="DeploymentShapeVersion",
    ),
    Command(
        "deployment-shape list",
        "Prints all deployment shapes.",
        "shape:list_shapes",
        LIST,
        examples=("firectl deployment-shape list -a fireworks",),
        message="DeploymentShape",
    ),
    Command(
        "deployment-shape get",
        "Prints information about a deployment shape.",
        "shape:get_shape",
        PLAIN,
        1,
        1,
        examples=("firectl deployment-shape get accounts/fireworks/deploymentShapes/my-shape",),
        message="DeploymentShape",
    ),
)

_MODEL_TEXTS = (
    _DESCRIPTION,
    _DISPLAY,
    Flag("github-url", "string", "The URL of the model's GitHub repository."),
    Flag("hugging-face-url", "string", "The URL of the model on Hugging Face."),
    _PUBLIC,
    Flag("supports-image-input", "bool", "Whether images can be given as input."),
    Flag("supports-tools", "bool", "Whether the model supports tool calls."),
    Flag("default-draft-model", "string", "The default draft model of deployments of this model."),
    Flag("default-draft-token-count", "int32", "The default number of draft tokens."),
)
_UPLOAD = (
    Flag("enable-resumable-upload", "bool", "If true, an interrupted upload is resumed."),
    Flag("poll-duration", "duration", "How long to wait for the upload to be validated. (default 2h0m0s)"),
    Flag("quiet", "bool", "If true, does not show upload progress."),
    Flag("role-arn", "string", "The AWS role to read an s3:// source with."),
    Flag("azure-managed-identity-client-id", "string", "The Azure identity to read an Azure source with."),
    Flag("azure-sas-token-secret", "string", "The secret with the SAS token of an Azure source."),
    Flag("azure-tenant-id", "string", "The Azure tenant of the identity."),
)
MODELS = (
    Command(
        "model create",
        "Creates and uploads a model.",
        "model:create",
        (
            Flag("base-model", "string", "The base model of a LoRA addon."),
            Flag("embedding", "bool", "If true, the model is an embedding model."),
            *_MODEL_TEXTS,
            *_UPLOAD,
            *PLAIN,
        ),
        2,
        3,
        True,
        examples=("firectl model create my-model /path/to/checkpoint/",),
        message="Model",
    ),
    Command(
        "model upload",
        "Uploads files of a model.",
        "model:upload",
        (*_UPLOAD, OUTPUT),
        2,
        2,
        True,
        examples=("firectl model upload my-model /path/to/checkpoint/",),
        message="Model",
    ),
    Command(
        "model get",
        "Prints information about a model.",
        "model:get",
        PLAIN,
        1,
        1,
        examples=("firectl model get my-model", "firectl -a fireworks model get llama-v3p1-8b-instruct"),
        message="Model",
    ),
    Command(
        "model list",
        "Prints all models in an account.",
        "model:list_all",
        LIST,
        examples=("firectl model list",),
        message="Model",
    ),
    Command(
        "model update",
        "Updates a model.",
        "model:update",
        (*_MODEL_TEXTS, *PLAIN),
        1,
        1,
        True,
        examples=("firectl model update my-model --public=false",),
        message="Model",
    ),
    Command(
        "model delete",
        "Deletes a model.",
        "model:delete",
        PLAIN,
        1,
        1,
        True,
        examples=("firectl model delete my-model",),
    ),
    Command(
        "model download",
        "Downloads a model.",
        "model:download",
        (Flag("quiet", "bool", "If true, does not show download progress."),),
        2,
        2,
        examples=("firectl model download my-model /path/to/folder/",),
    ),
    Command(
        "model prepare",
        "Prepares a model for serving in another precision.",
        "model:prepare",
        (
            Flag("precision", "string", "The precision to prepare the model for."),
            *_LORA_WAIT,
        ),
        1,
        1,
        True,
        examples=("firectl model prepare my-model",),
        message="Model",
    ),
)
_LOAD_FLAGS = (
    Flag("deployment", "string", "The deployment to load the LoRA addon on."),
    _PUBLIC,
    Flag("replace-merged-addon", "bool", "Replace the addon that is merged on a hot-reload deployment."),
    *_LORA_WAIT,
)
_UNLOAD_FLAGS = (Flag("deployment", "string", "The deployment to unload from."), *_LORA_WAIT)
_LOAD = Command(
    "load-lora",
    "Loads a LoRA addon on a deployment.",
    "lora:load",
    _LOAD_FLAGS,
    1,
    1,
    True,
    examples=("firectl load-lora my-model --deployment my-deployment",),
    message="DeployedModel",
)
_UNLOAD = Command(
    "unload-lora",
    "Unloads a LoRA addon from a deployment.",
    "lora:unload",
    _UNLOAD_FLAGS,
    1,
    1,
    True,
    examples=("firectl unload-lora my-model --deployment my-deployment",),
)
LORA = (
    _LOAD,
    _UNLOAD,
    _LOAD._replace(path="model load-lora"),
    _UNLOAD._replace(path="model unload-lora"),
    Command(
        "deployed-model get",
        "Prints information about a deployed model.",
        "lora:get",
        PLAIN,
        1,
        1,
        message="DeployedModel",
        examples=("firectl deployed-model get my-deployed-model",),
    ),
    Command(
        "deployed-model list",
        "Prints all deployed models.",
        "lora:list_all",
        LIST,
        message="DeployedModel",
        examples=("firectl deployed-model list",),
    ),
    Command(
        "deployed-model update",
        "Updates a deployed model.",
        "lora:update",
        (
            Flag("default", "bool", "Make it the default for its model."),
            _DESCRIPTION,
            _DISPLAY,
            _PUBLIC,
            *PLAIN,
        ),
        1,
        1,
        True,
        message="DeployedModel",
        examples=("firectl deployed-model update my-deployed-model --default",),
    ),
)
