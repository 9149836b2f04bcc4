{{- define "lectern.pod" -}}
terminationGracePeriodSeconds: 90
securityContext: {runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001, seccompProfile: {type: RuntimeDefault}}
{{- end -}}

{{- define "lectern.container" -}}
image: "{{ .Values.image }}:{{ .Values.tag }}"
envFrom:
  - secretRef: {name: {{ .Values.secret | quote }}}
securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - {name: data, mountPath: /data}
  {{- if .Values.originalsClaim }}
  - {name: originals, mountPath: /originals}
  {{- end }}
{{- end -}}

{{- define "lectern.environment" -}}
- {name: LECTERN_STORAGE__SHARED, value: "true"}
- {name: LECTERN_STORAGE__ORIGINALS, value: {{ .Values.originals | default "/originals" | quote }}}
- {name: LECTERN_STORAGE__MILVUS, value: {{ .Values.milvus | quote }}}
- {name: LECTERN_RETRIEVAL__INDEX, value: {{ .Values.index | quote }}}
- {name: LECTERN_DOORS__HOSTS, value: {{ .Values.host | quote }}}
{{- if .Values.endpoint }}
- {name: AWS_ENDPOINT_URL, value: {{ .Values.endpoint | quote }}}
{{- end }}
{{- end -}}
