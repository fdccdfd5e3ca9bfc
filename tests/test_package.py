"""The package as a whole: its version, its entry points."""

import pytest

from kmerge_git import __version__
from kmerge_git.cli.main import main


def test_main_without_a_command_explains_itself(capsys):
    assert main([]) == 0
    assert "COMMAND" in capsys.readouterr().out


def test_the_version_is_written_once_and_printed(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"kmerge {__version__}\n"
