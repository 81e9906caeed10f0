"""`RunConfig` of the TPU face: the ordinary one, with a `TPUConfig`."""

from __future__ import annotations

from typing import Any

from lightwell.errors import UsageError
from lightwell.estimator.on_tpu.tpu_config import TPUConfig
from lightwell.run import config


class RunConfig(config.RunConfig):
    """How to run a `TPUEstimator`.

    Args:
        tpu_config: a `TPUConfig`; its defaults if None.
        evaluation_master: the session target for evaluation; that of training if None.
        master: the session target for training.
        cluster: a cluster resolver. Stored, and without effect: there are no TPUs.
        **kwargs: the settings of `RunConfig`.
    """

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if cluster is not None and (master is not None or evaluation_master is not None):
            raise UsageError(
                "tpu.RunConfig: Both master and cluster are set, or evaluation_master and cluster: a cluster knows its "
                "master. Leave one of them out."
            )
        self._tpu_config = TPUConfig() if tpu_config is None else tpu_config
        self._cluster = cluster
        if master is not None:
            self._master = self._evaluation_master = master
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master

    @property
    def tpu_config(self) -> TPUConfig:
        """Settings of TPU hardware."""
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        """The cluster resolver."""
        return self._cluster

    def replace(self, **changes: Any) -> RunConfig:
        """A copy with the named settings changed, `tpu_config` among them."""
        tpu_config = changes.pop("tpu_config", self._tpu_config)
        new = super().replace(**changes)
        new._tpu_config = tpu_config
        return new
