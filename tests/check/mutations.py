"""Patches as people write them, and what one wrong word in a line makes of each.

What kubectl 1.32.4 (`kubectl patch --local`, tool K) and kustomize 5.5 (tool Z) made of every
mutation was recorded once: `refused`, or a `wrong` result, which is another one than before.
What both take for the same is not here.
"""

from __future__ import annotations

Mutation = tuple[str, str, int, str, str]  # the patch, the tool, the line, its new text, the truth

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-api
  namespace: shop
  labels:
    app: shop-api
  finalizers:
  - example.com/guard
  - example.com/audit
spec:
  replicas: 3
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  selector:
    matchLabels:
      app: shop-api
  template:
    metadata:
      labels:
        app: shop-api
    spec:
      serviceAccountName: shop-api
      initContainers:
      - name: migrate
        image: registry.example.com/shop/migrate:4.1
      containers:
      - name: api
        image: registry.example.com/shop/api:4.1
        args: [--port, "8080"]
        env:
        - name: LOG_LEVEL
          value: info
        - name: DB_HOST
          value: db.shop.svc
        - name: LEGACY_MODE
          value: "true"
        ports:
        - name: http
          containerPort: 8080
          protocol: TCP
        volumeMounts:
        - name: config
          mountPath: /etc/shop
        - name: cache
          mountPath: /var/cache
        livenessProbe:
          httpGet:
            path: /healthz
            port: 8080
      - name: istio-proxy
        image: registry.example.com/istio/proxyv2:1.20
      - name: log-shipper
        image: registry.example.com/fluent:2.2
      volumes:
      - name: config
        configMap:
          name: shop-config
      - name: cache
        emptyDir: {}
      tolerations:
      - key: spot
        operator: Exists
      imagePullSecrets:
      - name: regcred
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: shop-api
  namespace: shop
spec:
  type: ClusterIP
  selector:
    app: shop-api
  ports:
  - name: http
    port: 80
    targetPort: 8080
    protocol: TCP
  - name: metrics
    port: 9090
    targetPort: 9090
    protocol: TCP
"""
CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: shop-config
  namespace: shop
data:
  mode: legacy
  level: info
"""
STATEFUL = """\
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
  namespace: shop
spec:
  serviceName: db
  replicas: 1
  selector:
    matchLabels: {app: db}
  template:
    metadata:
      labels: {app: db}
    spec:
      containers:
      - name: postgres
        image: postgres:16
        env:
        - name: PGDATA
          value: /data
        resources:
          requests: {cpu: 100m, memory: 256Mi}
          limits: {memory: 512Mi}
      - name: exporter
        image: exporter:1
      volumes:
      - name: backup
        emptyDir: {}
"""

