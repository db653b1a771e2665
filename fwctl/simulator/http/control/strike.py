"""Stored faults on the control plane: before the effect, after it, or on the way back."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from aiohttp import web

from fwctl.simulator.commands import meddle as hands
from fwctl.simulator.faults import Rule
from fwctl.simulator.http.control.call import Doc
from fwctl.simulator.http.inference.misbehave import Fault, before_answer, from_rule
from fwctl.simulator.http.inference.sink import send_whole
from fwctl.simulator.http.reply import InferenceError, json_reply
from fwctl.simulator.platform.errors import CODES, PlatformError
from fwctl.simulator.platform.world import World

_HANG = "hang"
# Kinds that have done their work before the answer is sent.
_EARLY = {"slow", _HANG, "error", "status", "html", "hang-before-headers"}


def _faults(rules: list[Rule]) -> list[tuple[Rule, Fault]]:
    return [(rule, fault) for rule in rules if (fault := from_rule(rule)) is not None]


async def _act(http: web.Request, rules: list[Rule], when: str) -> None:
    for rule, fault in _faults(rules):
        if rule["when"] != when or fault.kind not in _EARLY:
            continue
        if fault.kind == _HANG:
            await asyncio.sleep(fault.number("seconds", 3600.0))
        elif fault.kind == "error":
            code = rule.get("code", "Unavailable")
            code = code if code in CODES else "Unknown"
            raise PlatformError(code, str(rule.get("message", "injected fault")))
        else:
            await before_answer(http, fault)


async def before(http: web.Request, rules: list[Rule]) -> None:
    """Faults before the effect. Raises PlatformError, InferenceError, InterruptedAnswerError."""
    await _act(http, rules, "before")


async def after(http: web.Request, rules: list[Rule], answer: Doc) -> Doc:
    """Faults after the effect; the answer, possibly with half of a list's rows lost."""
    await _act(http, rules, "after")
    if any(rule["kind"] == "lose_page" for rule in rules):
        return {
            key: value[: len(value) // 2] if isinstance(value, list) else value
            for key, value in answer.items()
        }
    return answer


def meddle(world: World, rules: list[Rule]) -> None:
    """What somebody else changes just before the call."""
    for rule in rules:
        if rule["kind"] in {"mutate", "vanish"}:
            hands.apply_in(world, world.caller.account, rule)


def doom(world: World, rules: list[Rule], answer: Doc) -> None:
    """An operation that has begun and is to fail later."""
    hands.doom_in(world, str(answer.get("name", "")), rules)


def refused(error: InferenceError) -> web.StreamResponse:
    """A status asked for by a fault, in the control plane's form."""
    if error.html:
        page = f"<html><body><h1>{error.status}</h1></body></html>"
        return web.Response(text=page, status=error.status, content_type="text/html")
    number = next((number for number, status in CODES.values() if status == error.status), 2)
    body: dict[str, Any] = {"code": number, "message": error.message, "details": []}
    return json_reply(body, error.status, error.headers)


async def send(http: web.Request, rules: list[Rule], answer: Doc) -> web.StreamResponse:
    """The answer, through the first fault that changes its bytes."""
    for _, fault in _faults(rules):
        if fault.kind not in _EARLY:
            return await send_whole(http, orjson.dumps(answer), {}, fault)
    return json_reply(answer)
