/* The chunks that frames lie in (3.11 and later).
 *
 * CPython gives a chunk back to the system as soon as its last frame ends.  A loop that stands near
 * the end of one therefore maps and unmaps 16 KiB at each call, which takes several times as long
 * as the call, and whether a program has such a loop is chance: it rests on the sizes of the frames
 * below it, which are other ones in what is compiled.
 */
#ifndef DT_COMPAT_STACK_CHUNKS_H
#define DT_COMPAT_STACK_CHUNKS_H

/* From now on up to four chunks that are given back stay with the process, for the next ones. */
void dt_stack_chunks_keep(void);

#endif
