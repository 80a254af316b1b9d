{{/* Start of the names of all objects. At most 35 characters, so that suffixes fit into the 63 of a label. */}}
{{- define "toolgate.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- $wanted := default $full .Values.fullnameOverride | replace "." "-" -}}
{{- /* A Service's name begins with a letter. */}}
{{- ternary $wanted (printf "t-%s" $wanted) (regexMatch "^[a-z]" $wanted) | trunc 35 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that select the pods of a process. Arguments: root, component. */}}
{{- define "toolgate.selector" -}}
app.kubernetes.io/name: "{{ default .root.Chart.Name .root.Values.nameOverride }}"
app.kubernetes.io/instance: "{{ .root.Release.Name }}"
app.kubernetes.io/component: "{{ .component }}"
{{- end -}}

{{/* Labels of every object. Arguments: root, component. */}}
{{- define "toolgate.labels" -}}
{{ include "toolgate.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: "{{ .root.Release.Service }}"
helm.sh/chart: "{{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}"
{{- end -}}

{{- define "toolgate.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Name of the Secret for a key of .Values.secrets. Arguments: root, source. */}}
{{- define "toolgate.secretName" -}}
{{- $given := index .root.Values.secrets .source | default dict -}}
{{- default (printf "%s-%s" (include "toolgate.fullname" .root) .source) $given.existingSecret -}}
{{- end -}}

{{/* What the chart makes a Secret from: values, store, or nothing if it is the user's own. Arguments: root, source. */}}
{{- define "toolgate.secretMadeFrom" -}}
{{- $given := index .root.Values.secrets .source | default dict -}}
{{- if $given.data -}}
values
{{- else if and .root.Values.externalSecrets.enabled (not $given.existingSecret) -}}
store
{{- end -}}
{{- end -}}

{{/* Name of the Secret for the migrations: of their own, if the chart makes it and they are a hook. Arguments: root, source. */}}
{{- define "toolgate.migrationSecretName" -}}
{{- $isOwn := and (eq .root.Values.migrations.mode "hook") (ne (include "toolgate.secretMadeFrom" .) "") -}}
{{- include "toolgate.secretName" . }}{{ ternary "-migrations" "" $isOwn }}
{{- end -}}

{{- define "toolgate.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "toolgate.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The account of processes that know nobody. It never has annotations. */}}
{{- define "toolgate.bareAccountName" -}}
{{- ternary (printf "%s-bare" (include "toolgate.fullname" .)) "default" .Values.serviceAccount.create -}}
{{- end -}}

{{/*
The processes of the chosen topology by name, as YAML. Each has facts (files/processes.yaml) and values (its entry in
.Values.processes over processDefaults).
*/}}
{{- define "toolgate.processes" -}}
{{- $facts := .Files.Get "files/processes.yaml" | fromYaml -}}
{{- $known := ternary (dict "toolgate" $facts.single) $facts.split (eq .Values.topology "single") -}}
{{- $processes := dict -}}
{{- range $name, $fact := $known -}}
{{- $values := include "toolgate.overlay" (list $.Values.processDefaults (index $.Values.processes $name | default dict)) | fromYaml -}}
{{- $_ := set $processes $name (dict "facts" $fact "values" $values) -}}
{{- end -}}
{{- toYaml $processes -}}
{{- end -}}

{{/*
A map with the entries of another over its own, one level deep, as YAML. Unlike sprig's merge, 0 and false count. Arguments: the
two maps.
*/}}
{{- define "toolgate.overlay" -}}
{{- $merged := deepCopy (index . 0) -}}
{{- range $key, $value := index . 1 -}}
{{- if and (kindIs "map" $value) (kindIs "map" (index $merged $key)) -}}
{{- range $inner, $entry := $value -}}
{{- $_ := set (index $merged $key) $inner $entry -}}
{{- end -}}
{{- else -}}
{{- $_ := set $merged $key $value -}}
{{- end -}}
{{- end -}}
{{- toYaml $merged -}}
{{- end -}}

{{/* The settings of a process: its own over those of all. Arguments: root, values. */}}
{{- define "toolgate.settings" -}}
{{- include "toolgate.overlay" (list .root.Values.settings .values.settings) -}}
{{- end -}}

{{/* The smallest number of pods that a process has. Argument: its values. */}}
{{- define "toolgate.minReplicas" -}}
{{- ternary .autoscaling.minReplicas .replicas .autoscaling.enabled | int -}}
{{- end -}}
