"""Settings of the whole suite."""

import os

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# The machines that run the suite are shared: only what is computed counts, never how long it took.
# The same examples every time: a red suite is a change's fault, not the day's. To look for new
# ones: KMERGE_EXAMPLES=random tests/run tests/test_laws.py
looks_for_new = os.environ.get("KMERGE_EXAMPLES") == "random"
if not looks_for_new and hasattr(providers, "is_local_module_file"):
    # the constants of loaded modules go into the examples: which, is up to the tests run before
    providers.is_local_module_file = lambda path: False
settings.register_profile(
    "suite",
    derandomize=not looks_for_new,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("suite")
