"""For all tests: a slow machine fails none, and Ctrl-C works also where the suite runs in the background."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# Child processes inherit an ignored signal, and could then not be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
