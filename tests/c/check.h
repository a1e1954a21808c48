/* The smallest test frame: CHECK stops the program with the place that failed. */
#ifndef DT_TESTS_C_CHECK_H
#define DT_TESTS_C_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);    \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

#endif
