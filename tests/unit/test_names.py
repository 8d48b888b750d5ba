"""Names say what a thing is: words that could stand for anything live for a few lines at most."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("engine", "dags", "spark_tasks", "expectations", "sql")
RIDDLES = {"told", "found", "one", "asked", "shown", "said"}
LINES = 5
"""As long may one live, from where it is bound to where it is last read."""


Function = ast.FunctionDef | ast.AsyncFunctionDef
Expression = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda
Scope = Function | ast.ClassDef | Expression


def riddles(code: str) -> list[str]:
    """What of some code has a name that says nothing, for longer than it may: `line name`."""
    tree = ast.parse(code)
    found = {*_declared(tree), *_long_lived(tree)}
    return [f"{line} {name}" for line, name in sorted(found)]


def _is_riddle(name: str | None) -> bool:
    return name is not None and name.strip("_") in RIDDLES


def _declared(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Parameters, fields, attributes, functions, classes and imports: they live as long as what declares them."""
    for node in ast.walk(tree):
        names: list[str | None] = []
        if isinstance(node, Function):
            names = [node.name, *_parameters(node.args)]
        elif isinstance(node, ast.ClassDef):
            fields = [f.target for f in node.body if isinstance(f, ast.AnnAssign)]
            names = [node.name.lower(), *(f.id for f in fields if isinstance(f, ast.Name))]
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names = [node.attr]
        elif isinstance(node, ast.alias):
            names = [node.asname or node.name]
        yield from ((node.lineno, name) for name in names if name and _is_riddle(name))


def _parameters(arguments: ast.arguments) -> list[str]:
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [p.arg for p in (*plain, arguments.vararg, arguments.kwarg) if p is not None]


def _long_lived(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Local variables, of a comprehension or a lambda as well."""
    for scope in ast.walk(tree):
        if not isinstance(scope, Scope | ast.Module):
            continue
        for name, first in _bound(scope).items():
            if _is_riddle(name) and max(_lines(scope, name), default=first) - first >= LINES:
                yield first, name


def _bound(scope: ast.AST) -> dict[str, int]:
    """What a scope itself binds, and where first."""
    bound: dict[str, int] = {}
    if isinstance(scope, ast.Lambda):
        bound = dict.fromkeys(_parameters(scope.args), scope.lineno)
    for node in _own(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = min(node.lineno, bound.get(node.id, node.lineno))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.setdefault(node.name, node.lineno)
    return bound


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope without those of the scopes in it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, Scope):
            yield from _own(child)


def _lines(scope: ast.AST, name: str) -> Iterator[int]:
    """Where a name of a scope stands, also in scopes within it that have none of that name themselves."""
    for node in _own(scope):
        if isinstance(node, ast.Name) and node.id == name:
            yield node.lineno
        elif isinstance(node, Function) and name in _parameters(node.args):
            continue
        elif isinstance(node, Scope) and name not in _bound(node):
            yield from _lines(node, name)


def test_a_name_that_says_nothing_does_not_live_long() -> None:
    """Nothing that lives longer than five lines is called told, found, one, asked, shown or said."""
    files = [file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))]
    assert len(files) > 200
    read = {file.relative_to(ROOT).as_posix(): riddles(file.read_text("utf-8")) for file in files}
    assert {name: lines for name, lines in read.items() if lines} == {}


LATER = "\n    a\n" * 2 + "    a\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (f"def f():\n    one = 1{LATER}    return one", ["2 one"]),
        (f"def f():\n    for one in a: a{LATER}    return [b for b in c if b in one]", ["2 one"]),
        (f"def f():\n    found = 1{LATER}    def g():\n        return found", ["2 found"]),
        (f"def f():\n    found = 1{LATER}    def g(found):\n        return found", ["7 found"]),
        (f"def f():\n    [one for one in a]{LATER}    return [one for one in b]", []),
        ("def f():\n    told = 1\n    return told", []),
        (f"def f():\n    try: a\n    except E as told: b{LATER}    return told", ["3 told"]),
        (f"g = lambda one: [{'a,' + chr(10) * 5} one]", ["1 one"]),
        ("def f(a, *, told=None): return told", ["1 told"]),
        ("def f(*said): return said", ["1 said"]),
        ("class Told:\n    b: int", ["1 told"]),
        ("class A:\n    shown: int", ["1 shown"]),
        ("def f(self):\n    self._asked = 1", ["2 _asked"]),
        ("def _told(): ...", ["1 _told"]),
        ("from a import b as told", ["1 told"]),
    ],
)
def test_what_lives_long_is_seen(code: str, expected: list[str]) -> None:
    """Bindings of every kind are measured from the first to the last line of their name in their scope."""
    assert riddles(code) == expected
