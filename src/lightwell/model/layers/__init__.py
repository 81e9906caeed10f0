"""The layers of `tf.compat.v1.layers`, for TensorFlow versions whose Keras no longer has them.

Takes tensors, gives tensors; each call is written into the open book of layers (`record.py`).
"""

from __future__ import annotations

from lightwell.model.layers import experimental as experimental
from lightwell.model.layers.base import Layer as Layer
from lightwell.model.layers.conv import Conv1D as Conv1D
from lightwell.model.layers.conv import Conv2D as Conv2D
from lightwell.model.layers.conv import Conv3D as Conv3D
from lightwell.model.layers.conv import conv1d as conv1d
from lightwell.model.layers.conv import conv2d as conv2d
from lightwell.model.layers.conv import conv3d as conv3d
from lightwell.model.layers.dense import Dense as Dense
from lightwell.model.layers.dense import dense as dense
from lightwell.model.layers.dropout import Dropout as Dropout
from lightwell.model.layers.dropout import dropout as dropout
from lightwell.model.layers.flatten import Flatten as Flatten
from lightwell.model.layers.flatten import flatten as flatten
from lightwell.model.layers.input_spec import InputSpec as InputSpec
from lightwell.model.layers.normalization import BatchNormalization as BatchNormalization
from lightwell.model.layers.normalization import batch_normalization as batch_normalization
from lightwell.model.layers.pooling import AveragePooling1D as AveragePooling1D
from lightwell.model.layers.pooling import AveragePooling2D as AveragePooling2D
from lightwell.model.layers.pooling import AveragePooling3D as AveragePooling3D
from lightwell.model.layers.pooling import MaxPooling1D as MaxPooling1D
from lightwell.model.layers.pooling import MaxPooling2D as MaxPooling2D
from lightwell.model.layers.pooling import MaxPooling3D as MaxPooling3D
from lightwell.model.layers.pooling import average_pooling1d as average_pooling1d
from lightwell.model.layers.pooling import average_pooling2d as average_pooling2d
from lightwell.model.layers.pooling import average_pooling3d as average_pooling3d
from lightwell.model.layers.pooling import max_pooling1d as max_pooling1d
from lightwell.model.layers.pooling import max_pooling2d as max_pooling2d
from lightwell.model.layers.pooling import max_pooling3d as max_pooling3d
from lightwell.model.layers.separable import SeparableConv1D as SeparableConv1D
from lightwell.model.layers.separable import SeparableConv2D as SeparableConv2D
from lightwell.model.layers.separable import separable_conv1d as separable_conv1d
from lightwell.model.layers.separable import separable_conv2d as separable_conv2d
from lightwell.model.layers.transpose import Conv2DTranspose as Conv2DTranspose
from lightwell.model.layers.transpose import Conv3DTranspose as Conv3DTranspose
from lightwell.model.layers.transpose import conv2d_transpose as conv2d_transpose
from lightwell.model.layers.transpose import conv3d_transpose as conv3d_transpose

__all__ = [
    "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "BatchNormalization", "Conv1D", "Conv2D",
    "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense", "Dropout", "Flatten", "InputSpec", "Layer", "MaxPooling1D",
    "MaxPooling2D", "MaxPooling3D", "SeparableConv1D", "SeparableConv2D", "average_pooling1d", "average_pooling2d",
    "average_pooling3d", "batch_normalization", "conv1d", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose",
    "dense", "dropout", "experimental", "flatten", "max_pooling1d", "max_pooling2d", "max_pooling3d",
    "separable_conv1d", "separable_conv2d",
]  # fmt: skip
