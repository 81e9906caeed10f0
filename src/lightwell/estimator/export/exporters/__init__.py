"""Exporters: when a model is exported while it trains, and which exports are kept."""

from lightwell.estimator.export.exporters.base import Exporter as Exporter
from lightwell.estimator.export.exporters.best import BestExporter as BestExporter
from lightwell.estimator.export.exporters.final import FinalExporter as FinalExporter
from lightwell.estimator.export.exporters.latest import LatestExporter as LatestExporter
