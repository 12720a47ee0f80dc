import no_such_package


class ModelNew:
    pass
