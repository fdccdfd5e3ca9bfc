"""`python -m kmerge_git` is `kmerge`, and so is what `pip` makes of the entry point."""


def main() -> int:
    """The command; Ctrl-C while its modules are loaded is no traceback either."""
    try:
        from kmerge_git.cli.main import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
