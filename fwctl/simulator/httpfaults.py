"""Kinds of faults of the HTTP server, as data; `faults.py` takes their rules beside firectl's.

The same text `kind;key=value;…` works in the header `x-sim-fault` and in FIRECTL_SIM_FAULT. Parameters:
after (events sent before it strikes), seconds, status, retry_after, message, code, ms.
"""

from __future__ import annotations

KINDS: dict[str, str] = {
    "hang-before-headers": "accepts the request and sends nothing for `seconds`",
    "hang-after-headers": "sends the headers of a 200, then nothing for `seconds`",
    "hang": "REST: sleeps `seconds` before or after the effect (`when`); inference: stops after `after` "
    "events for `seconds` and keeps the connection",
    "cut": "breaks the connection after `after` events, without the end of the body",
    "reset": "resets the TCP connection after `after` events; before any byte without it",
    "eof": "ends the body cleanly after `after` events, without finish_reason and [DONE]",
    "error-event": "sends an error object inside the 200 after `after` events, then ends",
    "event-error": "the same as an event named error",
    "garbage": "sends bytes that are no events after `after` events, then goes on",
    "drip": "sends the body byte by byte, one each `ms` milliseconds",
    "split": "sends the body in pieces of 7 bytes, across events and characters",
    "content-type": "answers with text/html as its content type",
    "html": "answers an HTML page with `status` (default 502)",
    "status": "answers an error with `status`, `code`, `message`, `retry_after`",
    "slow": "waits `seconds` (1) before it answers",
    "error": "answers the error of the gRPC `code` with `message`",
    "endless": "repeats the token chunks for ever and never finishes",
    "no-finish": "leaves finish_reason out of a stream that otherwise ends well",
    "no-done": "leaves [DONE] out",
    "role-only": "sends the role chunk and [DONE], no token",
    "empty": "answers with empty content and finish_reason stop",
    "crlf": "ends lines with CR LF",
    "comments": "sends a comment line before each event",
    "no-space": "writes `data:` without the space",
    "no-usage": "leaves usage out",
    "null-content": "puts content null into every chunk without text",
    "truncated-json": "cuts the body of a whole answer in half, with the right length header",
    "whitespace": "answers with white space up to max_tokens",
    "repeat": "answers with one word repeated up to max_tokens",
}
