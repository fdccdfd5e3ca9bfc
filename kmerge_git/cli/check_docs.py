"""What the registry tells about the checks: `--list`, `--explain`, SARIF rules."""

from __future__ import annotations

from kmerge_git.check import registry
from kmerge_git.check.registry import Check
from kmerge_git.report.sarif import Rule

TITLES = {
    "directives": "Directives of strategic merge patches",
    "merge-damage": "Merge damage",
    "traps": "Manifest traps (off by default: --select traps)",
}


def listing() -> str:
    """All checks, a line each."""
    blocks = []
    for group, title in TITLES.items():
        checks = [c for c in registry.every() if c.group == group]
        lines = [f"  {c.id}  {c.severity:<8} {c.what}" for c in checks]
        blocks.append("\n".join([title, *lines]))
    return "\n\n".join(blocks)


def explain(id: str) -> str:
    """Everything about one check."""
    check = registry.get(id)
    example = "\n".join(f"    {line}" for line in check.example.split("\n"))
    return "\n".join(
        [
            f"{check.id}: {check.what} ({check.severity}, {check.group})",
            "",
            f"kubectl:    {check.kubectl}",
            f"kustomize:  {check.kustomize}",
            *([f"needs:      {needs(check)}"] if check.needs else []),
            "",
            "example:",
            example,
            "",
            f"mend:       {check.mend}",
            f"silence:    # kmerge: ignore {check.id}",
        ]
    )


def needs(check: Check) -> str:
    """What a check must know to speak."""
    words = {"S": "the schema of the kind", "T": "the object that the patch changes"}
    return " and ".join(words[letter] for letter in check.needs)


def sarif_rules() -> list[Rule]:
    """The checks as SARIF knows them."""
    return [Rule(c.id, c.severity, c.what, c.mend) for c in registry.every()]
