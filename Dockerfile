# Isogloss with CUDA. Models, downloads and runs are kept in the folder that is mounted as /data:
#   docker build -t isogloss .
#   docker run -v "$PWD:/data" isogloss model pull smollm2
#   docker run --gpus all -v "$PWD:/data" isogloss eval smollm2 --data demo --device cuda
FROM python:3.11-slim
WORKDIR /opt/isogloss
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir -c constraints.txt ".[hf,report,ask]"
ENV ISOGLOSS_HOME=/data/.isogloss HF_HOME=/data/.huggingface
WORKDIR /data
ENTRYPOINT ["isogloss"]
CMD ["--help"]
