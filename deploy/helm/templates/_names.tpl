{{- define "fieldtrie.name" -}}
{{- if eq .Release.Name "fieldtrie" }}fieldtrie{{ else }}{{ printf "%s-fieldtrie" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "fieldtrie.selector" -}}
app.kubernetes.io/name: fieldtrie
{{- if ne .Release.Name "fieldtrie" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- end }}

{{- define "fieldtrie.settings" -}}
{{- $own := dict "data" "/var/lib/fieldtrie" }}
{{- if .Values.bucket }}
{{- $own = dict "data" .Values.bucket "spool" "/var/lib/fieldtrie/spool" "spool-size" .Values.spoolSize "cache" "/var/lib/fieldtrie/cache" "cache-size" .Values.cacheSize }}
{{- else if .Values.volume.maxDisk }}
{{- $_ := set $own "max-disk" .Values.volume.maxDisk }}
{{- end }}
{{- toYaml (merge (deepCopy .Values.settings) $own) }}
{{- end }}
