"""An export that stops before its end, to be killed there:

python -m tests.estimator.export.slow_export model_dir directory
"""

from __future__ import annotations

import sys
import time

from tests import tiny

STARTED = "all but the end is written"


if __name__ == "__main__":
    import tensorflow as tf

    def wait(*arguments: object, **options: object) -> None:
        print(STARTED, flush=True)
        time.sleep(600)

    tf.io.gfile.copy = wait  # files beside the model are the last to be written
    tiny.estimator(sys.argv[1]).export_saved_model(sys.argv[2], assets_extra={"this": __file__})
