# SPDX-License-Identifier: MIT
# Ways to an unsafe name that its text does not show: names bound twice, aliases,
# modules as values, builtins behind names that may not be bound. One class for
# each; those that end in "ok" do no harm.
set -euo pipefail
. "$SRC/tests/cli/km-clean/records.bash"

records r <<'END' | clean --no-dedup --no-decontaminate --json | grep '^##'
=== m1.py
import torch, os
from torch import nn
try:
    import torch as T
except ImportError:
    import torch as T
class TwiceTry1(nn.Module):
    def forward(self, x):
        return T.load(x)
=== m2.py
import torch, os
from torch import nn
try:
    import torch as T
except ImportError:
    import numpy as T
class TwiceTryValue2(nn.Module):
    def forward(self, x):
        f = T; return f.load(x)
=== m3.py
import torch, os
from torch import nn
if 1 > 0:
    import torch as T
else:
    T = None
class IfElse3(nn.Module):
    def forward(self, x):
        m = T; return m.load(x)
=== m4.py
import torch, os
from torch import nn
if 1 > 0:
    import torch as T
else:
    T = None
class IfElseGetattr4(nn.Module):
    def forward(self, x):
        return getattr(T, 'lo' 'ad')(x)
=== m5.py
import torch, os
from torch import nn
if 1 > 0:
    import torch as T
else:
    T = None
class IfElseGetattrDyn5(nn.Module):
    def forward(self, x):
        return getattr(T, self.n)(x)
=== m6.py
import torch, os
from torch import nn
if 1 > 0:
    import torch as T
else:
    T = None
class IfElseVars6(nn.Module):
    def forward(self, x):
        return vars(T)['load'](x)
=== m7.py
import torch, os
from torch import nn
if 1 > 0:
    import torch as T
else:
    T = None
class IfElseArg7(nn.Module):
    def forward(self, x):
        return self.f(T)
=== m8.py
import torch, os
from torch import nn
try:
    from torch import load as L
except ImportError:
    L = None
class FromTwice8(nn.Module):
    def forward(self, x):
        return L(x)
=== m9.py
import torch, os
from torch import nn
try:
    from torch import hub
except ImportError:
    hub = None
class FromTwice29(nn.Module):
    def forward(self, x):
        return hub.load(x)
=== m10.py
import torch, os
from torch import nn
T = torch
class ModuleAlias10(nn.Module):
    def forward(self, x):
        return T.load(x)
=== m11.py
import torch, os
from torch import nn
T = torch.serialization
class AttrAlias11(nn.Module):
    def forward(self, x):
        return T.load(x)
=== m12.py
import torch, os
from torch import nn
L = torch.load
class FnAlias12(nn.Module):
    def forward(self, x):
        return L(x)
=== m13.py
import torch, os
from torch import nn
T, U = torch, nn
class TupleAlias13(nn.Module):
    def forward(self, x):
        return T.load(x)
=== m14.py
import torch, os
from torch import nn
(T := torch)
class Walrus14(nn.Module):
    def forward(self, x):
        return T.load(x)
=== m15.py
import torch, os
from torch import nn
class WalrusIn15(nn.Module):
    def forward(self, x):
        return (T := torch).load(x)
=== m16.py
import torch, os
from torch import nn
class GlobalOpen16(nn.Module):
    def forward(self, x):
        o = open; return o(x)
=== m17.py
import torch, os
from torch import nn
class BuiltinList17(nn.Module):
    def forward(self, x):
        return [eval][0](x)
=== m18.py
import torch, os
from torch import nn
class Vars18(nn.Module):
    def forward(self, x):
        return vars()['x']
=== m19.py
import torch, os
from torch import nn
class Locals19(nn.Module):
    def forward(self, x):
        return locals()['x']
=== m20.py
import torch, os
from torch import nn
class VarsModule20(nn.Module):
    def forward(self, x):
        return vars(torch)['load'](x)
=== m21.py
import torch, os
from torch import nn
def g(x, l=torch.load):
    return l(x)
class DefaultArg21(nn.Module):
    def forward(self, x):
        return g(x)
=== m22.py
import torch, os
from torch import nn
def g(x, l=torch):
    return l.load(x)
class DefaultArgModule22(nn.Module):
    def forward(self, x):
        return g(x)
=== m23.py
import torch, os
from torch import nn
g = lambda x, l=torch: l.load(x)
class LambdaDefault23(nn.Module):
    def forward(self, x):
        return g(x)
