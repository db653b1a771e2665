"""Bytes of a file -> text, or the one reason why not."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

LARGEST_FILE_BYTES = 16 * 2**20

_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Everything outside YAML 1.1's c-printable, and a byte order mark that is not at the beginning.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Fault:
    """Why the bytes are no text: `offset` counts characters of the `text` that could be shown."""

    code: str
    message: str
    suggestion: str
    offset: int = 0


def decode(data: bytes) -> tuple[str, Fault | None]:
    """Text of a spec file (UTF-8, or UTF-16 with a byte order mark) and what is wrong with it.

    With a fault the text is only good for showing where it is.
    """
    if len(data) > LARGEST_FILE_BYTES:
        limit = LARGEST_FILE_BYTES // 2**20
        fault = Fault("FW110", f"the file is larger than {limit} MiB", "split it into several files")
        return "", fault
    encoding, start = _encoding_of(data)
    if encoding == "UTF-32":
        return "", Fault("FW102", "the file is UTF-32, which YAML does not allow here", "save it as UTF-8")
    body = data[start:]
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        return _undecodable(body, encoding, error)
    return text, _forbidden(text, body, encoding)


def _encoding_of(data: bytes) -> tuple[str, int]:
    if data.startswith(codecs.BOM_UTF8):
        return "utf-8", len(codecs.BOM_UTF8)
    for mark, encoding in _WIDE_MARKS:
        if data.startswith(mark):
            return encoding, len(mark)
    return "utf-8", 0


def _undecodable(body: bytes, encoding: str, error: UnicodeDecodeError) -> tuple[str, Fault]:
    before = body[: error.start].decode(encoding, errors="replace")
    text = body.decode(encoding, errors="replace")
    name = encoding.upper().removesuffix("-LE").removesuffix("-BE")
    message = f"the file is not {name}: byte 0x{body[error.start]:02x} cannot be read"
    return text, Fault("FW102", message, "save the file as UTF-8", len(before))


def _forbidden(text: str, body: bytes, encoding: str) -> Fault | None:
    found = _FORBIDDEN.search(text)
    if found is None:
        return None
    if encoding == "utf-8" and found.group() == "\0" and body.count(b"\0") * 3 > len(body):
        return Fault("FW102", "the file looks like UTF-16 without a byte order mark", "save it as UTF-8")
    name = "byte order mark" if found.group() == "\ufeff" else "control character"
    message = f"{name} U+{ord(found.group()):04X} in the file"
    return Fault(
        "FW102", message, "remove the character, or write an escape inside double quotes", found.start()
    )
