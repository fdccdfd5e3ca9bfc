"""Merges of templates that look right, and are not: git's conflict, or what is right."""

from __future__ import annotations

from template_texts import PATH, merged, merged_anyway, refusal, text

from kmerge_git.merge.three import Three
from kmerge_git.template.template_damage import new_damage
from kmerge_git.template.template_parser import Template

# -- outputs


OUTPUT = text("""
    metadata:
      labels:
        app: web
        {{ "1.19.0" }}
      name: web
""")


def test_one_output_replaced_by_both():
    ours, theirs = OUTPUT.replace("1.19.0", "1.19.1"), OUTPUT.replace("1.19.0", "1.20.0")
    assert merged(OUTPUT, ours, theirs) is None


def test_one_output_replaced_by_both_alike():
    ours = OUTPUT.replace("1.19.0", "1.19.1")
    assert merged_anyway(OUTPUT, ours, ours) == ours
    theirs = ours.replace("name: web", "name: theirs")
    assert merged(OUTPUT, ours, theirs) == theirs


def test_one_output_inside_a_block_replaced_by_both():
    base = OUTPUT.replace("    {{ ", "    {{- if .Values.a }}\n    {{ ").replace(
        " }}\n  name", " }}\n    {{- end }}\n  name"
    )
    ours, theirs = base.replace("1.19.0", "1.19.1"), base.replace("1.19.0", "1.20.0")
    assert merged(base, ours, theirs) is None


# -- the same thing in two ways


POD = text("""
    spec:
      serviceAccountName: {{ .Values.account }}
      containers:
        - name: web
          image: {{ .Values.image }}
""")
HOST = "  hostNetwork: true\n"
HOST_IF = "  {{- if .Values.hostNetwork }}\n" + HOST + "  {{- end }}\n"
LABELS = '  {{- include "web.labels" . | nindent 2 }}\n'
LABELS_IF = "  {{- if .Values.labels }}\n" + LABELS + "  {{- end }}\n"


def above_containers(written: str) -> str:
    return POD.replace("  containers:", written + "  containers:")


def at_the_end(written: str) -> str:
    return POD + written


def test_the_same_include_one_of_them_in_an_if():
    assert merged(POD, above_containers(LABELS), above_containers(LABELS_IF)) is None
    assert merged_anyway(POD, above_containers(LABELS), at_the_end(LABELS_IF)) is None


def test_the_same_include_in_the_same_if():
    ours, theirs = above_containers(LABELS_IF), above_containers(LABELS_IF)
    assert merged_anyway(POD, ours, theirs) == ours


def test_a_key_added_inside_and_outside_of_a_block():
    assert merged(POD, above_containers(HOST), above_containers(HOST_IF)) is None
    assert merged_anyway(POD, above_containers(HOST), at_the_end(HOST_IF)) is None


def test_a_key_added_in_two_blocks():
    other = HOST_IF.replace("if .Values.hostNetwork", "with .Values.network")
    assert merged(POD, above_containers(HOST_IF), above_containers(other)) is None
    assert merged_anyway(POD, above_containers(HOST_IF), at_the_end(other)) is None


def test_other_keys_added_inside_and_outside_of_a_block():
    made = merged(POD, above_containers(HOST), above_containers(HOST_IF.replace("Net", "IP")))
    assert made == above_containers(HOST + HOST_IF.replace("Net", "IP"))


def test_both_set_a_variable():
    base = "{{- $name := .Values.name }}\nkind: Pod\nmetadata:\n  name: {{ $name }}\n"
    ours, theirs = (
        base.replace("kind:", f"{{{{- $namespace := {value} }}}}\nkind:")
        for value in (".Release.Namespace", ".Values.namespace")
    )
    assert merged(base, ours, theirs) is None
    theirs = base.replace("name: {{", "{{- $namespace := .Values.namespace }}\n  name: {{")
    assert merged_anyway(base, ours, theirs) is None
    theirs = base.replace("kind:", "{{- $other := .Values.other }}\nkind:")
    made = merged(base, ours, theirs)
    assert made == ours.replace("kind:", "{{- $other := .Values.other }}\nkind:")


VARIABLE = text("""
    {{- $name := include "web.name" . }}
    metadata:
      {{- range $key, $value := .Values.labels }}
      {{ $key }}: {{ $value }}
      {{- end }}
      name: {{ $name }}
      labels: {}
""")


def test_a_variable_renamed_by_one_and_used_by_the_other():
    ours = VARIABLE.replace("$name", "$full")
    theirs = VARIABLE.replace("  labels", "  namespace: {{ $name }}\n  labels")
    assert merged(VARIABLE, ours, theirs) is None
    theirs = VARIABLE.replace("  labels", "  namespace: {{ .name }}\n  labels")
    assert merged(VARIABLE, ours, theirs) == theirs.replace("$name", "$full")


def brought(result: str, at: Three[str]) -> list[str]:
    return [one.why for one in new_damage(Template(result), at.map(Template), PATH)]


