# SPDX-License-Identifier: MIT
# More ways to files, to code and to native code: values that may only be held
# against something, modules that carry others, private members, methods that
# write. One class for each; those that end in "ok" do no harm.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

cases 'import torch' <<'END' | records r |
= ActivationDict
: return [v for v in vars(torch.nn.modules.activation).values() if isinstance(v, dict)][0]["eval"]("1")
= ActivationNested
: return [v for act in vars(torch.nn.modules.activation).values() if isinstance(act, type) for v in [act]]
= ActivationShadow
: isinstance = print
: return [act for act in vars(torch.nn.modules.activation).values() if isinstance(act, type)]
= ActivationClasses_ok
: return [
:     act for act in vars(torch.nn.modules.activation).values()
:     if isinstance(act, type) and issubclass(act, nn.Module)
: ]
= Literal_ok
import ast
: return ast.literal_eval(self.shape), [type(n) for n in ast.walk(ast.parse("1"))]
= AstMain
from ast import main
: return main()
= AstModule
import ast
: return getattr(ast, self.name)("x")
= AstSystem
import ast
: return ast.sys.modules
= AstCode
import ast
: return compile(ast.parse(self.text), "f", "exec")
= Lock_ok
import threading
: with threading.Lock():
:     return x
= LockClass_ok
from threading import RLock
class LockClass_ok(nn.Module):
    lock = RLock()
    def forward(self, x):
        return x
= LockModule
import threading
: return threading.Lock, getattr(threading, self.name)(x)
= Thread
import threading
: return threading.Thread(target=x)
= LockSystem
from threading import _os
: return _os.getpid()
= ActivationOr
: return [a for a in vars(torch.nn.modules.activation).values() if isinstance(a, type) or x]
= ActivationOther
: return [a for a in vars(torch.nn.modules.loss).values() if isinstance(a, type)]
= ActivationNamed_ok
from torch.nn.modules import activation
: return list(a for a in vars(activation).values() if isinstance(a, type))
= PathAlias
from pathlib import Path
: p = Path; return p("a").open()
= PathMap
from pathlib import Path
: return list(map(Path, ["a"]))
= PathBase
from pathlib import Path
class Q(Path):
    pass
: return Q("a").open()
= PathIs_ok
from pathlib import Path
: return isinstance(x, (str, Path))
= FunctionAlias
import types
: f = types.FunctionType; return f(x, {})
= LambdaType
import types
: return types.LambdaType(x, {})
= CreateFn
import dataclasses
: return dataclasses._create_fn("f", (), ["return 1"])
= EvalStr
import inspect
: return inspect.signature(x, eval_str=True)
= CarriedInspect
: return torch.inspect.getsource(x)
= CarriedTypes
import dataclasses
: return dataclasses.types.CodeType
= PrintSelf
: p = print; return p.__self__.eval("1")
= ArrayDump
import numpy as np
: return np.ndarray.dump(x, "f")
= ChromeTrace
: torch.autograd.profiler.profile().export_chrome_trace("f"); return x
= TraceHandler
: return torch.profiler.tensorboard_trace_handler("f")
= ToFolder
: torch.fx.symbolic_trace(self).to_folder("f"); return x
= StorageFile
: x.untyped_storage()._new_using_filename_cpu(8); return x
= Jiterator
: return torch.cuda.jiterator._create_jit_fn("code")(x)
= Located
import importlib.metadata
: return importlib.metadata.distribution("a").locate_file("b")
= NumpyDump
: x.detach().numpy().dump("f"); return x
= LocalDump
: a = x.numpy()
: a.dump("f"); return x
= ScriptSave
: (torch.jit.script(self)).save("f"); return x
= ModuleDump
made = torch.zeros(1).numpy()
: made.dump("f"); return x
= Memmap
: return x.numpy().core.memmap("f")
= SaveTxt
: return self.tools.savetxt("f", x)
= GraphDump
: torch.cuda.CUDAGraph().debug_dump("f"); return x
= NotedLoad
from torch import load as fetch
: def g(x: "list[fetch('f')]"):
:     return x
: return g(x)
= NotedEval
: def g(x) -> "(eval) ('1')":
:     return x
: return g(x)
= NotedEscape
: def g(x: "\\x65val('1')"):
:     return x
: return g(x)
= NotedPieces
: y: "ev" "al('1')" = x
: return y
= NotedCall
: def g(x: torch.hub.load("f")):
:     return x
: return g(x)
= Noted_ok
import threading
from typing import Callable, Tuple
: def g(x: "torch.Tensor", f: "Callable[[int], Tuple[()]]", t: "threading.Thread") -> "open":
:     return x
: return g(x, None, None)
= OwnSave_ok
class Keep:
    def save(self, x):
        return x
    def dump(self):
        return 1
: k = Keep()
: return k.save(x), Keep().save(x), self.save(x), super().dump(x), k.make().dump()
END
    clean --no-dedup --no-decontaminate --json | grep '^##'