=== m24.py
import torch, os
from torch import nn
class Comprehension24(nn.Module):
    def forward(self, x):
        return [t.load(x) for t in [torch]]
=== m25.py
import torch, os
from torch import nn
class For25(nn.Module):
    def forward(self, x):
        for t in (torch,):
            x = t.load(x)
        return x
=== m26.py
import torch, os
from torch import nn
class With26(nn.Module):
    def forward(self, x):
        with torch as t:
            return t.load(x)
=== m27.py
import torch, os
from torch import nn
class B:
    T = torch

class ClassAlias27(nn.Module):
    def forward(self, x):
        return B.T.load(x)
=== m28.py
import torch, os
from torch import nn
class B:
    L = torch.load

class ClassAlias228(nn.Module):
    def forward(self, x):
        return B.L(x)
=== m29.py
import torch, os
from torch import nn
class SelfAlias29(nn.Module):
    def forward(self, x):
        self.t = torch; return self.t.load(x)
=== m30.py
import torch, os
from torch import nn
from os import *
class Star30(nn.Module):
    def forward(self, x):
        return system('ls')
=== m31.py
import torch, os
from torch import nn
from torch import *
class StarTorch31(nn.Module):
    def forward(self, x):
        return load(x)
=== m32.py
import torch, os
from torch import nn
from torch.hub import *
class StarHub32(nn.Module):
    def forward(self, x):
        return load_state_dict_from_url(x)
=== m33.py
import torch, os
from torch import nn
from helper import *
class StarHelper33(nn.Module):
    def forward(self, x):
        return CD(x)
=== m34.py
import torch, os
from torch import nn
class Subclasses34(nn.Module):
    def forward(self, x):
        return ().__class__.__base__.__subclasses__()
=== m35.py
import torch, os
from torch import nn
class InitGlobals35(nn.Module):
    def forward(self, x):
        return self.__init__.__globals__
=== m36.py
import torch, os
from torch import nn
class Func36(nn.Module):
    def forward(self, x):
        return self.forward.__func__.__globals__
=== m37.py
import torch, os
from torch import nn
@torch.jit.load
def g(x):
    return x
class Decorator37(nn.Module):
    def forward(self, x):
        return g(x)
=== m38.py
import torch, os
from torch import nn
@eval
@exec
def g(x):
    return x
class DecoratorEval38(nn.Module):
    def forward(self, x):
        return g(x)
=== m39.py
import torch, os
from torch import nn
class Fstring39(nn.Module):
    def forward(self, x):
        return f'{open(x)}'
=== m40.py
import torch, os
from torch import nn
class Fstring240(nn.Module):
    def forward(self, x):
        return f'{torch.load(x)!r:>{exec(x)}}'
=== m41.py
import torch, os
from torch import nn
def g(x: exec('1')):
    return x
class Annotation41(nn.Module):
    def forward(self, x):
        return g(x)
=== m42.py
import torch, os
from torch import nn
y: exec('1') = 1
class AnnotationVar42(nn.Module):
    def forward(self, x):
        return x * y
=== m43.py
import torch, os
from torch import nn
class B:
    y: exec('1') = 1

class AnnotationClass43(nn.Module):
    def forward(self, x):
        return B.y
=== m44.py
import torch, os
from torch import nn
def g(x) -> torch.hub.load('a'):
    return x
class ReturnAnnotation44(nn.Module):
    def forward(self, x):
        return g(x)
=== m45.py
import torch, os
from torch import nn
def g(x: "exec('1')"):
    return x
class StringAnnotation45(nn.Module):
    def forward(self, x):
        return g(x)
=== m46.py
import torch, os
from torch import nn
class Match46(nn.Module):
    def forward(self, x):
        match x:
            case torch.Tensor():
                return torch.load(x)
        return x
=== m47.py
import torch, os
from torch import nn
class MatchCapture47(nn.Module):
    def forward(self, x):
        match torch:
            case t:
                return t.load(x)
        return x
=== m48.py
import torch, os
from torch import nn
class MatchValue48(nn.Module):
    def forward(self, x):
        match x:
            case os.name:
                return x
        return x
=== m49.py
import torch, os
from torch import nn
def g[T: exec('1')](x):
    return x
class TypeParams49(nn.Module):
    def forward(self, x):
        return g(x)
