/* Names of nodes: unique in their graph and readable.
 *
 * An open-addressing table from a string to the next number to try, so that
 * the thousandth "add" costs what the second did.
 */
#include <ctype.h>
#include <string.h>

#include "graph/internal.h"

static uint32_t
hash_text(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    }
    return hash;
}

static DtNameSlot *
find_slot(const DtNames *names, const char *text)
{
    uint32_t i = hash_text(text) & names->mask;
    while (names->slots[i].name != NULL && strcmp(names->slots[i].name, text) != 0) {
        i = (i + 1) & names->mask;
    }
    return &names->slots[i];
}

static int
make_room(DtArena *arena, DtNames *names)
{
    if (names->mask && (names->count + 1) * 3 <= (names->mask + 1) * 2) {
        return 0;
    }
    uint32_t n_slots = names->mask ? (names->mask + 1) * 2 : 32;
    DtNames larger = {DT_ARENA_ARRAY(arena, DtNameSlot, n_slots), names->count, n_slots - 1};
    if (larger.slots == NULL) {
        return -1;
    }
    for (uint32_t i = 0; names->mask && i <= names->mask; i++) {
        if (names->slots[i].name != NULL) {
            *find_slot(&larger, names->slots[i].name) = names->slots[i];
        }
    }
    *names = larger;
    return 0;
}

const char *
dt_names_unique(DtArena *arena, DtNames *names, const char *base)
{
    if (make_room(arena, names) < 0) {
        return NULL;
    }
    DtNameSlot *slot = find_slot(names, base);
    if (slot->name == NULL) {
        slot->name = dt_arena_strdup(arena, base);
        slot->next = 1;
        names->count += slot->name != NULL;
        return slot->name;
    }
    for (;;) {
        const char *name = dt_arena_printf(arena, "%s_%u", base, slot->next++);
        if (name == NULL) {
            return NULL;
        }
        DtNameSlot *numbered = find_slot(names, name);
        if (numbered->name == NULL) {
            numbered->name = name;
            numbered->next = 1;
            names->count++;
            return name;
        }
    }
}

static bool
is_word(unsigned char c)
{
    return c == '_' || c >= 0x80 || isalnum(c);
}

const char *
dt_names_from_source(DtArena *arena, const char *text)
{
    if (text[0] != '\0' && text[1] == '[' && strchr("LGB", text[0]) != NULL) {
        text += 2;
    }
    char *name = dt_arena_alloc(arena, strlen(text) + sizeof "input");
    if (name == NULL) {
        return NULL;
    }
    size_t length = 0;
    for (; *text; text++) {
        if (is_word((unsigned char)*text)) {
            if (length == 0 && isdigit((unsigned char)*text)) {
                name[length++] = '_';
            }
            name[length++] = *text;
        }
        else if (length > 0 && name[length - 1] != '_') {
            name[length++] = '_';
        }
    }
    while (length > 0 && name[length - 1] == '_') {
        length--;
    }
    name[length] = '\0';
    return length ? name : strcpy(name, "input");
}

const char *
dt_names_from_target(DtArena *arena, const char *target)
{
    const char *dot = strchr(target, '.');
    char *name = dt_arena_strdup(arena, dot != NULL && dot[1] != '\0' ? dot + 1 : target);
    for (char *c = name; c != NULL && *c != '\0'; c++) {
        if (!is_word((unsigned char)*c)) {
            *c = '_';
        }
    }
    return name;
}
