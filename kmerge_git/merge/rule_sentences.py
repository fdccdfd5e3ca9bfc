"""Hold the rules of docs/merge-rules.md by number; other modules look the sentences up here."""

from __future__ import annotations

RULES = {
    "1": "a change made by one side only, or identically by both sides, is taken",
    "2": "a mapping is merged key by key; a key deleted on one side and changed on the other is "
    "a conflict",
    "3": "a keyed list is merged element by element; both orders are kept where they agree",
    "4": "a set gets what either side added and loses what either side removed",
    "5": "a list without keys is merged as a sequence; "
    "different additions in one place are a conflict",
    "6": "a multi-line text is merged line by line; "
    "any other value that both sides changed is a conflict",
    "7": "two values of different types are a conflict",
    "8": "resources are matched by kind and name; deleted on one side and changed on the other "
    "is a conflict",
    "9": "directives, nulls and aliases are treated as data; "
    "an alias keeps the anchor it refers to",
    "10": "a value encrypted by SOPS or Ansible Vault is not merged; "
    "it is a conflict if both sides changed it",
    "11": "a renamed element or resource is still the same one",
    "12": "both sides changed it, and a policy for the field decides",
    "13": "both sides changed it, and the favoured side is taken",
    "14": "comments and layout are taken from the side that changed them; "
    "different changes are a conflict",
    "15": "git's line merge is taken, because it is clean and passes every check",
    "16": "both sides changed a timestamp that a program writes; the later one is taken",
    # rules kyaml
    "lines": "both sides changed these lines; dest's lines are kept",
    "T1": "a scalar that only dest has is kept",
    "T2": "a scalar in src replaces dest's",
    "T3": "a null in src removes the field",
    "T4": "a list without a key that only dest has is kept",
    "T5": "a list without a key in src replaces dest's, even if it is `[]`",
    "T6": "a null in src removes a list",
    "T7": "a map field that only dest has is kept",
    "T8": "a map field that only src has is added",
    "T9": "a null in src removes a map",
    "T10": "a map that both have is merged field by field",
    "T11": "an element that only dest has is kept in its place",
    "T12": "an element that only src has is added at the end",
    "T13": "an element that both have is merged field by field",
    "T14": "a trailing comment in src replaces dest's",
    "T15": "a null in dest is not changed",
    "T16": "a null in src adds nothing, at any depth",
    "T17": "`{}` in src, or `[]` for a keyed list, changes nothing that dest has",
    "T18": "a value of another type in src replaces dest's",
    "T19": "a parent that becomes empty is kept",
    "T20": "`--prepend` puts new elements first and moves no element of dest",
    "T21": "new fields are put next to their neighbours in src",
    "T22": "`$patch: replace`, `delete` and `merge` are instructions; "
    "an element with only `$patch` applies to the list",
    "T23": "dest's comments are kept",
    "T24": "documents are matched as resources, new ones are added at the end; "
    "a source without a name applies to the only resource",
    "M1": "a scalar that updated did not change keeps dest's value",
    "M2": "a scalar that updated changed gets updated's value",
    "M3": "a scalar that updated added is added",
    "M4": "a scalar that updated deleted is removed",
    "M5": "a null that dest or updated put in place of a value clears the field",
    "M6": "a list without a key that updated did not change is kept as in dest",
    "M7": "a list without a key that updated changed is taken from updated",
    "M8": "a list without a key that updated deleted is removed",
    "M9": "a null clears a list",
    "M10": "a null clears a map",
    "M11": "a field that only dest has is kept",
    "M12": "a map that dest does not have is added with updated's changes only",
    "M13": "any other map is merged field by field",
    "M14": "an element that only one side has is kept",
    "M15": "an element that dest does not have is added with its key and updated's changes",
    "M16": "any other element is merged field by field",
    "M17": "a null that original and updated both have is not a change",
    "M18": "both sides made the same change",
    "M19": "a field that dest deleted and updated changed gets updated's value",
    "M20": "a map or keyed list that updated removed keeps the entries that only dest has",
    "M21": "an element that updated removed is removed together with dest's additions to it",
    "M22": "a field that dest removed and updated did not change stays removed",
    "M23": "`{}` and `[]` are values like any other",
    "M24": "the type is a part of the value",
    "M25": "a new value is written as in updated; dest's quotes are kept where they can hold it",
    "M26": "a change of the type is a change like any other",
    "M27": "of fields that exclude each other, updated's is kept",
    "M28": "a set keeps dest's elements, with updated's additions and without its removals",
    "M29": "a list without a key that both sides changed is taken from updated",
    "M30": "a multi-line text that both sides changed is taken from updated",
    "M31": "additions are put where updated has them, after dest's",
    "M32": "an order that only updated changed is taken; if both changed it, dest's is kept",
    "M33": "a comment or spelling that only one side changed is taken",
    "M34": "a new scalar is written with its comment, if it has one",
    "M35": "for a document that one side removed, see R1 and R5",
    "M36": "`$patch` and other directives are treated as data",
    "R1": "a resource that updated removed is deleted",
    "R2": "a resource that updated added is put after the same resource as in updated",
    "R3": "a resource that only dest has is kept",
    "R4": "a resource that updated and dest both have is merged field by field",
    "R5": "a resource that dest removed stays removed",
    "R6": "a resource that both sides added is merged with an empty base",
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
    if "identically" in what or side == "both":
        return "M18"
    rule = _KYAML.get((side, what, kind)) or _KYAML.get((side, what, ""))
    return rule or ("M29" if kind == "list" else "M2")