=== m50.py
import torch, os
from torch import nn
type A = exec('1')
class TypeAlias50(nn.Module):
    def forward(self, x):
        return A.__value__
=== m51.py
import torch, os
from torch import nn
class GlobalsCall51(nn.Module):
    def forward(self, x):
        return globals()['torch']
=== m52.py
import torch, os
from torch import nn
class Builtins52(nn.Module):
    def forward(self, x):
        return __builtins__['eval'](x)
=== m53.py
import torch, os
from torch import nn
import builtins
class ImportBuiltins53(nn.Module):
    def forward(self, x):
        return builtins.eval(x)
=== m54.py
import torch, os
from torch import nn
class Import54(nn.Module):
    def forward(self, x):
        return __import__('os').system(x)
=== m55.py
import torch, os
from torch import nn
import functools
class Functools55(nn.Module):
    def forward(self, x):
        return functools.partial(open, x)()
=== m56.py
import torch, os
from torch import nn
import operator
class OperatorAttrgetter56(nn.Module):
    def forward(self, x):
        return operator.attrgetter('load')(torch)(x)
=== m57.py
import torch, os
from torch import nn
import operator
class Methodcaller57(nn.Module):
    def forward(self, x):
        return operator.methodcaller('load', x)(torch)
=== m58.py
import torch, os
from torch import nn
import functools
class MapGetattr58(nn.Module):
    def forward(self, x):
        return list(map(getattr, [torch], ['load']))[0](x)
=== m59.py
import torch, os
from torch import nn
g = getattr
class GetattrAlias59(nn.Module):
    def forward(self, x):
        return g(torch, 'load')(x)
=== m60.py
import torch, os
from torch import nn
class GetattrBuiltinAliased60(nn.Module):
    def forward(self, x):
        g = getattr; return g(nn.functional, 'torch')
=== m61.py
import torch, os
from torch import nn
try:
    import torch.nn.functional as G
except ImportError:
    G = None
class GetattrOfConditional61(nn.Module):
    def forward(self, x):
        return getattr(G, 'torch').load(x)
=== m62.py
import torch, os
from torch import nn
try:
    import torch.nn.functional as G
except ImportError:
    G = None
class ChainOfConditional62(nn.Module):
    def forward(self, x):
        return G.torch.load(x)
=== m63.py
import torch, os
from torch import nn
class ChainLocalImportTwice63(nn.Module):
    def forward(self, x):
        try:
            import torch as t
        except ImportError:
            import numpy as t
        return t.load(x)
=== m64.py
import torch, os
from torch import nn
class LocalImportRebound64(nn.Module):
    def forward(self, x):
        import torch as t
        t = t
        return t.load(x)
=== m65.py
import torch, os
from torch import nn
class LocalImportCondValue65(nn.Module):
    def forward(self, x):
        if x:
            import torch as t
        else:
            t = None
        u = t
        return u.load(x)
=== m66.py
import torch, os
from torch import nn
class LocalFromRebound66(nn.Module):
    def forward(self, x):
        from torch import hub as t
        t = t or None
        return t.load(x)
=== m67.py
import torch, os
from torch import nn
class Nonlocal67(nn.Module):
    def forward(self, x):
        import torch as t
        def f():
            nonlocal t
            return t.load(x)
        return f()
=== m68.py
import torch, os
from torch import nn
def setup():
    global T
    import torch as T
class GlobalInFunc68(nn.Module):
    def forward(self, x):
        setup(); return T.load(x)
=== m69.py
import torch, os
from torch import nn
class DictMethod69(nn.Module):
    def forward(self, x):
        return torch.__dict__.get('load')(x)
=== m70.py
import torch, os
from torch import nn
class Getattribute70(nn.Module):
    def forward(self, x):
        return torch.__getattribute__('load')(x)
=== m71.py
import torch, os
from torch import nn
class ObjectGetattribute71(nn.Module):
    def forward(self, x):
        return object.__getattribute__(torch, 'load')(x)
=== m72.py
import torch, os
from torch import nn
class TypeGetattribute72(nn.Module):
    def forward(self, x):
        return type(torch).__getattribute__(torch, 'load')(x)
=== m73.py
import torch, os
from torch import nn
import sys as s
class SysModules73(nn.Module):
    def forward(self, x):
        return s.modules['os']
=== m74.py
import torch, os
from torch import nn
class Loader74(nn.Module):
    def forward(self, x):
        return torch.__loader__.load_module('os')
