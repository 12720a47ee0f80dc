class C(nn.Module):
    def forward(self,x:
        print "x"
        exec "y"
