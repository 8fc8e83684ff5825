{{/* The code of the operator contains the names of Lease, Secret, Service and webhook, so a namespace has one operator. */}}

{{/* Checks that the schema of the values cannot express. The operator makes them too when it starts. */}}
{{- define "trainwright.validate" -}}
{{- if semverCompare "<2.52.0" .Values.trainer.rayVersion }}
{{- fail (printf "trainer.rayVersion is %s: it has to be 2.52.0 or later" .Values.trainer.rayVersion) }}
{{- end }}
{{- $renew := .Values.settings.leaseRenew }}
{{- $duration := .Values.settings.leaseDuration }}
{{- if ge (mulf $renew 3.0) (mulf $duration 2.0) }}
{{- fail (printf "settings.leaseRenew is %v: it has to be less than two thirds of leaseDuration, which is %v" $renew $duration) }}
{{- end }}
{{- $stale := .Values.settings.staleAfter }}
{{- $watch := .Values.settings.watchTimeout }}
{{- if and $stale $watch (le (mulf $stale 1.0) (mulf $watch 1.0)) }}
{{- fail (printf "settings.staleAfter is %v: it has to be more than watchTimeout, which is %v" $stale $watch) }}
{{- end }}
{{- end }}

{{- define "trainwright.selector" -}}
app.kubernetes.io/name: trainwright
app.kubernetes.io/component: operator
{{- end }}

{{- define "trainwright.labels" -}}
{{ include "trainwright.selector" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* What the names of objects without a namespace begin with: operators of single namespaces live side by side. */}}
{{- define "trainwright.clusterwide" -}}
{{ if .Values.namespaces }}trainwright-{{ .Release.Namespace }}{{ else }}trainwright{{ end }}
{{- end }}

{{/* An image's whole name: (dict "root" $ "image" .Values.image) */}}
{{- define "trainwright.image" -}}
{{ with .root.Values.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ .image.repository }}
{{- if .image.digest }}@{{ .image.digest }}{{ else }}:{{ .image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}

{{/* One setting as an environment variable: (list "BACKOFF_BASE" 10.0). A list of words is written with commas. */}}
{{- define "trainwright.setting" -}}
{{- $value := index . 1 -}}
- name: TRAINWRIGHT_{{ index . 0 | snakecase | upper }}
  value: {{ kindIs "slice" $value | ternary (join "," $value) (toJson $value) | quote }}
{{- end }}

{{/* "true" where the platform sets the users of pods. */}}
{{- define "trainwright.openshift" -}}
{{- $given := toString .Values.openshift -}}
{{- if or (eq $given "true") (and (eq $given "auto") (.Capabilities.APIVersions.Has "security.openshift.io/v1")) }}true{{ end }}
{{- end }}

{{- define "trainwright.subjects" -}}
- kind: ServiceAccount
  name: {{ .Values.serviceAccount.name }}
  namespace: {{ .Release.Namespace }}
{{- end }}

{{/* The permissions of the operator in the namespaces of jobs. */}}
{{- define "trainwright.rules" -}}
- apiGroups: [trainwright.dev]
  resources: [trainingjobs]
  verbs: [get, list, watch, delete]  # delete: ttlPolicy DeleteJob
- apiGroups: [trainwright.dev]
  resources: [trainingjobs/status]
  verbs: [patch]
# Children block the deletion of their owner. OwnerReferencesPermissionEnforcement, as on OpenShift, asks for this.
- apiGroups: [trainwright.dev]
  resources: [trainingjobs/finalizers]
  verbs: [update]
# Children are created and deleted, never changed.
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch, create, delete]
- apiGroups: [ray.io]
  resources: [rayjobs]
  verbs: [get, list, watch, create, delete]
# To follow the owners of a pod to its job.
- apiGroups: [ray.io]
  resources: [rayclusters]
  verbs: [get]
# What a child in a queue of Kueue waits for.
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads]
  verbs: [list, watch]
# Objects that all children of a job share. get: to read the owner of an existing object with that name.
- apiGroups: [""]
  resources: [configmaps, services]
  verbs: [get, create, delete]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, create, delete]
# Created, never read and never deleted: their owner references do that.
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, list]
{{- end }}

{{/* How Prometheus scrapes an operator. Its certificate is the operator's own, for the Service's name. */}}
{{- define "trainwright.endpoint" -}}
- port: https
  path: /metrics
  scheme: https
  # The label `namespace` of a metric is the namespace of its jobs.
  honorLabels: true
  {{- with .monitor.interval }}
  interval: {{ . }}
  {{- end }}
  tlsConfig:
    serverName: trainwright.{{ .root.Release.Namespace }}.svc
    ca:
      secret:
        name: trainwright-tls
        key: ca.crt
{{- end }}