=== m75.py
import torch, os
from torch import nn
class Spec75(nn.Module):
    def forward(self, x):
        return torch.__spec__.loader
=== m76.py
import torch, os
from torch import nn
class Code76(nn.Module):
    def forward(self, x):
        return (lambda: 0).__code__.replace(co_code=b'')
=== m77.py
import torch, os
from torch import nn
import types
class Functiontype77(nn.Module):
    def forward(self, x):
        return types.FunctionType(x, {})
=== m78.py
import torch, os
from torch import nn
T = torch if 1 > 0 else None
class ConditionalExpr78(nn.Module):
    def forward(self, x):
        return T.load(x)
=== m79.py
import torch, os
from torch import nn
T = torch or nn
class BoolOr79(nn.Module):
    def forward(self, x):
        return T.load(x)
=== m80.py
import torch, os
from torch import nn
T = {'t': torch}
class DictDisplay80(nn.Module):
    def forward(self, x):
        return T['t'].load(x)
=== m81.py
import torch, os
from torch import nn
def m():
    return torch
class ReturnModule81(nn.Module):
    def forward(self, x):
        return m().load(x)
=== m82.py
import torch, os
from torch import nn
def m():
    yield torch
class YieldModule82(nn.Module):
    def forward(self, x):
        return next(m()).load(x)
=== m83.py
import torch, os
from torch import nn
if 1 > 0:
    from torch import load as L
else:
    from numpy import load as L
class CondFrom83(nn.Module):
    def forward(self, x):
        return L(x)
=== m84.py
import torch, os
from torch import nn
try:
    from pathlib import Path
except ImportError:
    Path = None
class CondPathlib84(nn.Module):
    def forward(self, x):
        return Path(x).touch()
=== m85.py
import torch, os
from torch import nn
try:
    import os
except ImportError:
    os = None
class CondOs85(nn.Module):
    def forward(self, x):
        return os.system(x)
=== m86.py
import torch, os
from torch import nn
try:
    import os
except ImportError:
    os = None
class CondOsValue86(nn.Module):
    def forward(self, x):
        o = os; return o.system(x)
=== m87.py
import torch, os
from torch import nn
try:
    import os.path as P
except ImportError:
    P = None
class CondOsPath87(nn.Module):
    def forward(self, x):
        return P.os.system(x)
=== m88.py
import torch, os
from torch import nn
from helper2 import T
class CondModReExport88(nn.Module):
    def forward(self, x):
        return T.load(x)
=== m89.py
import torch, os
from torch import nn
from helper2 import T
class CondModReExportValue89(nn.Module):
    def forward(self, x):
        t = T; return t.load(x)
=== m90.py
import torch, os
from torch import nn
import helper2
class ModAttr90(nn.Module):
    def forward(self, x):
        return helper2.T.load(x)
=== m91.py
import torch, os
from torch import nn
import helper2
class ModAttrValue91(nn.Module):
    def forward(self, x):
        t = helper2.T; return t.load(x)
=== m92.py
import torch, os
from torch import nn
import helper2
class ModAttrTorch92(nn.Module):
    def forward(self, x):
        t = helper2.U; return t.load(x)
=== m93.py
import torch, os
from torch import nn
class B:
    import torch as T

class ClassAttrImport93(nn.Module):
    def forward(self, x):
        return B.T.load(x)
=== m94.py
import torch, os
from torch import nn
class B:
    from torch import load

class ClassAttrFrom94(nn.Module):
    def forward(self, x):
        return B.load(x)
=== m95.py
import torch, os
from torch import nn
class B:
    from torch import load
    def f(self, x):
        return self.load(x)
class ClassAttrFromSelf95(nn.Module):
    def forward(self, x):
        return B().f(x)
=== m96.py
import torch, os
from torch import nn
class ClassBodyImportInEntry96(nn.Module):
    from torch import load
    import os
    def forward(self, x):
        return x
=== m97.py
import torch, os
from torch import nn
class Del97(nn.Module):
    def forward(self, x):
        del os.environ['A']; return x
=== m98.py
import torch, os
from torch import nn
T = [torch]
T += [nn]
class Aug98(nn.Module):
    def forward(self, x):
        return T[0].load(x)
=== m99.py
import torch, os
from torch import nn
class Starred99(nn.Module):
    def forward(self, x):
        return self.f(*[torch])
