"""Settings for all tests."""

import os
import tempfile

from hypothesis import settings

from tests.browser import browser, open_page

__all__ = ["browser", "open_page"]

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores: libraries of each that take all of them wait for one another.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")

if "PYTEST_XDIST_WORKER" not in os.environ:
    # Digests of the tests' artefacts are not remembered where the user's are.
    os.environ["QBENCH_CACHE"] = tempfile.mkdtemp(prefix="qbench-tests-")

# What tests run is not in the user's log.
os.environ["QBENCH_LOG"] = "off"

# A slow machine makes no test fail.
settings.register_profile("qbench", deadline=None)
settings.load_profile("qbench")


def pytest_collection_modifyitems(items):
    """The longest test begins first, so that no worker is left with it in the end."""
    items.sort(key=lambda item: "test_golden.py" not in item.nodeid)
