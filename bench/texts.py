"""Generated manifests: as large as it is asked, with the shapes that real ones have."""

from __future__ import annotations

import random

WORDS = ("the merge keeps every change and says so when it cannot decide between them").split()  # noqa: SIM905
Trio = tuple[str, str, str]  # base, ours, theirs


def _words(first: int, count: int) -> str:
    return " ".join(WORDS[(first + n) % len(WORDS)] for n in range(count))


# -- one resource


def deployment(name: str, variables: int) -> str:
    """A Deployment with a comment; of some 5 KB with 80 variables."""
    env = "".join(f"        - name: V{i}\n          value: value-{i}\n" for i in range(variables))
    labels = "".join(f"    V{i}: v{i}\n" for i in range(variables))
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  labels:\n{labels}"
        "spec:\n  replicas: 3\n  template:\n    spec:\n      containers:\n      - name: app\n"
        f"        image: app:1  # the web shop\n        env:\n{env}"
    )


def small() -> Trio:
    """A Deployment of 5 KB, a line changed by each side."""
    text = deployment("web", 80)
    theirs = text.replace("V7: v7", "V7: other")
    return text, text.replace("replicas: 3", "replicas: 5"), theirs


def scripts() -> Trio:
    """5 KB of shell functions whose last lines repeat; both sides add the same one."""
    bodies = "\n".join(
        f"    f{n}() {{\n      echo {n}\n      run {n} {'x' * 80}\n    }}\n" for n in range(40)
    )
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: scripts\ndata:\n  run.sh: |\n"
    text = head + bodies
    both = text.replace("    f20() {\n", "    shared() {\n      echo 5\n    }\n\n    f20() {\n")
    return text, both.replace("echo 7\n", "echo ours\n"), both.replace("echo 30\n", "no\n")


def deleted() -> Trio:
    """A Deployment of 5 KB; both sides delete lines that are elsewhere, too."""
    text = deployment("web", 80)
    gone = text.replace("    V9: v9\n    V10: v10\n    V11: v11\n", "")
    return text, gone.replace("replicas: 3", "replicas: 5"), gone + "        tty: true\n"


def long_text(lines: int) -> Trio:
    """A ConfigMap with one long text, a line of it changed by each side."""
    body = "".join(f"    line {i} {_words(i, 9)}\n" for i in range(lines))
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: long\n"
        f"data:\n  before: a\n  script.txt: |\n{body}  behind: b\n"
    )
    ours = text.replace(f"line {lines // 5} ", "ours ")
    return text, ours, text.replace(f"line {lines // 2} ", "theirs ")


def map_entries(count: int) -> Trio:
    """A ConfigMap with many entries, one changed by each side."""
    body = "".join(f"  key-{i}: value {i} {_words(i, 3)}\n" for i in range(count))
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: long\ndata:\n{body}"
    ours = text.replace(f"key-{count // 3}: value", f"key-{count // 3}: ours")
    return text, ours, text.replace(f"key-{2 * count // 3}: value", f"key-{2 * count // 3}: theirs")


def keyed(count: int) -> Trio:
    """A Service with a long list of ports, one changed by each side."""
    ports = "".join(
        f"  - name: p{i}\n    port: {1000 + i}\n    targetPort: t{i}\n    protocol: TCP\n"
        for i in range(count)
    )
    text = f"apiVersion: v1\nkind: Service\nmetadata:\n  name: long\nspec:\n  ports:\n{ports}"
    ours, theirs = (f"targetPort: t{count * part // 5}\n" for part in (1, 4))
    return text, text.replace(ours, "targetPort: ours\n"), text.replace(theirs, "targetPort: to\n")


def unkeyed(count: int) -> Trio:
    """A ClusterRole with a long list of rules, which has no key; one changed by each side."""
    rules = "".join(
        f"- apiGroups: [group{i}.example.com]\n  resources:\n  - things{i}\n  verbs: [get, list]\n"
        for i in range(count)
    )
    head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: long\n"
    text = f"{head}rules:\n{rules}"
    ours, theirs = (f"  - things{count * part // 5}\n" for part in (1, 4))
    return text, text.replace(ours, "  - ours\n"), text.replace(theirs, "  - theirs\n")


