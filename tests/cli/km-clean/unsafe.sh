# SPDX-License-Identifier: MIT
# Unsafe code is refused by what a name resolves to, wherever it stands.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

body() {
    printf 'import torch, os, math, sys, numpy as np, functools, random\n'
    printf 'from torch import nn, load as fetch\nfrom os import environ\n'
    printf 'import importlib\nfrom pathlib import Path\nfrom helper import h\n'
    i=0
    while IFS= read -r statement; do
        i=$((i + 1))
        printf 'class C%d(nn.Module):\n    def forward(self, x):\n' $i
        printf '        %s\n' "$statement"
    done
}
cat >statements.txt <<'END'
return os.system("ls")
return eval("x")
return fetch(x)
return torch.hub.load("a", "b")
return np.save("a", x)
environ["A"] = "1"
return environ.pop("A")
return torch.os.remove("a")
return getattr(os, "system")("ls")
return getattr(torch, "save")(x, "f")
return x.__class__.__subclasses__()
return getattr(x, "__globals__")
return globals()["x"]
return __builtins__
return __import__("os")
return importlib.import_module("os")
return open("f").read()
return Path("f").read_text()
return sys.modules
return x.numpy().tofile("f")
import subprocess; return subprocess.run(x)
from threading import Thread as T; return T()
f = torch.ops.load_library; return f
return h(x)
return x if isinstance(x, Path) else os.path.join("a", sys.platform)
return environ.get("A", "1"), os.getenv("B"), f"{os.environ.get('C')}"
return functools.partial(exec, "1")
return getattr(x, "__glo" "bals__")
return getattr(x, "\\x5f_globals__")
return getattr(os, "sys" + "tem")("ls")
return "{0.__init__.__globals__}".format(self)
return (torch).load(x)
return (torch.hub).load(x)
return torch.𝐥𝐨𝐚𝐝(x)
return x.ｔｏｆｉｌｅ("f")
return x.α + (x).shape[0]
return torch.__dict__["load"](x)
return print.__self__.eval("1")
return math.inspect.tokenize.open("f")
return torch._utils._import_dotted_name("os")
return torch.UntypedStorage.from_file("f")
torch.set_default_dtype(torch.float64); return x
t = torch; return t.load(x)
return vars(torch)["load"](x)
return getattr(torch, x)("f")
return functools.reduce(getattr, ["os", "system"], torch)("ls")
return nn.functional.torch.load(x)
return getattr(nn.functional, "torch").load(x)
f = nn; return f.functional.torch.load(x)
return random.np.load(x)
return getattr(nn, x)(), getattr(torch, "relu")(x), hasattr(torch, x), dir(nn)
return getattr(x, "conv" + str(1)), getattr(x, f"a{x}"), getattr(x, "b")
END
{
    echo '=== m.py'
    body <statements.txt
    echo '=== helper.py'
    printf 'import ctypes\ndef h(x):\n    return ctypes.CDLL(x)\n'
    echo '=== modules'
    for i in $(seq 52); do echo "m.py C$i"; done
} | records r | clean --json
