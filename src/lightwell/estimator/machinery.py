"""What the verbs of `Estimator` are made of. It has no code of its own.

The engine and all that reads by path are most of what importing `Estimator` would load, and a program that defines a
model, prints its help or builds an `input_fn` needs none of it: `core` turns this page when the first verb is used.
"""

from lightwell.engine.build import Recipe as Recipe
from lightwell.engine.build import build as build
from lightwell.engine.build import call_model_fn as call_model_fn
from lightwell.engine.build import create_global_step as create_global_step
from lightwell.engine.build import draft as draft
from lightwell.engine.build import finish as finish
from lightwell.engine.evaluate import evaluate as evaluate
from lightwell.engine.evaluate import evaluate_warm as evaluate_warm
from lightwell.engine.hooked_session import HookedSession as HookedSession
from lightwell.engine.pool import ProgramPool as ProgramPool
from lightwell.engine.pool import WarmRun as WarmRun
from lightwell.engine.pool import warm_run as warm_run
from lightwell.engine.predict import predict as predict
from lightwell.engine.predict import warn_if_endless as warn_if_endless
from lightwell.engine.program import Program as Program
from lightwell.engine.session import SessionPlan as SessionPlan
from lightwell.engine.train import train as train
from lightwell.inputs.unpack import Inputs as Inputs
from lightwell.interop.completion import completed as completed
from lightwell.interop.keras_scope import keras_in_model_fn as keras_in_model_fn
from lightwell.interop.trace import active_trace as active_trace
from lightwell.sight.describe import Description as Description
from lightwell.sight.describe import describe as describe
from lightwell.sight.describe import read_description as read_description
from lightwell.sight.describe import write_description as write_description
from lightwell.sight.fed_inputs import FedInputs as FedInputs
from lightwell.sight.fed_inputs import specs_from_description as specs_from_description
from lightwell.sight.finding import with_sight as with_sight
from lightwell.sight.over_data import EvalResult as EvalResult
from lightwell.sight.over_data import TapOverData as TapOverData
from lightwell.sight.predictor import Predictor as Predictor
from lightwell.sight.rows import RowTaps as RowTaps
from lightwell.sight.views import LayersView as LayersView
from lightwell.sight.views import WeightsView as WeightsView
