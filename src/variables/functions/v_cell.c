/* Cells, identified by the cell object, never by name or contents. */
#include "variables/kinds.h"
#include "variables/rebuild.h"

DtStatus
dt_var_cell(DtTrace *trace, PyObject *name, int root_slot, DtVar *contents, DtVar **out)
{
    DtCellVar *self = DT_KINDS_NEW(trace, CELL, DtCellVar, NULL);
    if (self == NULL) {
        return DT_ERROR;
    }
    if (name != NULL) {
        DT_TRY(dt_trace_keep(trace, name));
    }
    self->base.mutation = DT_VALUE_MUTATION_NEW;
    self->name = name;
    self->root_slot = root_slot;
    self->contents = contents;
    *out = &self->base;
    return DT_OK;
}

DtStatus
dt_cell_build(DtTrace *trace, PyObject *object, const DtSource *source, bool trusted, DtVar **out)
{
    (void)trusted; /* contents are guarded where they are looked at */
    DtCellVar *self = DT_KINDS_NEW(trace, CELL, DtCellVar, source);
    if (self == NULL) {
        return DT_ERROR;
    }
    self->cell = object;
    self->root_slot = -1;
    *out = &self->base;
    PyObject *contents = PyCell_GET(object);
    if (contents == NULL) {
        return dt_guard_cell_empty(trace, source);
    }
    const DtSource *inner = dt_source_get(trace, DT_SOURCE_CELL_CONTENTS, source, NULL, 0);
    if (inner == NULL) {
        return DT_ERROR;
    }
    return dt_var_build_lazy(trace, contents, inner, &self->contents);
}

static DtStatus
get_contents(DtTrace *trace, DtVar *var, DtVar **out)
{
    DtCellVar *self = (DtCellVar *)var;
    if (self->contents == NULL) {
        return dt_kinds_raise(trace, "ValueError", "Cell is empty");
    }
    *out = self->contents;
    return DT_OK;
}

static DtStatus
cell_setattro(DtTrace *trace, DtVar *var, PyObject *name, DtVar *value)
{
    if (PyUnicode_CompareWithASCIIString(name, "cell_contents") != 0) {
        return dt_kinds_raise(trace, "AttributeError", "'cell' object has no attribute '%s'",
                              dt_kinds_text(name));
    }
    return dt_journal_set_cell(trace, (DtCellVar *)var, value);
}

static PyTypeObject *
cell_type(DtTrace *trace, DtVar *self)
{
    (void)trace;
    (void)self;
    return &PyCell_Type;
}

typedef struct Search {
    const DtVar *target;
    DtMap seen;
    bool found;
} Search;

static DtStatus
search(DtTrace *trace, DtVar *var, void *arg)
{
    Search *self = arg;
    var = dt_var_peek(var);
    self->found = self->found || var == self->target;
    if (self->found || var->source != NULL || var->type->children == NULL
        || dt_map_get(&self->seen, var) != NULL) {
        return DT_OK;
    }
    if (dt_map_set(&trace->arena, &self->seen, var, var) != 0) {
        return dt_no_memory();
    }
    return var->type->children(trace, var, search, self);
}

/* A cell of the root frame is loaded; another new one is made with its contents. */
static DtStatus
cell_reconstruct(DtCodegen *codegen, DtVar *var)
{
    DtCellVar *self = (DtCellVar *)var;
    if (self->root_slot >= 0) {
        return dt_codegen_op(codegen, DT_OP_LOAD_CLOSURE, self->root_slot);
    }
    bool done;
    DT_TRY(dt_kinds_load_source(codegen, var, &done));
    if (done) {
        return DT_OK;
    }
    Search recursion = {.target = var};
    if (self->contents != NULL) {
        DT_TRY(search(dt_codegen_trace(codegen), self->contents, &recursion));
    }
    DT_TRY(dt_codegen_push_callable(codegen, (PyObject *)&PyCell_Type));
    PyObject *object = self->contents != NULL ? dt_payload_object(self->contents) : NULL;
    DtMade *made = object != NULL ? dt_made_find(dt_codegen_trace(codegen), object) : NULL;
    bool by_class = made != NULL && made->building;
    if (by_class) {
        DT_TRY(dt_made_fills(codegen, made, var));
    }
    else if (recursion.found) {
        /* A function in it has this cell in its closure. */
        DT_TRY(dt_codegen_fill_later(codegen, self));
    }
    if (self->contents == NULL || by_class || recursion.found) {
        return dt_codegen_call(codegen, 0);
    }
    DT_TRY(dt_codegen_var(codegen, self->contents));
    return dt_codegen_call(codegen, 1);
}

static DtStatus
cell_children(DtTrace *trace, DtVar *var, DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg)
{
    DtCellVar *self = (DtCellVar *)var;
    return self->contents != NULL ? visit(trace, self->contents, arg) : DT_OK;
}

static const DtGetSetRow cell_getsets[] = {
    {"cell_contents", get_contents},
    {NULL, NULL},
};

const DtVarType dt_kind_type_CELL = {
    .kind = DT_KIND_CELL,
    .tp_setattro = cell_setattro,
    .getsets = cell_getsets,
    .python_type = cell_type,
    .reconstruct = cell_reconstruct,
    .children = cell_children,
};
