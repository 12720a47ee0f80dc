# SPDX-License-Identifier: MIT
# More ways to files, to code and to native code: values that may only be held
# against something, modules that carry others, private members, methods that
# write. One class for each; those that end in "ok" do no harm.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --no-dedup --no-decontaminate --json | grep '^##'
=== m0.py
import torch
from torch import nn
class ActivationDict(nn.Module):
    def forward(self, x):
        return [v for v in vars(torch.nn.modules.activation).values() if isinstance(v, dict)][0]["eval"]("1")
=== m1.py
import torch
from torch import nn
class ActivationNested(nn.Module):
    def forward(self, x):
        return [v for act in vars(torch.nn.modules.activation).values() if isinstance(act, type) for v in [act]]
=== m2.py
import torch
from torch import nn
class ActivationShadow(nn.Module):
    def forward(self, x):
        isinstance = print
        return [act for act in vars(torch.nn.modules.activation).values() if isinstance(act, type)]
=== m3.py
import torch
from torch import nn
class ActivationClasses_ok(nn.Module):
    def forward(self, x):
        return [
            act for act in vars(torch.nn.modules.activation).values()
            if isinstance(act, type) and issubclass(act, nn.Module)
        ]
=== m4.py
import torch
from torch import nn
from pathlib import Path
class PathAlias(nn.Module):
    def forward(self, x):
        p = Path; return p("a").open()
=== m5.py
import torch
from torch import nn
from pathlib import Path
class PathMap(nn.Module):
    def forward(self, x):
        return list(map(Path, ["a"]))
=== m6.py
import torch
from torch import nn
from pathlib import Path
class Q(Path):
    pass
class PathBase(nn.Module):
    def forward(self, x):
        return Q("a").open()
=== m7.py
import torch
from torch import nn
from pathlib import Path
class PathIs_ok(nn.Module):
    def forward(self, x):
        return isinstance(x, (str, Path))
=== m8.py
import torch
from torch import nn
import types
class FunctionAlias(nn.Module):
    def forward(self, x):
        f = types.FunctionType; return f(x, {})
=== m9.py
import torch
from torch import nn
import types
class LambdaType(nn.Module):
    def forward(self, x):
        return types.LambdaType(x, {})
=== m10.py
import torch
from torch import nn
import dataclasses
class CreateFn(nn.Module):
    def forward(self, x):
        return dataclasses._create_fn("f", (), ["return 1"])
=== m11.py
import torch
from torch import nn
import inspect
class EvalStr(nn.Module):
    def forward(self, x):
        return inspect.signature(x, eval_str=True)
=== m12.py
import torch
from torch import nn
class CarriedInspect(nn.Module):
    def forward(self, x):
        return torch.inspect.getsource(x)
=== m13.py
import torch
from torch import nn
import dataclasses
class CarriedTypes(nn.Module):
    def forward(self, x):
        return dataclasses.types.CodeType
=== m14.py
import torch
from torch import nn
class PrintSelf(nn.Module):
    def forward(self, x):
        p = print; return p.__self__.eval("1")
=== m15.py
import torch
from torch import nn
import numpy as np
class ArrayDump(nn.Module):
    def forward(self, x):
        return np.ndarray.dump(x, "f")
=== m16.py
import torch
from torch import nn
class ChromeTrace(nn.Module):
    def forward(self, x):
        torch.autograd.profiler.profile().export_chrome_trace("f"); return x
=== m17.py
import torch
from torch import nn
class TraceHandler(nn.Module):
    def forward(self, x):
        return torch.profiler.tensorboard_trace_handler("f")
=== m18.py
import torch
from torch import nn
class ToFolder(nn.Module):
    def forward(self, x):
        torch.fx.symbolic_trace(self).to_folder("f"); return x
=== m19.py
import torch
from torch import nn
class StorageFile(nn.Module):
    def forward(self, x):
        x.untyped_storage()._new_using_filename_cpu(8); return x
=== m20.py
import torch
from torch import nn
class Jiterator(nn.Module):
    def forward(self, x):
        return torch.cuda.jiterator._create_jit_fn("code")(x)
=== m21.py
import torch
from torch import nn
import importlib.metadata
class Located(nn.Module):
    def forward(self, x):
        return importlib.metadata.distribution("a").locate_file("b")
=== modules
m0.py ActivationDict
m1.py ActivationNested
m2.py ActivationShadow
m3.py ActivationClasses_ok
m4.py PathAlias
m5.py PathMap
m6.py PathBase
m7.py PathIs_ok
m8.py FunctionAlias
m9.py LambdaType
m10.py CreateFn
m11.py EvalStr
m12.py CarriedInspect
m13.py CarriedTypes
m14.py PrintSelf
m15.py ArrayDump
m16.py ChromeTrace
m17.py TraceHandler
m18.py ToFolder
m19.py StorageFile
m20.py Jiterator
m21.py Located
END
