"""Git calls this: `PYTHON -I -S driver.py OPTIONS %O %A %B`; `cli/start.py` goes on from here.

A script is compiled at every start, so this one is short. The modules come from one file, which the
first driver writes (see `kmerge_git.bundle`); where it is missing, broken or old, from theirs.
Whatever comes back from them, this process never ends as if they had answered.
"""

import gc
import sys
from marshal import loads

HERE = __file__[: max(__file__.rfind("/"), __file__.rfind("\\")) + 1]
BUNDLE = f"{HERE}__pycache__/driver/{sys.implementation.cache_tag}.bundle"
NAMES = {"__name__": "kmerge_git.cli.start", "__file__": HERE + "start.py"}

gc.disable()  # everything that is made from here on lives to the end
try:
    with open(BUNDLE, "rb") as file:
        if posix := sys.modules.get("posix"):  # nobody else may have put it there
            about, code = posix.fstat(file.fileno()), posix.stat(__file__)
            if about.st_mode & 0o22 or about.st_uid not in (0, posix.geteuid(), code.st_uid):
                raise PermissionError(BUNDLE)
        bundle = loads(file.read(int(file.readline())))  # noqa: S302
        exec(bundle[0], NAMES)  # noqa: S102
        NAMES["run"](HERE, BUNDLE, bundle[1:], file)  # type: ignore[operator]  # comes back from an old one
except BaseException:  # noqa: S110  (none there, or half of one: the files are)
    pass
try:
    with open(HERE + "start.py", "rb") as file:
        exec(compile(file.read(), HERE + "start.py", "exec"), NAMES)  # noqa: S102
    NAMES["run"](HERE, BUNDLE)  # type: ignore[operator]
except BaseException as error:
    sys.stderr and print("kmerge:", ascii(error), file=sys.stderr)
raise SystemExit(1)  # no answer: git's line merge
