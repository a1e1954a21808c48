/* Working data of the planner; private to the files that make a plan. */
#ifndef DT_BACKEND_NATIVE_PLAN_H
#define DT_BACKEND_NATIVE_PLAN_H

#include "backend/native/cells.h"

/* How a fusable node uses an operand. */
typedef struct DtPlanUse {
    enum {
        DT_USE_ARRAY,
        DT_USE_SCALAR, /* a NumPy scalar or array of no dimensions: strong type, stride 0 */
        DT_USE_NUMBER, /* a Python number: converted to the loop's type */
    } kind;
    const DtOperand *operand;
    int type_num; /* ARRAY, SCALAR */
} DtPlanUse;

/* What a node reduces, if it does: then its loop is the one that combines two elements. */
typedef struct DtPlanReduce {
    uint8_t kind; /* DtReduceKind */
    uint32_t axes;
    bool first, tree, cut_shows; /* see DtFusedReduce */
    uint64_t identity;
} DtPlanReduce;

typedef struct DtPlanNode {
    const DtNode *node;
    const DtLoop *loop; /* NULL: called */
    DtPlanReduce reduce;
    DtPlanUse uses[DT_LOOP_MAX_ARGS];
    uint32_t nuses; /* of its operands, the elementwise ones: they come first */
    uint8_t rule;   /* DtOrderRule */
    bool cell_op;   /* can be computed in a stage of cells */
    uint8_t
        cell_type; /* DtCellType of `cell`, which its value goes to; NONE (0): it goes to none */
    uint16_t cell;
    int32_t loaded; /* 1 + the last stage of cells that loads it, into: */
    uint16_t loaded_cell;
    bool live;          /* leads to an output or an effect */
    int32_t stage;      /* -1: an input, or not live */
    int32_t last_stage; /* that uses it; INT32_MAX: an output of the graph */
    bool outside;       /* used by another stage, or an output */
    /* While its stage is built: */
    struct DtPlanNode *same; /* an earlier one of the stage that computes it; or NULL */
    uint8_t level;           /* DtLevel */
    uint8_t part;            /* of the stage, that it continues or begins */
    DtKernel *view;          /* of a VIEW: what finds it */
    uint32_t op;             /* position in the stage */
    uint32_t last_op;        /* that uses it */
    uint16_t slot;
} DtPlanNode;

typedef struct DtPlanStage {
    bool fused, cells;
    const DtMeta *shape; /* of its elements */
    uint8_t reduces;     /* DtReduceKind */
    uint32_t reduce_axes;
    DT_VEC(uint32_t) nodes; /* indices */
    uint32_t segment;       /* stages of one were scheduled together: no effect is between them */
    DtValue outside[DT_FUSED_MAX_INPUTS];
    uint32_t noutside;
    uint32_t nnodes, noperands, nnumbers; /* at most */
} DtPlanStage;

struct DtPlan {
    DtArena arena;
    const DtGraph *graph;
    DtPlanNode *nodes; /* per node of the graph */
    DT_VEC(DtPlanStage *) stages;
    uint32_t segment;
};

/* Room in a fused stage for one more node? */
bool dt_plan_has_room(const DtPlanStage *stage, const DtPlanNode *plan);
/* The node is in its stage now: what it has operands of is counted there. */
void dt_plan_count_operands(DtPlan *plan, const DtPlanNode *own);
/* plan_sink.c: moves nodes to later stages that use them. */
DtStatus dt_plan_sink(DtPlan *plan) DT_MUST_CHECK;

/* The node that computes it in its stage. */
static inline DtPlanNode *
dt_plan_maker(DtPlanNode *node)
{
    return node->same != NULL ? node->same : node;
}
/* plan_equal.c: sets `same` of the stage's nodes. */
void dt_plan_find_equal(DtPlan *plan, const DtPlanStage *stage);

/* Does the operand, or anything in it, lie in memory that `write` may write? */
bool dt_plan_looks_at(const DtOperand *operand, const DtNode *write);
bool dt_plan_same_shape(const DtMeta *a, const DtMeta *b);

/* plan_classify.c: sets plan->loop if the node can be fused. */
DtStatus dt_plan_classify(const DtNode *node, DtPlanNode *plan) DT_MUST_CHECK;
/* plan_emit.c: makes the stages of the executable from those of the plan. */
DtStatus dt_plan_emit(DtNative *exe, DtPlan *plan, bool strict) DT_MUST_CHECK;
/* plan_reduce.c: fills plan->reduce, uses and loop if the node is a reduction that a fused stage
 * can make. */
DtStatus dt_plan_classify_reduce(const DtNode *node, DtPlanNode *plan) DT_MUST_CHECK;
/* May the node become part of the stage, and on which level?  Its operands are ready. */
bool dt_plan_find_level(const DtPlan *plan, const DtPlanStage *stage, uint32_t index,
                        const DtPlanNode *own, uint8_t *level);
static inline bool
dt_plan_is_reduce(const DtPlanNode *own)
{
    return own->reduce.kind != DT_REDUCES_NOTHING;
}

/* A node that has a cell. */
static inline DtBox
dt_plan_box(const DtPlanNode *own)
{
    return (DtBox){own->node, own->cell, own->cell_type};
}

/* Slots, registers and steps of one fused stage. */
DtStatus dt_fuse_build(DtNative *exe, DtPlan *plan, DtPlanStage *stage,
                       DtFused **out) DT_MUST_CHECK;

/* cells_plan.c */
/* Builds the operations of a stage from its nodes; cells are numbered per DtStages. */
DtStatus dt_cells_build(DtNative *exe, DtPlan *plan, DtPlanStage *stage, DtStages *stages,
                        DtCellStage **out) DT_MUST_CHECK;

#endif
