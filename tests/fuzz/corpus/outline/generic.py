def f[T: int](a: list[T]): return T
type X[T] = list[T]
