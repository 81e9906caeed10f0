"""The trees of a checkpoint as plain data, which print as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from lightwell.base.tables import Table
from lightwell.errors import CheckpointError
from lightwell.estimator.canned.trees.columns import TreeColumn
from lightwell.estimator.canned.trees.messages import read_ensemble


@dataclass(frozen=True)
class Split:
    """How a node sends an example to the left or to the right.

    Attributes:
        feature: the number of the feature.
        column: the name of its column.
        bucket: to the left go the buckets up to this one, or for `is_category` this one alone.
        is_category: whether the split asks for one category.
        threshold: for a number, the largest that goes to the left; None if the column is no number.
        question: the same in words: `age <= 41.5`, `city is rome`.
        gain: by how much the split lowers the loss.
        dimension: which of several logits it is made for.
        missing_right: whether an example without a bucket goes to the right.
    """

    feature: int
    column: str
    bucket: int
    is_category: bool
    threshold: float | None
    question: str
    gain: float
    dimension: int = 0
    missing_right: bool = False

    def is_left(self, bucket: int) -> bool:
        """Whether an example in this bucket goes to the left."""
        if self.is_category:
            return bucket == self.bucket
        return not self.missing_right if bucket < 0 else bucket <= self.bucket


@dataclass(frozen=True)
class TreeNode:
    """A node: a split with two children, or a leaf.

    Attributes:
        number: its place in the tree; the root is 0.
        depth: how many splits lead to it.
        split: how it splits; None for a leaf.
        left, right: the numbers of its children; None for a leaf.
        value: what a leaf adds to the logits, learning rate included; for a split, what it added as a leaf.
    """

    number: int
    depth: int
    split: Split | None
    left: int | None
    right: int | None
    value: tuple[float, ...]

    @property
    def is_leaf(self) -> bool:
        """Whether it has no children."""
        return self.split is None


@dataclass(frozen=True)
class Tree:
    """A tree. It prints as a table of its nodes.

    Attributes:
        number: its place in the ensemble.
        weight: what its leaves are multiplied by.
        nodes: its nodes, by number.
    """

    number: int
    weight: float
    nodes: tuple[TreeNode, ...]

    @property
    def depth(self) -> int:
        """How many splits its longest way has."""
        return max((node.depth for node in self.nodes), default=0)

    @property
    def leaves(self) -> tuple[TreeNode, ...]:
        """The nodes without children."""
        return tuple(node for node in self.nodes if node.is_leaf)

    @property
    def splits(self) -> tuple[Split, ...]:
        """How its other nodes split."""
        return tuple(node.split for node in self.nodes if node.split is not None)

    def way(self, buckets: Sequence[int]) -> tuple[TreeNode, ...]:
        """The nodes that an example passes, from the root to its leaf.

        Args:
            buckets: its bucket for each feature.
        """
        passed = [self.nodes[0]]
        while (split := passed[-1].split) is not None:
            child = passed[-1].left if split.is_left(int(buckets[split.feature])) else passed[-1].right
            passed.append(self.nodes[child or 0])
        return tuple(passed)

    def __str__(self) -> str:
        return "\n".join(self._table().lines())

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        rows = []
        for node in self._in_order():
            question = "leaf" if node.split is None else node.split.question
            gain = "" if node.split is None else f"{node.split.gain:.4g}"
            value = ", ".join(f"{one:.4g}" for one in node.value) if node.is_leaf else ""
            rows.append((str(node.number), "  " * node.depth + question, gain, value))
        return Table(("node", f"tree {self.number}", "gain", "leaf value"), rows, right=(0, 2, 3))

    def _in_order(self, number: int = 0) -> Iterator[TreeNode]:
        """The nodes from the root, each before its children."""
        waiting = [number] if self.nodes else []
        while waiting:
            node = self.nodes[waiting.pop()]
            yield node
            waiting += [child for child in (node.right, node.left) if child is not None]


@dataclass(frozen=True)
class TreeEnsemble(Sequence[Tree]):
    """The trees of a model, a sequence. It prints as a table with a line for each tree.

    Attributes:
        trees: the trees; the last one may still be growing.
        tried_trees: how many trees training has begun.
        tried_layers: how many layers it tried.
    """

    trees: tuple[Tree, ...] = ()
    tried_trees: int = 0
    tried_layers: int = 0

    def __len__(self) -> int:
        return len(self.trees)

    @overload
    def __getitem__(self, place: int) -> Tree: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Tree, ...]: ...

    def __getitem__(self, place: int | slice) -> Tree | tuple[Tree, ...]:
        return self.trees[place]

    def gains(self, columns: Sequence[str]) -> dict[str, float]:
        """The sum of the gains of the splits by each column; 0 for one that no split uses."""
        sums = dict.fromkeys(columns, 0.0)
        for tree in self.trees:
            for split in tree.splits:
                sums[split.column] = sums.get(split.column, 0.0) + split.gain * tree.weight
        return sums

    def summary(self) -> str:
        """The ensemble in one line."""
        nodes = sum(len(tree.nodes) for tree in self.trees)
        deepest = max((tree.depth for tree in self.trees), default=0)
        return (
            f"{_counted(len(self.trees), 'tree')}, {_counted(self.tried_layers, 'layer')} tried, "
            f"{_counted(nodes, 'node')}, at most {deepest} deep"
        )

    def __str__(self) -> str:
        return "\n".join([*self._table().lines(), self.summary()])

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        rows = [
            (str(tree.number), str(tree.depth), str(len(tree.nodes)), str(len(tree.leaves)), _first_question(tree))
            for tree in self.trees
        ]
        head = ("tree", "depth", "nodes", "leaves", "first split")
        return Table(head, rows, right=(0, 1, 2, 3), note=self.summary())


def ensemble_of(
    serialized: bytes, columns: Sequence[TreeColumn], boundaries: Callable[[int], Sequence[float]]
) -> TreeEnsemble:
    """The trees of a checkpoint.

    Args:
        serialized: the trees as TensorFlow stores them.
        columns: the column of each feature.
        boundaries: gives the boundaries of the buckets of a number, by its place among the numbers.

    Raises:
        CheckpointError: the trees are damaged, or of a model with other columns.
    """
    read, features = read_ensemble(serialized), _named(columns, boundaries)
    weights = list(read.tree_weights) + [1.0] * len(read.trees)
    trees = tuple(Tree(number, weights[number], _nodes(tree.nodes, features)) for number, tree in enumerate(read.trees))
    growth = read.growing_metadata
    return TreeEnsemble(trees, int(growth.num_trees_attempted), int(growth.num_layers_attempted))


@dataclass(frozen=True)
class _Feature:
    """A feature: its column, its name in questions, and the values of its buckets."""

    column: TreeColumn
    name: str
    boundaries: Sequence[float]
    word: str


def _named(columns: Sequence[TreeColumn], boundaries: Callable[[int], Sequence[float]]) -> list[_Feature]:
    features: list[_Feature] = []
    numbers, inside, last = 0, 0, None
    for column in columns:
        inside = inside + 1 if column is last else 0
        last = column
        if column.is_number:
            name = f"{column.label}[{inside}]" if column.width > 1 else column.label
            features.append(_Feature(column, name, boundaries(numbers), ""))
            numbers += 1
        elif column.boundaries:
            features.append(_Feature(column, column.column.source_column.name, column.boundaries, ""))
        else:
            word = column.words[inside] if inside < len(column.words) else str(inside)
            features.append(_Feature(column, column.label, (), word))
    return features


def _nodes(nodes: Sequence[Any], features: Sequence[_Feature]) -> tuple[TreeNode, ...]:
    read: list[TreeNode] = []
    depths = {0: 0}
    for number, node in enumerate(nodes):  # a child stands after its parent
        kind = node.WhichOneof("node")
        if kind in (None, "leaf"):
            read.append(TreeNode(number, depths.get(number, 0), None, None, None, _values(node.leaf)))
            continue
        split = getattr(node, kind)
        for child in (split.left_id, split.right_id):
            if not number < child < len(nodes):
                raise CheckpointError(
                    f"The trees in the checkpoint are damaged: node {number} of {len(nodes)} has the child {child}."
                )
            depths[child] = depths.get(number, 0) + 1
        named = _split(split, kind == "categorical_split", float(node.metadata.gain), features)
        values = _values(node.metadata.original_leaf)
        read.append(TreeNode(number, depths.get(number, 0), named, split.left_id, split.right_id, values))
    return tuple(read)


def _split(split: Any, is_category: bool, gain: float, features: Sequence[_Feature]) -> Split:
    feature, bucket = int(split.feature_id), int(split.value if is_category else split.threshold)
    if not 0 <= feature < len(features):
        raise CheckpointError(
            f"The trees in the checkpoint split by feature {feature}, and the columns of this model have "
            f"{len(features)} features. Give the columns with which the model was trained."
        )
    named = features[feature]
    threshold, goes_right = None, False
    if is_category:
        words = named.column.words
        question = f"{named.name} is {words[bucket] if bucket < len(words) else bucket}"
    elif named.word:
        question = f"{named.name} is not {named.word}"
        goes_right = bool(split.default_direction)
    else:
        bounds = named.boundaries
        threshold = float(bounds[bucket]) if 0 <= bucket < len(bounds) else None
        # The bucket of a bucketized column ends before its boundary, that of a number with it.
        sign = "<" if named.column.boundaries else "<="
        question = f"{named.name} {sign} {threshold:.6g}" if threshold is not None else f"{named.name} is any number"
        goes_right = bool(split.default_direction)
    return Split(
        feature, named.column.label, bucket, is_category, threshold, question, gain, int(split.dimension_id), goes_right
    )


def _values(leaf: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in leaf.vector.value) or (float(leaf.scalar),)


def _first_question(tree: Tree) -> str:
    split = tree.nodes[0].split if tree.nodes else None
    return "none" if split is None else split.question


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