def test_a_variable_ends_with_its_block():
    inside = VARIABLE.replace("{{ $value }}", "{{ $value }}{{ $name }}")
    outside = VARIABLE.replace("{{ $name }}", "{{ $name }}{{ $value }}")
    at = Three(VARIABLE, VARIABLE, VARIABLE)
    assert brought(inside, at) == []
    assert brought(outside, at) == ["variable $value is used but not set"]
    assert brought(outside, Three(VARIABLE, VARIABLE, outside)) == []


def test_a_variable_of_a_block_is_one_inside_of_it():
    ours = VARIABLE.replace("  name:", "  first: {{ $name }}\n  name:")
    theirs = VARIABLE.replace("name: {{ $name }}", "name: {{ $value }}")
    assert merged(VARIABLE, ours, theirs) == theirs.replace(
        "  name:", "  first: {{ $name }}\n  name:"
    )
    header = "range $key, $value := .Values.labels"
    ours = VARIABLE.replace(header, "range $key, $text := .Values.labels")
    ours = ours.replace("{{ $key }}: {{ $value }}", "{{ $key }}: {{ $text }}")
    theirs = VARIABLE.replace("  {{ $key }}:", "  {{ $key }}-{{ $value }}: a\n  {{ $key }}:")
    assert merged(VARIABLE, ours, theirs) is None


HOSTS = text("""
    spec:
      {{- with .Values.ingress }}
      one: {{ .one }}
      two: 2
      three: 3
      four: 4
      {{- end }}
      last: {}
""")


def test_a_dot_that_one_side_changed_and_the_other_uses():
    ours = HOSTS.replace("with .Values.ingress", "with .Values").replace("{{ .", "{{ .ingress.")
    theirs = HOSTS.replace("  four", "  five: {{ .five }}\n  four")
    why = "one side changed what `.` means in a block where the other side added `.`"
    assert refusal(HOSTS, ours, theirs) == why
    assert merged_anyway(HOSTS, ours, theirs) is None
    theirs = HOSTS.replace("  four", "  five: {{ $.Values.five }}\n  four")
    ours = HOSTS.replace("with .Values.ingress", "with .Values.tls")
    made = ours.replace("  four", "  five: {{ $.Values.five }}\n  four")
    assert merged_anyway(HOSTS, ours, theirs) == made
    comment = "  {{- /* don't ask .five */}}\n  four"
    made = merged_anyway(HOSTS, ours, HOSTS.replace("  four", comment))
    assert made == ours.replace("  four", comment)


COMPONENT = text("""
    metadata:
      labels:
        app: web
        release: {{ .Release.Name }}
    spec: {}
""")


def test_one_key_in_two_spellings():
    ours = COMPONENT.replace("spec", "    {{ .ControllerComponentLabel }}: x\nspec")
    theirs = COMPONENT.replace("spec", "    app.kubernetes.io/component: x\nspec")
    assert merged(COMPONENT, ours, theirs) is None
    theirs = COMPONENT.replace("    app:", "    app.kubernetes.io/component: x\n    app:")
    assert merged_anyway(COMPONENT, ours, theirs) is None


def test_replaced_by_one_and_deleted_for_an_include_by_the_other():
    line = "    release: {{ .Release.Name }}\n"
    theirs = COMPONENT.replace(line, '    {{- include "web.labels" . | nindent 4 }}\n')
    ours = COMPONENT.replace("release: {{ .Release.Name }}", "release: {{ .Values.release }}")
    assert merged(COMPONENT, ours, theirs) is None
    ours = COMPONENT.replace("release:", "app.kubernetes.io/instance:")
    assert merged(COMPONENT, ours, theirs) is None
    ours = COMPONENT.replace(line, "")
    assert merged(COMPONENT, ours, theirs) is None


# -- where an action stands


def test_action_lines_in_a_flow_list():
    base = text("""
        rules:
          verbs: [get,
            {{- if .Values.watch }}
            watch,
            {{- end }}
            list]
          groups: [{{ .Values.group }}]
          names: []
    """)
    ours, theirs = base.replace("[{{", "[a, {{"), base.replace("names: []", "names: [b]")
    assert merged(base, ours, theirs) is None
    ours, theirs = base.replace("watch,", "watch, a,"), base.replace("list]", "list, b]")
    assert merged_anyway(base, ours, theirs) is None


VOLUMES = text("""
    spec:
      volumes:
      {{- if .Values.a }}
      - name: a
        emptyDir: {}
      {{- end }}
      {{- if .Values.b }}
      - name: b
        emptyDir: {}
      {{- end }}
      name: {{ .Values.name }}
""")


def volume(name: str) -> str:
    return f"  {{{{- if .Values.{name} }}}}\n  - name: {name}\n  {{{{- end }}}}\n"


def test_a_compact_list_behind_an_if_under_a_key():
    ours = VOLUMES.replace("  name: {", volume("o") + "  name: {")
    theirs = VOLUMES.replace(".Values.name", ".Values.theirs")
    assert merged(VOLUMES, ours, theirs) == ours.replace(".Values.name", ".Values.theirs")
    theirs = VOLUMES.replace("  name: {", volume("t") + "  name: {")
    made = ours.replace("  name: {", volume("t") + "  name: {")
    assert merged(VOLUMES, ours, theirs) == made
    theirs = VOLUMES.replace("  name: {", "  type: a\n  name: {")
    assert merged(VOLUMES, ours, theirs) == ours.replace("  name: {", "  type: a\n  name: {")


