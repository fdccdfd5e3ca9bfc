"""What hatchling is told at each build: the commit of the checkout, and links that hold on PyPI."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?\[[^\]]*\]\()(?!\w+:|#)([^)\s]+\))")


class CommitNote(BuildHookInterface):  # type: ignore[type-arg]
    """Notes the commit in the package, unless it is a release or an editable install."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the note to what is built; the checkout itself is not written to."""
        if version == "editable":  # git is asked when the version is
            return
        sys.path.insert(0, self.root)
        from kmerge_git.git.own_commit import NOTE, commit_of

        commit = commit_of(Path(self.root))
        if not commit:  # one that an sdist has brought along stays
            return
        self.scratch = tempfile.TemporaryDirectory()
        note = Path(self.scratch.name, NOTE)
        note.write_text(f"{commit}\n", "utf-8")
        build_data["force_include"][str(note)] = f"kmerge_git/{NOTE}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Throw the note away, once it is packed."""
        if hasattr(self, "scratch"):
            self.scratch.cleanup()


class ReadmeLinks(MetadataHookInterface):
    """PyPI shows the README alone: its links lead to the repository, as it is at this version."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Give the README with full links."""
        text = Path(self.root, "README.md").read_text("utf-8")
        page = metadata["urls"]["Source"] + "/{}/v" + metadata["version"] + "/"

        def full(link: re.Match[str]) -> str:
            way = "raw" if link[1].startswith("!") else "blob"
            return link[1] + page.format(way) + link[2]

        readme = {"content-type": "text/markdown", "text": LINK.sub(full, text)}
        metadata["readme"] = readme
