/* Kernels: single nodes that a C function of ours makes in place of a call.
 *
 * What they do is what NumPy's function would do for exact arrays of usual layout and small size,
 * with NumPy's own loops where there is arithmetic.  A kernel that meets anything else answers
 * DT_FUSED_CALL, having done nothing, and the node is called.
 */
#ifndef DT_BACKEND_NATIVE_KERNELS_H
#define DT_BACKEND_NATIVE_KERNELS_H

#include "backend/native/cells.h"
#include "backend/native/plan.h"

/* From here on the call doesn't matter, and NumPy lets other threads run. */
enum { DT_KERNEL_MAX_BYTES = 1 << 16, DT_KERNEL_MAX_WORK = 1 << 15, DT_KERNEL_MAX_NDIM = 8 };
/* The same where NumPy's function is Python that makes several passes, and the kernel copies once.
 */
enum { DT_KERNEL_MAX_COPIED = 1 << 22 };

/* One axis of a view: an int, a slice or a new axis. */
typedef struct DtKernelAxis {
    enum { DT_AXIS_INT, DT_AXIS_SLICE, DT_AXIS_NEW } kind;
    DtCellIndex at;        /* INT */
    bool has[3];           /* SLICE: start, stop, step */
    DtCellIndex bounds[3]; /* those that there are */
} DtKernelAxis;

typedef DtFusedRun DtKernelRun(const DtKernel *kernel, const DtStage *stage, DtNativeRun *run);

struct DtKernel {
    DtKernelRun *run;
    const DtNode *node;
    PyArray_Descr *descr; /* of the result, or what is written, DT_BORROWED; NULL: there is none */
    uint8_t size;         /* of an element of it */
    uint16_t cell;        /* of the result, or DT_NO_CELL: it is an array */
    DtValue values[2];    /* array operands */
    uint32_t nvalues;
    DtValue *pieces; /* operands that are joined */
    uint32_t npieces;
    int axis;
    DtCellItem *item; /* that is written */
    DtFusedScalar *scalars;
    uint32_t nscalars;
    DtCellIndex *shape;
    uint32_t ndim;
    char *contents; /* of a constant array */
    DtKernelAxis *axes;
    uint32_t naxes;
    bool fixed; /* the axes are cut as constants say */
    int permutation[DT_KERNEL_MAX_NDIM];
    const DtLoop *loop; /* of a ufunc with core dimensions */
    bool saves;         /* it notes itself what it changes, however the stage is marked */
};

/* Targets whose number goes to a cell, if a kernel makes it. */
bool dt_kernel_gives_number(const DtNode *node);

/* *out = NULL: the node has no kernel. */
DtStatus dt_kernel_plan(DtNative *exe, DtPlan *plan, const DtNode *node,
                        DtKernel **out) DT_MUST_CHECK;

/* ---- Between the files of kernels ------------------------------------------------------------ */

/* Fills in the kernel, *ok = false: not this node. */
typedef DtStatus DtKernelChoose(DtNative *exe, DtPlan *plan, const DtNode *node, DtKernel *kernel,
                                bool *ok);
typedef struct DtKernelRow {
    const char *target;
    DtKernelChoose *choose;
} DtKernelRow;
/* Of found and unique, choose() looks at arguments by name and at the number of results itself;
 * others are asked about nodes without and with one. */
extern const DtKernelRow dt_kernels_draws[], dt_kernels_folds[], dt_kernels_found[],
    dt_kernels_make[], dt_kernels_picked[], dt_kernels_products[], dt_kernels_reshape[],
    dt_kernels_roll[], dt_kernels_unique[], dt_kernels_sequence[], dt_kernels_views[];

/* The exact array behind an operand, in native byte order and aligned; NULL: it isn't one. */
static inline PyArrayObject *
dt_kernel_array(const DtNativeRun *run, const DtValue *value)
{
    PyObject *object = dt_native_value(run, value);
    return object != NULL && PyArray_CheckExact(object)
                   && PyArray_ISNOTSWAPPED((PyArrayObject *)object)
                   && PyArray_ISALIGNED((PyArrayObject *)object)
               ? (PyArrayObject *)object
               : NULL;
}

/* The kernel's array operand i of the node; false: it is none. */
bool dt_kernel_take_value(const DtNode *node, uint32_t i, DtKernel *kernel);
/* What a number becomes as an element of that type; false: it doesn't without more ado. */
bool dt_kernel_scalar(const DtPlan *plan, const DtOperand *operand, int type_num,
                      DtFusedScalar *out);
/* An index or a bound. */
bool dt_kernel_index(const DtPlan *plan, const DtOperand *operand, DtCellIndex *out);
/* One that is known. */
bool dt_kernel_constant(const DtOperand *operand, npy_intp *out);
/* kernels_views.c: the kernel's axes for this key of an array of so many; *ok = false: another key.
 */
DtStatus dt_kernel_take_axes(DtNative *exe, const DtPlan *plan, const DtOperand *key, uint32_t ndim,
                             DtKernel *kernel, bool *ok);
/* Where the view of the array that they cut lies: its dimensions, or -1, as its first item. */
int dt_kernel_find_view(const DtKernel *kernel, const DtNativeRun *run, PyArrayObject *array,
                        npy_intp *shape, npy_intp *strides, char **first);
/* May the array be written without a word? */
static inline bool
dt_kernel_can_write(PyArrayObject *array)
{
    return PyArray_ISWRITEABLE(array) && !dt_np_warns_on_write(array);
}
/* A view of the whole of `base`, which is in C order, in these dimensions (strides: or NULL). */
PyObject *dt_kernel_whole_view(DT_STEALS PyObject *base, int ndim, const npy_intp *shape,
                               const npy_intp *strides);

#endif
