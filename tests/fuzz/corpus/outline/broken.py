class A(B:
 def f(self)
  return (

print "x"
class C(D): pass
<<<<<<< x
