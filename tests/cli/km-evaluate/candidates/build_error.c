#include "km_candidate.h"

int km_forward(void) { return undefined_name; }
