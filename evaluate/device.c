/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/device.h"

static const struct device_ops *const devices[] = {&device_cpu, &device_cuda};

const struct device_ops *device_find(const char *name, struct err *e)
{
    char have[120] = "";
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
        if (strcmp(devices[i]->name, name) == 0)
            return devices[i];
        n += (size_t)snprintf(have + n, sizeof(have) - n, "%s%s", i ? ", " : "",
                              devices[i]->name);
    }
    err_set(e, ERR_UNAVAILABLE, "no device '%s': this build has %s", name,
            have);
    return NULL;
}
