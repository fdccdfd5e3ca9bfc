"""Records what kubectl sends, for machines without it:  python -m patch.record_kubectl  (in tests/)."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from random import Random

from .api_server import ApiServer
from .generated import KINDS, make_object
from .triples import make_triple

FILE = Path(__file__).parent / "vectors" / "apply_probes.json"
TRIPLES, PAIRS = range(9000, 9050), range(9100, 9120)


def main() -> None:
    cases = []
    version = json.loads(
        subprocess.run(
            ["kubectl", "version", "--client", "-o", "json"], capture_output=True, check=True
        ).stdout
    )["clientVersion"]["gitVersion"]
    with tempfile.TemporaryDirectory() as directory, ApiServer(Path(directory)) as server:
        for seed in TRIPLES:
            _, config, live = make_triple(Random(seed))
            sent = server.apply(config, live)
            cases.append({"id": f"apply_{seed}", "config": config, "live": live, "patch": sent})
        for seed in PAIRS:
            rnd = Random(seed)
            kind = rnd.choice(list(KINDS))
            original, modified = make_object(rnd, kind), make_object(rnd, kind)
            for side in (original, modified):
                side["metadata"] |= {"namespace": "default", "uid": "1"}
            sent = server.edit(original, modified)
            case = {"id": f"edit_{seed}", "original": original, "modified": modified}
            cases.append({**case, "patch": sent})
    about = f"what kubectl {version} sends; written by record_kubectl.py"
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    FILE.write_text(f'{{"_about": {json.dumps(about)}, "cases": [\n{lines}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
