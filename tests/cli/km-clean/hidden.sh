# SPDX-License-Identifier: MIT
# Ways to an unsafe name that its text does not show: names bound twice, aliases,
# modules as values, builtins behind names that may not be bound. One class for
# each; those that end in "ok" do no harm.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

cases 'import torch, os' <<'END' | records r |
= TwiceTry1
try:
    import torch as T
except ImportError:
    import torch as T
: return T.load(x)
= TwiceTryValue2
try:
    import torch as T
except ImportError:
    import numpy as T
: f = T; return f.load(x)
= IfElse3
if 1 > 0:
    import torch as T
else:
    T = None
: m = T; return m.load(x)
= IfElseGetattr4
if 1 > 0:
    import torch as T
else:
    T = None
: return getattr(T, 'lo' 'ad')(x)
= IfElseGetattrDyn5
if 1 > 0:
    import torch as T
else:
    T = None
: return getattr(T, self.n)(x)
= IfElseVars6
if 1 > 0:
    import torch as T
else:
    T = None
: return vars(T)['load'](x)
= IfElseArg7
if 1 > 0:
    import torch as T
else:
    T = None
: return self.f(T)
= FromTwice8
try:
    from torch import load as L
except ImportError:
    L = None
: return L(x)
= FromTwice29
try:
    from torch import hub
except ImportError:
    hub = None
: return hub.load(x)
= ModuleAlias10
T = torch
: return T.load(x)
= AttrAlias11
T = torch.serialization
: return T.load(x)
= FnAlias12
L = torch.load
: return L(x)
= TupleAlias13
T, U = torch, nn
: return T.load(x)
= Walrus14
(T := torch)
: return T.load(x)
= WalrusIn15
: return (T := torch).load(x)
= GlobalOpen16
: o = open; return o(x)
= BuiltinList17
: return [eval][0](x)
= Vars18
: return vars()['x']
= Locals19
: return locals()['x']
= VarsModule20
: return vars(torch)['load'](x)
= DefaultArg21
def g(x, l=torch.load):
    return l(x)
: return g(x)
= DefaultArgModule22
def g(x, l=torch):
    return l.load(x)
: return g(x)
= LambdaDefault23
g = lambda x, l=torch: l.load(x)
: return g(x)
= Comprehension24
: return [t.load(x) for t in [torch]]
= For25
: for t in (torch,):
:     x = t.load(x)
: return x
= With26
: with torch as t:
:     return t.load(x)
= ClassAlias27
class B:
    T = torch

: return B.T.load(x)
= ClassAlias228
class B:
    L = torch.load

: return B.L(x)
= SelfAlias29
: self.t = torch; return self.t.load(x)
= Star30
from os import *
: return system('ls')
= StarTorch31
from torch import *
: return load(x)
= StarHub32
from torch.hub import *
: return load_state_dict_from_url(x)
= StarHelper33
from helper import *
: return CD(x)
= Subclasses34
: return ().__class__.__base__.__subclasses__()
= InitGlobals35
: return self.__init__.__globals__
= Func36
: return self.forward.__func__.__globals__
= Decorator37
@torch.jit.load
def g(x):
    return x
: return g(x)
= DecoratorEval38
@eval
@exec
def g(x):
    return x
: return g(x)
= Fstring39
: return f'{open(x)}'
= Fstring240
: return f'{torch.load(x)!r:>{exec(x)}}'
= Annotation41
def g(x: exec('1')):
    return x
: return g(x)
= AnnotationVar42
y: exec('1') = 1
: return x * y
= AnnotationClass43
class B:
    y: exec('1') = 1

: return B.y
= ReturnAnnotation44
def g(x) -> torch.hub.load('a'):
    return x
: return g(x)
= StringAnnotation45
def g(x: "exec('1')"):
    return x
: return g(x)
= Match46
: match x:
:     case torch.Tensor():
:         return torch.load(x)
: return x
= MatchCapture47
: match torch:
:     case t:
:         return t.load(x)
: return x
= MatchValue48
: match x:
:     case os.name:
:         return x
: return x
= TypeParams49
def g[T: exec('1')](x):
    return x
: return g(x)
= TypeAlias50
type A = exec('1')
: return A.__value__
= GlobalsCall51
: return globals()['torch']
= Builtins52
: return __builtins__['eval'](x)
= ImportBuiltins53
import builtins
: return builtins.eval(x)
= Import54
: return __import__('os').system(x)
= Functools55
import functools
: return functools.partial(open, x)()
= OperatorAttrgetter56
import operator
: return operator.attrgetter('load')(torch)(x)
= Methodcaller57
import operator
: return operator.methodcaller('load', x)(torch)
= MapGetattr58
import functools
: return list(map(getattr, [torch], ['load']))[0](x)
= GetattrAlias59
g = getattr
: return g(torch, 'load')(x)
= GetattrBuiltinAliased60
: g = getattr; return g(nn.functional, 'torch')
= GetattrOfConditional61
try:
    import torch.nn.functional as G
