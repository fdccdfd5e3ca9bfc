"""Each side removes some members of a list or a map, and together they remove all.

Neither side emptied it, and empty it often means the contrary: `from: []` is every peer,
`matchLabels: {}` and `- {}` match everything. So only a conflict is right. `controls` are the
merges nearby that have one answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement
from textwrap import dedent, indent

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Chosen = tuple[int, ...]
SIZES = (2, 3, 4)


def parsed(data: bytes) -> list[object]:
    """Read the documents of a file."""
    return [document for document in yaml.load_all(data, LOADER) if document is not None]


@dataclass(frozen=True)
class Form:
    """A file with a collection, of which the members are written one below the other."""

    before: str  # up to the collection's key
    members: tuple[str, ...]
    margin: int  # of the members
    after: str = ""
    empty: str = " []"
    opening: str = ""  # the collection is an element of a list: its dash
    near: tuple[str, str] = ("", "")  # a text of the file and what an edit makes of it
    far: tuple[str, str] = ("", "")

    def write(self, chosen: Chosen, edits: tuple[str, ...] = (), *, absent: bool = False) -> bytes:
        """Write the file with some members, and with edits elsewhere."""
        block = "".join(dedent(self.members[at]).strip() + "\n" for at in chosen)
        block = indent(block, " " * self.margin)
        before = self.before.rstrip("\n")
        if self.opening:
            opening = " " * (self.margin - 2) + "- "
            block = opening + block[self.margin :] if chosen else opening + "{}\n"
            text = f"{before}\n{block}{self.after}"
        elif chosen:
            text = f"{before}\n{block}{self.after}"
        elif absent:
            text = f"{before.rpartition(chr(10))[0]}\n{self.after}"
        else:
            text = f"{before}{self.empty}\n{self.after}"
        for edit in edits:
            old, new = {"near": self.near, "far": self.far}[edit]
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text.encode()


@dataclass(frozen=True)
class Case:
    """Three versions of a file, and the right answers if there are any."""

    name: str
    base: bytes
    ours: bytes
    theirs: bytes
    answers: tuple[bytes, ...] = ()
    may_conflict: bool = False

    def allows(self, result: bytes) -> bool:
        """Say if a merge may come to this."""
        return parsed(result) in [parsed(answer) for answer in self.answers]


# -- the forms

_NEAR = ("policyTypes: [Ingress]", "policyTypes: [Egress]")
_FAR = ("team: platform", "team: network")
_POLICY = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: web
  labels:
    team: platform
spec:
  policyTypes: [Ingress]
"""
_POD_HEAD = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    team: platform
spec:
  replicas: 2
  template:
    spec:
"""
_REPLICAS = ("replicas: 2", "replicas: 3")
_LAST_ARGUMENT = ("        tty: true\n", "        tty: false\n")
_CONTAINER = f"{_POD_HEAD}      containers:\n      - name: app\n        image: web:1.0\n"
_AFTER_CONTAINER = "        tty: true\n      hostNetwork: false\n"
_PODS_ON = Form(
    _POD_HEAD, (), 8, "      hostNetwork: false\n", near=_REPLICAS, far=_FAR, empty=" {}"
)
_IN_CONTAINER = Form(_CONTAINER, (), 8, _AFTER_CONTAINER, near=_LAST_ARGUMENT, far=_REPLICAS)


def _policy(before: str, members: tuple[str, ...], margin: int, after: str = "") -> Form:
    return Form(_POLICY + before, members, margin, after, near=_NEAR, far=_FAR)


def _container(key: str, *members: str) -> Form:
    return replace(_IN_CONTAINER, before=f"{_CONTAINER}        {key}:", members=members)


_PEERS = (
    "- podSelector:\n    matchLabels:\n      app: web",
    "- namespaceSelector:\n    matchLabels:\n      zone: inner",
    "- ipBlock:\n    cidr: 10.0.0.0/8\n    except: [10.1.0.0/16]",
    "- podSelector:\n    matchLabels:\n      app: api\n      tier: back",
)
_RULES = (
    '- apiGroups: [""]\n  resources: [pods]\n  verbs: [get, list]',
    "- apiGroups: [apps]\n  resources: [deployments]\n  verbs: [patch]",
    "- apiGroups: [batch]\n  resources: [jobs, cronjobs]\n  verbs: [create]",
    '- apiGroups: [""]\n  resources: [secrets]\n  resourceNames: [web]\n  verbs: [get]',
)
_ROLE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: web
  labels:
    owner: web
    team: platform
"""
_NEAR_LABEL = ("owner: web", "owner: shop")
_LABELS = ("app: web", "tier: front", "track: stable", "release: a")

