/* Classes, instances and descriptors: looking up, binding, making, changing. */
#ifndef DT_VARIABLES_CLASSES_H
#define DT_VARIABLES_CLASSES_H

#include "variables/adapter.h"
#include "variables/classes/payloads.h"
#include "variables/trace.h"

/* ---- Which classes are which (build.c, payload.c) -------------------------------------------- */

/* Whether the type was made by a class statement on nothing but object: instances are dict and
 * slots. */
bool dt_build_is_user_class(PyTypeObject *type);
/* Whether a class statement made the type itself. */
bool dt_build_is_from_statement(PyTypeObject *type);
/* The same, or a class of C that adds nothing to instances: typing.Generic. */
bool dt_build_is_like_statement(PyTypeObject *type);
/* dt_build_is_user_class() on nothing but type. */
bool dt_build_is_metaclass(PyTypeObject *type);
/* The builtin type that gives instances of a class made by a class statement their layout: object,
 * or one whose part is an instance's payload (payload.c).  NULL: the class is of another make. */
PyTypeObject *dt_build_layout(PyTypeObject *cls);
/* Whether a class statement made the type, on whatever bases. */
bool dt_build_has_class_statement(PyTypeObject *type);

/* ---- Classes --------------------------------------------------------------------------------- */

DtStatus dt_class_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
/* Guards that the class, its bases and a metaclass of Python stay as they are. */
DtStatus dt_class_guard_unchanged(DtTrace *trace, DtVar *cls) DT_MUST_CHECK;
/* The tracker of a class that a tracker's own type is known to be. */
DtStatus dt_class_of(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;
/* What the attribute `__class__` gives: the same, or a break where the object answers itself. */
DtStatus dt_class_shown(DtTrace *trace, DtVar *var, DtVar **out) DT_MUST_CHECK;
/* Aliases (class_alias.c): int | None, list[int]. */
bool dt_class_is_alias(PyObject *object);
/* An alias, or an object (no class) that `typing` makes: what it does runs no code of the program.
 */
bool dt_class_is_annotation(PyObject *object);
/* Bases of a class statement that are aliases give way to what they stand for; *originals: a tuple
 * of what there was before, or NULL. */
DtStatus dt_class_resolve_bases(DtTrace *trace, DtVar ***bases, uint32_t *count,
                                DtVar **originals) DT_MUST_CHECK;
/* Guards that it is this one, where the trace knows it as an instance only. */
DtStatus dt_class_guard_annotation(DtTrace *trace, DtVar *var) DT_MUST_CHECK;
/* The | of a class or alias. */
DtStatus dt_class_union(DtTrace *trace, DtBinaryOp op, DtVar *left, DtVar *right,
                        DtVar **out) DT_MUST_CHECK;
int dt_class_alias_init(void);
/* Whether the builtin method is what list[int] calls; origin[part]. */
bool dt_class_makes_alias(PyObject *method);
DtStatus dt_class_alias(DtTrace *trace, PyObject *origin, DtVar *part, DtVar **out) DT_MUST_CHECK;
DtStatus dt_class_get(DtTrace *trace, PyTypeObject *type, const DtSource *source,
                      DtVar **out) DT_MUST_CHECK;
/* What `name` means on class `cls` without binding (a look-up through the MRO), and how it is read:
 * through `owner`, an instance or the class itself.  *found NULL: the class has no such attribute.
 */
typedef struct DtClassAttr {
    PyObject *found;        /* DT_BORROWED, kept by the trace */
    const DtSource *source; /* of the unbound attribute, or NULL: known */
    bool trusted;
} DtClassAttr;
DtStatus dt_class_lookup(DtTrace *trace, DtVar *owner, PyTypeObject *cls, PyObject *name,
                         DtClassAttr *out) DT_MUST_CHECK;
/* Binds it: functions to `self` (NULL: read from the class), static and class methods. */
DtStatus dt_class_bind(DtTrace *trace, const DtClassAttr *attr, PyObject *name, DtVar *self,
                       DtVar *cls_var, DtVar **out) DT_MUST_CHECK;
/* Guards that the type of what a look-up has found does not become another kind of descriptor. */
DtStatus dt_class_guard_descriptor(DtTrace *trace, PyObject *found) DT_MUST_CHECK;
/* type.__getattribute__ of a class, whatever its metaclass overrides. */
DtStatus dt_class_generic_getattr(DtTrace *trace, DtVar *cls, PyObject *name,
                                  DtVar **out) DT_MUST_CHECK;
/* A special method of a metaclass of Python, bound to the class; NULL if there is none but type's.
 */
DtStatus dt_class_special(DtTrace *trace, DtVar *cls, const char *name, DtVar **out) DT_MUST_CHECK;
/* type.__instancecheck__(cls, asked), or __subclasscheck__ (instance_check.c) */
DtStatus dt_check_by_type(DtTrace *trace, DtVar *cls, DtVar *asked, bool of_instance,
                          DtVar **out) DT_MUST_CHECK;
/* A call of a class (class_call.c): through its metaclass; what type.__call__ does; what
 * base.__new__(cls, ...) does; whether object.__init__ takes these arguments. */
DtStatus dt_class_call(DtTrace *trace, DtVar *cls, const DtArgs *args, DtVar **out) DT_MUST_CHECK;
DtStatus dt_class_instantiate(DtTrace *trace, DtVar *cls, const DtArgs *args,
                              DtVar **out) DT_MUST_CHECK;
DtStatus dt_class_new(DtTrace *trace, PyTypeObject *base, const DtArgs *args,
                      DtVar **out) DT_MUST_CHECK;
DtStatus dt_class_object_init(DtTrace *trace, PyTypeObject *cls, const DtArgs *args) DT_MUST_CHECK;

/* ---- Attributes that the trace gives classes (class_attr.c) ---------------------------------- */

DtStatus dt_class_setattr(DtTrace *trace, DtVar *cls, PyObject *name, DtVar *value) DT_MUST_CHECK;
/* The look-up of `name` through the MRO of `cls` after such writes; *done false: they don't concern
 * it. */
DtStatus dt_class_find_written(DtTrace *trace, PyTypeObject *cls, PyObject *name, DtClassAttr *out,
                               bool *done) DT_MUST_CHECK;
/* Whether the trace has written attributes of the existing class itself that has this dict. */
bool dt_class_is_written(const DtTrace *trace, PyObject *dict);
/* What the class itself, not its bases, has under the name: what was written, else what its dict
 * has; NULL: nothing.  DT_BORROWED. */
PyObject *dt_class_own_attr(const DtTrace *trace, PyTypeObject *cls, PyObject *name);

/* ---- Classes and descriptors that the trace makes (class_statement.c, stand_ins.c, made_*.c) - */

/* A real object of the same parts stands for each while tracing, never afterwards. */
typedef struct DtMade {
    PyObject *maker; /* type, property, staticmethod, classmethod, property.getter ... */
    DtVar **args;    /* of the call that makes it again; of a class: its bases */
    uint32_t nargs;
    PyObject *real;        /* what stands for it */
    PyObject *name;        /* of a class, else NULL */
    DtDictVar *names;      /* its namespace */
    DtVar *cell;           /* the cell __class__ of its methods, or NULL */
    PyObject *abstract;    /* _abc._abc_init, which found its abstract methods; or NULL */
    bool building;         /* the code that makes the class is being emitted ... */
    DT_VEC(DtVar *) cells; /* ... and these cells are to hold it */
} DtMade;
/* The real object that stands for what lies under `name` in a class: `value` itself if it exists,
 * else an object that leads to it.  A break for values that a class would treat in a way of their
 * own. */
DtStatus dt_made_stand_in(DtTrace *trace, PyObject *name, DtVar *value,
                          PyObject **out) DT_MUST_CHECK;
/* NULL: the object is not one of those. */
DtMade *dt_made_find(const DtTrace *trace, PyObject *object);
DtStatus dt_made_children(DtTrace *trace, const DtMade *made,
                          DtStatus (*visit)(DtTrace *, DtVar *, void *), void *arg) DT_MUST_CHECK;
DtStatus dt_made_reconstruct(DtCodegen *codegen, DtMade *made) DT_MUST_CHECK;
/* A cell whose contents is the class that is being built: it is filled once the class is there. */
DtStatus dt_made_fills(DtCodegen *codegen, DtMade *made, DtVar *cell) DT_MUST_CHECK;
/* type.__new__(metaclass, name, bases, namespace, **keywords) */
DtStatus dt_made_class(DtTrace *trace, const DtArgs *args, DtVar **out) DT_MUST_CHECK;
/* property.setter and its like, as a method of a property; NULL: the name is none of them. */
const DtMethodRow *dt_made_property_row(PyObject *name);

/* ---- Those who hear of a new class (class_hooks.c) ------------------------------------------- */

bool dt_hooks_type_has(PyTypeObject *type, const char *name);
/* type.__new__ without a call of __set_name__ or __init_subclass__: a new reference, or NULL with
 * an exception.  `bases` are classes; no code of the program runs, since the metaclass has no
 * mro(). */
DT_OWNED PyObject *dt_hooks_make_real(PyTypeObject *meta, PyObject *name, PyObject *bases,
                                      PyObject *names);
/* Whether one of the classes has an __init_subclass__ but object's.  A class of such bases is made
 * in another way, so that an exception is not the program's. */
bool dt_hooks_are_in(PyObject *bases);
/* Pushes the function that does so in the emitted code, and the metaclass. */
DtStatus dt_hooks_push_maker(DtCodegen *codegen, const DtMade *made) DT_MUST_CHECK;
/* What type.__new__ calls once the class is there. */
DtStatus dt_hooks_tell(DtTrace *trace, DtVar *cls, const DtDictVar *names,
                       const DtArgs *keywords) DT_MUST_CHECK;
/* The metaclass that a class gets: `asked` (NULL: none), or one of a base. */
DtStatus dt_hooks_metaclass(DtTrace *trace, DtVar *asked, DtVar *const *bases, uint32_t nbases,
                            DtVar **out) DT_MUST_CHECK;
/* What its __prepare__ gives for (name, bases, **keywords). */
DtStatus dt_hooks_prepare(DtTrace *trace, DtVar *meta, const DtArgs *args,
                          DtDictVar **out) DT_MUST_CHECK;
/* A call of a metaclass of Python that has no __call__ of its own above it. */
DtStatus dt_hooks_call_metaclass(DtTrace *trace, DtVar *meta, const DtArgs *args,
                                 DtVar **out) DT_MUST_CHECK;
int dt_class_hooks_init(void);

/* ---- Descriptors (descriptors.c) ------------------------------------------------------------- */

/* Whether assigning the attribute calls it. */
bool dt_descr_is_data(PyObject *found);
/* Whether reading the attribute calls it before own attributes are looked at: one that can only be
 * assigned lets them go first. */
bool dt_descr_goes_first(PyObject *found);
/* Stores through it, or deletes (value NULL). */
DtStatus dt_descr_set(DtTrace *trace, const DtClassAttr *attr, PyObject *name, DtVar *self,
                      DtVar *value) DT_MUST_CHECK;

/* ---- Instances (v_instance.c, instance_ops.c, instance_attr.c, conversions.c) ---------------- */

DtStatus dt_instance_build(DtTrace *, PyObject *, const DtSource *, bool, DtVar **);
extern const DtVarType dt_instance_ops; /* slots of instance_ops.c */
/* A special method of an instance's type, bound to it; NULL if the type has none but object's. */
DtStatus dt_instance_special(DtTrace *trace, DtVar *instance, const char *name,
                             DtVar **out) DT_MUST_CHECK;
/* Attributes of what has Python's hooks: __getattribute__, or `generic` where there is none, and
 * after an AttributeError __getattr__.  Mirrors slot_tp_getattr_hook(). */
typedef DtStatus DtFindSpecial(DtTrace *trace, DtVar *self, const char *name, DtVar **out);
typedef DtStatus DtGetattr(DtTrace *trace, DtVar *self, PyObject *name, DtVar **out);
DtStatus dt_getattr_by_hooks(DtTrace *trace, DtVar *self, PyObject *name, DtFindSpecial *special,
                             DtGetattr *generic, DtVar **out) DT_MUST_CHECK;
/* The reflected method of an operator, `self` being the right operand; NotImplemented if it has
 * none.
 */
DtStatus dt_instance_reflected(DtTrace *trace, DtBinaryOp op, DtVar *self, DtVar *other,
                               DtVar **out) DT_MUST_CHECK;
/* What the first of `names` (the last is NULL) that the type has gives: conversions.c; NULL if it
 * has none of them.  Breaks when the result is not what CPython demands of that method. */
DtStatus dt_instance_convert(DtTrace *trace, DtVar *instance, const char *const *names,
                             DtVar **out) DT_MUST_CHECK;
/* Whether the type has such a method. */
bool dt_instance_overrides(DtVar *instance, const char *name);
/* Attributes: through what the type overrides, and as object.__getattribute__ and __setattr__. */
DtStatus dt_instance_getattr(DtTrace *, DtVar *self, PyObject *name, DtVar **out) DT_MUST_CHECK;
DtStatus dt_instance_setattr(DtTrace *, DtVar *self, PyObject *name, DtVar *value) DT_MUST_CHECK;
DtStatus dt_instance_generic_getattr(DtTrace *, DtVar *self, PyObject *name,
                                     DtVar **out) DT_MUST_CHECK;
DtStatus dt_instance_generic_setattr(DtTrace *, DtVar *self, PyObject *name,
                                     DtVar *value) DT_MUST_CHECK;
bool dt_instance_has_dict(DtVar *self);
/* A real object of the instance's class on which CPython can be made to raise an error: the
 * existing object, or an empty new one. */
DtStatus dt_instance_stand_in(DtTrace *trace, DtVar *self, PyObject **out) DT_MUST_CHECK;

/* ---- The __dict__ of instances (attr_dict.c, v_dict.c) --------------------------------------- */

/* The tracker of instance.__dict__; `name` is "__dict__". */
DtStatus dt_attr_dict_get(DtTrace *trace, DtVar *instance, PyObject *name,
                          DtVar **out) DT_MUST_CHECK;
bool dt_attr_dict_is_slot(PyTypeObject *cls, PyObject *name);
/* An attribute in it, or NULL; storing one (value NULL: deleting one that is there).  Only once the
 * instance has `attributes`. */
DtStatus dt_attr_dict_find(DtTrace *trace, DtVar *instance, PyObject *name,
                           DtVar **out) DT_MUST_CHECK;
DtStatus dt_attr_dict_store(DtTrace *trace, DtVar *instance, PyObject *name,
                            DtVar *value) DT_MUST_CHECK;
/* A store (value NULL: a deletion) that is in the journal already, made in the tracker alone. */
DtStatus dt_dict_replay(DtTrace *trace, DtDictVar *dict, DtVar *key, DtVar *value) DT_MUST_CHECK;

/* ---- The builtin part of instances (payload*.c) ---------------------------------------------- */

int dt_payload_init(void); /* -1 with an exception */
/* Whether an object of a subclass of a builtin type is followed as an instance with a payload. */
bool dt_payload_fits(PyObject *object);
/* Whether instances of the builtin class itself are such instances: OrderedDict, defaultdict. */
bool dt_payload_is_own(PyTypeObject *cls);
/* Makes the payload of an existing instance whose class has a builtin base. */
DtStatus dt_payload_build(DtTrace *trace, DtInstanceVar *self) DT_MUST_CHECK;
/* What base.__new__(cls, *args) makes of its arguments; args are without cls. */
DtStatus dt_payload_new(DtTrace *trace, PyTypeObject *base, const DtArgs *args,
                        DtVar **out) DT_MUST_CHECK;
DtStatus dt_payload_adopt(DtTrace *trace, DtInstanceVar *owner, DtVar *payload) DT_MUST_CHECK;
DtStatus dt_payload_reconstruct(DtCodegen *codegen, DtInstanceVar *self) DT_MUST_CHECK;
/* The same for a C type whose methods are all polyfills (deque, SimpleNamespace, _random.Random):
 * whether it is one, by the type that gives the layout; giving a new instance its contents
 * (`args` as for __new__); rebuilding. */
bool dt_payload_is_hidden(PyTypeObject *layout);
DtStatus dt_payload_new_hidden(DtTrace *trace, DtInstanceVar *self,
                               const DtArgs *args) DT_MUST_CHECK;
DtStatus dt_payload_reconstruct_hidden(DtCodegen *codegen, DtInstanceVar *self) DT_MUST_CHECK;
/* The tracker of an instance's builtin part, else the tracker itself. */
DtVar *dt_payload_of(DtVar *var);
/* The same if the class overrides none of the names (which end with NULL); else NULL. */
DtVar *dt_payload_unless(DtVar *var, const char *const *names);
/* Whether a binary slot of a builtin number takes `other` as CPython's slots do: a number that is
 * not wider than its own type, whichever kind of tracker has it, and nothing else. */
typedef enum DtSlotTakes { DT_SLOT_OF_NO_NUMBER, DT_SLOT_TAKES, DT_SLOT_REFUSES } DtSlotTakes;
DtSlotTakes dt_number_slot_takes(DtTrace *trace, DtVar *self, DtVar *other);
/* What the methods do that OrderedDict and defaultdict add or change; *done false: as the base's.
 */
DtStatus dt_payload_method(DtTrace *trace, PyTypeObject *of, PyObject *name, DtInstanceVar *self,
                           const DtArgs *args, bool *done, DtVar **out) DT_MUST_CHECK;

/* ---- Methods that a builtin type defines (inherited.c) --------------------------------------- */

/* The wrapper that the builtin type has for a special method which the slots can answer, or NULL.
 */
DT_BORROWED PyObject *dt_slot_method_find(PyTypeObject *type, PyObject *name);
/* Calls a method or slot wrapper that a builtin type defines; args->pos[0] is its self. */
DtStatus dt_inherited_call(DtTrace *trace, PyObject *descriptor, const DtArgs *args,
                           DtVar **out) DT_MUST_CHECK;

#endif
