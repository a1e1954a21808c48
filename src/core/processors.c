/* How many processors this process may use: its affinity mask, and the quota of its control group.
 *
 *   v2   <root>/<group>/cpu.max                      "max 100000" or "150000 100000"
 *   v1   <root>/cpu/<group>/cpu.cfs_quota_us         -1 or 150000
 *                           cpu.cfs_period_us        100000
 *
 * A group's limit holds for all groups below it, so the tightest on the way up counts.  What can't
 * be read limits nothing: in a container the names are often those of the host.
 */
#define _GNU_SOURCE
#include "core/processors.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PATH = 4096 };

/* The first line of a file below a folder; false if there is none. */
static bool
read_line(const char *folder, const char *name, char *line, int size)
{
    char path[MAX_PATH];
    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path)) {
        return false;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    bool read = fgets(line, size, file) != NULL;
    fclose(file);
    return read;
}

/* Whole processors for that much time of each period; 0: no limit. */
static uint32_t
whole(long long quota, long long period)
{
    if (quota <= 0 || period <= 0) {
        return 0;
    }
    long long count = quota / period;
    return count < 1 ? 1 : count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static uint32_t
limit_of(const char *folder)
{
    char line[128], *end;
    if (read_line(folder, "cpu.max", line, sizeof(line))) {
        long long quota = strtoll(line, &end, 10); /* "max" is 0 */
        return whole(quota, strtoll(end, NULL, 10));
    }
    if (read_line(folder, "cpu.cfs_quota_us", line, sizeof(line))) {
        long long quota = strtoll(line, NULL, 10);
        return read_line(folder, "cpu.cfs_period_us", line, sizeof(line))
                   ? whole(quota, strtoll(line, NULL, 10))
                   : 0;
    }
    return 0;
}

/* The tightest limit of the group and those above it. */
static uint32_t
limit_on_the_way(const char *root, const char *hierarchy, const char *group)
{
    char path[MAX_PATH];
    uint32_t least = 0;
    if (snprintf(path, sizeof(path), "%s%s%s", root, hierarchy, group) >= (int)sizeof(path)) {
        return 0;
    }
    size_t top = strlen(root) + strlen(hierarchy);
    for (;;) {
        uint32_t limit = limit_of(path);
        if (limit != 0 && (least == 0 || limit < least)) {
            least = limit;
        }
        char *slash = strrchr(path + top, '/');
        if (slash == NULL) {
            return least;
        }
        *slash = '\0';
    }
}

/* Is `name` in a list by commas that ends at a colon? */
static bool
lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (;;) {
        if (strncmp(list, name, length) == 0 && (list[length] == ',' || list[length] == ':')) {
            return true;
        }
        list += strcspn(list, ",:");
        if (*list != ',') {
            return false;
        }
        list++;
    }
}

uint32_t
dt_processors_quota(const char *groups, const char *root)
{
    FILE *file = fopen(groups, "re");
    char line[MAX_PATH];
    uint32_t least = 0;
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'); /* "4:cpu,cpuacct:/group"; of v2 "0::/group" */
        char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL) {
            continue;
        }
        bool v2 = group == controllers + 1;
        if (v2 || lists(controllers + 1, "cpu")) {
            uint32_t limit = limit_on_the_way(root, v2 ? "" : "/cpu", group + 1);
            least = limit != 0 && (least == 0 || limit < least) ? limit : least;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return least;
}

static uint32_t
allowed(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        return (uint32_t)CPU_COUNT(&set);
    }
#endif
    long online =
        sysconf(_SC_NPROCESSORS_ONLN); /* more processors than the set has room for, too */
    return online < 1 ? 1 : (uint32_t)online;
}

uint32_t
dt_processors_usable(void)
{
    static _Atomic uint32_t known; /* the quota, and 1 */
    uint32_t quota = atomic_load_explicit(&known, memory_order_relaxed);
    if (quota == 0) {
        uint32_t found = dt_processors_quota("/proc/self/cgroup", "/sys/fs/cgroup");
        quota = found == 0 || found == UINT32_MAX ? UINT32_MAX : found;
        atomic_store_explicit(&known, quota, memory_order_relaxed);
    }
    uint32_t count = allowed();
    return count < quota ? count : quota;
}