# name -> the target, the patch
PATCHES = {
    "side": (
        DEPLOYMENT,
        """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-api
  namespace: shop
spec:
  template:
    spec:
      containers:
      - name: istio-proxy
        $patch: delete
      - name: api
        image: registry.example.com/shop/api:4.2
        env:
        - name: LEGACY_MODE
          $patch: delete
        - name: LOG_LEVEL
          value: debug
      volumes:
      - name: cache
        $patch: delete
""",
    ),
    "strategy": (
        DEPLOYMENT,
        """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-api
  namespace: shop
spec:
  replicas: 5
  strategy:
    $patch: replace
    type: Recreate
""",
    ),
    "retain": (
        DEPLOYMENT,
        """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-api
  namespace: shop
spec:
  strategy:
    $retainKeys:
    - type
    type: Recreate
  template:
    spec:
      volumes:
      - name: cache
        $retainKeys: [name, persistentVolumeClaim]
        persistentVolumeClaim:
          claimName: cache
""",
    ),
    "order": (
        DEPLOYMENT,
        """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-api
  namespace: shop
  $deleteFromPrimitiveList/finalizers:
  - example.com/guard
spec:
  template:
    spec:
      $setElementOrder/containers:
      - name: api
      - name: auth
      - name: istio-proxy
      - name: log-shipper
      containers:
      - name: auth
        image: registry.example.com/auth:1.0
""",
    ),
    "list": (
        DEPLOYMENT,
        """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-api
  namespace: shop
spec:
  template:
    spec:
      containers:
      - $patch: replace
      - name: api
        image: registry.example.com/shop/api:4.2
        ports:
        - name: http
          containerPort: 8080
          protocol: TCP
      tolerations:
      - key: gpu
        operator: Exists
""",
    ),
    "null": (
        DEPLOYMENT,
        """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-api
  namespace: shop
spec:
  strategy:
    type: Recreate
    rollingUpdate: null
  template:
    spec:
      containers:
      - name: api
        env:
        - name: DB_HOST
          value: null
          valueFrom:
            configMapKeyRef:
              name: shop-config
              key: db
        livenessProbe:
          httpGet: null
          tcpSocket:
            port: 8080
""",
    ),
    "svc": (
        SERVICE,
        """\
apiVersion: v1
kind: Service
metadata:
  name: shop-api
  namespace: shop
spec:
  ports:
  - port: 9090
    protocol: TCP
    $patch: delete
  - port: 443
    protocol: TCP
    name: https
    targetPort: 8443
""",
    ),
    "cm": (
        CONFIG,
        """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: shop-config
  namespace: shop
data:
  $patch: replace
  mode: fast
""",
    ),
    "sts": (
        STATEFUL,
        """\
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
  namespace: shop
spec:
  template:
    spec:
      containers:
      - name: postgres
        resources:
          $patch: replace
          limits:
            memory: 1Gi
        env:
        - name: PGDATA
          $patch: delete
      volumes:
      - name: backup
        $patch: delete
""",
    ),
    "gone": (
        DEPLOYMENT,
        """\
$patch: delete
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-api
  namespace: shop
""",
    ),
    "ops": (
        DEPLOYMENT,
        """\
- op: replace
  path: /spec/replicas
  value: 5
- op: add
  path: /metadata/labels/shop.example.com~1tier
  value: front
- op: remove
  path: /spec/template/spec/containers/2
- op: copy
  from: /spec/template/spec/serviceAccountName
  path: /spec/template/metadata/labels/account
""",
    ),
}

