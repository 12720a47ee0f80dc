import os

getattr(os, "_ex" + "it")(0)