FORMS = {
    "from": _policy(
        "  ingress:\n  - from:", _PEERS, 4, "    ports:\n    - port: 8080\n      protocol: TCP\n"
    ),
    "to": _policy("  egress:\n  - to:", _PEERS, 4),
    "ports of a policy": _policy(
        "  ingress:\n  - from:\n    - podSelector: {}\n    ports:",
        ("- port: 80", "- port: 443\n  protocol: TCP", "- port: dns\n  protocol: UDP", "- port: 9"),
        4,
    ),
    "ingress": _policy(
        "  ingress:",
        tuple(f"- from:\n{indent(peer, '  ')}" for peer in _PEERS),
        2,
    ),
    "matchLabels": replace(
        _policy("  podSelector:\n    matchLabels:", _LABELS, 6, "  ingress: []\n"), empty=" {}"
    ),
    "nodeSelector": replace(
        _PODS_ON,
        before=f"{_POD_HEAD}      nodeSelector:",
        members=("disk: ssd", "zone: north", "arch: amd64", "pool: web"),
    ),
    "matchExpressions": replace(
        _PODS_ON,
        before=(
            f"{_POD_HEAD}      affinity:\n        nodeAffinity:\n"
            "          requiredDuringSchedulingIgnoredDuringExecution:\n"
            "            nodeSelectorTerms:\n            - matchExpressions:"
        ),
        members=(
            "- key: disk\n  operator: In\n  values: [ssd]",
            "- key: zone\n  operator: In\n  values: [north, east]",
            "- key: gpu\n  operator: Exists",
            "- key: arch\n  operator: NotIn\n  values: [arm64]",
        ),
        margin=14,
        empty=" []",
    ),
    "volumes": replace(
        _PODS_ON,
        before=f"{_POD_HEAD}      volumes:",
        members=(
            "- name: data\n  persistentVolumeClaim:\n    claimName: data",
            "- name: cache\n  emptyDir: {}",
            "- name: tls\n  secret:\n    secretName: tls",
            "- name: settings\n  configMap:\n    name: settings",
        ),
        margin=6,
        empty=" []",
    ),
    "tolerations": replace(
        _PODS_ON,
        before=f"{_POD_HEAD}      tolerations:",
        members=(
            "- key: gpu\n  operator: Exists\n  effect: NoSchedule",
            "- key: spot\n  operator: Equal\n  value: allowed",
            "- key: web\n  operator: Exists\n  effect: NoExecute",
            "- operator: Exists",
        ),
        margin=6,
        empty=" []",
    ),
    "env": _container(
        "env",
        "- name: LEVEL\n  value: info",
        "- name: REGION\n  value: north",
        "- name: TOKEN\n  valueFrom:\n    secretKeyRef:\n      name: api\n      key: token",
        "- name: COLOR\n  value: blue",
    ),
    "ports": _container(
        "ports",
        "- containerPort: 8080\n  name: http",
        "- containerPort: 8443\n  name: https",
        "- containerPort: 9090\n  name: metrics",
        "- containerPort: 5353\n  protocol: UDP",
    ),
    "args": _container("args", "- serve", "- --level=info", "- --color", "- /srv"),
    "command": _container("command", "- sh", "- -c", "- exec web", "- web"),
    "requests": replace(
        _container("resources:\n          requests"),
        members=("cpu: 100m", "memory: 64Mi", "ephemeral-storage: 1Gi", "nvidia.com/gpu: 1"),
        margin=12,
        empty=" {}",
    ),
    "resources": replace(
        _container("resources"),
        members=(
            "limits:\n  cpu: 500m\n  memory: 256Mi",
            "requests:\n  cpu: 100m\n  memory: 64Mi",
            "claims:\n- name: gpu",
        ),
        margin=10,
        empty=" {}",
    ),
    "rules of a Role": Form(f"{_ROLE}rules:", _RULES, 0, near=_NEAR_LABEL, far=_FAR),
    "a rule of a Role": Form(
        f"{_ROLE}rules:\n{_RULES[1]}",
        ('apiGroups: [""]', "resources: [pods, services]", "verbs: [get]", "resourceNames: [web]"),
        2,
        f"{_RULES[2]}\n",
        opening="- ",
        near=_NEAR_LABEL,
        far=_FAR,
    ),
    "a peer": replace(
        _policy(
            "  ingress:\n  - from:",
            (
                "podSelector:\n  matchLabels:\n    app: web",
                "namespaceSelector:\n  matchLabels:\n    zone: inner",
            ),
            6,
            "    - ipBlock:\n        cidr: 10.0.0.0/8\n",
        ),
        opening="- ",
    ),
    "an entry of ingress": replace(
        _policy(
            "  ingress:",
            (
                "from:\n- podSelector:\n    matchLabels:\n      app: web",
                "ports:\n- port: 8080\n  protocol: TCP",
            ),
            4,
        ),
        opening="- ",
    ),
    "data": Form(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n"
        "  labels:\n    owner: web\n    team: platform\ndata:",
        (
            "level: info",
            "web.conf: |\n  listen 80\n  root /srv\n  index index.html",
            "region: north",
            "color: blue",
        ),
        2,
        empty=" {}",
        near=_NEAR_LABEL,
        far=_FAR,
    ),
    "values": Form(
        "global:\n  debug: false\nweb:\n  replicas: 2\n  ingress:\n    annotations:",
        ("a.example.com/one: x", "b.example.com/two: y", "c: z", "d.example.com/four: w"),
        6,
        "    enabled: true\ndb:\n  storage: 1Gi\n",
        empty=" {}",
        near=("enabled: true", "enabled: false"),
        far=("storage: 1Gi", "storage: 2Gi"),
    ),
    "words of values": Form(
        "global:\n  debug: false\nweb:\n  replicas: 2\n  hosts:",
        ("- a.example.com", "- b.example.com", "- c.example.com", "- d.example.com"),
        2,
        "  enabled: true\ndb:\n  storage: 1Gi\n",
        near=("enabled: true", "enabled: false"),
        far=("storage: 1Gi", "storage: 2Gi"),
    ),
}
# sets, in which no element means more than that it is there
SETS = {
    "finalizers": Form(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n"
        "  labels:\n    owner: web\n    team: platform\n  finalizers:",
        ("- example.com/a", "- example.com/b", "- example.com/c", "- example.com/d"),
        2,
        "data:\n  key: value\n",
        near=_NEAR_LABEL,
        far=_FAR,
    ),
}
# the collection is most of an element without a key, of which both sides then changed too much to
# know it again: a conflict loses nothing
UNKEYED = {"to", "matchExpressions", "a rule of a Role"}
KEYED = {"volumes", "env", "ports"}  # lists with keys, and all maps
# edits elsewhere of ours and of theirs
Edits = tuple[tuple[str, ...], tuple[str, ...]]
ELSEWHERE: list[Edits] = [((), ()), (("near",), ()), ((), ("far",)), (("near",), ("far",))]


