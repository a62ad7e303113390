# `make build` makes bin/manager, a static program, so that the image needs no
# compiler and any base will do: --build-arg BASE=scratch builds without a
# registry.
ARG BASE=gcr.io/distroless/static:nonroot
FROM ${BASE}
COPY bin/manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]
