"""Run `kmerge`, as the entry point of `python -m kmerge_git` and of the installed script."""

import sys


def main() -> int:
    """Run the command; on Ctrl-C return 130 without a traceback, even while modules are loading."""
    if sys.platform == "win32":
        print("kmerge: Windows is not supported; run kmerge in WSL", file=sys.stderr)
        return 2
    try:
        from kmerge_git.cli.main import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
