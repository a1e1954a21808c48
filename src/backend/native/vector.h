/* Loops of our own in versions for wider registers, chosen when the extension is loaded.
 *
 * For loops whose bits do not depend on how wide they run: moves, conversions, selections, and
 * exact or single operations per element.  No version may contract a product and a sum (the build
 * says -ffp-contract=off, and none of these is for a CPU level with fused operations).
 */
#ifndef DT_BACKEND_NATIVE_VECTOR_H
#define DT_BACKEND_NATIVE_VECTOR_H

#include <stdlib.h> /* defines __GLIBC__ where that is the C library */

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)          \
    && !defined(__SANITIZE_ADDRESS__)
#define DT_VECTOR __attribute__((target_clones("avx2", "default")))
#else
#define DT_VECTOR
#endif

#endif
