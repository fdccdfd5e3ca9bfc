"""Parse YAML with libyaml through PyYAML, or with pure PyYAML, and find unusual line breaks.

This is the only module that imports PyYAML. It uses only the parser and the composer, not the
resolver and the constructor, so that no text can create a Python object. `bare()` imports only the
C module, without running `yaml/__init__.py`; the driver needs only a fifth of the time for this
import.

YAML 1.1 has line breaks that nobody types: a lone CR, U+0085, U+2028 and U+2029. libyaml starts a
new line at these characters, but git and people do not, so it is unclear which lines belong to a
node. Inside of quoted and block scalars these characters are accepted as text. If they are anywhere
else, the file is merged line by line. A byte order mark inside of a text (two files may have been
joined) is refused in the same way, because libyaml would make it a part of the next token.
"""

from __future__ import annotations

import sys

from kmerge_git.errors import CannotParse
from kmerge_git.system import GarbageStays, exists
from kmerge_git.text.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


# A walk over `DEEPEST` nested collections needs up to 20 calls for each, and some calls before.
# Calls of Python functions take no space on the stack of the process.
FRAMES = 6000
DEEPEST = 200  # nested collections; the C composer recurses and would crash at some 50,000

# replace indicators by blanks, and the last byte of each YAML 1.1 line break by a line end
_TOO_DEEP = "exceeded maximum nesting depth"  # libyaml 0.2.6 has a limit of its own, 1,000
_NAMED = ("<anchor>", "<alias>")  # the tokens that hold the name of an anchor
_BLANKED = bytes.maketrans(b"-?:\t\r\x85\xa8\xa9", b"    \n\n\n\n")
_parsers: list[Any] = []  # the parser, and the parser that also counts the depth


class TooDeep(Exception):
    """Report that a text nests more than `DEEPEST` collections."""


def compose(text: str) -> Any:
    """Return PyYAML's node graph of one document, or None if the document is empty."""
    return _composed(text, lambda parser: parser.get_single_node())


def count_documents(data: bytes) -> int:
    """Return the number of documents in the bytes of a file; raise PyYAML's error if there is one.

    libyaml reads the file as a whole, to its end. It makes no nodes, unless the file may be too
    deep or has line breaks that only YAML knows.
    """
    plain = _parser()
    text = data.decode("utf-8").removeprefix("\ufeff")
    if may_be_deep(text) or has_odd_breaks(text) or not hasattr(plain, "raw_parse"):
        number: int = _composed(text, _number_of_documents)
        return number
    plain(data).raw_parse()
    return _counted(text)


def _number_of_documents(parser: Any) -> int:
    count = 0
    while parser.check_node():
        parser.get_node()
        count += 1
    return count


def _counted(text: str) -> int:
    """Return the number of documents in a text that libyaml accepts.

    libyaml takes each line that begins with `---` and a blank for the start of a document. Only the
    first document may do without.
    """
    count, first = 0, len(text)
    at = 0 if text.startswith("---") else text.find("\n---") + 1 or -1
    while at >= 0:
        if text[at + 3 : at + 4] in ("", " ", "\t", "\r", "\n"):
            count, first = count + 1, min(first, at)
        at = text.find("\n---", at) + 1 or -1
    lines = map(str.strip, text[:first].split("\n"))
    return count + any(line and line[0] not in "#%" for line in lines)


def _composed(text: str, read: Callable[[Any], Any]) -> Any:
    """Return what `read` gets from a parser of the text; raise `TooDeep` for a text too deep."""
    is_deep = may_be_deep(text)
    if is_deep:
        allow_deep_calls()
    parser = _parser(guarded=is_deep)(text)
    try:
        with GarbageStays():
            return read(parser)
    except yaml_error() as error:
        is_repeated = getattr(error, "problem", "") == "second occurrence"
        renamed = _without_repeated_anchors(text) if is_repeated else text
        if renamed != text:
            return _composed(renamed, read)
        raise _meant(error) from None
    finally:
        parser.dispose()


def _meant(error: Exception) -> Exception:
    """Return our own error for a text that is too deep for libyaml, or else the error itself."""
    return TooDeep() if getattr(error, "problem", "") == _TOO_DEEP else error


def allow_deep_calls() -> None:
    """Raise Python's recursion limit, so that functions can walk over deeply nested texts."""
    if sys.getrecursionlimit() < FRAMES:
        sys.setrecursionlimit(FRAMES)