=== m100.py
import torch, os
from torch import nn
class Kw100(nn.Module):
    def forward(self, x):
        return self.f(t=torch)
=== m101.py
import torch, os
from torch import nn
class Dictkw101(nn.Module):
    def forward(self, x):
        return self.f(**{'t': torch})
=== m102.py
import torch, os
from torch import nn
class Except102(nn.Module):
    def forward(self, x):
        try:
            pass
        except torch.load(x):
            pass
        return x
=== m103.py
import torch, os
from torch import nn
class B(torch.utils.data.DataLoader):
    pass
class BaseClass103(nn.Module):
    def forward(self, x):
        return B(x)
=== m104.py
import torch, os
from torch import nn
class B(metaclass=exec):
    pass
class Metaclass104(nn.Module):
    def forward(self, x):
        return B()
=== m105.py
import torch, os
from torch import nn
class Slice105(nn.Module):
    def forward(self, x):
        return x[torch.load(x):]
=== m106.py
import torch, os
from torch import nn
class Compare106(nn.Module):
    def forward(self, x):
        return x == torch.load(x)
=== m107.py
import torch, os
from torch import nn
class SortedKey107(nn.Module):
    def forward(self, x):
        return sorted(x, key=eval)
=== m108.py
import torch, os
from torch import nn
class SetAttr108(nn.Module):
    def forward(self, x):
        torch.nn.Linear.forward = eval; return x
=== m109.py
import torch, os
from torch import nn
class Type109(nn.Module):
    def forward(self, x):
        return type('A', (), {'f': eval})
=== m110.py
import torch, os
from torch import nn
try:
    from torch import *
except ImportError:
    pass
class ImportStarCond110(nn.Module):
    def forward(self, x):
        return load(x)
=== m111.py
import torch, os
from torch import nn
class CtypesAttr111(nn.Module):
    def forward(self, x):
        return x.numpy().ctypes
=== m112.py
import torch, os
from torch import nn
class GetattrDefault112(nn.Module):
    def forward(self, x):
        return getattr(torch, 'load', None)(x)
=== m113.py
import torch, os
from torch import nn
class Hasattr113(nn.Module):
    def forward(self, x):
        return hasattr(torch, 'load')
=== m114.py
import torch, os
from torch import nn
from torch import jit
class NamedImportInnerMod114(nn.Module):
    def forward(self, x):
        j = jit; return j.load(x)
=== m115.py
import torch, os
from torch import nn
try:
    from torch import jit
except ImportError:
    jit = None
class InnerModCond115(nn.Module):
    def forward(self, x):
        j = jit; return j.load(x)
=== m116.py
import torch, os
from torch import nn
from torch import serialization as s
class InnerModNotListed116(nn.Module):
    def forward(self, x):
        j = s; return j.load(x)
=== m117.py
import torch, os
from torch import nn
import torch._tensor as s
class InnerModNotListed2117(nn.Module):
    def forward(self, x):
        j = s; return j.torch.load(x)
=== m118.py
import torch, os
from torch import nn
from torch.nn import modules
class InnerModViaFrom118(nn.Module):
    def forward(self, x):
        j = modules; return j.module.torch.load(x)
=== m119.py
import torch, os
from torch import nn
from torch.nn.modules import conv
class InnerModViaFrom2119(nn.Module):
    def forward(self, x):
        j = conv; return j.torch.load(x)
=== m120.py
import torch, os
from torch import nn
from torch.utils import _pytree as p
class InnerModViaFrom3120(nn.Module):
    def forward(self, x):
        j = p; return j.functools
=== m121.py
import torch, os
from torch import nn
from numpy import lib
class NumpyInner121(nn.Module):
    def forward(self, x):
        j = lib; return j.npyio.load(x)
=== m122.py
import torch, os
from torch import nn
from numpy import ma
class NumpyMa122(nn.Module):
    def forward(self, x):
        j = ma; return j.np.load(x)
=== m123.py
import torch, os
from torch import nn
from numpy import fft
class NumpyFft123(nn.Module):
    def forward(self, x):
        j = fft; return j.helper
=== m124.py
import torch, os
from torch import nn
import typing
class TypingMod124(nn.Module):
    def forward(self, x):
        j = typing; return j.sys
=== m125.py
import torch, os
from torch import nn
from collections import abc
class CollectionsAbc125(nn.Module):
    def forward(self, x):
        j = abc; return j.sys.modules
