# coding: gbk
x = "昞"
class A(nn.Module):    pass
