"""Run `kmerge`, by `python -m kmerge_git` or by the script that `pip` installs."""


def main() -> int:
    """Run the command; Ctrl-C while its modules are loaded prints no traceback either."""
    try:
        from kmerge_git.cli.main import main

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
