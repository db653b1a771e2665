"""The state of a simulated Fireworks: named JSON documents in one SQLite file.

Safe with several processes at once and with kill -9 at any moment: every change is one SQLite
transaction in WAL mode. A document is a resource in REST shape plus `_sim`, which no answer shows.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from fwctl.simulator.timing import Anchor

Doc = dict[str, Any]

DATABASE = "state.db"
SCHEMA_VERSION = 1
_BUSY_S = 30.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS docs (
  kind TEXT NOT NULL, name TEXT NOT NULL, doc TEXT NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


class Tx(Protocol):
    """One transaction: all reads see the same state, all writes happen or none."""

    def get(self, kind: str, name: str) -> Doc | None: ...
    def put(self, kind: str, name: str, doc: Doc) -> None: ...
    def remove(self, kind: str, name: str) -> None: ...
    def all(self, kind: str) -> Iterator[Doc]:
        """Every document of a kind, by name."""

    def meta(self, key: str) -> Any: ...
    def set_meta(self, key: str, value: Any) -> None: ...


class SqliteTx:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def get(self, kind: str, name: str) -> Doc | None:
        row = self._db.execute("SELECT doc FROM docs WHERE kind = ? AND name = ?", (kind, name)).fetchone()
        return None if row is None else json.loads(row[0])

    def put(self, kind: str, name: str, doc: Doc) -> None:
        self._db.execute("INSERT OR REPLACE INTO docs VALUES (?, ?, ?)", (kind, name, json.dumps(doc)))

    def remove(self, kind: str, name: str) -> None:
        self._db.execute("DELETE FROM docs WHERE kind = ? AND name = ?", (kind, name))

    def all(self, kind: str) -> Iterator[Doc]:
        for (text,) in self._db.execute("SELECT doc FROM docs WHERE kind = ? ORDER BY name", (kind,)):
            yield json.loads(text)

    def meta(self, key: str) -> Any:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def set_meta(self, key: str, value: Any) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))


class Store:
    """The state file of one home folder. Opening creates it; use as a context manager or close it."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(home / DATABASE, timeout=_BUSY_S, isolation_level=None)
        self._prepare()

    def _prepare(self) -> None:
        """Create the tables once. Switching to WAL does not wait for other processes, so try again."""
        deadline_s = time.monotonic() + _BUSY_S
        while True:
            try:
                if self._db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
                    self._db.execute("PRAGMA journal_mode=WAL")
                    self._db.executescript(
                        f"BEGIN IMMEDIATE;{_SCHEMA}PRAGMA user_version={SCHEMA_VERSION};COMMIT"
                    )
                self._db.execute("PRAGMA synchronous=NORMAL")
            except sqlite3.OperationalError as error:
                if "lock" not in str(error) or time.monotonic() > deadline_s:
                    raise
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                time.sleep(0.01)
            else:
                return

    def clear(self) -> None:
        """Forget everything."""
        with self.write():
            self._db.execute("DELETE FROM docs")
            self._db.execute("DELETE FROM meta")

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """A transaction that sees one moment; nothing it writes is kept."""
        self._db.execute("BEGIN")
        try:
            yield SqliteTx(self._db)
        finally:
            self._db.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[Tx]:
        """A transaction that keeps its writes unless the block raises."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield SqliteTx(self._db)
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def anchor(self, speed: float | None, fixed: bool) -> Anchor:
        """The anchor of simulated time shared by all processes of this home.

        A changed speed moves the anchor, so time never jumps. On a fixed clock the anchor only carries
        the seconds that waiting has moved it on.
        """
        key = "fixed_offset_s" if fixed else "anchor"
        with self.read() as tx:
            stored = tx.meta(key)
        if fixed:
            return Anchor(0.0, stored or 0.0, 1.0)
        if stored and (speed is None or stored[2] == speed):
            return Anchor(*stored)
        with self.write() as tx:
            stored = tx.meta(key)
            real_s = time.time()
            sim_s = Anchor(*stored).at(real_s) if stored else real_s
            anchor = Anchor(real_s, sim_s, speed or (stored[2] if stored else 1.0))
            tx.set_meta(key, list(anchor))
        return anchor

    def move_clock(self, seconds: float, fixed: bool) -> None:
        """Move simulated time on by `seconds` for every process of this home."""
        with self.write() as tx:
            if fixed:
                tx.set_meta("fixed_offset_s", (tx.meta("fixed_offset_s") or 0.0) + seconds)
            else:
                real_s, sim_s, speed = tx.meta("anchor")
                tx.set_meta("anchor", [real_s, sim_s + seconds, speed])