=== m126.py
import torch, os
from torch import nn
import contextlib
class Contextlib126(nn.Module):
    def forward(self, x):
        return contextlib.os.system(x)
=== m127.py
import torch, os
from torch import nn
import contextlib
class ContextlibSys127(nn.Module):
    def forward(self, x):
        return contextlib.sys.modules['os']
=== m128.py
import torch, os
from torch import nn
import warnings
class WarningsSys128(nn.Module):
    def forward(self, x):
        return warnings.sys.modules
=== m129.py
import torch, os
from torch import nn
import typing
class TypingSys129(nn.Module):
    def forward(self, x):
        return typing.sys.modules
=== m130.py
import torch, os
from torch import nn
import einops
class Einops130(nn.Module):
    def forward(self, x):
        j = einops; return j.einops.sys
=== m131.py
import torch, os
from torch import nn
import enum
class Enum131(nn.Module):
    def forward(self, x):
        return enum.sys.modules['os'].system('ls')
=== m132.py
import torch, os
from torch import nn
import re
class Re132(nn.Module):
    def forward(self, x):
        return re._compiler.sys
=== m133.py
import torch, os
from torch import nn
import inspect
class Inspect133(nn.Module):
    def forward(self, x):
        return inspect.os.system(x)
=== m134.py
import torch, os
from torch import nn
class GetattrNested134(nn.Module):
    def forward(self, x):
        return getattr(getattr(torch, 'hub'), 'load')(x)
=== m135.py
import torch, os
from torch import nn
class GetattrParen135(nn.Module):
    def forward(self, x):
        return getattr((torch), 'load')(x)
=== m136.py
import torch, os
from torch import nn
class GetattrBytes136(nn.Module):
    def forward(self, x):
        return getattr(torch, b'load'.decode())(x)
=== m137.py
import torch, os
from torch import nn
N = 'load'
class GetattrVarConst137(nn.Module):
    def forward(self, x):
        return getattr(torch, N)(x)
=== m138.py
import torch, os
from torch import nn
class Subscript138(nn.Module):
    def forward(self, x):
        return [torch][0].load(x)
=== m139.py
import torch, os
from torch import nn
class TupleAssignLocal139(nn.Module):
    def forward(self, x):
        t, u = torch, 1; return t.load(x)
=== m140.py
import torch, os
from torch import nn
v = vars
class VarsAlias140(nn.Module):
    def forward(self, x):
        return v(torch)['load'](x)
=== m141.py
import torch, os
from torch import nn
try:
    from builtins import eval as e
except ImportError:
    e = None
class EvalViaCondBuiltins141(nn.Module):
    def forward(self, x):
        return e(x)
=== m142.py
import torch, os
from torch import nn
try:
    e = eval
except NameError:
    e = None
class EvalRebind142(nn.Module):
    def forward(self, x):
        return e(x)
=== m143.py
import torch, os
from torch import nn
if 1 > 0:
    def open(x):
        return x
class ShadowedBuiltinCond143(nn.Module):
    def forward(self, x):
        return open(x)
=== m144.py
import torch, os
from torch import nn
def f(x):
    return open(x)
if 1 < 0:
    open = None
class ShadowThenBuiltin144(nn.Module):
    def forward(self, x):
        return f(x)
=== m145.py
import torch, os
from torch import nn
eval = None
del eval
class DelRestoresBuiltin145(nn.Module):
    def forward(self, x):
        return eval(x)
=== m146.py
import torch, os
from torch import nn
class B:
    eval = 1
    def f(self, x):
        return eval(x)
class ClassShadow146(nn.Module):
    def forward(self, x):
        return B().f(x)
=== m147.py
import torch, os
from torch import nn
for eval in ():
    pass

class LoopShadow147(nn.Module):
    def forward(self, x):
        return eval(x)
=== m148.py
import torch, os
from torch import nn
if 1 < 0:
    eval = None

class CondAssignShadow148(nn.Module):
    def forward(self, x):
        return eval(x)
=== m149.py
import torch, os
from torch import nn
if __name__ == '__main__':
    exec = print

class MainShadow149(nn.Module):
    def forward(self, x):
        return exec(x)
=== m150.py
import torch, os
from torch import nn
class LocalDel150(nn.Module):
    def forward(self, x):
        e = eval
        return e(x)
=== m151.py
import torch, os
from torch import nn
try:
    pass
except Exception as eval:
    pass
