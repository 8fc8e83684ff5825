"""The definition of TrainingJob as a template of the chart: its text, and what Helm and Argo CD are told of it."""

from __future__ import annotations

_NAME = "metadata:\n  name: trainingjobs.trainwright.dev\n"

_TOLD = """\
  labels:
    {{- include "trainwright.labels" . | nindent 4 }}
  annotations:
    argocd.argoproj.io/sync-wave: "-1"
    argocd.argoproj.io/sync-options: ServerSideApply=true
    {{- if .Values.crds.keep }}
    helm.sh/resource-policy: keep
    {{- end }}
"""


def template(crd: str) -> str:
    """Braces in a description are no template's."""
    before, name, after = (part.replace("{{", '{{ "{{" }}') for part in crd.partition(_NAME))
    return f"{{{{- if .Values.crds.enabled }}}}\n{before}{name}{_TOLD}{after}{{{{- end }}}}\n"
