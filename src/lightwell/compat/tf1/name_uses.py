"""Finds the names of packages that a source uses, from its syntax tree alone.

`read_uses` returns a `NameUse` for each place that uses one. It follows aliases: `import tensorflow as tf`,
`from tensorflow.contrib import layers as L`, `slim = tf.contrib.slim`, `getattr(tf, "layers")`.
The innermost scope that binds a name decides what it refers to. A name that is also bound to something else is
ignored.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
# What `tf` refers to where a source imports it from its own module, or by a star.
_BY_CONVENTION = {"tf": "tensorflow", "np": "numpy"}


@dataclass(frozen=True)
class NameUse:
    """One place that uses a name.

    Attributes:
        names: full dotted names that it may refer to, in the order in which they were bound; nearly always one.
        line: its line number.
        imported: whether it is an import statement, which binds the name but does nothing with it.
        starred: whether it is there by `import *`, if the package has it: it may be another module's.
    """

    names: tuple[str, ...]
    line: int
    imported: bool = False
    starred: bool = False


@dataclass(frozen=True)
class _Binding:
    """What a name is bound to: a full dotted name, an expression to resolve, or neither (something else)."""

    name: str = ""
    value: ast.expr | None = None


@dataclass
class _Scope:
    """The names that a module, function, class or comprehension binds."""

    above: _Scope | None = None
    is_class: bool = False
    bound: dict[str, list[_Binding]] = field(default_factory=dict)
    declared_global: set[str] = field(default_factory=set)

    def bind(self, name: str, binding: _Binding) -> None:
        self.bound.setdefault(name, []).append(binding)

    def owner(self, name: str) -> _Scope | None:
        """The scope in which a name that is read here was bound."""
        scope: _Scope | None = self
        if name in self.declared_global:
            while scope is not None and scope.above is not None:
                scope = scope.above
        while scope is not None and (name not in scope.bound or (scope.is_class and scope is not self)):
            scope = scope.above
        return scope


def read_uses(tree: ast.AST, packages: Sequence[str] = ("tensorflow",)) -> list[NameUse]:
    """Every use of a name of `packages`, in the order of the source.

    >>> read_uses(ast.parse("import tensorflow as tf\\ntrain = tf.train\\ntrain.AdamOptimizer(1)"))[-1]
    NameUse(names=('tensorflow.train.AdamOptimizer',), line=3, imported=False)
    """
    reader = _Reader(packages)
    reader.bind(tree, reader.top)
    return sorted(reader.uses(tree, reader.top), key=lambda use: use.line)


def all_bound_names(tree: ast.AST) -> set[str]:
    """Every name that a source binds anywhere, in whatever scope."""
    reader = _Reader(())
    reader.bind(tree, reader.top)
    return {name for scope in (reader.top, *reader.scopes.values()) for name in scope.bound}


class _Reader:
    """Reads one source: first what its scopes bind, then what is used."""

    def __init__(self, packages: Sequence[str]) -> None:
        self.packages = packages
        self.top = _Scope()
        self.scopes: dict[ast.AST, _Scope] = {}
        self.has_star = False
        self.starred: list[str] = []  # modules of the packages that it star-imports

    def is_in_packages(self, module: str) -> bool:
        return module.partition(".")[0] in self.packages

    def bind(self, node: ast.AST, scope: _Scope) -> None:
        """Record the names that the children of a node bind."""
        for child in ast.iter_child_nodes(node):
            inner = scope
            if isinstance(child, _SCOPES):
                inner = self.scopes[child] = _Scope(scope, isinstance(child, ast.ClassDef))
            self._bind_one(child, scope)
            self.bind(child, inner)

    def _bind_one(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                target = alias.name if alias.asname else name
                scope.bind(name, _Binding(target if self.is_in_packages(alias.name) else ""))
        elif isinstance(node, ast.ImportFrom):
            self._bind_from(node, scope)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for assigned in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._bind_assigned(assigned, node.value, scope)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope.bind(node.name, _Binding())
        elif isinstance(node, ast.arg):
            scope.bind(node.arg, _Binding())
        elif isinstance(node, ast.Global):
            scope.declared_global.update(node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            scope.bind(node.name, _Binding())
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._bind_assigned(node.target, None, scope)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._bind_assigned(node.optional_vars, None, scope)
        elif isinstance(node, ast.NamedExpr):
            self._bind_assigned(node.target, node.value, scope)

    def _bind_from(self, node: ast.ImportFrom, scope: _Scope) -> None:
        module = node.module or ""
        for alias in node.names:
            self.has_star |= alias.name == "*"
            if alias.name == "*" and node.level == 0 and self.is_in_packages(module):
                self.starred.append(module)
            bound = alias.asname or alias.name
            if node.level == 0 and self.is_in_packages(module):
                scope.bind(bound, _Binding(f"{module}.{alias.name}"))
            else:
                scope.bind(bound, _Binding(self._by_convention(alias.name)))

    def _bind_assigned(self, target: ast.expr, value: ast.expr | None, scope: _Scope) -> None:
        if isinstance(target, ast.Name):
            if not (isinstance(value, ast.Constant) and value.value is None):  # `tf = None` in an `except ImportError`
                scope.bind(target.id, _Binding(value=value))
        elif isinstance(target, ast.Tuple | ast.List):
            paired = value.elts if isinstance(value, ast.Tuple | ast.List) else ()
            same = len(paired) == len(target.elts)
            for number, one in enumerate(target.elts):
                self._bind_assigned(one, paired[number] if same else None, scope)
        elif isinstance(target, ast.Starred):
            self._bind_assigned(target.value, None, scope)

    def _by_convention(self, name: str) -> str:
        package = _BY_CONVENTION.get(name, "")
        return package if package in self.packages else ""

    def resolve(self, node: ast.expr, scope: _Scope, seen: frozenset[int] = frozenset()) -> tuple[str, ...]:
        """The full dotted names that an expression may refer to; none if it is something else."""
        if isinstance(node, ast.Name):
            return self._resolve_name(node.id, scope, seen)
        if isinstance(node, ast.Attribute):
            return tuple(f"{path}.{node.attr}" for path in self.resolve(node.value, scope, seen))
        if isinstance(node, ast.IfExp):
            return (*self.resolve(node.body, scope, seen), *self.resolve(node.orelse, scope, seen))
        if isinstance(node, ast.Call):
            return self._resolve_call(node, scope, seen)
        return ()

    def _resolve_name(self, name: str, scope: _Scope, seen: frozenset[int]) -> tuple[str, ...]:
        owner = scope.owner(name)
        if owner is None:
            package = self._by_convention(name) if self.has_star else ""
            if package or hasattr(builtins, name):
                return (package,) if package else ()
            return tuple(f"{module}.{name}" for module in self.starred)
        names: list[str] = []
        has_other_bindings = False
        for binding in owner.bound[name]:
            if binding.name:
                names.append(binding.name)
            elif binding.value is not None and id(binding) not in seen:
                resolved = self.resolve(binding.value, owner, seen | {id(binding)})
                names += resolved
                has_other_bindings |= not resolved
            else:
                has_other_bindings |= binding.value is None
        imported = [binding.name for binding in owner.bound[name] if binding.name]
        return tuple(dict.fromkeys(imported if has_other_bindings else names))

    def _resolve_call(self, node: ast.Call, scope: _Scope, seen: frozenset[int]) -> tuple[str, ...]:
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        texts = [one.value if isinstance(one, ast.Constant) else None for one in node.args]
        if called == "getattr" and len(texts) == 2 and isinstance(texts[1], str):
            return tuple(f"{path}.{texts[1]}" for path in self.resolve(node.args[0], scope, seen))
        if called in ("import_module", "__import__") and texts and isinstance(texts[0], str):
            return (texts[0],) if self.is_in_packages(texts[0]) else ()
        return ()

    def uses(self, node: ast.AST, scope: _Scope) -> Iterator[NameUse]:
        """The uses below a node: `tf.train.AdamOptimizer` is one use, not three."""
        for child in ast.iter_child_nodes(node):
            inner = self.scopes.get(child, scope)
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield from self._imports(child)
                continue
            if isinstance(child, ast.Attribute | ast.Name | ast.Call) and not _is_assigned(child):
                names = tuple(name for name in self.resolve(child, scope) if "." in name)
                if names:
                    yield NameUse(names, child.lineno, starred=self._is_starred(child, inner))
                    continue
            yield from self.uses(child, inner)

    def _is_starred(self, node: ast.expr, scope: _Scope) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and bool(self.starred) and scope.owner(node.id) is None

    def _imports(self, node: ast.Import | ast.ImportFrom) -> Iterator[NameUse]:
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        else:
            named = [] if node.level else [f"{node.module}.{alias.name}".removesuffix(".*") for alias in node.names]
        for name in named:
            if "." in name and self.is_in_packages(name):
                yield NameUse((name,), node.lineno, imported=True)


def _is_assigned(node: ast.expr) -> bool:
    return not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