except ImportError:
    G = None
: return getattr(G, 'torch').load(x)
= ChainOfConditional62
try:
    import torch.nn.functional as G
except ImportError:
    G = None
: return G.torch.load(x)
= ChainLocalImportTwice63
: try:
:     import torch as t
: except ImportError:
:     import numpy as t
: return t.load(x)
= LocalImportRebound64
: import torch as t
: t = t
: return t.load(x)
= LocalImportCondValue65
: if x:
:     import torch as t
: else:
:     t = None
: u = t
: return u.load(x)
= LocalFromRebound66
: from torch import hub as t
: t = t or None
: return t.load(x)
= Nonlocal67
: import torch as t
: def f():
:     nonlocal t
:     return t.load(x)
: return f()
= GlobalInFunc68
def setup():
    global T
    import torch as T
: setup(); return T.load(x)
= DictMethod69
: return torch.__dict__.get('load')(x)
= Getattribute70
: return torch.__getattribute__('load')(x)
= ObjectGetattribute71
: return object.__getattribute__(torch, 'load')(x)
= TypeGetattribute72
: return type(torch).__getattribute__(torch, 'load')(x)
= SysModules73
import sys as s
: return s.modules['os']
= Loader74
: return torch.__loader__.load_module('os')
= Spec75
: return torch.__spec__.loader
= Code76
: return (lambda: 0).__code__.replace(co_code=b'')
= Functiontype77
import types
: return types.FunctionType(x, {})
= ConditionalExpr78
T = torch if 1 > 0 else None
: return T.load(x)
= BoolOr79
T = torch or nn
: return T.load(x)
= DictDisplay80
T = {'t': torch}
: return T['t'].load(x)
= ReturnModule81
def m():
    return torch
: return m().load(x)
= YieldModule82
def m():
    yield torch
: return next(m()).load(x)
= CondFrom83
if 1 > 0:
    from torch import load as L
else:
    from numpy import load as L
: return L(x)
= CondPathlib84
try:
    from pathlib import Path
except ImportError:
    Path = None
: return Path(x).touch()
= CondOs85
try:
    import os
except ImportError:
    os = None
: return os.system(x)
= CondOsValue86
try:
    import os
except ImportError:
    os = None
: o = os; return o.system(x)
= CondOsPath87
try:
    import os.path as P
except ImportError:
    P = None
: return P.os.system(x)
= CondModReExport88
from helper2 import T
: return T.load(x)
= CondModReExportValue89
from helper2 import T
: t = T; return t.load(x)
= ModAttr90
import helper2
: return helper2.T.load(x)
= ModAttrValue91
import helper2
: t = helper2.T; return t.load(x)
= ModAttrTorch92
import helper2
: t = helper2.U; return t.load(x)
= ClassAttrImport93
class B:
    import torch as T

: return B.T.load(x)
= ClassAttrFrom94
class B:
    from torch import load

: return B.load(x)
= ClassAttrFromSelf95
class B:
    from torch import load
    def f(self, x):
        return self.load(x)
: return B().f(x)
= ClassBodyImportInEntry96
class ClassBodyImportInEntry96(nn.Module):
    from torch import load
    import os
    def forward(self, x):
        return x
= Del97
: del os.environ['A']; return x
= Aug98
T = [torch]
T += [nn]
: return T[0].load(x)
= Starred99
: return self.f(*[torch])
= Kw100
: return self.f(t=torch)
= Dictkw101
: return self.f(**{'t': torch})
= Except102
: try:
:     pass
: except torch.load(x):
:     pass
: return x
= BaseClass103
class B(torch.utils.data.DataLoader):
    pass
: return B(x)
= Metaclass104
class B(metaclass=exec):
    pass
: return B()
= Slice105
: return x[torch.load(x):]
= Compare106
: return x == torch.load(x)
= SortedKey107
: return sorted(x, key=eval)
= SetAttr108
: torch.nn.Linear.forward = eval; return x
= Type109
: return type('A', (), {'f': eval})
= ImportStarCond110
try:
    from torch import *
except ImportError:
    pass
: return load(x)
= CtypesAttr111
: return x.numpy().ctypes
= GetattrDefault112
: return getattr(torch, 'load', None)(x)
= Hasattr113
: return hasattr(torch, 'load')
= NamedImportInnerMod114
from torch import jit
: j = jit; return j.load(x)
= InnerModCond115
try:
    from torch import jit
except ImportError:
    jit = None
