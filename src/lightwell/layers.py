"""The public page `lightwell.layers`: `lightwell.model.layers` under the name that users import."""

from typing import TYPE_CHECKING

from lightwell.base.lazy import alias
from lightwell.base.public_names import PAGES

if TYPE_CHECKING:
    from lightwell.model.layers import *  # noqa: F403

alias(__name__, PAGES[__name__])
