"""Code cells as a check reads them: magics and Python apart, names resolved by imports, dead branches left out.

Nothing is executed. A condition on parameters alone is known, so what it excludes is not looked at.
"""

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from workbench_ops.export import magics

if TYPE_CHECKING:  # a kernel like Glue's has none of the tools for notebooks
    import nbformat

    from workbench_ops.run import notebook as notebooks

    NotebookNode = nbformat.NotebookNode
    Parameter = notebooks.Parameter
else:
    NotebookNode = Parameter = Any

EXPORTED = "glue"  # the tag of the cells that an export puts before a notebook's own
UNKNOWN = object()
Names = Mapping[str, str]
Node = TypeVar("Node", bound=ast.AST)
COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A code cell that is not empty.

    Attributes:
        number: among those, from 1, as runs and reports count.
        source: as it stands.
        magics: in order.
        nodes: those of its Python that are reached, in order; None where it is not Python.
        parameters: whether it is the notebook's parameters cell.
        exported: whether it is one of those that an export puts before a notebook.
    """

    number: int
    source: str
    magics: tuple[magics.Magic, ...]
    nodes: tuple[ast.AST, ...] | None = field(repr=False)
    parameters: bool = False
    exported: bool = False


def read(notebook: NotebookNode, values: Mapping[str, Any]) -> list[Cell]:
    """Return a notebook's code cells.

    Args:
        notebook: as it was read.
        values: parameters of the run, name to value; what they exclude is not among a cell's nodes.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    parts = [magics.split(cell.source) for cell in code]
    trees = [None if python is None else magics.parse(python) for _, python in parts]
    own = parameters_cell(notebook)
    others = [
        node
        for cell, tree in zip(code, trees, strict=True)
        if tree is not None and cell is not own
        for node in ast.walk(tree)
    ]
    taken, changed = bound(others), _changed(others)
    known = {
        name: value
        for name, value in values.items()
        if name not in taken and not (name in changed and isinstance(value, list | dict))
    }
    return [
        Cell(
            number,
            cell.source,
            lines,
            None if tree is None else tuple(_reached(tree, known)),
            parameters=cell is own,
            exported=EXPORTED in (cell.metadata.get("tags") or []),
        )
        for number, (cell, (lines, _), tree) in enumerate(zip(code, parts, trees, strict=True), 1)
    ]


def parameters_cell(notebook: NotebookNode) -> NotebookNode | None:
    """Return the parameters cell, as a run takes it: the first one with that tag, if it is code; else None."""
    first = next((cell for cell in notebook.cells if "parameters" in (cell.metadata.get("tags") or [])), None)
    return first if first is not None and first.cell_type == "code" else None


def imported(cells: Iterable[Cell]) -> dict[str, str]:
    """Return what names stand for by the imports of all cells: name to dotted name."""
    names = {}
    for _, node in imports(cells):
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                names[alias.asname or alias.name] = f"{origin(node)}.{alias.name}"
            else:
                top = alias.name.partition(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
    return names


def imports(cells: Iterable[Cell]) -> Iterator[tuple[Cell, ast.Import | ast.ImportFrom]]:
    """Yield (cell, node) of all imports, in order."""
    for cell, node in nodes(cells, ast.stmt):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield cell, node


def origin(node: ast.ImportFrom) -> str:
    """Return the module of a `from … import`, with the dots of a relative one."""
    return "." * node.level + (node.module or "")


def nodes(cells: Iterable[Cell], kind: type[Node]) -> Iterator[tuple[Cell, Node]]:
    """Yield (cell, node) of one kind of nodes, in order."""
    for cell in cells:
        for node in cell.nodes or ():
            if isinstance(node, kind):
                yield cell, node


def calls(cells: Iterable[Cell], names: Names) -> Iterator[tuple[Cell, ast.Call, str]]:
    """Yield (cell, call, dotted name) of all calls whose function has a dotted name; imports are resolved."""
    for cell, node in nodes(cells, ast.Call):
        if name := dotted(node.func, names):
            yield cell, node, name


def texts(cells: Iterable[Cell]) -> Iterator[tuple[Cell, ast.Constant, str]]:
    """Yield (cell, node, text) of all texts but docstrings; of an f-string the parts that are constant."""
    for cell in cells:
        statements = {id(node.value) for node in cell.nodes or () if isinstance(node, ast.Expr)}
        for node in cell.nodes or ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
                yield cell, node, node.value


def dotted(node: ast.AST | None, names: Names) -> str | None:
    """Return the dotted name of an expression such as `session.start`, its first part resolved, or None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([names.get(node.id, node.id), *reversed(parts)])


def value(node: ast.AST, known: Mapping[str, Any]) -> Any:
    """Return the value of an expression of constants and known names, UNKNOWN for any other."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return known.get(node.id, UNKNOWN)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        items = [value(item, known) for item in node.elts]
        return UNKNOWN if UNKNOWN in items else items
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        operand = value(node.operand, known)
        return UNKNOWN if operand is UNKNOWN else not operand
    if isinstance(node, ast.IfExp):
        test = value(node.test, known)
        return UNKNOWN if test is UNKNOWN else value(node.body if test else node.orelse, known)
    if isinstance(node, ast.BoolOp):
        return _bool(node, known)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        first, second = value(node.left, known), value(node.comparators[0], known)
        if UNKNOWN not in (first, second):
            try:
                return COMPARED[type(node.ops[0])](first, second)
            except TypeError:
                return UNKNOWN
    return UNKNOWN


def _bool(node: ast.BoolOp, known: Mapping[str, Any]) -> Any:
    operands = [value(item, known) for item in node.values]
    decisive = isinstance(node.op, ast.Or)
    for operand in operands:
        if operand is not UNKNOWN and bool(operand) is decisive:
            return operand  # whatever the others are, a known operand decides
    return UNKNOWN if UNKNOWN in operands else operands[-1]


def _reached(node: ast.AST, known: Mapping[str, Any]) -> Iterator[ast.AST]:
    """Yield a node and what is below it, without branches that a known condition excludes."""
    yield node
    if isinstance(node, ast.If | ast.IfExp):
        test = value(node.test, known)
        if test is not UNKNOWN:
            taken = node.body if test else node.orelse
            for child in [node.test, *(taken if isinstance(taken, list) else [taken])]:
                yield from _reached(child, known)
            return
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.For) and value(node.iter, known) in ([], ""):
        children = [node.iter, *node.orelse]
    for child in children:
        yield from _reached(child, known)


def bound(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that nodes bind anywhere, arguments of functions too, whose values are not known."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(name := getattr(node, "name", None), str):  # functions, classes, what is caught or matched
            names.add(name)
    return names


def _changed(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names whose values may be changed in place: LIST.append(…), MAP["a"] = 1."""
    return {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name)
        if isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load)
    }
