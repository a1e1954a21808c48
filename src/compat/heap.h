/* What the C library does with memory that is freed.
 *
 * glibc gives what is free at the end of its heap back to the system, and so the temporaries of an
 * array expression fault their pages in anew at each evaluation: with arrays of a megabyte that
 * takes longer than the arithmetic.
 */
#ifndef DT_COMPAT_HEAP_H
#define DT_COMPAT_HEAP_H

/* From now on up to 64 MiB that are free at the end of the heap stay with the process, and blocks
 * up to 32 MiB come from there.  Nothing happens where the environment sets up the allocator, or
 * with another C library. */
void dt_heap_keep_freed(void);

#endif
