"""Hold the rules of docs/merge-rules.md by number; other modules look the sentences up here."""

from __future__ import annotations

RULES = {
    "1": "one side alone changed it, or both alike: that change is taken",
    "2": "a map merges key by key; deleted on one side, changed on the other: conflict",
    "3": "a list with keys merges element by element, in both orders where these agree",
    "4": "a set: with what either side added, without what either took away",
    "5": "a list without keys merges as a sequence; different additions in one place: conflict",
    "6": "a text of several lines merges line by line; other values that both changed: conflict",
    "7": "values of two kinds: conflict",
    "8": "resources pair by kind and name; deleted on one side, changed on the other: conflict",
    "9": "directives, nulls and aliases are data; an alias keeps the anchor that it means",
    "10": "what SOPS or Ansible Vault encrypted is not merged; both changed it: conflict",
    "11": "renamed, it is the same thing under its new name",
    "12": "both changed it, and a policy for the field decides",
    "13": "both changed it, and the favoured side wins",
    "14": "comments and layout follow the side that changed them; both differently: conflict",
    "15": "git's own merge of the lines was taken: it is clean and sound",
    "16": "a timestamp that a program writes, and both changed: the later one",
    # rules kyaml
    "lines": "lines that both changed: dest's stay",
    "T1": "scalar only in dest: kept",
    "T2": "scalar in src: src's",
    "T3": "null in src: the field goes",
    "T4": "list without key only in dest: kept",
    "T5": "list without key in src: replaces, `[]` too",
    "T6": "null in src for a list: the field goes",
    "T7": "map field only in dest: kept",
    "T8": "map field only in src: added",
    "T9": "null in src for a map: the field goes",
    "T10": "map in both: field by field",
    "T11": "element only in dest: kept in its place",
    "T12": "element only in src: at the end",
    "T13": "element in both: field by field",
    "T14": "src's trailing comment replaces dest's",
    "T15": "null in dest: untouched",
    "T16": "null adds nothing, at any depth",
    "T17": "`{}`, and `[]` for a keyed list: changes nothing that is there",
    "T18": "another kind of value: src's",
    "T19": "an emptied parent stays",
    "T20": "`--prepend`: new elements in front; none that is there moves",
    "T21": "new fields are put next to their neighbours",
    "T22": "`$patch: replace`, `delete`, `merge` instruct; alone in an element they mean the list",
    "T23": "dest's comments stay",
    "T24": "streams: resources pair, new ones at the end; "
    "a source without a name is for the only resource",
    "M1": "unchanged scalar: dest's",
    "M2": "changed scalar: updated's",
    "M3": "added scalar: updated's",
    "M4": "deleted scalar: removed",
    "M5": "null in dest or updated in the place of a value: clears",
    "M6": "unchanged list without key: dest's",
    "M7": "changed list without key: updated's",
    "M8": "deleted list without key: removed",
    "M9": "null for a list: clears",
    "M10": "null for a map: clears",
    "M11": "only in dest: kept",
    "M12": "map that dest lacks: what updated changed",
    "M13": "otherwise field by field",
    "M14": "element only in dest: kept",
    "M15": "element that dest lacks: key and what updated changed",
    "M16": "otherwise element by element",
    "M17": "a null that original and updated carry is no change",
    "M18": "the same change on both sides",
    "M19": "deleted in dest, changed in updated: updated's",
    "M20": "map or keyed list removed: what only dest has stays",
    "M21": "element removed: it goes with what dest added",
    "M22": "removed in dest, unchanged in updated: stays removed",
    "M23": "`{}` and `[]` are values",
    "M24": "the type belongs to the value",
    "M25": "a new value brings its spelling; dest's quotes stay where they can hold it",
    "M26": "another kind of value is a change like any other",
    "M27": "of fields that exclude each other updated's stays",
    "M28": "set: dest, with additions, without removals",
    "M29": "list without key that both changed: updated's",
    "M30": "text of several lines that both changed: updated's",
    "M31": "additions are put where updated has them, behind dest's",
    "M32": "an order that updated alone changed is taken; by both: dest's",
    "M33": "a comment or spelling that one side alone changed is taken",
    "M34": "a new scalar brings its comment, if it has one",
    "M35": "a document that one side removed: see R1, R5",
    "M36": "`$patch` and other directives are data",
    "R1": "gone from updated: deleted",
    "R2": "new in updated: added behind what it follows there",
    "R3": "only in dest: kept",
    "R4": "in updated and dest: fields merged",
    "R5": "removed in dest: stays removed",
    "R6": "added by both: merged against nothing",
}

# The rules kyaml number the changes of one side: (side, change, kind); `` is any other kind.
_KYAML = {
    ("ours", "changed", "list"): "M6",
    ("ours", "changed", ""): "M1",
    ("ours", "added", "element"): "M14",
    ("ours", "added", "document"): "R3",
    ("ours", "added", ""): "M11",
    ("ours", "deleted", "document"): "R5",
    ("ours", "deleted", ""): "M22",
    ("theirs", "changed", "list"): "M7",
    ("theirs", "changed", ""): "M2",
    ("theirs", "added", "element"): "M14",
    ("theirs", "added", "document"): "R2",
    ("theirs", "added", "list"): "M7",
    ("theirs", "added", "map"): "M12",
    ("theirs", "added", ""): "M3",
    ("theirs", "deleted", "document"): "R1",
    ("theirs", "deleted", "element"): "M21",
    ("theirs", "deleted", "list"): "M8",
    ("theirs", "deleted", "map"): "M20",
    ("theirs", "deleted", ""): "M4",
}


def in_words(rule: str) -> str:
    """Return the sentence of a rule such as `2`, `12 policy higher` or `M2 lost`.

    Return '' for a rule without a sentence.
    """
    return RULES.get(rule.partition(" ")[0], "")


def of_kyaml(what: str, side: str, kind: str) -> str:
    """Return the number of the kyaml rule that explains a difference without a note."""
    if kind == "comment":
        return "M33"
    if kind == "order":
        return "M32"
    if "alike" in what or side == "both":
        return "M18"
    rule = _KYAML.get((side, what, kind)) or _KYAML.get((side, what, ""))
    return rule or ("M29" if kind == "list" else "M2")
