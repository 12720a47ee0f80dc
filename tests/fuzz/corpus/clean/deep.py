class A(A): 
 def forward(self,x): return ((((((((((x))))))))))[x][x].a.b.c(lambda: (yield))
class B(A, metaclass=C):
 forward = A
 try: import os
 except: pass
 else: from x import *
 finally: "s"; f"{os.environ['x']}"; os.getenv("a")
