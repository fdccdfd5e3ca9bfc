"""Twenty pull requests as people make them: the files before and after, by what they are about."""

from __future__ import annotations

Files = dict[str, str]
Pull = tuple[Files, Files]


def deployment(name: str, image: str = "registry.example.com/shop/app:1.4.2") -> str:
    """A deployment of the usual size."""
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: shop
  labels:
    app.kubernetes.io/name: {name}
    app.kubernetes.io/part-of: shop
spec:
  replicas: 3
  revisionHistoryLimit: 5
  selector:
    matchLabels:
      app.kubernetes.io/name: {name}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {name}
    spec:
      serviceAccountName: {name}
      containers:
        - name: app
          image: {image}
          args: ["--port=8080", "--verbose"]
          ports:
            - name: http
              containerPort: 8080
            - name: metrics
              containerPort: 9090
          env:
            - name: LOG_LEVEL
              value: info
            - name: DATABASE_URL
              valueFrom:
                secretKeyRef:
                  name: {name}-db
                  key: url
          resources:
            requests:
              cpu: 100m
              memory: 128Mi
            limits:
              memory: 256Mi
          readinessProbe:
            httpGet:
              path: /healthz
              port: http
        - name: proxy
          image: registry.example.com/mesh/proxy:2.1.0
          ports:
            - name: mesh
              containerPort: 15001
      volumes:
        - name: config
          configMap:
            name: {name}-config
        - name: tmp
          emptyDir: {{}}
"""


def service(name: str, port: int = 80) -> str:
    """A service."""
    return f"""\
apiVersion: v1
kind: Service
metadata:
  name: {name}
  namespace: shop
spec:
  type: ClusterIP
  selector:
    app.kubernetes.io/name: {name}
  ports:
    - name: http
      port: {port}
      targetPort: http
"""


CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: nginx
data:
  nginx.conf: |
    worker_processes 1;
    events {
      worker_connections 1024;
    }
    http {
      include mime.types;
      sendfile on;
      keepalive_timeout 65;
      server {
        listen 8080;
        location / {
          root /usr/share/nginx/html;
        }
      }
    }
"""
KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: shop
resources:
  - ../base
  - ingress.yaml
images:
  - name: registry.example.com/shop/app
    newTag: 1.4.2
  - name: registry.example.com/shop/worker
    newTag: 1.4.2
replicas:
  - name: web
    count: 3
"""
VALUES = """\
# Default values for the shop chart.
replicaCount: 2

image:
  repository: registry.example.com/shop/app
  tag: "1.4.2"
  pullPolicy: IfNotPresent

ingress:
  enabled: false
  hosts:
    - host: shop.example.com
      paths:
        - path: /
          pathType: Prefix

resources: {}
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: shops.example.com
spec:
  group: example.com
  names:
    kind: Shop
    plural: shops
  scope: Namespaced
  versions:
    - name: v1alpha1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: ["size"]
              properties:
                size:
                  type: integer
                region:
                  type: string
"""
TEMPLATE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "shop.fullname" . }}
spec:
  {{- if not .Values.autoscaling.enabled }}
  replicas: {{ .Values.replicaCount }}
  {{- end }}
  template:
    spec:
      containers:
        - name: {{ .Chart.Name }}
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
"""
ROLE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: operator
rules:
  - apiGroups: [""]
    resources: [pods, services]
    verbs: [get, list, watch]
  - apiGroups: [apps]
    resources: [deployments]
    verbs: [get, list, watch, update]
"""
FLOW = """\
apiVersion: v1
kind: Pod
metadata: {name: tool, labels: {app: tool, tier: ops}}
spec:
  containers:
    - {name: a, image: "x:1", args: [run, --fast], env: [{name: A, value: "1"}]}
    - {name: b, image: "y:1", args: [run, --slow]}
