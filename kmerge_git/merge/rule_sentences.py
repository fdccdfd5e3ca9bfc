"""Hold the rules of docs/merge-rules.md by number; other modules look the sentences up here."""

from __future__ import annotations

RULES = {
    "1": "a change made by one side only, or identically by both sides, is taken",
    "2": "a mapping is merged key by key; "
    "a key deleted on one side and changed on the other is a conflict",
    "3": "a keyed list is merged element by element; "
    "contradicting orders are a conflict if the order matters",
    "4": "a set gets what either side added and loses what either side removed",
    "5": "a list without keys is merged as a sequence; "
    "different additions at the same position are a conflict",
    "6": "a multi-line text is merged line by line; "
    "any other value that both sides changed is a conflict",
    "7": "two values of different types are a conflict",
    "8": "resources are matched by kind and name; "
    "a resource deleted on one side and changed on the other is a conflict",
    "9": "patch directives, nulls and aliases are treated as data; "
    "an alias keeps the anchor it refers to",
    "10": "a value encrypted by SOPS or Ansible Vault is not merged; "
    "it is a conflict if both sides changed it",
    "11": "a renamed element or resource is paired with its old version",
    "12": "both sides changed the field, and a policy for it decides",
    "13": "both sides made different changes, and the favoured side is taken",
    "14": "comments and layout are taken from the side that changed them; "
    "different changes are a conflict",
    "15": "git's line merge is taken, because it is clean and passes every check",
    "16": "both sides changed a timestamp that a program writes; the later one is taken",
    # rules kyaml
    "lines": "both sides changed these lines; dest's lines are kept",
    "T1": "a scalar that only `dest` has is kept",
    "T2": "a scalar in `src` replaces the one in `dest`",
    "T3": "a null in `src` removes the field",
    "T4": "a list without a key that only `dest` has is kept",
    "T5": "a list without a key in `src` replaces the one in `dest`, even if it is `[]`",
    "T6": "a null in `src` removes a list",
    "T7": "a map field that only `dest` has is kept",
    "T8": "a map field that only `src` has is added",
    "T9": "a null in `src` removes a map",
    "T10": "a map that `src` and `dest` have is merged field by field",
    "T11": "an element that only `dest` has keeps its position",
    "T12": "an element that only `src` has is added at the end",
    "T13": "an element that `src` and `dest` have is merged field by field",
    "T14": "a comment after a value in `src` replaces the one in `dest`",
    "T15": "a null that only `dest` has is kept",
    "T16": "a null in `src` adds nothing, at any depth",
    "T17": "`{}` in `src`, or `[]` for a keyed list, changes nothing that `dest` has",
    "T18": "a value of another type in `src` replaces the one in `dest`",
    "T19": "a map that becomes empty is kept as `{}`",
    "T20": "`--prepend` puts new elements first and moves no element of `dest`",
    "T21": "new fields are put next to their neighbours in `src`",
    "T22": "`$patch: replace`, `delete` and `merge` are directives; "
    "in an element with no other field, they apply to the list",
    "T23": "comments in `dest` are kept",
    "T24": "documents are matched by kind and name, and new ones are added at the end; "
    "a document of `src` without a name is merged into the only resource of `dest`",
    "M1": "a scalar that `updated` did not change keeps the value in `dest`",
    "M2": "a scalar that `updated` changed gets the value in `updated`",
    "M3": "a scalar that `updated` added is added",
    "M4": "a scalar that `updated` deleted is removed",
    "M5": "a null that `dest` or `updated` put in place of a value removes the field",
    "M6": "a list without a key is kept as in `dest` if `updated` did not change the list",
    "M7": "if `updated` changed a list without a key, the list is taken from `updated`",
    "M8": "if `updated` deleted a list without a key, the list is removed",
    "M9": "a null removes a list",
    "M10": "a null removes a map",
    "M11": "a field that only `dest` has is kept",
    "M12": "a map that `dest` does not have is added, but with only the changes of `updated`",
    "M13": "a map that `dest` and `updated` have is merged field by field",
    "M14": "an element that only one side added is kept",
    "M15": "an element that `dest` does not have is added with only its key and the changes of "
    "`updated`",
    "M16": "an element that `dest` and `updated` have is merged field by field",
    "M17": "a null that `original` and `updated` both have is not a change",
    "M18": "a change that both sides made is kept",
    "M19": "if `dest` deleted a field and `updated` changed it, the value in `updated` is used",
    "M20": "a map or keyed list that `updated` removed keeps the entries that only `dest` has",
    "M21": "an element that `updated` removed is removed, even if `dest` added fields to it",
    "M22": "a field that `dest` removed and `updated` did not change stays removed",
    "M23": "`{}` and `[]` are values like any other",
    "M24": "a number and a string are different values, even with the same characters",
    "M25": "a new value is written as in `updated`, but quotes that only `dest` changed stay",
    "M26": "a scalar, a map and a list replace each other like any other value",
    "M27": "if fields exclude each other, the one in `updated` is kept",
    "M28": "a set has the elements of `dest`, plus the additions and minus the removals of "
    "`updated`",
    "M29": "if both sides changed a list without a key, the list is taken from `updated`",
    "M30": "a multi-line text that both sides changed is taken from `updated`",
    "M31": "additions in `updated` keep their position; "
    "at the same position, they come after additions in `dest`",
    "M32": "an order that only `updated` changed is taken; "
    "if both sides changed it, the order of `dest` is kept",
    "M33": "a comment, or the way a value is written, is taken from the side that changed it",
    "M34": "a new scalar is written with its own comment; "
    "if it has none, the comment in `dest` stays",
    "M35": "for a document that one side removed, see rules R1 and R5",
    "M36": "`$patch` and other directives are treated as data",
    "R1": "a resource that `updated` removed is deleted",
    "R2": "a resource that `updated` added is put after the resource that precedes it in `updated`",
    "R3": "a resource that only `dest` has is kept",
    "R4": "a resource that `updated` and `dest` both have is merged field by field",
    "R5": "a resource that `dest` removed stays removed",
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
