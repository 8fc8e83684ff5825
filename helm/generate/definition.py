"""The TrainingJob CRD as a template of the chart: its text, and annotations for Helm and Argo CD."""

from __future__ import annotations

_NAME = "metadata:\n  name: trainingjobs.trainwright.dev\n"

_LABELS_AND_ANNOTATIONS = """\
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
    """Return the template. Braces in descriptions are escaped, because Helm would evaluate them."""
    before, name, after = (part.replace("{{", '{{ "{{" }}') for part in crd.partition(_NAME))
    return f"{{{{- if .Values.crds.enabled }}}}\n{before}{name}{_LABELS_AND_ANNOTATIONS}{after}{{{{- end }}}}\n"