"""
WEB = deployment("web")
README = "# The shop\n\nDeploy it with kustomize.\n"


def edited(text: str, *edits: tuple[str, str]) -> str:
    """The text after some replacements, each of which must hit."""
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


def joined(*documents: str) -> str:
    """One file of several documents."""
    return "---\n".join(documents)


def reindented(text: str) -> str:
    """The text with the lists of mappings at the column of their keys, as formatters have it."""
    out, cut = [], 0
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if line.startswith("        - "):
            cut = 2
        elif indent < 8:
            cut = 0
        out.append(line[cut:] if line.strip() else line)
    return "\n".join(out)


def _small() -> dict[str, Pull]:
    before = {"apps/web.yaml": WEB}

    def change(*edits: tuple[str, str]) -> Pull:
        return before, {"apps/web.yaml": edited(WEB, *edits)}

    return {
        "image bump": change(("app:1.4.2", "app:1.5.0")),
        "new variable": change(
            (
                "              value: info\n",
                "              value: debug\n            - name: TRACING\n              value: 'on'\n",
            )
        ),
        "renamed container": change(("- name: proxy", "- name: mesh-proxy")),
        "scaled and limited": change(
            ("replicas: 3", "replicas: 5"),
            ("cpu: 100m", "cpu: 250m"),
            ("memory: 256Mi", "memory: 512Mi"),
        ),
        "comment only": change(
            ("  replicas: 3\n", "  # doubled for the sale\n  replicas: 3 # was 2\n")
        ),
        "order only": change(
            ("            - name: http\n              containerPort: 8080\n", ""),
            (
                "              containerPort: 9090\n",
                "              containerPort: 9090\n            - name: http\n              containerPort: 8080\n",
            ),
        ),
        "reindent": (before, {"apps/web.yaml": reindented(WEB)}),
        "quoting": change(("value: info", 'value: "info"'), ("name: http\n", "name: 'http'\n")),
    }


def _documents() -> dict[str, Pull]:
    both = joined(WEB, service("web"))
    api = deployment("api")
    return {
        "new document": (
            {"apps/web.yaml": WEB},
            {"apps/web.yaml": both},
        ),
        "deleted resource": ({"apps/all.yaml": joined(both, service("old"))}, {"apps/all.yaml": both}),
        "moved resource": (
            {"apps/all.yaml": joined(WEB, api, service("web"))},
            {
                "apps/all.yaml": joined(WEB, service("web")),
                "apps/api.yaml": edited(api, ("replicas: 3", "replicas: 2")),
            },
        ),
        "renamed file and resource": (
            {"apps/web.yaml": WEB, "README.md": README},
            {"apps/frontend.yaml": edited(WEB, ("  name: web\n", "  name: frontend\n"), ("5", "6")),
             "README.md": README + "\nSee apps/.\n"},
        ),
    }  # fmt: skip


def _kinds() -> dict[str, Pull]:
    return {
        "block text": (
            {"base/nginx.yaml": CONFIG},
            {"base/nginx.yaml": edited(CONFIG, ("worker_processes 1", "worker_processes auto"), ("keepalive_timeout 65", "keepalive_timeout 20"))},
        ),
        "chart values": (
            {"chart/values.yaml": VALUES, "chart/templates/web.yaml": TEMPLATE},
            {"chart/values.yaml": edited(VALUES, ("enabled: false", "enabled: true"), ("resources: {}", "resources:\n  limits:\n    memory: 256Mi"), ('tag: "1.4.2"', 'tag: "1.5.0"')),
             "chart/templates/web.yaml": edited(TEMPLATE, ("      containers:\n", "      serviceAccountName: {{ .Values.account }}\n      containers:\n"))},
        ),
        "kustomization images": (
            {"overlays/prod/kustomization.yaml": KUSTOMIZATION},
            {"overlays/prod/kustomization.yaml": edited(KUSTOMIZATION, ("newTag: 1.4.2", "newTag: 1.5.0"), ("  - ingress.yaml\n", "  - ingress.yaml\n  - hpa.yaml\n"))},
        ),
        "definition of a kind": (
            {"crds/shop.yaml": CRD},
            {"crds/shop.yaml": edited(CRD, ("                  type: integer\n", "                  type: integer\n                  minimum: 1\n"), ("                region:\n", "                tier:\n                  type: string\n                  enum: [gold, silver]\n                region:\n"))},
        ),
        "role": (
            {"rbac/role.yaml": ROLE},
            {"rbac/role.yaml": edited(ROLE, ("[pods, services]", "[pods, services, secrets]"), ("watch, update]", "watch, update, patch]\n  - apiGroups: [batch]\n    resources: [jobs]\n    verbs: [create]"))},
        ),
        "one-line lists": (
            {"pod.yaml": FLOW},
            {"pod.yaml": edited(FLOW, ("[run, --fast]", "[run, --fast, --all]"), ('value: "1"', 'value: "2"'), ("tier: ops", "tier: dev"))},
        ),
    }  # fmt: skip


def _large() -> dict[str, Pull]:
    names = [f"service-{n:02}" for n in range(12)]
    before = {f"apps/{name}/deployment.yaml": deployment(name) for name in names}
    bumped = {path: edited(text, ("app:1.4.2", "app:1.5.0")) for path, text in before.items()}
    bundle = joined(*map(deployment, names))
    secured = edited(
        bundle,
        ("      volumes:\n", "      securityContext:\n        runAsNonRoot: true\n        seccompProfile:\n          type: RuntimeDefault\n      volumes:\n"),
        ("proxy:2.1.0", "proxy:2.2.0"),
        ("service-03\n  namespace: shop\n", "service-03\n  namespace: shop-eu\n"),
    )  # fmt: skip
    return {
        "many files": (before, bumped),
        "a bundle": ({"all.yaml": bundle}, {"all.yaml": secured}),
    }


PULLS: dict[str, Pull] = _small() | _documents() | _kinds() | _large()
