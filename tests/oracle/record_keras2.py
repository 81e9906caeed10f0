"""Record what programs of Keras 2 print: `python -m tests.oracle.record_keras2 values models` under TensorFlow 2.15.1.

`record_keras2 models_tf1` is for TensorFlow 1.15.5. From the project's root, with the Python of that environment.
"""

import json
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"


def main():
    import tensorflow as tf

    for name in sys.argv[1:]:
        printed = subprocess.run(
            [sys.executable, str(DATA / "keras2" / f"{name}.py")], stdout=subprocess.PIPE, check=True
        ).stdout.decode()
        found = {"tensorflow": tf.__version__, "numbers": json.loads(printed.splitlines()[-1])}
        target = DATA / f"oracle-{tf.__version__}" / f"keras2_{name}.json"
        target.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
