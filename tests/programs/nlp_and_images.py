"""The programs of `tests/data/programs_nlp` and `tests/data/programs_images`: text and image models of 2017 to 2022.

Each prints one line of JSON last. Read by the recorder under Python 3.7 too: nothing newer may stand here, and nothing
of `lightwell`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.programs.revived import Case

DATA = Path(__file__).parents[1] / "data"
NLP, IMAGES = "programs_nlp", "programs_images"


@dataclass(frozen=True)
class Program(Case):
    """One program.

    Attributes:
        style: the folder of `tests/data` that holds it.
        original: the TensorFlow that runs it as it stands.
    """

    style: str = NLP
    original: str = "1.15.5"
    slow: bool = True


def _script(style: str, name: str, *arguments: str, **more: object) -> Program:
    return Program(name, (name + ".py",) + (arguments or ("{model_dir}",)), style=style, **more)  # type: ignore[arg-type]


CASES = (
    # Of TensorFlow 2: these run first, before a program turns eager execution off.
    _script(NLP, "canned_text_v2", original="2.15.1"),
    _script(IMAGES, "keras_to_estimator", original="2.15.1"),
    _script(IMAGES, "mirrored_one_device", original="2.15.1"),
    # Of TensorFlow 1, or with tensorflow.compat.v1.
    Program(
        "bert_classifier",
        (
            "bert_classifier/run_classifier.py",
            "--data_dir=cola",
            "--output_dir={model_dir}",
            "--do_train=true",
            "--do_eval=true",
            "--do_predict",
        ),
        style=NLP,
    ),
    _script(NLP, "squad_reader", "--output_dir={model_dir}"),
    _script(NLP, "masked_lm_pretraining", "--output_dir={model_dir}"),
    _script(NLP, "albert_shared", "--output_dir={model_dir}"),
    _script(NLP, "electra_discriminator", "--model-dir={model_dir}", original="2.15.1"),
    _script(NLP, "xlnet_two_stream", "--model_dir={model_dir}"),
    Program("tf_ner", ("-m", "tf_ner.main", "{model_dir}"), style=NLP),
    _script(NLP, "bert_crf_tagger", "--output_dir={model_dir}"),
    _script(NLP, "text_cnn_tables", "--job-dir={model_dir}"),
    _script(NLP, "siamese_lstm", "--train_dir={model_dir}"),
    _script(NLP, "esim_match"),
    _script(NLP, "dssm_hashing", "--model_dir={model_dir}", slow=False),
    _script(NLP, "ptb_language_model", "--save_path={model_dir}"),
    _script(NLP, "skipgram_nce"),
    _script(NLP, "fasttext_ngrams", "--model_dir={model_dir}"),
    _script(NLP, "elmo_like"),
    _script(NLP, "distill_student"),
    _script(NLP, "seq2seq_plain"),
    _script(NLP, "fp16_accumulate"),
    _script(NLP, "hierarchical_attention"),
    _script(NLP, "transformer_translation", "--model_dir={model_dir}"),
    _script(NLP, "gpt2_sampling"),
    _script(NLP, "joint_intent_slots"),
    _script(NLP, "qanet_reader"),
    _script(NLP, "multi_task_heads"),
    Program("official_resnet", ("-m", "official_resnet.cifar10_main", "--model_dir={model_dir}"), style=IMAGES),
    _script(IMAGES, "tpu_resnet_host_call", "--model_dir={model_dir}", slow=False),
    _script(IMAGES, "mobilenet_slim", "--model_dir={model_dir}"),
    _script(IMAGES, "efficientnet_ema", original="2.15.1"),
    _script(IMAGES, "densenet_layers"),
    _script(IMAGES, "inception_aux"),
    _script(IMAGES, "unet_segmentation", "--logdir={model_dir}", close=5e-3),
    _script(IMAGES, "ssd_detection"),
    _script(IMAGES, "retinanet_fpn", "--model_dir={model_dir}"),
    _script(IMAGES, "dcgan_two_optimizers", "--model-dir={model_dir}"),
    _script(IMAGES, "wgan_gp", original="2.15.1"),
    _script(IMAGES, "conditional_vae"),
    _script(IMAGES, "style_transfer"),
    _script(IMAGES, "super_resolution", "--checkpoint_dir={model_dir}"),
    _script(IMAGES, "triplet_embedding", "--model_dir={model_dir}"),
    _script(IMAGES, "keypoints_hourglass"),
    _script(IMAGES, "tower_gradients", "--job-dir={model_dir}"),
    _script(IMAGES, "capsule_routing", "--logdir={model_dir}"),
    _script(IMAGES, "crnn_ctc"),
    _script(IMAGES, "deeplab_aspp", "--model_dir={model_dir}"),
    _script(IMAGES, "augment_pipeline"),
    _script(IMAGES, "cyclegan_modules"),
    _script(IMAGES, "spatial_transformer"),
)