def accepts(text: str) -> bool:
    """Return whether a text parses. With libyaml this is much faster than `compose`."""
    plain = _parser()
    if may_be_deep(text) or not hasattr(plain, "raw_parse"):
        return False
    try:
        plain(text).raw_parse()
    except yaml_error():
        return False
    return True


def may_be_deep(text: str) -> bool:
    """Return whether a text might nest deeper than `DEEPEST`; the answer False is certain.

    The number of brackets limits the depth of flow collections. Only blanks and indicators precede
    a block collection on its line, and at most two block collections start in one column.
    """
    if text.count("[") + text.count("{") >= DEEPEST // 3:
        return True
    lines = b"\n" + text.encode("utf-8", "replace").translate(_BLANKED)
    return b"\n" + b" " * (DEEPEST // 3) in lines


def long_scalars(text: str) -> list[tuple[int, int, str, str]]:
    """Return start, end, style and value of each quoted or block scalar in a text that parses."""
    return [
        (token.start_mark.index, token.end_mark.index, token.style, token.value)
        for token in _tokens(text)
        if getattr(token, "id", "") == "<scalar>" and token.style
    ]


def _tokens(text: str) -> Iterator[Any]:
    parser = _parser()(text)
    try:
        while parser.check_token():
            yield parser.get_token()
    except yaml_error() as error:
        raise _meant(error) from None
    finally:
        parser.dispose()


# the characters of the names of anchors
_NAMING = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"


def _without_repeated_anchors(text: str) -> str:
    """Return the text with a new name for each anchor whose name another anchor had before.

    The aliases that mean such an anchor get the same name. PyYAML refuses a second anchor of one
    name, though YAML allows it: an alias means the last anchor of its name before it. A new name is
    as long as the old name, so no mark moves. If all names of a length are taken, return the text.
    """
    from itertools import product  # few files repeat an anchor

    names = [token for token in _tokens(text) if getattr(token, "id", "") in _NAMED]
    taken = {token.value for token in names}
    meant: dict[str, str] = {}
    unused: dict[int, Iterator[str]] = {}
    parts: list[str] = []
    position = 0
    for token in names:
        name, size, start = token.value, len(token.value), token.start_mark.index + 1
        if token.id == "<anchor>":
            if name in meant:
                spare = unused.setdefault(size, map("".join, product(_NAMING, repeat=size)))
                meant[name] = next((new for new in spare if new not in taken), "")
                if not meant[name]:
                    return text
            else:
                meant[name] = name
        parts += (text[position:start], meant.get(name, name))
        position = start + size
    return "".join((*parts, text[position:]))


def yaml_error() -> Any:
    """Return the class of PyYAML's errors."""
    if "yaml.error" not in sys.modules:
        _parser()  # its error names the missing package
    return sys.modules["yaml.error"].YAMLError


def bare(folders: list[str] | None = None) -> None:
    """Load libyaml's binding without the rest of PyYAML, for a process that only parses."""
    if "yaml" in sys.modules:
        return
    try:
        _import_binding_alone(folders)
    except BaseException as error:  # whatever changed in PyYAML: the normal import still works
        for name in [n for n in sys.modules if n == "yaml" or n.startswith("yaml.")]:
            del sys.modules[name]
        if not isinstance(error, Exception | SystemExit):  # such as KeyboardInterrupt
            raise


def _parser(*, guarded: bool = False) -> Any:
    """Return the class of the parser, or of the parser that also counts the depth."""
    if _parsers:
        return _parsers[guarded]
    # Every hook is called once for each node. A C function that takes the arguments and does
    # nothing costs a fifth less than a Python method. The result of `resolve` becomes the tag.
    hooks = {"resolve": "".format, "descend_resolver": {}.get, "ascend_resolver": tuple}
    try:
        from yaml._yaml import CParser

        plain = type("Parser", (CParser,), {**hooks, "dispose": lambda self: None})
    except ImportError:
        plain = type("Parser", _pure_bases(), {**hooks, "__init__": _init_pure})
    counting = {"descend_resolver": _descend, "ascend_resolver": _ascend, "depth": 0}
    _parsers.extend((plain, type("GuardedParser", (plain,), counting)))
    return _parsers[guarded]


def _init_pure(self: Any, text: str) -> None:
    first, *others = _pure_bases()
    first.__init__(self, text)
    for base in others:
        base.__init__(self)


def _pure_bases() -> tuple[Any, ...]:
    from yaml.composer import Composer
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner

    return (Reader, Scanner, Parser, Composer)


def _descend(self: Any, parent: Any, index: Any) -> None:
    self.depth += 1
    if self.depth > DEEPEST + 1:  # a scalar in the deepest collection counts too
        raise TooDeep


def _ascend(self: Any) -> None:
    self.depth -= 1


def _import_binding_alone(folders: list[str] | None) -> None:
    """Import `yaml._yaml` inside a substitute package that has only the names the binding uses."""
    file = _binding(folders or sys.path)
    package = type(sys)("yaml")
    package.__path__ = [file.rpartition("/")[0]]
    sys.modules["yaml"] = package
    marked = {"__init__": _init_marked}
    error = type("YAMLError", (Exception,), {})
    contents: dict[str, dict[str, Any]] = {
        "error": {"YAMLError": error, "MarkedYAMLError": type("MarkedYAMLError", (error,), marked)},
        "nodes": {
            "ScalarNode": _node("ScalarNode", "scalar", "style"),
            "SequenceNode": _node("SequenceNode", "sequence", "flow_style"),
            "MappingNode": _node("MappingNode", "mapping", "flow_style"),
        },
        "reader": {"ReaderError": type("ReaderError", (error,), {"__init__": _init_reader_error})},
    }
    for name in ("scanner", "parser", "composer", "constructor"):
        class_name = name.capitalize() + "Error"
        contents[name] = {class_name: type(class_name, (error,), marked)}
    named = {"value": _argument(0), "start_mark": _argument(1)}
    contents["tokens"] = {
        "ScalarToken": _ScalarToken,
        "AnchorToken": type("AnchorToken", (Exception,), {**named, "id": "<anchor>"}),
        "AliasToken": type("AliasToken", (Exception,), {**named, "id": "<alias>"}),
    }
    for name in ("events", "emitter", "serializer", "representer"):
        contents[name] = {}
    for name, names in contents.items():
        stand_in = _StandIn("yaml." + name)
        stand_in.__dict__.update(names)
        sys.modules["yaml." + name] = stand_in
        setattr(package, name, stand_in)
    loader = sys.modules["_frozen_importlib_external"].ExtensionFileLoader("yaml._yaml", file)
    spec = type(sys.__spec__)("yaml._yaml", loader, origin=file)
    binding = sys.modules["_frozen_importlib"].module_from_spec(spec)
    sys.modules["yaml._yaml"] = binding
    loader.exec_module(binding)


def _binding(folders: list[str]) -> str:
    """Return the file of the binding. Look only in its usual folder, because that is fast."""
    for folder in folders:
        for suffix in sys.modules["_imp"].extension_suffixes():
            file = f"{folder}/yaml/_yaml{suffix}"
            if exists(file):
                return file
    raise ImportError("PyYAML has no libyaml; install a PyYAML wheel that includes it")


class _StandIn(type(sys)):  # type: ignore[misc]
    """Provide a module that has any class that is asked for.

    The binding looks up many classes that are never used here.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Exception


class _ScalarToken:
    """Hold a scalar token with the attributes of PyYAML's class."""

    __slots__ = ("end_mark", "start_mark", "style", "value")
    id = "<scalar>"

    def __init__(self, value: str, plain: bool, start_mark: Any, end_mark: Any, style: Any) -> None:
        self.value = value
        self.start_mark = start_mark
        self.end_mark = end_mark
        self.style = style


def _node(name: str, kind: str, style: str) -> Any:
    """Return a class for nodes with the attributes of PyYAML's nodes.

    The class is an exception, because C code keeps the arguments of an exception, which is twice as
    fast as an `__init__` in Python. Thousands of nodes are made, and few of them are read.
    """

    names: dict[str, Any] = {"id": kind, "value": _argument(1), "start_mark": _argument(2)}
    names[style] = _argument(4)
    # the end of a collection is set later, on the object itself
    names |= (
        {"end_mark": _argument(3), "__slots__": ()}
        if kind == "scalar"
        else {"__slots__": "end_mark"}
    )
    return type(name, (Exception,), names)


def _argument(index: int) -> Any:
    return property(lambda self: self.args[index])


def _init_marked(
    self: Any,
    context: Any = None,
    context_mark: Any = None,
    problem: Any = None,
    problem_mark: Any = None,
    note: Any = None,
) -> None:
    """Set the fields of PyYAML's `MarkedYAMLError`; libyaml passes its message as the context."""
    self.context, self.context_mark = context, context_mark
    self.problem, self.problem_mark, self.note = problem, problem_mark, note


def _init_reader_error(
    self: Any, name: str, position: int, character: Any, codec: str, why: str
) -> None:
    """Set the fields of PyYAML's `ReaderError`."""
    self.name, self.position, self.character = name, position, character
    self.encoding, self.reason = codec, why


_BLANKS = " \t\n\r\x85\u2028\u2029\ufeff"


def skip(text: str, position: int, indicators: str) -> int:
    """Return the position after white space, comments and given indicators, such as `,`."""
    while position < len(text):
        char = text[position]
        if char == "#":
            line_end = text.find("\n", position)
            position = line_end if line_end >= 0 else len(text)
        elif char in _BLANKS or char in indicators:
            position += 1
        else:
            break
    return position


def properties(text: str, start: int, end: int) -> tuple[str, str, int]:
    """Return an anchor, a tag, and the offset of the value that follows them."""
    anchor = tag = ""
    at = start
    while at < end and text[at] in "&!":
        if text[at] == "&":
            stop = name_end(text, at + 1)
            anchor = text[at + 1 : stop]
        elif text.startswith("!<", at):
            stop = text.find(">", at) + 1
            tag = text[at:stop]
        else:
            stop = at
            while stop < end and text[stop] not in " \t\n\r,[]{}":
                stop += 1
            tag = text[at:stop]
        if stop >= end:
            return anchor, tag, end
        at = skip(text, stop, "")
    return anchor, tag, min(at, end)


def name_end(text: str, position: int) -> int:
    """Return where the name of an anchor or alias ends; a `:` is not a part of the name."""
    while text[position : position + 1].isalnum() or text[position : position + 1] in ("-", "_"):
        position += 1
    return position


def may_alias(text: str, start: int = 0, end: int | None = None) -> bool:
    """Return whether a text may have an alias of an anchor; the answer False is certain.

    Before an anchor is a blank, a line break, or one of a few indicators.
    """
    at = text.find("&", start, end) if text.find("*", start, end) >= 0 else -1
    while at >= 0:
        before = text[max(at - 1, 0)]
        is_apart = at <= start or before in " [{,:?" or not before.isprintable()
        if is_apart and name_end(text, at + 1) > at + 1:
            return True
        at = text.find("&", at + 1, end)
    return False


ODD_BREAKS = "\r\x85\u2028\u2029\ufeff"


def has_odd_breaks(text: str) -> bool:
    """Return whether a text has odd line breaks; a CR before a LF is a normal line break."""
    return first_odd_break(text, 0, len(text)) >= 0


def first_odd_break(text: str, start: int, end: int) -> int:
    """Return the offset of the first odd line break in a part of a text, or -1."""
    offsets = [text.find(char, start, end) for char in ODD_BREAKS[1:]]
    carriage = text.find("\r", start, end)
    while carriage >= 0 and text.startswith("\n", carriage + 1):
        carriage = text.find("\r", carriage + 2, end)
    return min((at for at in (carriage, *offsets) if at >= 0), default=-1)


def odd_break_outside(text: str, start: int, end: int, scalars: list[tuple[int, int]]) -> int:
    """Return the offset of the first odd line break outside of the given scalars, or -1.

    `scalars` are sorted spans within the part of the text from `start` to `end`.
    """
    starts, ends = [start, *(last for _, last in scalars)], [*(first for first, _ in scalars), end]
    between = [*zip(starts, ends, strict=True)]
    if not has_odd_breaks(" ".join([text[first:last] for first, last in between])):
        return -1
    places = (first_odd_break(text, first, last) for first, last in between)
    return next((at for at in places if at >= 0), -1)


def refuse(source: Source, at: int) -> CannotParse:
    """Return the error for an odd line break at an offset."""
    char = source.text[at]
    name = "byte order mark" if char == "\ufeff" else "line break"
    why = f"an unusual {name} (U+{ord(char):04X}) outside of quotes"
    return source.error(why, at, "replace it with a normal line break, or remove it")