def test_a_compact_list_whose_key_is_in_an_if():
    block = "  {{- if .Values.any }}\n  volumes:\n  {{- end }}\n"
    base = VOLUMES.replace("  volumes:\n", block)
    ours = base.replace("name: b", "name: o")
    assert merged(base, ours, base.replace("name: b", "name: t")) is None
    assert merged_anyway(base, ours, base.replace("name: a", "name: t")) is None


def test_children_below_an_include():
    base = text("""
        metadata:
          labels: {{- include "x" . | nindent 4 }}
            app: web
          name: {{ .Values.name }}
    """)
    ours = base.replace("app: web", "app: web\n    tier: o")
    theirs = base.replace('"x"', '"y"').replace(".name", ".theirs")
    made = theirs.replace("app: web", "app: web\n    tier: o")
    assert merged(base, ours, theirs) == made
    gone = base.replace("    app: web\n", "").replace(".name", ".theirs")
    assert merged(base, ours, gone) is None


def test_an_assignment_inside_a_list_item():
    base = text("""
        containers:
          - name: web
            {{- $image := .Values.image }}
            image: {{ $image }}
            port: 80
          - name: other
            {{- $image := .Values.other }}
            image: {{ $image }}
    """)
    ours = base.replace(":= .Values.image", ":= .Values.ours")
    theirs = base.replace("image: {{ $image }}\n    port", "image: {{ $image }}:1\n    port")
    made = ours.replace("image: {{ $image }}\n    port", "image: {{ $image }}:1\n    port")
    assert merged(base, ours, theirs) == made
    theirs = base.replace(":= .Values.image", ":= .Values.theirs")
    assert merged(base, ours, theirs) is None


def test_actions_in_block_scalars():
    base = text("""
        data:
          {{ .Values.file }}: |
            {{- if .Values.a }}
            a = {{ .Values.a }}
            {{- end }}
            [rest]
            b = {{ .Values.b }}
          other: 1
    """)
    ours = base.replace("a = {", "a = o{").replace("other: 1", "other: 2")
    theirs = base.replace("b = {", "b = t{").replace("  other", "  third: 3\n  other")
    made = theirs.replace("a = {", "a = o{").replace("other: 1", "other: 2")
    assert merged(base, ours, theirs) == made
    ours, theirs = base.replace("if .Values.a", "if .o"), base.replace("if .Values.a", "if .t")
    assert merged(base, ours, theirs) is None


# -- documents


TWO = text("""
    {{- if .Values.a }}
    ---
    kind: A
    metadata:
      name: a
    {{- end }}
    ---
    kind: B
    metadata:
      name: {{ .Values.b }}
""")


def document(kind: str, name: str = "x") -> str:
    return f"---\nkind: {kind}\nmetadata:\n  name: {name}\n"


def test_a_separator_after_an_if():
    ours = TWO.replace("name: a", "name: a\n  o: 1").replace("kind: B", "kind: B # o")
    theirs = TWO.replace("name: a", "name: a\n  t: 1") + "  t: 1\n"
    made = ours.replace("o: 1", "o: 1\n  t: 1") + "  t: 1\n"
    assert merged(TWO, ours, theirs) == made


def test_new_documents_of_both_sides():
    first = TWO.replace("name: a", "name: {{ .Values.a }}")
    ours, theirs = first + document("O"), TWO + document("T")
    assert merged(TWO, ours, theirs) == first + document("O") + document("T")
    block = "{{{{- if .Values.{} }}}}\n{}{{{{- end }}}}\n"
    ours, theirs = (TWO + block.format(name, document(name.upper())) for name in "ot")
    made = merged(TWO, ours, theirs)
    assert made == ours + block.format("t", document("T"))
    assert merged(TWO, TWO + document("O"), TWO + block.format("t", document("O"))) is None


def test_a_separator_lost_by_one_side():
    ours = TWO.replace("{{- end }}\n---\n", "{{- end }}\n").replace(
        "{{- if .Values.a }}\n---", "---"
    )
    ours = ours.replace("name: a\n", "name: a\n---\n").replace("---\n{{- end }}\n", "")
    theirs = TWO.replace("kind: B", "kind: C")
    assert merged_anyway(TWO, ours, theirs) is None


def test_a_name_freed_by_a_rename_and_taken_by_a_new_resource():
    base = text("""
        kind: Service
        metadata:
          name: {{ .Release.Name }}-a
        spec:
          port: 80
          type: ClusterIP
    """)
    renamed = base.replace("-a", "-b")
    new = "---\n" + base.replace("80", "90").replace("type: ClusterIP", "clusterIP: None")
    theirs = base.replace("port: 80", "port: 81")
    assert merged(base, renamed + new, theirs + "  t: 1\n") is None
    assert merged(base, new.removeprefix("---\n") + "---\n" + renamed, theirs) is None
