"""`tf.compat.v1.nn.rnn_cell`, for a TensorFlow that no longer has it."""

from lightwell.model.rnn_cell.base import RNNCell as RNNCell
from lightwell.model.rnn_cell.basic_lstm import BasicLSTMCell as BasicLSTMCell
from lightwell.model.rnn_cell.basic_rnn import BasicRNNCell as BasicRNNCell
from lightwell.model.rnn_cell.device import DeviceWrapper as DeviceWrapper
from lightwell.model.rnn_cell.dropout import DropoutWrapper as DropoutWrapper
from lightwell.model.rnn_cell.gru import GRUCell as GRUCell
from lightwell.model.rnn_cell.lstm import LSTMCell as LSTMCell
from lightwell.model.rnn_cell.multi import MultiRNNCell as MultiRNNCell
from lightwell.model.rnn_cell.residual import ResidualWrapper as ResidualWrapper
from lightwell.model.rnn_cell.state import LSTMStateTuple as LSTMStateTuple

__all__ = [
    "BasicLSTMCell",
    "BasicRNNCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "GRUCell",
    "LSTMCell",
    "LSTMStateTuple",
    "MultiRNNCell",
    "RNNCell",
    "ResidualWrapper",
]
