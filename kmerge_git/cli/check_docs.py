"""Print the documentation of the checks: `--list` and `--explain`."""

from __future__ import annotations

from kmerge_git.check import registry

TITLES = {
    "directives": "Directives of strategic merge patches",
    "merge-damage": "Merge damage",
}


def listing() -> str:
    """Return a list of all checks, one line each."""
    blocks = []
    for group, title in TITLES.items():
        checks = [c for c in registry.every() if c.group == group]
        lines = [f"  {c.id}  {c.severity:<8} {c.what}" for c in checks]
        blocks.append("\n".join([title, *lines]))
    return "\n\n".join(blocks)


def explain(id: str) -> str:
    """Return the full explanation of one check."""
    check = registry.get(id)
    example, counter = (
        "\n".join(f"    {line}" for line in text.split("\n"))
        for text in (check.example, check.counter)
    )
    words = {"S": "the schema of the kind", "T": "the object that the patch changes"}
    needs = " and ".join(words[letter] for letter in check.needs)
    return "\n".join(
        [
            f"{check.id}: {check.what} ({check.severity}, {check.group})",
            "",
            f"kubectl:    {check.kubectl}",
            f"kustomize:  {check.kustomize}",
            *([f"needs:      {needs}"] if needs else []),
            "",
            "example:",
            example,
            "",
            "lets pass:",
            counter,
            "",
            f"mend:       {check.mend}",
            f"silence:    # kmerge: ignore {check.id}",
            f"in hooks:   git config --add kmerge.check.ignore {check.id}",
        ]
    )
