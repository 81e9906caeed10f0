"""The public page `lightwell.tf1`, the namespace of TensorFlow 1.15: `lightwell.compat.tf1` under its public name."""

from lightwell.base.lazy import alias
from lightwell.base.public_names import PAGES

for _page in ("compat", "contrib", "examples", "nn"):  # importable below it, as those of TensorFlow were
    alias(f"{__name__}.{_page}", f"{PAGES[__name__]}.{_page}")
alias(__name__, PAGES[__name__])
