"""Exporters: when a model is exported while it trains, and which exports are kept."""

from lightwell.export.exporters.base import Exporter as Exporter
from lightwell.export.exporters.best import BestExporter as BestExporter
from lightwell.export.exporters.final import FinalExporter as FinalExporter
from lightwell.export.exporters.latest import LatestExporter as LatestExporter
