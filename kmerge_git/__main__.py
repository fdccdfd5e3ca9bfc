"""`python -m kmerge_git` is `kmerge`."""

from kmerge_git.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
