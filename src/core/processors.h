/* How many processors this process may use. */
#ifndef DT_CORE_PROCESSORS_H
#define DT_CORE_PROCESSORS_H

#include <stdint.h>

/* Those that its affinity mask allows now, and not more than its control group lets run at once
 * when first asked; at least 1. */
uint32_t dt_processors_usable(void);

/* The whole processors that the control groups named by the file `groups` (/proc/self/cgroup) let
 * run at once, by what stands below `root` (/sys/fs/cgroup); 0: no limit. */
uint32_t dt_processors_quota(const char *groups, const char *root);

#endif
