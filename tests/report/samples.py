"""Reports as commands hand them over, small and with the things that break formats."""

from __future__ import annotations

from typing import Any

from fwctl.errors import Diagnostic, Position, RefusedError, Severity
from fwctl.exitcodes import Exit
from fwctl.report.model import Report

DIGEST = "45e2ab47f3d20d402503f48cbf02e32b3ed0da71d32aea1b34ec61c8edf6ceaf"
HOSTILE = "50% off: a,b\r\n::error::forged ]]> </td><script>alert(1)</script> | `x` @team #1 \x1b[31m \ufffe"
COUNTS = ("create", "update", "replace", "delete", "adopt", "park", "unpark", "mark", "undelete", "wait")


def diagnostic(
    severity: Severity = Severity.ERROR,
    code: str = "FW302",
    message: str = "min 5 is more than max 2",
    line: int = 9,
    **more: Any,
) -> Diagnostic:
    given: dict[str, Any] = {
        "deployment": "chat",
        "path": "/deployments/chat/replicas",
        "position": Position("configs/chat.yaml", line, 22, line, 23),
        "suggestion": "raise max to 5",
        "docs": f"docs/rules/{code}.md",
    }
    return Diagnostic(severity, code, message, **(given | more))


def validate(*diagnostics: Diagnostic) -> Report:
    bad = any(item.severity is Severity.ERROR for item in diagnostics)
    body = {"files": ["configs/chat.yaml", "configs/eval.yaml"], "deployments": ["chat", "eval"]}
    return Report("validate", body, Exit.INVALID_SPEC if bad else Exit.OK, diagnostics)


def field(path: str, before: Any, after: Any, **more: Any) -> dict[str, Any]:
    row = {
        "path": path,
        "before": before,
        "after": after,
        "effect": "in_place",
        "output_changing": False,
        "sensitive": False,
        "source": {"file": "configs/chat.yaml", "line": 17},
    }
    return row | more


def change(name: str, *actions: str, fields: tuple[Any, ...] = (), **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "address": f"deployments/{name}",
        "deployment_id": name,
        "actions": list(actions),
        "reason": "",
        "fields": list(fields),
        "commands": [["firectl", "deployment", actions[0], name, "-a", "acme"]],
        "fit": None,
        "cost": cost(8.0, 16.0),
    }
    return row | more


def cost(floor: float | None, ceiling: float | None, up: float | None = 0.0) -> dict[str, float | None]:
    """Dollars an hour; both ends move by the same amount."""
    return {
        "floor_usd_per_hour": floor,
        "ceiling_usd_per_hour": ceiling,
        "floor_change": up,
        "ceiling_change": up,
    }


def plan(*changes: dict[str, Any], diagnostics: tuple[Diagnostic, ...] = (), **more: Any) -> Report:
    kinds = ["replace" if len(item["actions"]) == 2 else item["actions"][0] for item in changes]
    summary = {kind: kinds.count(kind) for kind in (*COUNTS, "blocked")}
    body: dict[str, Any] = {
        "account": "acme",
        "stack": "prod",
        "digest": DIGEST,
        "summary": summary | {"unchanged": kinds.count("no-op")},
        "changes": list(changes),
        "cost": {
            "currency": "USD",
            "monthly_floor_usd": 29200.0,
            "price_date": "2026-09-01",
            "unknown": [],
            **cost(40.0, 160.0, 8.0),
        },
        "checks": [
            {"name": "quota", "status": "pass", "message": "20 of 64 GPUs", "deployment": None},
            {
                "name": "budget",
                "status": "pass",
                "message": "floor: $40.00/h, budget $80.00/h",
                "deployment": None,
            },
        ],
        "drift": [],
        "notes": [],
    }
    error = RefusedError("blocked: deployments/chat") if summary["blocked"] else None
    code = Exit.REFUSED if error else Exit.OK
    return Report("plan", body | more, code, diagnostics, error)


def fit_result(name: str, verdict: str, **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": name,
        "model": "accounts/fireworks/models/llama-v3p1-8b-instruct",
        "verdict": verdict,
        "accelerator": "NVIDIA_H100_80GB",
        "accelerator_count": 1,
        "precision": "FP8",
        "kv_precision": "fp16",
        "engine": "fireworks",
        "context_tokens": 8192,
        "concurrency": 32.0,
        "max_concurrency": {"low": 53.6, "mid": 60.3, "high": 65.6},
        "max_context_tokens": 13728,
        "kv_bytes_per_token_per_gpu": 131072,
        "evidence": "config",
        "reasons": [],
        "assumed": [],
        "alternatives": [],
        "explain": ["weights = 8.03e9 x 1 byte"],
        "memory": [{"part": "weights", "bytes": 2**33}, {"part": "kv pool", "bytes": 3 * 2**33}],
        "source": {"file": "configs/chat.yaml", "line": 7},
    }
    return row | more


def fit(*results: dict[str, Any]) -> Report:
    bad = [item for item in results if item["verdict"] == "does-not-fit"]
    error = RefusedError("eval: does-not-fit") if bad else None
    return Report("fit-check", {"results": list(results)}, Exit.REFUSED if bad else Exit.OK, (), error)
