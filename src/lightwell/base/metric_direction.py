"""Whether high or low values of a metric are good: as the user says, else by the metric's name."""

from __future__ import annotations

import re

from lightwell.errors import UsageError

_LOW_IS_GOOD = frozenset(
    "loss losses error errors err mae mse rmse rmsle mape perplexity ppl nll entropy crossentropy logloss distance "
    "wer cer divergence brier".split()
)
_HIGH_IS_GOOD = frozenset(
    "accuracy acc auc auroc auprc aucpr prauc roc precision recall f1 fscore map iou miou dice bleu rouge meteor ndcg "
    "mrr r2 psnr ssim sensitivity specificity kappa likelihood similarity hits".split()
)


def resolved_mode(mode: str, metric: str, where: str) -> str:
    """`"min"` or `"max"`: as the user says, else by the metric's name.

    Raises:
        UsageError: the mode is unknown, or the name decides nothing.
    """
    if mode in ("min", "max"):
        return mode
    if mode != "auto":
        raise UsageError(f"{where}: mode must be 'min', 'max' or 'auto', got {mode!r}.")
    words = set(re.findall(r"[a-z]+\d*", metric.lower()))
    is_low, is_high = bool(words & _LOW_IS_GOOD), bool(words & _HIGH_IS_GOOD)
    if is_low == is_high:
        raise UsageError(
            f"{where}: the name of metric {metric!r} does not tell whether high or low values of it are good. Say "
            "mode='max' or mode='min'."
        )
    return "min" if is_low else "max"
