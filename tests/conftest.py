"""For all tests: Ctrl-C works, also where the suite was started in the background and ignores it."""

from __future__ import annotations

import signal

# Child processes inherit an ignored signal, and could then not be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
