# Lectern for an ordinary user, with what several machines need (docs/scale.md): docker build -t lectern .
# rapidocr-onnxruntime has no release for Python after 3.12.
FROM python:3.12-slim-bookworm AS built
# torch from its CPU wheels: on amd64 the default draws gigabytes of CUDA.
ARG TORCH_WHEELS=https://download.pytorch.org/whl/cpu
WORKDIR /src
COPY requirements.txt ./
RUN python -m venv /opt/lectern \
    && /opt/lectern/bin/pip install --no-cache-dir --index-url "$TORCH_WHEELS" "$(sed -n 's/^\(torch==[^ ]*\).*/\1/p' requirements.txt)"
COPY . .
RUN /opt/lectern/bin/pip install --no-cache-dir ".[distributed]"

FROM python:3.12-slim-bookworm
# What OpenCV, which recognises text, links to.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgl1 libglib2.0-0 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home lectern \
    && install --directory --owner lectern --group lectern --mode 0700 /data /originals
COPY --from=built /opt/lectern /opt/lectern
COPY --from=built /src/deploy/healthy.py /opt/lectern/healthy.py
ENV PATH=/opt/lectern/bin:$PATH \
    LECTERN_DATA_DIR=/data/library \
    LECTERN_MODELS_DIR=/data/models \
    HF_HUB_OFFLINE=1 \
    PYTHONUNBUFFERED=1
USER 10001
WORKDIR /data
VOLUME ["/data", "/originals"]
EXPOSE 8501
# The first start makes the embedding model ready, which takes a minute.
HEALTHCHECK --interval=10s --timeout=15s --start-period=180s --retries=3 CMD ["python", "/opt/lectern/healthy.py"]
# It ends what is under way, and closes its stores, before it goes.
STOPSIGNAL SIGTERM
ENTRYPOINT ["lectern"]
CMD ["serve", "--address", "0.0.0.0", "--port", "8501"]