: j = jit; return j.load(x)
= InnerModNotListed116
from torch import serialization as s
: j = s; return j.load(x)
= InnerModNotListed2117
import torch._tensor as s
: j = s; return j.torch.load(x)
= InnerModViaFrom118
from torch.nn import modules
: j = modules; return j.module.torch.load(x)
= InnerModViaFrom2119
from torch.nn.modules import conv
: j = conv; return j.torch.load(x)
= InnerModViaFrom3120
from torch.utils import _pytree as p
: j = p; return j.functools
= NumpyInner121
from numpy import lib
: j = lib; return j.npyio.load(x)
= NumpyMa122
from numpy import ma
: j = ma; return j.np.load(x)
= NumpyFft123
from numpy import fft
: j = fft; return j.helper
= TypingMod124
import typing
: j = typing; return j.sys
= CollectionsAbc125
from collections import abc
: j = abc; return j.sys.modules
= Contextlib126
import contextlib
: return contextlib.os.system(x)
= ContextlibSys127
import contextlib
: return contextlib.sys.modules['os']
= WarningsSys128
import warnings
: return warnings.sys.modules
= TypingSys129
import typing
: return typing.sys.modules
= Einops130
import einops
: j = einops; return j.einops.sys
= Enum131
import enum
: return enum.sys.modules['os'].system('ls')
= Re132
import re
: return re._compiler.sys
= Inspect133
import inspect
: return inspect.os.system(x)
= GetattrNested134
: return getattr(getattr(torch, 'hub'), 'load')(x)
= GetattrParen135
: return getattr((torch), 'load')(x)
= GetattrBytes136
: return getattr(torch, b'load'.decode())(x)
= GetattrVarConst137
N = 'load'
: return getattr(torch, N)(x)
= Subscript138
: return [torch][0].load(x)
= TupleAssignLocal139
: t, u = torch, 1; return t.load(x)
= VarsAlias140
v = vars
: return v(torch)['load'](x)
= EvalViaCondBuiltins141
try:
    from builtins import eval as e
except ImportError:
    e = None
: return e(x)
= EvalRebind142
try:
    e = eval
except NameError:
    e = None
: return e(x)
= ShadowedBuiltinCond143
if 1 > 0:
    def open(x):
        return x
: return open(x)
= ShadowThenBuiltin144
def f(x):
    return open(x)
if 1 < 0:
    open = None
: return f(x)
= DelRestoresBuiltin145
eval = None
del eval
: return eval(x)
= ClassShadow146
class B:
    eval = 1
    def f(self, x):
        return eval(x, {})
: return B().f(x)
= LoopShadow147
for eval in ():
    pass

: return eval(x)
= CondAssignShadow148
if 1 < 0:
    eval = None

: return eval(x)
= MainShadow149
if __name__ == '__main__':
    exec = print

: return exec(x)
= LocalDel150
: e = eval
: return e(x)
= ExceptShadow151
try:
    pass
except Exception as eval:
    pass
: return eval(x)
= StarShadow152
from helper3 import *
: return eval(x)
= AnnotatedOnly153
eval: int
: return eval(x)
= ComprehensionClassScope154
: return [eval for eval in (1,)] and eval(x, {})
= EntryClassImportSelf155
class EntryClassImportSelf155(nn.Module):
    from torch import load
    def forward(self, x):
        return self.load(x)
= ClassBuiltin156
class B:
    if 1 < 0:
        eval = 1
    y = eval('1')

: return B.y
= ReadBeforeDef157
y = eval('1')
def eval(x):
    return x
: return y
= VarsModuleLevel158
T = vars()['torch']
: return T.load(x)
= VarsClassLevel159
class B:
    import torch
    T = locals()['torch']
: return B.T.load(x)
= LocalsFuncImport160
: import torch as t
: return locals()['t'].load(x)
= OsAttr161
: return self.f.os.system('ls')
= SysAttr162
: y = self.sys; return y.modules
= Legit163
def compile(x):
    return x
class P:
    def open(self): pass
    def load(self, x): return x
: return compile(P().load(x))
= Legit2164
from functools import reduce as input
: return input(max, x)
= Legit3165
try:
    import numpy as np
except ImportError:
    np = None
: return x if np is None else np.abs(x)
= Legit4166
try:
    from torch import fft
except ImportError:
    fft = None
: return x if fft is None else fft.fft(x)
= Legit5167
: import torch.nn.functional as F
: return F.relu(x)
= Legit6168
: return self.platform, x.code, super().__getattr__('a'), nn.Module.__getattr__(self, 'b')
= Legit7169
try:
    from torch import nn as N
except ImportError:
    N = None
: return N.ReLU()(x) if N else x
= GlobalStmtShadow170
def s():
    global eval
    eval = None
: return eval(x)
=== helper.py
import ctypes
from ctypes import CDLL as CD
=== helper2.py
if 1:
    import torch as T
else:
    T = None
import torch as U
=== helper3.py
if 0:
    eval = None
END
    clean --no-dedup --no-decontaminate --json | grep '^##'