FOUND: list[Mutation] = [
    ("side", "K", 11, '        $ptach: delete', "wrong"),
    ("side", "K", 11, '        $patch: null', "refused"),
    ("side", "K", 16, '          $patch: remove', "refused"),
    ("side", "K", 20, '      - name: null', "wrong"),
    ("side", "K", 21, '        @patch: delete', "refused"),
    ("side", "K", 21, '        $patch: true', "refused"),
    ("side", "K", 21, '        $patch: ""', "refused"),
    ("side", "Z", 11, '        $$patch: delete', "wrong"),
    ("side", "Z", 11, '        $patch: {delete: true}', "refused"),
    ("side", "Z", 11, '        $action: delete', "wrong"),
    ("side", "Z", 15, '        - nmae: LEGACY_MODE', "wrong"),
    ("side", "Z", 15, '        - name: LEGACY_MOED', "wrong"),
    ("side", "Z", 15, '        - id: LEGACY_MODE', "wrong"),
    ("side", "Z", 16, '          patch: delete', "wrong"),
    ("side", "Z", 16, '          $op: delete', "wrong"),
    ("side", "Z", 17, '        - name: log_level', "wrong"),
    ("side", "Z", 20, '      - name: cche', "wrong"),
    ("side", "Z", 21, '        $path: delete', "wrong"),
    ("strategy", "K", 5, '  namespace: prod', "wrong"),
    ("strategy", "K", 7, '  replicas: "5"', "wrong"),
    ("strategy", "K", 9, '    $patch: Replace', "refused"),
    ("strategy", "K", 9, '    $patch: merge', "refused"),
    ("strategy", "Z", 7, '  replicas: "5"', "wrong"),
    ("strategy", "Z", 9, '    patch: replace', "wrong"),
    ("strategy", "Z", 9, '    $patch: repalce', "refused"),
    ("strategy", "Z", 9, '    $patch: " replace"', "refused"),
    ("retain", "K", 8, '    $rteainKeys:', "wrong"),
    ("retain", "K", 8, '    $RETAINKEYS:', "wrong"),
    ("retain", "K", 8, '    $retain_keys:', "wrong"),
    ("retain", "K", 8, '    $retainkeys:', "wrong"),
    ("retain", "K", 10, '    type: [Recreate]', "wrong"),
    ("retain", "K", 14, '      - nmae: cache', "refused"),
    ("retain", "K", 15, '        $retainKeys: name', "refused"),
    ("retain", "K", 16, '        presistentVolumeClaim:', "refused"),
    ("order", "K", 6, '  $delete_from_primitive_list/finalizers:', "wrong"),
    ("order", "K", 6, '  $deletefromprimitivelist/finalizers:', "wrong"),
    ("order", "K", 6, '  $deleteFromPrimitiveList/finalizer:', "wrong"),
    ("order", "K", 6, '  $deleteFromPrimitiveList:', "refused"),
    ("order", "K", 6, '  $deleteFromPrimitiveList.finalizers:', "refused"),
    ("order", "K", 10, '    sepc:', "wrong"),
    ("order", "K", 11, '      $setElementOrder/container:', "refused"),
    ("order", "K", 11, '      $setElementOrder:', "refused"),
    ("order", "K", 11, '      $setElementOrder.containers:', "refused"),
    ("order", "K", 12, '      - name: ai', "wrong"),
    ("order", "K", 12, '      - id: api', "refused"),
    ("order", "K", 17, '      - name: auht', "refused"),
    ("list", "K", 10, '      - $action: replace', "refused"),
    ("list", "K", 10, '      - "$patch: replace"', "refused"),
    ("list", "K", 11, '      - nmae: api', "refused"),
    ("list", "K", 11, '      - name: null', "wrong"),
    ("list", "K", 17, '      toleration:', "wrong"),
    ("list", "Z", 10, '      - $patch: {replace: true}', "refused"),
    ("list", "Z", 14, '        - Name: http', "wrong"),
    ("null", "K", 13, '      - Name: api', "refused"),
    ("null", "Z", 8, '    type: [Recreate]', "refused"),
    ("svc", "K", 8, '  - port: 9091', "wrong"),
    ("svc", "K", 10, '    $$patch: delete', "wrong"),
    ("svc", "K", 10, '    $patch: [delete]', "refused"),
    ("svc", "K", 11, '  - port: "443"', "wrong"),
    ("svc", "Z", 11, '  - port: "443"', "wrong"),
    ("cm", "K", 7, '  $ptach: replace', "wrong"),
    ("cm", "K", 7, '  $PATCH: replace', "wrong"),
    ("cm", "K", 7, '  $patch: repalce', "refused"),
    ("cm", "K", 7, '  $patch: Replace', "refused"),
    ("cm", "K", 7, '  $replace: true', "wrong"),
    ("cm", "Z", 7, '  $Patch: replace', "wrong"),
    ("cm", "Z", 7, '  $patch: REPLACE', "refused"),
    ("sts", "K", 12, '          @patch: replace', "refused"),
    ("sts", "K", 12, '          $patch: REPLACE', "refused"),
    ("sts", "K", 12, '          $replace: true', "wrong"),
    ("sts", "K", 17, '          $patch: deleet', "refused"),
    ("sts", "K", 17, '          $patch: ""', "refused"),
    ("sts", "K", 18, '      volume:', "wrong"),
    ("sts", "K", 20, '        $Patch: delete', "wrong"),
    ("sts", "K", 20, '        $patch: remove', "refused"),
    ("sts", "K", 20, '        $patch: [delete]', "refused"),
    ("sts", "Z", 12, '          $patch: null', "refused"),
    ("sts", "Z", 16, '        - name: PGDAAT', "wrong"),
    ("sts", "Z", 16, '        - name: pgdata', "wrong"),
    ("sts", "Z", 17, '          $path: delete', "wrong"),
    ("sts", "Z", 17, '        $patch: delete', "wrong"),
    ("sts", "Z", 18, '      vloumes:', "wrong"),
    ("sts", "Z", 20, '        $patch: Delete', "refused"),
    ("sts", "Z", 20, '        $patch: merge', "wrong"),
    ("sts", "Z", 20, '        $patch: replace', "wrong"),
    ("sts", "Z", 20, '        $patch: " delete"', "refused"),
    ("sts", "Z", 20, '        $op: delete', "wrong"),
    ("gone", "Z", 1, '$patch: true', "refused"),
    ("ops", "K", 1, '- op: Replace', "refused"),
    ("ops", "Z", 1, '- op: repalce', "refused"),
    ("ops", "K", 1, '- op: update', "refused"),
    ("ops", "Z", 1, '- Op: replace', "refused"),
    ("ops", "K", 1, '- opp: replace', "refused"),
    ("ops", "Z", 1, '- op: null', "refused"),
    ("ops", "K", 2, '  path: spec/replicas', "wrong"),
    ("ops", "Z", 2, '  path: /spec/replcias', "wrong"),
    ("ops", "K", 2, '  path: /replicas', "wrong"),
    ("ops", "Z", 2, '  path: spec.replicas', "refused"),
    ("ops", "K", 2, '  Path: /spec/replicas', "refused"),
    ("ops", "Z", 2, '  path: /spec/replicas/', "refused"),
    ("ops", "K", 2, '  path:', "refused"),
    ("ops", "Z", 3, '  vaule: 5', "wrong"),
    ("ops", "K", 3, '  value: "5"', "wrong"),
    ("ops", "Z", 3, '  values: 5', "wrong"),
    ("ops", "K", 4, '- op: ADD', "refused"),
    ("ops", "Z", 5, '  path: /metadata/labels/shop.example.com/tier', "refused"),
    ("ops", "K", 5, '  path: /metadata/lables/tier', "refused"),
    ("ops", "Z", 5, '  path: metadata/labels/tier', "refused"),
    ("ops", "K", 7, '- op: delete', "refused"),
    ("ops", "Z", 7, '- op: remvoe', "refused"),
    ("ops", "K", 8, '  path: /spec/template/spec/containers/3', "refused"),
    ("ops", "Z", 8, '  path: /spec/template/spec/containers/log-shipper', "refused"),
    ("ops", "K", 8, '  path: /spec/template/spec/container/2', "refused"),
    ("ops", "K", 9, '- op: cpoy', "refused"),
    ("ops", "Z", 10, '  form: /spec/template/spec/serviceAccountName', "refused"),
    ("ops", "K", 10, '  from: /spec/template/spec/serviceAccount', "wrong"),
    ("ops", "Z", 11, '  path: /spec/template/metadata/lables/account', "refused"),
    ("ops", "K", 11, '  path: /spec/templates/metadata/labels/account', "refused"),
    ("side", "Z", 17, '        - name: LOG_LEVELx', "wrong"),
    ("null", "Z", 15, '        - name: DB_HOSTx', "wrong"),
    ("gone", "Z", 6, '  namespace: prod', "refused"),
]  # fmt: skip

# Another name, number or directive that may be meant; what is told elsewhere: a namespace for
# kustomize at the entry of the patch, what is no YAML any more where the reader stopped.
KNOWN_NOT_FOUND: list[Mutation] = [
    ("side", "K", 16, '        $patch: delete', "refused"),
    ("side", "Z", 16, '          "$patch: delete"', "refused"),
    ("strategy", "Z", 9, '    $patch: delete', "wrong"),
    ("svc", "Z", 11, '  - port: 441', "wrong"),
    ("cm", "K", 7, '  patch: replace', "wrong"),
    ("cm", "Z", 7, '  $patch: delete', "wrong"),
    ("cm", "Z", 7, '$patch: replace', "refused"),
    ("ops", "Z", 8, '  path: /spec/template/spec/containers/1', "wrong"),
]  # fmt: skip