def parts(size: int) -> Iterator[tuple[Chosen, Chosen]]:
    """List what the sides keep: some members each, of which the other side keeps none."""
    return (pair for pair in _kept_by_both(size) if not {*pair[0]} & {*pair[1]})


def _kept_by_both(size: int) -> Iterator[tuple[Chosen, Chosen]]:
    """List two choices of some members, but not of all; each two once."""
    kept = [some for n in range(1, size) for some in combinations(range(size), n)]
    return combinations_with_replacement(kept, 2)


def cases(name: str) -> list[Case]:
    """List the merges in which both sides together remove all."""
    form = (FORMS | SETS)[name]
    found = []
    for size in (n for n in SIZES if n <= len(form.members)):
        every = tuple(range(size))
        for mine, yours in parts(size):
            for ours, theirs in ELSEWHERE if size < max(SIZES) else ELSEWHERE[::3]:
                title = f"{name}: {_kept(size, mine, yours)}, edits {'+'.join(ours + theirs) or 0}"
                answers = (
                    form.write((), ours + theirs),
                    form.write((), ours + theirs, absent=True),
                )
                versions = (form.write(every), form.write(mine, ours), form.write(yours, theirs))
                found.append(Case(title, *versions, answers if name in SETS else ()))
    return found


def _kept(size: int, mine: Chosen, yours: Chosen) -> str:
    sides = ("".join("abcd"[at] for at in side) or "nothing" for side in (mine, yours))
    return f"{'abcd'[:size]} to " + " / ".join(sides)


def controls(name: str) -> list[Case]:
    """List the merges of a form that one side alone emptied, or that leave something."""
    form = FORMS[name]
    found = []
    # without keys, the added one may as well be what became of one that was removed
    is_doubtful = name in UNKEYED or (form.members[0].startswith("-") and name not in KEYED)
    for size in (n for n in SIZES if n <= len(form.members)):
        every = tuple(range(size))
        base = form.write(every)
        # one side alone, or both, removed the last member
        for absent in (False, True) if not form.opening else (False,):
            emptied = form.write((), absent=absent)
            for edit in ("near", "far"):
                answer = form.write((), (edit,), absent=absent)
                title = f"{name}: {size} emptied by one{', absent' * absent}, {edit}"
                found.append(Case(title, base, emptied, form.write(every, (edit,)), (answer,)))
                title = f"{name}: {size} emptied by both{', absent' * absent}, {edit}"
                found.append(Case(title, base, emptied, answer, (answer,)))
        # something is left
        for number, (mine, yours) in enumerate(_kept_by_both(size)):
            left = tuple(at for at in mine if at in yours)
            if left and size < max(SIZES):
                edit = ("near", "far")[number % 2]
                title = f"{name}: {_kept(size, mine, yours)}, {edit}"
                versions = (base, form.write(mine, (edit,)), form.write(yours))
                answers = (form.write(left, (edit,)),)
                found.append(Case(title, *versions, answers, name in UNKEYED))
            # all is removed, and another is added
            if not left and size < min(max(SIZES), len(form.members)):
                title = f"{name}: {_kept(size, mine, yours)}, one adds"
                versions = (base, form.write((*mine, size)), form.write(yours))
                found.append(Case(title, *versions, (form.write((size,)),), is_doubtful))
    return found
