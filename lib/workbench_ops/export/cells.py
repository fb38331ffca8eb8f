"""Code cells as a check reads them: magics and Python apart, names resolved by imports, dead branches left out.

Nothing is executed. A condition on parameters alone is known, so what it excludes is not looked at.
"""

import ast
import operator
from dataclasses import dataclass, field

from workbench_ops.export import magics

EXPORTED = "glue"  # the tag of the cells that an export puts before a notebook's own
UNKNOWN = object()
COMPARED = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A code cell that is not empty.

    Attributes:
        number: among those, from 1, as runs and reports count.
        source: as it stands.
        magics: tuple of Magic.
        nodes: what of its Python is reached, in order; None where it is no Python.
        parameters: whether it is the notebook's parameters cell.
        exported: whether it is one of those that an export puts before a notebook.
    """

    number: int
    source: str
    magics: tuple
    nodes: tuple | None = field(repr=False)
    parameters: bool = False
    exported: bool = False


def read(notebook, values):
    """Return a notebook's code cells.

    Args:
        notebook: NotebookNode.
        values: parameters of the run, name to value; what they exclude is not among a cell's nodes.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    parts = [magics.split(cell.source) for cell in code]
    trees = [None if python is None else magics.parse(python) for _, python in parts]
    own = parameters_cell(notebook)
    tagged = [cell is own for cell in code]
    ours = [EXPORTED in (cell.metadata.get("tags") or []) for cell in code]
    others = [
        node
        for tree, own in zip(trees, tagged, strict=True)
        if tree is not None and not own
        for node in ast.walk(tree)
    ]
    taken, changed = bound(others), _changed(others)
    known = {
        name: value
        for name, value in values.items()
        if name not in taken and not (name in changed and isinstance(value, list | dict))
    }
    return [
        Cell(number, cell.source, found, None if tree is None else tuple(_reached(tree, known)), *kinds)
        for number, (cell, (found, _), tree, *kinds) in enumerate(
            zip(code, parts, trees, tagged, ours, strict=True), 1
        )
    ]


def parameters_cell(notebook):
    """Return the parameters cell, as a run takes it: the first one with that tag, where it is code; else None."""
    first = next((cell for cell in notebook.cells if "parameters" in (cell.metadata.get("tags") or [])), None)
    return first if first is not None and first.cell_type == "code" else None


def imported(cells):
    """Return what names stand for by the imports of all cells: name to dotted name."""
    found = {}
    for node in nodes(cells, ast.Import, ast.ImportFrom):
        for alias in node[1].names:
            if isinstance(node[1], ast.ImportFrom):
                found[alias.asname or alias.name] = f"{origin(node[1])}.{alias.name}"
            else:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
    return found


def origin(node):
    """Return the module of a `from … import`, with the dots of a relative one."""
    return "." * node.level + (node.module or "")


def nodes(cells, *kinds):
    """Yield (cell, node) of the given kinds of nodes, in order."""
    for cell in cells:
        for node in cell.nodes or ():
            if isinstance(node, kinds):
                yield cell, node


def calls(cells, names):
    """Yield (cell, call, dotted name) of all calls whose function has a dotted name; imports are resolved."""
    for cell, node in nodes(cells, ast.Call):
        if name := dotted(node.func, names):
            yield cell, node, name


def texts(cells):
    """Yield (cell, node, text) of all texts that are no docstring; of an f-string the parts that are constant."""
    for cell in cells:
        statements = {id(node.value) for node in cell.nodes or () if isinstance(node, ast.Expr)}
        for node in cell.nodes or ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
                yield cell, node, node.value


def dotted(node, names):
    """Return the dotted name of an expression such as `session.start`, its first part resolved, or None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([names.get(node.id, node.id), *reversed(parts)])


def value(node, known):
    """Return what an expression of constants and known names is, UNKNOWN for any other."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return known.get(node.id, UNKNOWN)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        items = [value(item, known) for item in node.elts]
        return UNKNOWN if UNKNOWN in items else items
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        found = value(node.operand, known)
        return UNKNOWN if found is UNKNOWN else not found
    if isinstance(node, ast.IfExp):
        test = value(node.test, known)
        return UNKNOWN if test is UNKNOWN else value(node.body if test else node.orelse, known)
    if isinstance(node, ast.BoolOp):
        return _bool(node, known)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        left, right = value(node.left, known), value(node.comparators[0], known)
        if UNKNOWN not in (left, right):
            try:
                return COMPARED[type(node.ops[0])](left, right)
            except TypeError:
                return UNKNOWN
    return UNKNOWN


def _bool(node, known):
    found = [value(item, known) for item in node.values]
    decisive = isinstance(node.op, ast.Or)
    for one in found:
        if one is not UNKNOWN and bool(one) is decisive:
            return one  # whatever the others are: a known operand decides, and so the branch is known
    return UNKNOWN if UNKNOWN in found else found[-1]


def _reached(node, known):
    """Yield a node and what is below it, without branches that a known condition excludes."""
    yield node
    if isinstance(node, ast.If | ast.IfExp):
        test = value(node.test, known)
        if test is not UNKNOWN:
            taken = node.body if test else node.orelse
            for child in [node.test, *(taken if isinstance(taken, list) else [taken])]:
                yield from _reached(child, known)
            return
    empty = isinstance(node, ast.For) and value(node.iter, known) in ([], "")
    for child in [node.iter, *node.orelse] if empty else ast.iter_child_nodes(node):
        yield from _reached(child, known)


def bound(nodes):
    """Return the names that nodes bind anywhere, arguments of functions too: what they are is theirs to say."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(getattr(node, "name", None), str):  # functions, classes, what is caught or matched
            found.add(node.name)
    return found


def _changed(nodes):
    """Return the names whose values may be changed in place: LIST.append(…), MAP["a"] = 1."""
    kinds = (ast.Attribute, ast.Subscript)
    places = (node for node in nodes if isinstance(node, kinds) and isinstance(node.value, ast.Name))
    return {
        node.value.id for node in places if isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load)
    }
