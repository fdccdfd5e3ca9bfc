"""What could be parsed in HEAD and cannot now: broken, or turned into a template."""

from __future__ import annotations

import pytest
from world import Repo

from kmerge_git.cli.main import main

MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
BEFORE = {
    "ci/broken.yml": "a: [1]\n",
    "ci/template.yml": "a: 1\n",
    "ci/placeholders.yml": "a: {{ x }}\n",
    "ci/broken-template.yml": "a: {{ x }}\nb: 1\n",
    "ci/statement.yml": "# {% note %}\na: 1\n",
    "ci/broken-before.yml": "a: [1\n",
    "templates/a.yaml": "a: '{{ x }}'\nb: 1\n",
    "templates/b.yaml": "a: '{{ x }}'\nb: 1\n",
    "a.yaml": MANIFEST,
}
AFTER = {
    "ci/broken.yml": "a: [1\n",
    "ci/template.yml": "{{- if .x }}\na: 1\n {{- end }}\n",
    "ci/placeholders.yml": "a: {{ x }}\n{% if y %}\nb: 1\n{% endif %}\n",
    "ci/broken-template.yml": "a: {{ x }}\n b: 1\n",
    "ci/statement.yml": "# {% note %}\na: {% if x %}1{% endif %}\n",
    "ci/broken-before.yml": "b: [1\n",
    "ci/new.yml": "a: [1\n",
    "templates/a.yaml": "a: '{{ x }}'\n b: 1\n",
    "templates/b.yaml": "a: '{{ x }}'\n{{- if y }}\n b: 1\n",
    "a.yaml": "{{ if .x }}" + MANIFEST + "{{ end }}",
}


NO_KEY = "expected a key of the map that begins in line 1; correct the indentation or the quotes"


@pytest.mark.parametrize("staged", [False, True])
def test_broken_since_the_last_commit(
    repo: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, staged: bool
) -> None:
    repo.commit("start", BEFORE)
    for path, text in AFTER.items():
        repo.write(path, text)
    repo.git("add", ".") if staged else None
    monkeypatch.chdir(repo.path)
    assert main(["check", *(["--staged"] if staged else [])]) == 1
    said = capsys.readouterr().out
    assert [line for line in said.splitlines() if "error" in line] == [
        f"ci/broken-template.yml:2:2: error M10 not YAML: {NO_KEY}; the version in HEAD is valid YAML",
        'ci/broken.yml:1:6: error M10 not YAML: the "[" in line 1 is not closed, or a comma is missing '
        "before this place; the version in HEAD is valid YAML",
        f"templates/a.yaml:2:2: error M10 not YAML: {NO_KEY}; the version in HEAD is valid YAML",
        "3 errors in 3 of 4 files, 6 skipped",
    ]
    assert "not checked: 4 templates (--format json lists all)\n" in said
    monkeypatch.chdir(repo.path / "ci")
    assert main(["check", *(["--staged", "."] if staged else [])]) == 1
    assert "broken.yml:1:6: error M10" in capsys.readouterr().out


def test_before_the_first_commit(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write("a.yml", "a: [1\n")
    repo.git("add", ".")
    monkeypatch.chdir(repo.path)
    assert main(["check", "--staged"]) == 0
    assert main(["check"]) == 0
    assert main(["check", "a.yml"]) == 1
