"""Rules about the deployment shape and what is pinned beside it."""

from __future__ import annotations

from collections.abc import Iterator

from fwctl.errors import Severity
from fwctl.spec.rules.registry import deployment_rule
from fwctl.spec.view import Finding, View

_PINS = {"accelerator.type": "accelerator", "precision": "precision", "region": "region"}


def has_shape(d: View) -> bool:
    return d.get("shape") not in (None, "", "none")


@deployment_rule("FW301", Severity.ERROR)
def no_shape(d: View) -> Iterator[Finding]:
    """No deployment shape.

    What it checks: every deployment names a shape. `shape: none` is accepted, as a warning, together with
    `accept_shapeless_risk: true`; a shape and that key together are refused.

    Why it is bad: a shape is the combination of hardware, precision and settings that the vendor has
    validated for the model. Without one the platform refuses the create, or lets through a combination
    that fails to load or serves badly; missing shapes are the first cause of failed creations in the
    vendor's documentation.

    Example::

        shape: none

    Use instead::

        shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
    """
    accepted = d.get("accept_shapeless_risk") is True
    if has_shape(d):
        if accepted:
            yield d.finding(
                "accept_shapeless_risk",
                "accept_shapeless_risk and a shape exclude each other; the platform refuses both together",
                "remove one of the two",
            )
        return
    shape = d.get("shape")
    if shape is None and d.written("shape"):
        return
    model = d.get("model") or "MODEL"
    find = f"`fwctl shapes {model}` lists the validated shapes"
    if shape == "none" and accepted:
        message = "no shape: hardware and precision were never validated for this model (risk accepted)"
        yield d.finding("shape", message, find, Severity.WARNING)
        return
    message = "no shape: the platform refuses to create it, or it may fail to load or serve badly"
    if shape == "none" or accepted:
        find += "; to go without one, write both shape: none and accept_shapeless_risk: true"
    yield d.finding("shape", message, find)


@deployment_rule("FW402", Severity.WARNING)
def not_pinned(d: View) -> Iterator[Finding]:
    """Accelerator, precision or region not pinned.

    What it checks: `accelerator.type`, `precision` and `region` are written down (in the deployment or
    its defaults).

    Why it is bad: a shape can get a new version on other hardware or at another precision; with the pins
    a plan refuses such a move instead of following it silently. They also let the fit check work offline.

    Example::

        model: accounts/fireworks/models/llama-v3p1-8b-instruct
        shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
        replicas: {min: 1, max: 2}

    Use instead::

        model: accounts/fireworks/models/llama-v3p1-8b-instruct
        shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
        accelerator: {type: NVIDIA_H100_80GB, count: 1}
        precision: FP8
        region: US
        replicas: {min: 1, max: 2}
    """
    missing = [name for path, name in _PINS.items() if not d.written(path)]
    if missing:
        yield d.finding(
            (),
            f"not pinned: {', '.join(missing)}",
            "write down what the shape has, so that a plan refuses a silent change",
        )


@deployment_rule("FW405", Severity.WARNING)
def pinned_version(d: View) -> Iterator[Finding]:
    """A shape version is pinned in the spec.

    What it checks: `shape` names a shape, not one of its versions.

    Why it is bad: a version is withdrawn sooner or later and the spec then stops working. `fwctl lock`
    records the version in `fwctl.lock`, where it can be checked and moved on purpose.

    Example::

        shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast/versions/k3v9x2ab

    Use instead::

        shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
    """
    shape = d.get("shape")
    if isinstance(shape, str) and "/versions/" in shape:
        yield d.finding(
            "shape",
            "the spec pins a version of the shape",
            f"write {shape.partition('/versions/')[0]} and let `fwctl lock` record the version",
        )
