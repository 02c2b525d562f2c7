/* The assertions of these tests. A failed one prints its place and the library's last error, and ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <skipstone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline const char *check_last_error(void) {
    static char text[1024];
    skipstone_last_error(text, sizeof text);
    return text;
}

#define CHECK(condition)                                                                                           \
    do {                                                                                                           \
        if (!(condition)) {                                                                                        \
            fprintf(stderr, "%s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition, check_last_error());  \
            exit(1);                                                                                               \
        }                                                                                                          \
    } while (0)

/* A call that succeeds. */
#define CHECK_OK(call) CHECK((call) == SKIPSTONE_STATUS_OK)

/* A call that fails with this status, and a text that contains these words. */
#define CHECK_FAILS(call, status, words)                                                                           \
    do {                                                                                                           \
        SkipstoneStatus check_status = (call);                                                                     \
        if (check_status != (status) || strstr(check_last_error(), (words)) == NULL) {                            \
            fprintf(stderr, "%s:%d: %s gave %s, not " #status " with '%s'; last error: %s\n", __FILE__, __LINE__,  \
                    #call, skipstone_status_name(check_status), (words), check_last_error());                     \
            exit(1);                                                                                               \
        }                                                                                                          \
    } while (0)

#define RUN(test)                                                                                                  \
    do {                                                                                                           \
        test();                                                                                                    \
        printf("ok " #test "\n");                                                                                  \
        fflush(stdout);                                                                                            \
    } while (0)

#endif
