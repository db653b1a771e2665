"""For all tests: a slow machine fails none, and Ctrl-C works also where the suite runs in the background."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

# The suite tries the same examples every time; `make fuzz` draws new ones.
_SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("suite", derandomize=True, **_SLOW)
settings.register_profile("fuzz", **_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

# Child processes inherit an ignored signal, and could then not be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
