"""Asks about seven conflicts of no repository, and writes down what came of it."""

from __future__ import annotations

import argparse
import json
import sys

from fake_resolving import ALL, FakeResolving, question

from kmerge_git.cli.asking import ask
from kmerge_git.merge.plan import Why

FIELDS = "spec.template.spec.containers[web]"
LINES = "".join(f"line {n}\n" for n in range(40))
QUESTIONS = (
    question(("web:1.4", "web:1.5", "web:1.6"), choices=ALL, field=f"{FIELDS}.image"),
    question(
        (None, "- b\n", "- c\n"),
        field=f"{FIELDS}.args[1]",
        why=Why.BOTH_ADD_HERE,
        kind="entries",
        choices=("ours", "theirs", "both", "base"),
    ),
    question((LINES, LINES.replace("7", "x"), LINES.replace("1", "y")), field="t", kind="text"),
    question(("1.2.3", "1.3.0", "1.2.4"), path="b.yaml", field="version", choices=ALL),
    question(("a", "b", "c"), path="b.yaml", field="name"),
    question(("1", "2", "3"), path="c.yaml", field="version"),
    question(("1", "2", "3"), path="c.yaml", field="appVersion"),
)

if __name__ == "__main__":
    resolving = FakeResolving(*QUESTIONS)
    code = ask(resolving, argparse.Namespace(blame=False))
    with open(sys.argv[1], "w") as file:
        answers = {key: [answer.how, answer.text] for key, answer in resolving.answers.items()}
        json.dump({"answers": answers, "puts": resolving.puts, "taken": resolving.taken}, file)
    sys.exit(code)
