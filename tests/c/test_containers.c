/* Vectors, address maps and string builders. */
#include "check.h"

#include <stdint.h>
#include <string.h>

#include "core/map.h"
#include "core/strbuf.h"
#include "core/vec.h"

static void
vectors_keep_their_elements(void)
{
    DtArena arena;
    dt_arena_init(&arena);
    DT_VEC(uint64_t) numbers = {0};
    for (uint64_t i = 0; i < 1000; i++) {
        CHECK(dt_vec_push(&arena, &numbers, i * i) == 0);
    }
    CHECK(numbers.count == 1000 && numbers.capacity >= 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        CHECK(numbers.items[i] == i * i);
    }
    CHECK(dt_vec_reserve(&arena, (void **)&numbers.items, &numbers.capacity, numbers.count, 5000,
                         sizeof(uint64_t))
          == 0);
    CHECK(numbers.capacity >= 5000 && numbers.items[999] == 999 * 999);
    numbers.count = numbers.capacity;
    dt_arena_fail_at(1);
    CHECK(dt_vec_push(&arena, &numbers, 1) == -1);
    dt_arena_release(&arena);
}

static void
maps_find_what_was_put_in(void)
{
    DtArena arena;
    DtMap map = {0};
    dt_arena_init(&arena);
    static char keys[2000];
    CHECK(dt_map_get(&map, &keys[0]) == NULL);
    for (int i = 0; i < 2000; i++) {
        CHECK(dt_map_set(&arena, &map, &keys[i], &keys[1999 - i]) == 0);
    }
    CHECK(map.count == 2000);
    for (int i = 0; i < 2000; i++) {
        CHECK(dt_map_get(&map, &keys[i]) == &keys[1999 - i]);
    }
    CHECK(dt_map_set(&arena, &map, &keys[7], &keys[8]) == 0); /* replaces */
    CHECK(map.count == 2000 && dt_map_get(&map, &keys[7]) == &keys[8]);
    CHECK(dt_map_get(&map, &map) == NULL);
    CHECK(dt_map_remove(&map, &map) == NULL);
    for (int i = 0; i < 2000; i += 3) { /* the others are still found, also behind the gaps */
        CHECK(dt_map_remove(&map, &keys[i]) != NULL);
        CHECK(dt_map_get(&map, &keys[i]) == NULL);
    }
    for (int i = 0; i < 2000; i++) {
        CHECK((dt_map_get(&map, &keys[i]) != NULL) == (i % 3 != 0));
    }
    CHECK(map.count == 2000 - 667);
    dt_arena_release(&arena);
}

static void
texts_grow(void)
{
    DtStrbuf buf = {0};
    CHECK(strcmp(dt_strbuf_text(&buf), "") == 0);
    for (int i = 0; i < 500; i++) {
        dt_strbuf_addf(&buf, "%d,", i);
    }
    dt_strbuf_addn(&buf, "end!", 3);
    dt_strbuf_add(&buf, "");
    CHECK(!buf.failed && buf.length == strlen(dt_strbuf_text(&buf)));
    CHECK(strncmp(dt_strbuf_text(&buf), "0,1,2,", 6) == 0);
    CHECK(strcmp(dt_strbuf_text(&buf) + buf.length - 7, "499,end") == 0);
    dt_strbuf_release(&buf);
    CHECK(buf.text == NULL && buf.length == 0);
}

int
main(void)
{
    vectors_keep_their_elements();
    maps_find_what_was_put_in();
    texts_grow();
    return 0;
}
