"""Settings for all tests."""

from hypothesis import settings

# A slow machine makes no test fail.
settings.register_profile("qbench", deadline=None)
settings.load_profile("qbench")
