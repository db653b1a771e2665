"""Specs as text for tests, and short forms of what was found in them."""

from __future__ import annotations

from collections.abc import Mapping

from fwctl.errors import Diagnostic, Severity
from fwctl.spec.compose import Parser
from fwctl.spec.files import Given
from fwctl.spec.load import load_given
from fwctl.spec.model import Deployment, Evidence, Loaded

HEAD = "apiVersion: fwctl/v1\naccount: acme\ndeployments:\n  chat:\n"
# Lines 5 to 10 of a spec; line 11 is the first one a test adds.
FIELDS = {
    "model": "model: accounts/fireworks/models/llama-v3p1-8b-instruct",
    "shape": "shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast",
    "accelerator": "accelerator: {type: NVIDIA_H100_80GB, count: 1}",
    "precision": "precision: FP8",
    "region": "region: US",
    "replicas": "replicas: {min: 1, max: 2}",
}
ADDED = 11


def spec(extra: str = "", *, head: str = HEAD, **fields: str) -> str:
    """A valid spec with fields replaced (left out when empty) and lines added."""
    lines = [line for line in {**FIELDS, **fields}.values() if line] + [
        line for line in extra.split("\n") if line
    ]
    return head + "".join(f"    {line}\n" for line in lines)


def load_text(
    *files: str | bytes,
    environ: Mapping[str, str] | None = None,
    defaults: str | None = None,
    need_secrets: bool = False,
    strict: bool = False,
    evidence: Evidence | None = None,
    account: str | None = None,
    parser: Parser | None = None,
) -> Loaded:
    """Load texts as the files f0.yaml, f1.yaml …"""
    given = [
        Given(f"f{at}.yaml", text if isinstance(text, bytes) else text.encode())
        for at, text in enumerate(files)
    ]
    return load_given(
        given,
        environ=environ or {},
        defaults=None if defaults is None else Given("defaults.yaml", defaults.encode()),
        need_secrets=need_secrets,
        strict=strict,
        evidence=evidence,
        account=account,
        parser=parser,
    )


def codes(loaded: Loaded) -> list[str]:
    return [diagnostic.code for diagnostic in loaded.diagnostics]


def found(loaded: Loaded) -> list[tuple[str, int]]:
    """(code, line) of everything that is no advice."""
    return [(d.code, line_of(d)) for d in loaded.diagnostics if d.severity is Severity.ERROR]


def line_of(diagnostic: Diagnostic) -> int:
    assert diagnostic.position is not None
    return diagnostic.position.line


def only(loaded: Loaded) -> Diagnostic:
    """The one diagnostic there is."""
    assert len(loaded.diagnostics) == 1, loaded.diagnostics
    return loaded.diagnostics[0]


def chat(loaded: Loaded) -> Deployment:
    """The deployment of a spec that is valid."""
    assert loaded.spec is not None, loaded.diagnostics
    return loaded.spec.deployments["chat"]
