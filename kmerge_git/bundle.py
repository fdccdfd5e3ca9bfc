"""Writes the driver's modules into one file, so that they load in one read.

Forty imports cost the driver as much as a bare interpreter does. The first driver that finds no
bundle (or one of other modules) writes it beside the compiled files; who may not write there goes
on without. It is only an image of modules that were loaded already, checked by size and time.
"""

from __future__ import annotations

import marshal
import os
import sys


def write(target: str) -> None:
    """Bundle the package's modules that are loaded now."""
    fresh = f"{target}.{os.getpid()}"
    try:
        with open(fresh, "xb") as file:
            stamps = []
            codes = {}
            for name, module in list(sys.modules.items()):
                path = getattr(module, "__file__", None) or ""
                # by name: an installed package shares its root with others, PyYAML's library too
                if name != "__future__" and name.partition(".")[0] != "kmerge_git":
                    continue
                with open(path, "rb") as source:
                    # without docstrings: a third less to read at every start
                    code = compile(source.read(), path, "exec", dont_inherit=True, optimize=2)
                stat = os.stat(path)
                stamps.append((path, stat.st_size, stat.st_mtime_ns))
                codes[name] = (marshal.dumps(code), path, hasattr(module, "__path__"))
            marshal.dump((stamps, codes), file)
        os.replace(fresh, target)
    except (OSError, ValueError, SyntaxError):  # a bundle is never worth a failure
        if os.path.exists(fresh):
            os.unlink(fresh)
