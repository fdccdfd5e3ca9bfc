"""Start the merge driver: git runs `PYTHON -I -S driver.py OPTIONS %O %A %B`.

Python compiles a script at every start, so this script is short; `cli/start.py` does the rest. The
modules come from one file that the first run writes (see `kmerge_git.bundle`). If that file is
missing, broken or old, the modules are loaded from their own files. If there is no result, the
process ends with exit code 1, and git uses its line merge.
"""

import gc
import posix
import sys
from marshal import loads
from time import monotonic

BEGAN = monotonic()  # the time limit counts from here, before anything is loaded
HERE = __file__[: __file__.rfind("/") + 1]
BUNDLE = f"{HERE}__pycache__/driver/{sys.implementation.cache_tag}.bundle"
NAMES = {"__name__": "kmerge_git.cli.start", "__file__": HERE + "start.py"}

gc.disable()  # all objects from here on live to the end
try:
    with open(BUNDLE, "rb") as file:
        # nobody else may have written the bundle
        about, code = posix.fstat(file.fileno()), posix.stat(__file__)
        if about.st_mode & 0o22 or about.st_uid not in (0, posix.geteuid(), code.st_uid):
            raise PermissionError(BUNDLE)
        bundle = loads(file.read(int(file.readline())))  # noqa: S302
        exec(bundle[0], NAMES)  # noqa: S102
        NAMES["run"](HERE, BUNDLE, BEGAN, bundle[1:], file)  # type: ignore[operator]  # an old bundle returns
except BaseException:  # noqa: S110  (without a whole bundle, load the files)
    pass
try:
    with open(HERE + "start.py", "rb") as file:
        exec(compile(file.read(), HERE + "start.py", "exec"), NAMES)  # noqa: S102
    NAMES["run"](HERE, BUNDLE, BEGAN)  # type: ignore[operator]
except BaseException as error:
    sys.stderr and print("kmerge:", ascii(error), file=sys.stderr)
raise SystemExit(1)  # no answer: git's line merge