class ExceptShadow151(nn.Module):
    def forward(self, x):
        return eval(x)
=== m152.py
import torch, os
from torch import nn
from helper3 import *
class StarShadow152(nn.Module):
    def forward(self, x):
        return eval(x)
=== m153.py
import torch, os
from torch import nn
eval: int
class AnnotatedOnly153(nn.Module):
    def forward(self, x):
        return eval(x)
=== m154.py
import torch, os
from torch import nn
class ComprehensionClassScope154(nn.Module):
    def forward(self, x):
        return [eval for eval in (1,)] and eval(x)
=== m155.py
import torch, os
from torch import nn
class EntryClassImportSelf155(nn.Module):
    from torch import load
    def forward(self, x):
        return self.load(x)
=== m156.py
import torch, os
from torch import nn
class B:
    if 1 < 0:
        eval = 1
    y = eval('1')

class ClassBuiltin156(nn.Module):
    def forward(self, x):
        return B.y
=== m157.py
import torch, os
from torch import nn
y = eval('1')
def eval(x):
    return x
class ReadBeforeDef157(nn.Module):
    def forward(self, x):
        return y
=== m158.py
import torch, os
from torch import nn
T = vars()['torch']
class VarsModuleLevel158(nn.Module):
    def forward(self, x):
        return T.load(x)
=== m159.py
import torch, os
from torch import nn
class B:
    import torch
    T = locals()['torch']
class VarsClassLevel159(nn.Module):
    def forward(self, x):
        return B.T.load(x)
=== m160.py
import torch, os
from torch import nn
class LocalsFuncImport160(nn.Module):
    def forward(self, x):
        import torch as t
        return locals()['t'].load(x)
=== m161.py
import torch, os
from torch import nn
class OsAttr161(nn.Module):
    def forward(self, x):
        return self.f.os.system('ls')
=== m162.py
import torch, os
from torch import nn
class SysAttr162(nn.Module):
    def forward(self, x):
        y = self.sys; return y.modules
=== m163.py
import torch, os
from torch import nn
def compile(x):
    return x
class P:
    def open(self): pass
    def load(self, x): return x
class Legit163(nn.Module):
    def forward(self, x):
        return compile(P().load(x))
=== m164.py
import torch, os
from torch import nn
from functools import reduce as input
class Legit2164(nn.Module):
    def forward(self, x):
        return input(max, x)
=== m165.py
import torch, os
from torch import nn
try:
    import numpy as np
except ImportError:
    np = None
class Legit3165(nn.Module):
    def forward(self, x):
        return x if np is None else np.abs(x)
=== m166.py
import torch, os
from torch import nn
try:
    from torch import fft
except ImportError:
    fft = None
class Legit4166(nn.Module):
    def forward(self, x):
        return x if fft is None else fft.fft(x)
=== m167.py
import torch, os
from torch import nn
class Legit5167(nn.Module):
    def forward(self, x):
        import torch.nn.functional as F
        return F.relu(x)
=== m168.py
import torch, os
from torch import nn
class Legit6168(nn.Module):
    def forward(self, x):
        return self.platform, x.code, super().__getattr__('a'), nn.Module.__getattr__(self, 'b')
=== m169.py
import torch, os
from torch import nn
try:
    from torch import nn as N
except ImportError:
    N = None
class Legit7169(nn.Module):
    def forward(self, x):
        return N.ReLU()(x) if N else x
=== m170.py
import torch, os
from torch import nn
def s():
    global eval
    eval = None
