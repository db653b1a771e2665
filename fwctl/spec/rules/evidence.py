"""Rules that need what earlier measurements say; without evidence they are silent."""

from __future__ import annotations

from collections.abc import Iterator

from fwctl.catalog.precision_support import WEIGHT_BITS
from fwctl.errors import Severity
from fwctl.spec.rules.registry import deployment_rule
from fwctl.spec.view import Finding, View

_TARGET = "autoscaling.load_targets.concurrent_requests"


@deployment_rule("FW404", Severity.WARNING, needs="model_precision")
def quantised_without_evaluation(d: View) -> Iterator[Finding]:
    """A precision below the checkpoint's own, without a passing evaluation.

    What it checks: where the checkpoint's precision is known, a lower one has fresh, passing evaluation
    evidence for this model and precision. With `gates.eval: block` it is an error of `validate`, and the
    gate of a plan blocks the deployment; with `ignore` it is off.

    Why it is bad: quantisation costs some answers; which ones, only an evaluation on your own prompts
    says.

    Example::

        precision: FP8

    Use instead::

        precision: BF16
    """
    precision, model, gate = d.get("precision"), d.get("model"), d.get("gates.eval")
    if d.evidence is None or not d.evidence.read or precision is None or gate == "ignore":
        return
    own = d.evidence.model_precision.get(model or "")
    bits, own_bits = WEIGHT_BITS.get(precision), WEIGHT_BITS.get(own or "")
    if bits is None or own_bits is None or bits >= own_bits or d.evidence.evaluated.get(d.name):
        return
    stale = d.evidence.not_evaluated.get(d.name)
    yield d.finding(
        "precision",
        f"precision {precision} is below the checkpoint's {own} and no fresh evaluation passes"
        + (f" ({stale})" if stale else ""),
        "run `fwctl eval compare` against the 16-bit deployment, or keep its precision",
        Severity.ERROR if gate == "block" and not d.evidence.gates_follow else None,
    )


@deployment_rule("FW410", Severity.WARNING, needs="conversations")
def more_than_memory_holds(d: View) -> Iterator[Finding]:
    """More requests in flight than KV memory holds.

    What it checks: `replicas.max_concurrency` and the load target `concurrent_requests` are at most the
    number of conversations of the declared workload that fit on one replica.

    Why it is bad: above that number requests queue or are preempted inside the engine, and latency rises
    before the autoscaler sees a reason to add a replica.

    Example::

        replicas: {min: 1, max: 2, max_concurrency: 64}

    Use instead::

        replicas: {min: 1, max: 2, max_concurrency: 16}
    """
    holds = d.evidence.conversations.get(d.name) if d.evidence is not None else None
    if holds is None:
        return
    target = (d.get("autoscaling.load_targets") or {}).get("concurrent_requests")
    for path, wanted in (("replicas.max_concurrency", d.get("replicas.max_concurrency")), (_TARGET, target)):
        if wanted is not None and wanted > holds:
            name = path.rpartition(".")[2]
            yield d.finding(
                path,
                f"{name} {wanted:g} is above the {holds:.1f} conversations that fit in KV memory",
                f"write at most {int(holds)}, or change the shape (`fwctl fit-check --explain`)",
            )
