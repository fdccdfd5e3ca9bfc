"""Settings of the whole suite."""

import os

from hypothesis import HealthCheck, settings

# The machines that run the suite are shared: only what is computed counts, never how long it took.
# The same examples every time: a red suite is a change's fault, not the day's. To look for new
# ones: KMERGE_EXAMPLES=random tests/run tests/test_laws.py
settings.register_profile(
    "suite",
    derandomize=os.environ.get("KMERGE_EXAMPLES") != "random",
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("suite")
