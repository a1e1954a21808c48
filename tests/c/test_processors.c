/* The quota of a control group, read from made-up files. */
#define _GNU_SOURCE
#include "check.h"

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "core/processors.h"

static char folder[] = "/tmp/dyntrace-groups-XXXXXX";

static void
put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    for (char *slash = path + sizeof(folder); (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700); /* may be there */
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    CHECK(fputs(text, file) >= 0);
    CHECK(fclose(file) == 0);
}

/* Of a process in these groups. */
static uint32_t
quota(const char *groups)
{
    char path[256];
    put("groups", groups);
    snprintf(path, sizeof(path), "%s/groups", folder);
    return dt_processors_quota(path, folder);
}

static int
drop(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

int
main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    CHECK(quota("") == 0);
    CHECK(quota("0::/\n") == 0);
    CHECK(quota("nonsense\n0::/not/here\n") == 0);

    put("a/cpu.max", "400000 100000\n");
    put("a/b/cpu.max", "max 100000\n");
    put("a/c/cpu.max", "250000 100000\n");
    put("a/d/cpu.max", "50000 100000\n");
    put("a/e/cpu.max", "900000 100000\n");
    put("a/f/cpu.max", "\n");
    CHECK(quota("0::/a\n") == 4);
    CHECK(quota("0::/a/b\n") == 4); /* by the group above */
    CHECK(quota("0::/a/c\n") == 2); /* whole processors */
    CHECK(quota("0::/a/d\n") == 1);
    CHECK(quota("0::/a/e\n") == 4);
    CHECK(quota("0::/a/f\n") == 4);
    CHECK(quota("0::/a/b/missing\n") == 4);

    put("cpu/cpu.cfs_quota_us", "-1\n");
    put("cpu/cpu.cfs_period_us", "100000\n");
    put("cpu/g/cpu.cfs_quota_us", "300000\n");
    put("cpu/g/cpu.cfs_period_us", "100000\n");
    CHECK(quota("3:cpu,cpuacct:/\n") == 0);
    CHECK(quota("3:cpuacct,cpu:/g\n2:cpuset:/a\n0::/\n") == 3);
    CHECK(quota("3:cpuset:/g\n") == 0);
    CHECK(quota("3:cpu:/g\n0::/a/c\n") == 2);

    CHECK(dt_processors_quota("/no/such/file", folder) == 0);
    CHECK(dt_processors_usable() >= 1);
    CHECK(nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS) == 0);
    return 0;
}
