"""`fwctl watch` on the simulator: one look, the rule file, and a process that a signal ends."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fwctl.cli.command import Call
from fwctl.cli.commands.watch import event_line
from fwctl.cli.metrics_page import MetricsPage, metrics_page
from fwctl.cli.options import Settings
from fwctl.cli.output import Output
from fwctl.cli.watch_loop import shown
from fwctl.cli.watch_reading import tail
from fwctl.env import SystemClock
from fwctl.operate.watch_state import Alert, Event
from fwctl.records.folderlock import folder_lock
from tests.cli.conftest import Box
from tests.cli.support import fwctl, make_env
from tests.operate.support import NOW, page_text, served


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory, help_cache: Path) -> Box:
    """A simulator with one deployment."""
    box = Box(tmp_path_factory.mktemp("watch"), help_cache)
    assert fwctl(box.env(), "apply", box.specs, "--yes").code == 0
    return box


@pytest.fixture
def running(applied: Box) -> Box:
    """The same without any memory of a watch."""
    shutil.rmtree(applied.folder / ".fwctl")
    (applied.folder / ".fwctl").mkdir()
    return applied


def test_one_look_keeps_a_sample_and_says_what_it_cannot_judge(running: Box) -> None:
    done = fwctl(running.env(), "watch", running.specs, "--once", "--format", "json")
    assert done.code == 0
    assert done.document["alerts"] == []
    assert done.document["deployments"] == 1
    assert "kv-nearly-full" in done.document["unknown"]
    assert done.document["metrics"] == {"wanted": False, "read_at": None, "error": None}
    counted = fwctl(running.env(), "cost", running.specs, "--format", "json")
    assert counted.document["sources"]["sample_rounds"] == 1


def test_an_alert_is_shown_with_what_to_do_and_exits_4(running: Box) -> None:
    (running.folder / "watch.yaml").write_text(
        "apiVersion: fwctl/v1\nkind: Watch\nrules:\n  over-budget: {usd_per_hour: 7.99, hold: 0}\n"
    )
    done = fwctl(running.env(), "watch", running.specs, "--once", "--config", "watch.yaml")
    assert done.code == 4
    # one H100 at 8 dollars
    assert "ready replicas cost $8.00 an hour, $7.99 is the budget (chat $8.00)" in done.out
    assert "firing warning" in done.out
    assert "do: `fwctl cost` shows idle time" in done.out
    table = fwctl(running.env(), "status", running.specs)
    assert "at the last look of `fwctl watch`" in table.out
    assert "firing warning  over-budget  acme: ready replicas cost $8.00 an hour" in table.out
    listed = fwctl(running.env(), "status", running.specs, "--format", "json").document["watch"]
    assert [alert["rule"] for alert in listed["alerts"]] == ["over-budget"]
    assert "- **over-budget**" in fwctl(running.env(), "status", running.specs, "--format", "markdown").out


def test_a_history_that_is_damaged_has_no_alerts_and_harms_nothing(running: Box) -> None:
    assert fwctl(running.env(), "status", running.specs, "--format", "json").document["watch"] is None
    (running.folder / ".fwctl" / "history.db").write_bytes(b"no database at all" * 100)
    assert fwctl(running.env(), "status", running.specs, "--format", "json").document["watch"] is None
    done = fwctl(running.env(), "watch", running.specs, "--once", "--format", "json")
    assert done.code == 0
    assert "Nothing needs .fwctl/history.db: when it is damaged, delete it" in done.err


def test_the_rule_file_carries_the_objectives_of_the_specs(box: Box) -> None:
    path = box.folder / "configs" / "chat.yaml"
    path.write_text(path.read_text() + "    slo: {ttft_p95_ms: 750}\n")
    done = fwctl(box.env(), "watch", "rules", box.specs)
    assert done.code == 0
    assert "> 750" in done.out
    listed = fwctl(box.env(), "watch", "rules", box.specs, "--format", "json")
    assert {"at-max-replicas", "failed"} <= {row["name"] for row in listed.document["rules"]}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--every", "5s"), "--every is 10 s or longer"),
        (("--every", "soon"), "is not a duration"),
        (("--format", "json"), "a watch has no end"),
        (("--once", "--metrics-url", "ftp://x"), "must begin with http:// or https://"),
        (("--once", "--metrics-url", "http://[x"), "is not a valid URL"),
        (("--once", "--metrics-url", "http://x/m", "--metrics-key-env", "NONE"), "NONE is not set"),
    ],
)
def test_what_cannot_be_meant_is_told(box: Box, options: tuple[str, ...], why: str) -> None:
    done = fwctl(box.env(), "watch", box.specs, *options)
    assert done.code == 64
    assert why in (done.err + done.out)


def test_a_second_watch_of_the_account_is_told_who_has_the_first(running: Box) -> None:
    lock = running.folder / ".fwctl" / "watch-acme.lock"
    with folder_lock(lock, SystemClock(), "fwctl watch"):
        done = fwctl(running.env(), "watch", running.specs, "--once")
    assert done.code == 4
    assert f"process {os.getpid()} on" in done.err
    assert fwctl(running.env(), "watch", running.specs, "--once").code == 0


def test_a_file_for_another_account_is_not_watched(running: Box) -> None:
    (running.folder / "watch.yaml").write_text("apiVersion: fwctl/v1\nkind: Watch\naccount: other\n")
    done = fwctl(running.env(), "watch", running.specs, "--once", "--config", "watch.yaml")
    assert done.code == 64
    assert "is for account 'other', not for 'acme'" in done.err


def call_of(folder: Path, **variables: str) -> Call:
    env = make_env(folder, variables)
    return Call(env, Settings(), Output(env))


def test_the_fireworks_key_goes_to_fireworks_alone(tmp_path: Path) -> None:
    call = call_of(tmp_path, FIREWORKS_API_KEY="fw_secret_key", OTHER="other_secret")
    own = metrics_page(call, "acme", None, None)
    assert (own.url, own.key) == ("https://api.fireworks.ai/v1/accounts/acme/metrics", "fw_secret_key")
    assert metrics_page(call, "acme", "http://127.0.0.1:1/m", None).key is None
    assert metrics_page(call, "acme", "http://api.fireworks.ai/m", None).key is None
    assert metrics_page(call, "acme", "https://api.fireworks.ai.evil.example/m", None).key is None
    assert metrics_page(call, "acme", "http://127.0.0.1:1/m", "OTHER").key == "other_secret"
    assert metrics_page(call_of(tmp_path), "acme", None, None).url is None


def test_the_page_is_asked_for_six_times_a_minute_at_most(tmp_path: Path) -> None:
    page = MetricsPage(call_of(tmp_path), "http://127.0.0.1:1/metrics", None)
    for _ in range(9):
        page.refresh()
    assert len(page._asked) == 6
    assert page.error is not None
    assert "127.0.0.1 cannot be reached" in page.error


def test_records_are_read_from_the_end_and_what_is_none_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    assert tail(path) == []
    path.write_bytes(b'{"a": 1}\n[]\nnot json\n\xff\n{"b": 2}\n')
    assert tail(path) == [{"a": 1}, {"b": 2}]


def test_a_signal_ends_the_watch_and_its_state_is_kept(box: Box) -> None:
    words = [sys.executable, "-m", "fwctl", "watch", "--account", "acme", "--format", "events"]
    environ = {**os.environ, **box.variables}
    (box.folder / "configs" / "chat.yaml").unlink()
    (box.folder / "configs").rmdir()
    child = subprocess.Popen(
        words, cwd=box.folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stderr is not None
    for line in child.stderr:
        if line.startswith("watching account acme"):
            break
    history = box.folder / ".fwctl" / "history.db"
    while not history.exists():
        assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=30)
    assert child.returncode == 143
    assert "Traceback" not in err
    assert json.loads(out.splitlines()[-1])["error"]["code"] == "interrupted"


class Page(BaseHTTPRequestHandler):
    """A metrics page that wants a key."""

    body = b""
    status = 200
    more: tuple[str, str] | None = None  # a header

    def do_GET(self) -> None:
        good = self.headers.get("authorization") == "Bearer other_secret"
        self.send_response(Page.status if good else 401)
        if Page.more:
            self.send_header(*Page.more)
        self.end_headers()
        self.wfile.write(Page.body if good else b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=lambda: server.serve_forever(0.02), daemon=True)
    thread.start()
    Page.status, Page.more = 200, None
    yield f"http://127.0.0.1:{server.server_address[1]}/metrics"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_page_is_read_with_its_key_and_judged(running: Box, address: str) -> None:
    Page.body = page_text(datetime.now(UTC), {"chat": (served("chat", 60), 0.97)}).encode()
    (running.folder / "watch.yaml").write_text(
        "apiVersion: fwctl/v1\nkind: Watch\nrules:\n  kv-nearly-full: {hold: 0}\n"
    )
    words = ("watch", running.specs, "--once", "--config", "watch.yaml", "--metrics-url", address)
    done = fwctl(running.env(OTHER="other_secret"), *words, "--metrics-key-env", "OTHER", "--format", "json")
    assert done.code == 4
    (alert,) = done.document["alerts"]
    assert (alert["rule"], alert["phase"]) == ("kv-nearly-full", "firing")
    assert alert["evidence"].startswith("97% of the KV blocks are used")
    assert done.document["metrics"]["error"] is None
    refused = fwctl(running.env(), *words, "--format", "json")
    assert refused.document["metrics"]["error"] == "the metrics page answered HTTP 401"
    assert refused.document["alerts"][0]["rule"] == "kv-nearly-full"  # nothing new is known


ONE_LINE = b'request_counter_total:sum_by_deployment{deployment_id="chat"} 1\n'
NO_PAGE = "the metrics page cannot be read: it is not in the Prometheus text format"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((200, None, b"<html>"), NO_PAGE),
        ((200, None, ONE_LINE + ONE_LINE[:30]), NO_PAGE),
        ((200, ("content-length", "9999"), ONE_LINE), "cannot be reached: RemoteProtocolError"),
        ((200, ("content-encoding", "gzip"), ONE_LINE), "sent what cannot be unpacked"),
        ((200, None, ONE_LINE * (32 * 2**20 // len(ONE_LINE) + 1)), "sent more than 33,554,432 bytes"),
        ((429, ("retry-after", "60"), b""), "answered HTTP 429"),
        ((302, ("location", "/again"), b""), "redirects more than 5 times"),
    ],
)
def test_a_page_that_is_none_is_told_and_the_last_one_is_kept(
    tmp_path: Path, address: str, answer: tuple[int, tuple[str, str] | None, bytes], why: str
) -> None:
    page = metrics_page(call_of(tmp_path, OTHER="other_secret"), "acme", address, "OTHER")
    Page.body = gzip.compress(ONE_LINE)
    Page.more = ("content-encoding", "gzip")
    page.refresh()
    before = page.page
    assert (page.error, list(before or {})) == (None, ["chat"])
    Page.status, Page.more, Page.body = answer
    page.refresh()
    assert why in str(page.error)
    assert page.page is before


def test_events_go_to_stdout_as_text_or_as_json(tmp_path: Path) -> None:
    alert = Alert("failed", "chat", "chat", "error", "firing", NOW, NOW, None, "it is FAILED", "plan it")
    event = Event("fired", NOW, alert)
    for form, start in (
        ("text", "2026-10-01 12:00:00 UTC\nfiring error  failed  chat"),
        ("events", '{"event"'),
    ):
        env = make_env(tmp_path)
        call = Call(env, Settings(format=form), Output(env, form))
        shown(call, event_line(call))([event])
        assert env.stdout.text().startswith(start)  # type: ignore[attr-defined]
