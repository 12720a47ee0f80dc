x = y = z = a.b.c = d[0] = 1
@a.b(c)
@d
async def f(): await g
class L(