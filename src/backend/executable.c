/* Reference counting of executables, common to every kind. */
#include "backend/backend.h"

void
dt_executable_init(DtExecutable *exe, const DtExecutableType *type, DtGraph *graph)
{
    dt_graph_incref(graph);
    exe->type = type;
    exe->refs = 1;
    exe->graph = graph;
    exe->noutputs = graph->noutputs;
    exe->replayable = true;
}

void
dt_executable_decref(DtExecutable *exe)
{
    if (exe == NULL || --exe->refs > 0) {
        return;
    }
    DtGraph *graph = exe->graph;
    exe->type->dealloc(exe);
    dt_graph_decref(graph);
}

int
dt_executable_traverse(DtExecutable *exe, visitproc visit, void *arg)
{
    /* With a second owner the references are not ours alone to report. */
    if (exe->refs != 1) {
        return 0;
    }
    if (exe->type->traverse != NULL) {
        int result = exe->type->traverse(exe, visit, arg);
        if (result != 0) {
            return result;
        }
    }
    return exe->graph->refs == 1 ? dt_graph_traverse(exe->graph, visit, arg) : 0;
}