# -- schemas and bundles


def schema(name: str, size: int) -> str:
    """A document like a CustomResourceDefinition: nested properties, each with a description."""
    lines = [
        "apiVersion: apiextensions.k8s.io/v1",
        "kind: CustomResourceDefinition",
        f"metadata:\n  name: {name}",
        "spec:\n  properties:",
    ]
    length, number = 0, 0
    while length < size:
        words = _words(number, 14)
        entry = (
            f"    {name}field{number}:\n      description: {words} {number}\n      type: object\n"
            f"      properties:\n        inner{number}:\n          description: |-\n"
            f"            {words}\n            {words}\n          type: string"
        )
        lines.append(entry)
        length += len(entry)
        number += 1
    return "\n".join(lines) + "\n"


def described(text: str, name: str, number: int) -> str:
    """Change the description of one field."""
    at = text.index(f"    {name}field{number}:\n")
    end = text.index("\n      type", at)
    return text[:end] + " changed" + text[end:]


def retyped(text: str, name: str, number: int) -> str:
    """Change the line below a description: by lines, that conflicts with a change of the other."""
    at = text.index("\n      type: object", text.index(f"    {name}field{number}:\n"))
    return text[:at] + text[at:].replace("type: object", "type: array", 1)


def definition(size: int) -> Trio:
    """A CustomResourceDefinition, one description changed by each side."""
    text = schema("crd", size)
    return text, described(text, "crd", 100), described(text, "crd", size // 430)


def bundle(large: int) -> str:
    """A bundle of 63 documents, six of them large."""
    return "---\n".join(schema(f"big{i}", large if i < 6 else 8_000) for i in range(63))


def one_sided() -> Trio:
    """A bundle of 2.3 MB; each side changes another document."""
    text = bundle(300_000)
    return text, described(text, "big3", 40), described(text, "big20", 3)


def one_more() -> Trio:
    """A bundle of 3.5 MB; theirs adds a document."""
    text = bundle(500_000)
    return text, described(text, "big3", 40), f"{text}---\n{schema('new', 8_000)}"


def two_large() -> Trio:
    """A bundle of 3.5 MB; both sides change the same two documents of 1 MB."""
    text = "---\n".join(schema(f"two{i}", 1_000_000 if i < 2 else 8_000) for i in range(190))
    ours = described(described(text, "two0", 50), "two1", 60)
    return text, ours, described(described(text, "two0", 900), "two1", 800)


def twenty_doubtful() -> Trio:
    """A bundle of 3.5 MB; both sides change twenty documents at lines next to each other."""
    text = ours = theirs = bundle(500_000)
    for number in range(10, 30):
        ours = described(ours, f"big{number}", 5)
        theirs = retyped(theirs, f"big{number}", 5)
    return text, ours, theirs


SERVICE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: service-{n}
  labels:
    app: service-{n}
  annotations:
    example.com/owner: "team-{team}@example.com"
spec:
  replicas: {replicas}
  selector:
    matchLabels:
      app: service-{n}
  template:
    metadata:
      labels:
        app: service-{n}
    spec:
      containers:
      - name: app  # the service
        image: registry.example.com/team-{team}/service-{n}:{tag}
        args: ["--listen=:8080", "--shard={n}"]
        ports:
        - containerPort: 8080
          name: http
        env:
        - name: LOG_LEVEL
          value: {level}
"""
FIELDS = {"replicas": "1", "tag": "1.0.0", "level": "info"}


def service(number: int, **fields: str) -> str:
    """A Deployment of 0.6 KB."""
    return SERVICE.format(n=number, team=number % 17, **{**FIELDS, **fields})


def services(count: int, *, both: bool, most: int = 20) -> Trio:
    """Many Deployments, up to `most` of them changed by each side: the same ones, or others."""
    step = max(1, count // most)
    base = [service(number) for number in range(count)]
    ours, theirs = base.copy(), base.copy()
    for number in range(0, count, step):
        ours[number] = service(number, replicas="3")
        other = number if both else number + step // 2
        if both or step > 1:
            theirs[other] = service(other, tag="1.1.0")
    if not both and step == 1:  # every second one by each
        ours[1::2] = base[1::2]
        theirs[1::2] = [service(number, tag="1.1.0") for number in range(1, count, 2)]
    return "---\n".join(base), "---\n".join(ours), "---\n".join(theirs)


# -- templates


def template(variables: int, name: str = "web") -> str:
    """A Deployment of a chart, with the blocks that charts have; of some 5 KB with 40 variables."""
    env = "".join(map(_variable, range(variables)))
    labels = "".join(f"    tag{i}: {{{{ .Values.tag }}}}\n" for i in range(variables))
    return (
        f'{{{{- $name := include "{name}.name" . -}}}}\n'
        "{{- if .Values.enabled }}\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n"
        "  name: {{ $name }}\n  labels:\n"
        '    {{- include "web.labels" . | nindent 4 }}\n'
        f"{labels}spec:\n  replicas: {{{{ .Values.replicas }}}}\n  template:\n    spec:\n"
        "      {{- with .Values.nodeSelector }}\n      nodeSelector:\n"
        "        {{- toYaml . | nindent 8 }}\n      {{- end }}\n      containers:\n"
        f"        - name: {name}\n"
        '          image: "{{ .Values.image }}:{{ .Values.tag }}"\n'
        f"          env:\n{env}"
        "            {{- if .Values.debug }}\n            - name: DEBUG\n"
        '              value: "1"\n            {{- end }}\n'
        "          {{- range .Values.more }}\n          # {{ . }}\n          {{- end }}\n"
        "          resources:\n            {{- toYaml .Values.resources | nindent 12 }}\n"
        "{{- end }}\n"
    )


def _variable(number: int) -> str:
    """A variable; every eighth is there only if its value is set."""
    text = f"            - name: V{number}\n              value: {{{{ .Values.v{number} }}}}\n"
    if number % 8 == 5:
        return f"            {{{{- if .Values.v{number} }}}}\n{text}            {{{{- end }}}}\n"
    return text


DEBUG = "            {{- if .Values.debug }}\n"
TRACE = "            {{- if or .Values.debug .Values.trace }}\n"


def template_lines(text: str) -> Trio:
    """A template that git's lines merge."""
    ours = text.replace("value: {{ .Values.v7 }}", "value: {{ .Values.other }}")
    theirs = text.replace("tag7: {{ .Values.tag }}", "tag7: {{ .Values.tag | quote }}")
    return text, ours, theirs


def template_blocks(text: str) -> Trio:
    """A template in which git's lines conflict and blocks do not.

    Each side adds a variable to every document, and theirs changes the condition below them.
    """
    ours = text.replace(DEBUG, f"            - name: OURS\n              value: a\n{DEBUG}")
    theirs = text.replace(DEBUG, f"            - name: THEIRS\n              value: b\n{TRACE}")
    return text, ours, theirs


def template_conflict(text: str) -> Trio:
    """A template with one field that both sides change, each in its own way."""
    one = "replicas: {{ .Values.replicas }}"
    return text, text.replace(one, "replicas: 2", 1), text.replace(one, "replicas: 3", 1)


def chart(documents: int, variables: int) -> str:
    """A template of many documents."""
    return "---\n".join(template(variables, f"web{n}") for n in range(documents))


def few_actions(lines: int) -> Trio:
    """A template of many lines with an action in each tenth, one changed by each side."""
    body = "".join(
        f"  key-{i}: {'{{ .Values.x }}' if i % 10 == 0 else 'value'} {i}\n" for i in range(lines)
    )
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: long\ndata:\n{body}"
    ours = text.replace(f"key-{lines // 3}: ", f"key-{lines // 3}: ours ")
    return text, ours, text.replace(f"key-{2 * lines // 3}: ", f"key-{2 * lines // 3}: theirs ")


# -- job configurations of a CI system


JOB = """\
  # {name} runs {words}
  - name: {name}
    annotations:
      testgrid-dashboards: {team}-{kind}
      testgrid-alert-email: {team}@example.com
    always_run: {always}
    optional: {optional}
    skip_report: false
    decorate: true
    decoration_config:
      timeout: {hours}h
      grace_period: 5m
    cluster: build-{cluster}
    max_concurrency: {most}
    skip_branches:
    - release-\\d+\\.{cluster}
    labels:
      preset-docker: "true"
      preset-{team}-cache: "true"
    spec:
      nodeSelector:
        type: bare-metal-{cluster}
      containers:
      - name: test
        image: quay.io/{team}/bootstrap:v2026{image}
        command:
        - /usr/local/bin/runner.sh
        - /bin/sh
        - -ce
        args:
        - automation/test.sh
        - --suite={kind}
        - --shard={number}
{args}        env:
        - name: TARGET
          value: k8s-1.{cluster}-{kind}
        - name: FEATURES  # {short}
          value: "{features}"
{env}        securityContext:
          privileged: true
        resources:
          requests:
            memory: "{memory}Gi"
            cpu: "{hours}"
"""
REPORT = """\
    reporter_config:
      slack:
        channel: {team}-alerts
        job_states_to_report: [failure]
        report_template: '{{{{if eq .Status.State "failure"}}}}:x: {{{{.Spec.Job}}}}{{{{end}}}}'
"""
KINDS = ("compute", "network", "storage", "operator", "monitoring")


def job(number: int) -> str:
    """One job, of some 1.2 KB; every hundredth reports by a template in one quoted value."""
    made = {
        "name": f"pull-e2e-{KINDS[number % 5]}-{number}",
        "words": _words(number, 8),
        "short": _words(number, 3),
        "team": f"team{number % 13}",
        "kind": KINDS[number % 5],
        "always": str(number % 3 == 0).lower(),
        "optional": str(number % 7 == 0).lower(),
        "hours": number % 5 + 2,
        "cluster": number % 4 + 28,
        "most": number % 11 + 1,
        "image": f"{number % 12 + 1:02}{number % 28 + 1:02}",
        "number": number,
        "features": ",".join(f"Gate{number + n}" for n in range(3)),
        "memory": number % 40 + 8,
        "args": "".join(f"        - --level-{n}={number * n % 10}\n" for n in range(number % 5)),
        "env": "".join(
            f'        - name: VAR_{n}\n          value: "{number * 7 * n % 100}"\n'
            for n in range(number % 4)
        ),
    }
    return JOB.format(**made) + (REPORT.format(**made) if number % 100 == 50 else "")


def job_configuration(size: int, edits: int, *, repeated: bool = False) -> Trio:
    """Jobs of a CI system of some 1.3 KB each, and so many edits by each side, anywhere.

    Half of them change a value, a fifth adds a variable, a fifth a job, a tenth takes one away.
    With `repeated` every name is there twice, for two branches.
    """
    jobs = [job(number) for number in range(size // 1_290)]
    if repeated:
        jobs[1::2] = [
            text.replace(f"-{number}\n", f"-{number - 1}\n").replace("- release", "- main")
            for number, text in enumerate(jobs)
            if number % 2
        ]
    head = "presubmits:\n  example/project:\n"
    ours, theirs = (edited(jobs, edits, side) for side in ("ours", "theirs"))
    return head + "".join(jobs), head + "".join(ours), head + "".join(theirs)


def edited(jobs: list[str], edits: int, side: str) -> list[str]:
    """The jobs of one side."""
    chance = random.Random(f"{side} {len(jobs)}")
    jobs = jobs.copy()
    for number in range(edits):
        at = chance.randrange(len(jobs))
        match number % 10:
            case 0 | 3:
                jobs[at] = jobs[at].replace(":v2026", f":{side}-")
            case 1 | 5 | 8:
                more = f"        - --{side}={number}\n"
                jobs[at] = jobs[at].replace("        env:\n", more + "        env:\n")
            case 2 | 6:
                more = f"        - name: {side.upper()}{number}\n          value: a{number}\n"
                below = "        securityContext:\n"
                jobs[at] = jobs[at].replace(below, more + below)
            case 4 | 7:
                jobs.insert(at, job(100_000 + chance.randrange(100_000)))
            case _:
                del jobs[at]
    return jobs
