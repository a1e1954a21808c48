/* Whose memory a value has: alias edges followed back to where the memory came from.
 *
 * An edge says that a result may share memory with an operand; a result without an edge is in
 * memory of its own if its node says so (DT_LAYOUT_FRESH), else nothing is known of it.
 */
#include "graph/graph.h"
#include "variables/apart.h"

/* The operand that result `result` of the node may share memory with, or NULL; *several tells that
 * there is more than one. */
static const DtOperand *
viewed_operand(const DtNode *node, uint32_t result, bool *several)
{
    const DtOperand *found = NULL;
    for (uint32_t i = 0; i < node->naliases; i++) {
        if (node->aliases[i].result == result) {
            *several = found != NULL;
            found = &node->args[node->aliases[i].arg];
        }
    }
    return found;
}

DtMemory
dt_graph_memory(const DtOperand *operand, const DtNode **owner)
{
    bool several = false;
    for (;;) {
        const DtNode *node = operand->u.node;
        *owner = node;
        if (node->kind == DT_NODE_INPUT) {
            return DT_MEMORY_INPUT;
        }
        const DtOperand *viewed = viewed_operand(node, operand->result, &several);
        if (several) {
            return DT_MEMORY_UNKNOWN;
        }
        if (viewed == NULL) {
            return node->results[operand->result].layout & DT_LAYOUT_FRESH ? DT_MEMORY_OWN
                                                                           : DT_MEMORY_UNKNOWN;
        }
        operand = viewed;
    }
}

bool
dt_graph_is_write(const DtNode *node)
{
    if (node->kind != DT_NODE_CALL || node->effect != DT_EFFECT_MUTATES) {
        return false;
    }
    const DtNode *owner;
    for (uint32_t i = 0; i < node->nmutated; i++) {
        if (dt_graph_memory(&node->args[node->mutated[i]], &owner) != DT_MEMORY_OWN) {
            return true;
        }
    }
    return false;
}

bool
dt_arrays_lie_apart(const DtArrayVar *a, const DtArrayVar *b)
{
    const DtNode *owners[2];
    DtOperand operands[2] = {
        {.kind = DT_OPERAND_NODE, .result = a->result, .u.node = a->node},
        {.kind = DT_OPERAND_NODE, .result = b->result, .u.node = b->node},
    };
    DtMemory one = dt_graph_memory(&operands[0], &owners[0]);
    DtMemory other = dt_graph_memory(&operands[1], &owners[1]);
    bool known = one != DT_MEMORY_UNKNOWN && other != DT_MEMORY_UNKNOWN;
    return known && (one == DT_MEMORY_OWN || other == DT_MEMORY_OWN) && owners[0] != owners[1];
}
