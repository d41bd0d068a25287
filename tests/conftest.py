"""What holds for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# How fast a busy machine draws a case says nothing about the code: time is measured in benchmarks, as a ratio.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
