"""A made-up repository of a forge: pull requests that are squashed, merged, stacked and crossed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from world import Repo

Files = dict[str, tuple[int, ...]]  # the values of each file

NAMES = ("charts/a/Chart.yaml", "charts/b/values.yaml", "apps/web.yaml", "apps/db.yml", "README.md")
WIDTH = 6  # lines of a file


class Forge:
    """Commits are made in memory, and written by one `git fast-import`."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.stream: list[str] = []
        self.files: list[Files] = [{}]  # by mark
        self.refs: dict[str, int] = {}
        self.main = self.commit("base", [], dict.fromkeys(NAMES, (0,) * WIDTH))
        self.past = [self.main]  # commits of main that a branch may start from

    def commit(self, message: str, parents: Sequence[int], files: Files) -> int:
        mark = len(self.files)
        self.files.append(files)
        author = self.random.choice(("ada", "bob", "eve"))
        words = ("from", *["merge"] * len(parents))
        self.stream.append(
            f"commit refs/made/up\nmark :{mark}\n"
            f"author A <{author}@example.org> {1700000000 + mark} +0000\n"
            f"committer A <{author}@example.org> {1700000000 + mark} +0000\n"
            f"data {len(message.encode())}\n{message}\n"
            + "".join(f"{word} :{parent}\n" for word, parent in zip(words, parents, strict=False))
            + "deleteall\n"
            + "".join(_inline(name, values) for name, values in files.items())
        )
        return mark

    def edited(self, at: int, message: str) -> int:
        """A commit that changes some lines of some files."""
        files = dict(self.files[at])
        for name in self.random.sample(NAMES, self.random.randint(1, 3)):
            values = list(files[name])
            values[self.random.randrange(WIDTH)] = self.random.randint(1, 99)
            files[name] = tuple(values)
        return self.commit(message, [at], files)

    def mixed(self, ours: int, theirs: int) -> Files:
        """What people make of two sides: of each line one of both."""
        return {
            name: tuple(map(self.random.choice, zip(values, self.files[theirs][name], strict=True)))
            for name, values in self.files[ours].items()
        }

    def merged(self, ours: int, theirs: int, message: str) -> int:
        return self.commit(message, [ours, theirs], self.mixed(ours, theirs))

    def on_main(self, mark: int) -> None:
        self.main = mark
        self.past = [*self.past[-4:], mark]

    def pull(self, number: int) -> None:
        """One pull request, from its first commit to its end."""
        kind = self.random.choice(("squash", "squash", "squash", "merge", "open", "cross"))
        start = self.random.choice(self.past)
        if self.random.random() < 0.2 and self.refs:  # stacked: its merges are those of another one
            start = self.random.choice(list(self.refs.values())[-9:])
        head = self.edited(start, f"work (#{self.random.randint(1, number)})")
        for _ in range(self.random.randint(0, 2)):
            self.on_main(self.edited(self.main, f"work on main (no #{number})"))
            head = self.merged(head, self.random.choice(self.past), "Merge main")
            head = self.edited(head, "more work") if self.random.random() < 0.5 else head
        if kind == "cross":
            landed = self.merged(self.main, head, f"Merge pull request #{number}")
            head = self.merged(head, self.main, "Merge main")
            self.on_main(self.edited(landed, "work on main"))
            head = self.merged(self.edited(head, "work"), self.main, "Merge main once more")
        if kind == "squash":
            subject = self.random.choice(("feat", "fix (#1) again", 'Revert "feat (#2)"'))
            message = f"{subject} (#{number})\n\n* work (#3)\n"
            self.on_main(self.commit(message, [self.main], self.mixed(self.main, head)))
        if kind == "merge":
            self.on_main(self.merged(self.main, head, f"Merge pull request #{number} (#{number})"))
        if self.random.random() < 0.1:
            self.on_main(self.edited(self.main, f'Revert "feat (#{number})"'))
        self.refs[f"refs/remotes/origin/pull/{number}"] = head

    def write(self, repo: Repo) -> None:
        ends = {"refs/heads/main": self.main} | self.refs
        resets = [f"reset {name}\nfrom :{mark}\n\n" for name, mark in ends.items()]
        nothing = "0" * repo.digits()
        stream = "".join(
            [*self.stream, *resets, "reset refs/made/up\nfrom ", nothing, "\n\ndone\n"]
        )
        repo.git("fast-import", "--quiet", "--force", stdin=stream)
        repo.git("reset", "-q", "--hard", "main")


def _inline(name: str, values: Sequence[int]) -> str:
    text = "".join(f"key{at}: {value}\n" for at, value in enumerate(values))
    return f"M 100644 inline {name}\ndata {len(text)}\n{text}\n"
