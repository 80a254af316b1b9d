{{/*
The environment of a process: what the chart decides, the settings that the process reads, and its secrets. Arguments: root,
name, process.
*/}}
{{- define "toolgate.env" -}}
{{- $root := .root -}}
{{- $facts := .process.facts -}}
{{- $settings := include "toolgate.settings" (dict "root" $root "values" .process.values) | fromYaml -}}
- { name: BIND_HOST, value: {{ $root.Values.bindAddress | quote }} }
{{- if $facts.ports.http }}
- { name: HTTP_HOST, value: {{ $root.Values.bindAddress | quote }} }
{{- end }}
{{- range $port, $variable := dict "http" "PORT" "rpc" "RPC_PORT" "ops" "OPS_PORT" }}
{{- with index $facts.ports $port }}
- { name: "{{ $variable }}", value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- with $facts.role }}
- { name: ROLES, value: {{ . | quote }} }
{{- end }}
{{- range $variable, $peer := $facts.peers }}
- name: "{{ $variable }}"
  value: "{{ ternary "https" "http" (ne $root.Values.processCertificates.secret "") }}://{{ include "toolgate.fullname" $root }}-{{ $peer.process }}.{{ $root.Release.Namespace }}.svc:{{ $peer.port }}"
{{- end }}
{{- range $variable := $facts.settings }}
{{- if and (hasKey $settings $variable) (or (ne $variable "MAIL_FROM") $root.Values.mail.enabled) }}
{{- /* Numbers are floats here, and large ones would be written as 1e+06. */}}
{{- $value := index $settings $variable }}
- { name: "{{ $variable }}", value: {{ ternary (int64 $value | toString) (toString $value) (kindIs "float64" $value) | quote }} }
{{- end }}
{{- end }}
{{- if include "toolgate.hasFiles" (dict "root" $root "facts" $facts) }}
- { name: CHAT_FILES, value: /chat-files }
{{- end }}
{{- if and $facts.runsTools (eq $root.Values.sandbox.isolation "networkPolicy") }}
- { name: SANDBOX_DANGEROUSLY_WEAK_ISOLATION, value: "true" }
{{- end }}
{{- if eq $facts.service "toolgate" }}
- { name: LOGINS, value: /logins }
{{- end }}
{{- if not $facts.isBare }}
{{- include "toolgate.certificateEnv" $root }}
{{- end }}
{{- if $root.Values.processCertificates.secret }}
- { name: TLS_CERT_FILE, value: /process-certificates/tls.crt }
- { name: TLS_KEY_FILE, value: /process-certificates/tls.key }
- { name: TLS_CA_FILE, value: /process-certificates/ca.crt }
{{- end }}
{{- range $variable, $source := $facts.secrets }}
{{- if or (ne $source "smtp") $root.Values.mail.enabled }}
- name: "{{ $variable }}"
  valueFrom: { secretKeyRef: { name: "{{ include "toolgate.secretName" (dict "root" $root "source" $source) }}", key: "{{ $variable }}" } }
{{- end }}
{{- end }}
{{- end -}}

{{/* Not empty if the process stores uploaded files. Arguments: root, facts. */}}
{{- define "toolgate.hasFiles" -}}
{{- if and .root.Values.chatFiles.enabled (has .facts.service (list "chat" "toolgate")) -}}true{{- end -}}
{{- end -}}

{{- define "toolgate.certificateEnv" -}}
{{- if .Values.trustedCertificates.configMap }}
- { name: SERVERS_CA_FILE, value: /certificates/{{ .Values.trustedCertificates.key }} }
{{- end }}
{{- end -}}

{{- define "toolgate.certificateMount" -}}
{{- if .Values.trustedCertificates.configMap }}
- { name: certificates, mountPath: /certificates, readOnly: true }
{{- end }}
{{- end -}}

{{- define "toolgate.certificateVolume" -}}
{{- with .Values.trustedCertificates.configMap }}
- name: certificates
  configMap: { name: "{{ . }}" }
{{- end }}
{{- end -}}

{{/* The certificate of a process for the others. Arguments: root, name. */}}
{{- define "toolgate.processCertificateVolume" -}}
{{- $certificates := .root.Values.processCertificates -}}
- name: process-certificates
  secret:
    secretName: "{{ ternary (printf "%s-%s" $certificates.secret .name) $certificates.secret $certificates.perProcess }}"
    defaultMode: 0440
{{- end -}}

{{/* Argument: the name of the Secret. */}}
{{- define "toolgate.loginsVolume" -}}
- name: logins
  secret: { secretName: "{{ . }}", defaultMode: 0440 }
{{- end -}}

{{/* What every container may do: nothing but run as its user. */}}
{{- define "toolgate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Of every pod. Arguments: root, seccompProfile (a profile on the node; empty: the runtime's default). */}}
{{- define "toolgate.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .root.Values.pod.runAsUser | int64 }}
runAsGroup: {{ .root.Values.pod.runAsUser | int64 }}
fsGroup: {{ .root.Values.pod.runAsUser | int64 }}
seccompProfile:
{{- if .seccompProfile }}
  type: Localhost
  localhostProfile: "{{ .seccompProfile }}"
{{- else }}
  type: RuntimeDefault
{{- end }}
{{- end -}}

{{/* The parts of a pod's specification that all pods share: Deployments, migrations and tests. Arguments: root, values. */}}
{{- define "toolgate.podCommon" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with merge (dict) (.values.nodeSelector | default dict) .root.Values.pod.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with concat (.values.tolerations | default list) .root.Values.pod.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.pod.priorityClassName }}
priorityClassName: "{{ . }}"
{{- end }}
{{- end -}}
