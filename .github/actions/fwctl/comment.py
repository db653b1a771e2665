"""One comment on a pull request, written by fwctl and found again by the marker in its first line.

`comment.py post FILE` writes or updates the comment of the pull request that triggered the workflow.
`comment.py digest` puts the digest of the plan that was reviewed in the pull request of the current
commit into GITHUB_OUTPUT. Only comments of GitHub's own bot count (FWCTL_COMMENT_AUTHOR names another
account): anybody could write a marker. Standard library only.
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MARKER = re.compile(
    r"^<!-- (?P<what>fwctl:[\w-]+)(?: (?P<stack>[\w./-]+))?(?: (?P<digest>[0-9a-f]{64}))? -->$"
)
TIMEOUT_S = 30
PAGE = 100


class StopError(Exception):
    """Ends the script with an annotation; `code` is its exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


def call(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """One request to the API of the repository."""
    base = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}"
    request = urllib.request.Request(  # noqa: S310 - the runner names the address
        f"{base}/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
        return json.load(answer)


def comments(number: int) -> Iterator[tuple[dict[str, Any], re.Match[str]]]:
    """Our comments of a pull request with their markers, oldest first."""
    author = os.environ.get("FWCTL_COMMENT_AUTHOR", "github-actions[bot]")
    page = 1
    while True:
        found = call("GET", f"issues/{number}/comments?per_page={PAGE}&page={page}")
        for item in found:
            first = (item.get("body") or "").partition("\n")[0].strip()
            marker = MARKER.match(first)
            if marker and (item.get("user") or {}).get("login") == author:
                yield item, marker
        if len(found) < PAGE:
            return
        page += 1


def post(file: str) -> str:
    """Update the comment with the same marker, or write a new one."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    number = (event.get("pull_request") or event.get("issue") or {}).get("number")
    if not number:
        raise StopError("this run belongs to no pull request, so there is nothing to comment on", 0)
    try:
        text = Path(file).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise StopError("fwctl wrote no comment; its own messages stand above") from None
    mine = MARKER.match(text.partition("\n")[0].strip())
    if mine is None:
        raise StopError(f"{file} does not begin with a marker of fwctl")
    same = [item for item, marker in comments(number) if is_same(marker, mine)]
    if same:
        call("PATCH", f"issues/comments/{same[-1]['id']}", {"body": text})
        return f"updated the comment on #{number}"
    call("POST", f"issues/{number}/comments", {"body": text})
    return f"commented on #{number}"


def is_same(old: re.Match[str], new: re.Match[str]) -> bool:
    """True for the same command and stack. A command that failed early knows no stack: it takes the
    place of any comment of that command, and gives it back."""
    stacks = {old["stack"], new["stack"]}
    return old["what"] == new["what"] and (len(stacks) == 1 or None in stacks)


def digest() -> str:
    """Digest of the plan in the merged pull request of the current commit."""
    commit, wanted = os.environ["GITHUB_SHA"], os.environ.get("FWCTL_STACK") or None
    numbers = [item["number"] for item in call("GET", f"commits/{commit}/pulls") if item.get("merged_at")]
    if not numbers:
        raise StopError(f"no merged pull request leads to {commit[:12]}: review a plan and apply it by hand")
    plans = {
        marker["stack"]: marker["digest"]
        for _, marker in comments(numbers[0])
        if marker["what"] == "fwctl:plan" and marker["digest"] and wanted in (None, marker["stack"])
    }
    if len(plans) != 1:
        told = "several plans were" if plans else "no plan was"
        raise StopError(f"{told} reviewed in #{numbers[0]}; FWCTL_STACK=account/stack names one")
    [(stack, found)] = plans.items()
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.write(f"digest={found}\n")
    return f"reviewed in #{numbers[0]}: {stack} {found}"


def main(arguments: list[str]) -> int:
    """Exit code; a message for people on stdout."""
    try:
        said = post(arguments[1]) if arguments[0] == "post" else digest()
    except StopError as stop:
        kind = "error" if stop.code else "notice"
        sys.stdout.write(f"::{kind} title=fwctl::{stop}\n")
        return stop.code
    except urllib.error.HTTPError as error:
        sys.stdout.write(
            f"::error title=fwctl::GitHub answered {error.code} to {error.url}: {hint(error.code)}\n"
        )
        return 1
    except (OSError, ValueError) as error:
        sys.stdout.write(f"::error title=fwctl::{type(error).__name__} while talking to GitHub\n")
        return 1
    sys.stdout.write(f"{said}\n")
    return 0


def hint(status: int) -> str:
    """What mostly is behind a refusal."""
    if status in (401, 403, 404):
        return "the job needs `permissions: pull-requests: write`; runs of forks have a token that only reads"
    return "run the job again"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