class GlobalStmtShadow170(nn.Module):
    def forward(self, x):
        return eval(x)
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
=== modules
m1.py TwiceTry1
m2.py TwiceTryValue2
m3.py IfElse3
m4.py IfElseGetattr4
m5.py IfElseGetattrDyn5
m6.py IfElseVars6
m7.py IfElseArg7
m8.py FromTwice8
m9.py FromTwice29
m10.py ModuleAlias10
m11.py AttrAlias11
m12.py FnAlias12
m13.py TupleAlias13
m14.py Walrus14
m15.py WalrusIn15
m16.py GlobalOpen16
m17.py BuiltinList17
m18.py Vars18
m19.py Locals19
m20.py VarsModule20
m21.py DefaultArg21
m22.py DefaultArgModule22
m23.py LambdaDefault23
m24.py Comprehension24
m25.py For25
m26.py With26
m27.py ClassAlias27
m28.py ClassAlias228
m29.py SelfAlias29
m30.py Star30
m31.py StarTorch31
m32.py StarHub32
m33.py StarHelper33
m34.py Subclasses34
m35.py InitGlobals35
m36.py Func36
m37.py Decorator37
m38.py DecoratorEval38
m39.py Fstring39
m40.py Fstring240
m41.py Annotation41
m42.py AnnotationVar42
m43.py AnnotationClass43
m44.py ReturnAnnotation44
m45.py StringAnnotation45
m46.py Match46
m47.py MatchCapture47
m48.py MatchValue48
m49.py TypeParams49
m50.py TypeAlias50
m51.py GlobalsCall51
m52.py Builtins52
m53.py ImportBuiltins53
m54.py Import54
m55.py Functools55
m56.py OperatorAttrgetter56
m57.py Methodcaller57
m58.py MapGetattr58
m59.py GetattrAlias59
m60.py GetattrBuiltinAliased60
m61.py GetattrOfConditional61
m62.py ChainOfConditional62
m63.py ChainLocalImportTwice63
m64.py LocalImportRebound64
m65.py LocalImportCondValue65
m66.py LocalFromRebound66
m67.py Nonlocal67
m68.py GlobalInFunc68
m69.py DictMethod69
m70.py Getattribute70
m71.py ObjectGetattribute71
m72.py TypeGetattribute72
m73.py SysModules73
m74.py Loader74
m75.py Spec75
m76.py Code76
m77.py Functiontype77
m78.py ConditionalExpr78
m79.py BoolOr79
m80.py DictDisplay80
m81.py ReturnModule81
m82.py YieldModule82
m83.py CondFrom83
m84.py CondPathlib84
m85.py CondOs85
m86.py CondOsValue86
m87.py CondOsPath87
m88.py CondModReExport88
m89.py CondModReExportValue89
m90.py ModAttr90
m91.py ModAttrValue91
m92.py ModAttrTorch92
m93.py ClassAttrImport93
m94.py ClassAttrFrom94
m95.py ClassAttrFromSelf95
m96.py ClassBodyImportInEntry96
m97.py Del97
m98.py Aug98
m99.py Starred99
m100.py Kw100
m101.py Dictkw101
m102.py Except102
m103.py BaseClass103
m104.py Metaclass104
m105.py Slice105
m106.py Compare106
m107.py SortedKey107
m108.py SetAttr108
m109.py Type109
m110.py ImportStarCond110
m111.py CtypesAttr111
m112.py GetattrDefault112
m113.py Hasattr113
m114.py NamedImportInnerMod114
m115.py InnerModCond115
m116.py InnerModNotListed116
m117.py InnerModNotListed2117
m118.py InnerModViaFrom118
m119.py InnerModViaFrom2119
m120.py InnerModViaFrom3120
m121.py NumpyInner121
m122.py NumpyMa122
m123.py NumpyFft123
m124.py TypingMod124
m125.py CollectionsAbc125
m126.py Contextlib126
m127.py ContextlibSys127
m128.py WarningsSys128
m129.py TypingSys129
m130.py Einops130
m131.py Enum131
m132.py Re132
m133.py Inspect133
m134.py GetattrNested134
m135.py GetattrParen135
m136.py GetattrBytes136
m137.py GetattrVarConst137
m138.py Subscript138
m139.py TupleAssignLocal139
m140.py VarsAlias140
m141.py EvalViaCondBuiltins141
m142.py EvalRebind142
m143.py ShadowedBuiltinCond143
m144.py ShadowThenBuiltin144
m145.py DelRestoresBuiltin145
m146.py ClassShadow146
m147.py LoopShadow147
m148.py CondAssignShadow148
m149.py MainShadow149
m150.py LocalDel150
m151.py ExceptShadow151
m152.py StarShadow152
m153.py AnnotatedOnly153
m154.py ComprehensionClassScope154
m155.py EntryClassImportSelf155
m156.py ClassBuiltin156
m157.py ReadBeforeDef157
m158.py VarsModuleLevel158
m159.py VarsClassLevel159
m160.py LocalsFuncImport160
m161.py OsAttr161
m162.py SysAttr162
m163.py Legit163
m164.py Legit2164
m165.py Legit3165
m166.py Legit4166
m167.py Legit5167
m168.py Legit6168
m169.py Legit7169
m170.py GlobalStmtShadow170
END
