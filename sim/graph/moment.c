#include "moment.h"

#include <math.h>

static const double *factor_of(const struct moments *moments, uint32_t role)
{
    const struct ar_graph_request *request = moments->request;
    return request->factor != NULL ? request->factor + (size_t)role * request->ranks_count : NULL;
}

struct moment moment_begin(const struct moments *moments, uint32_t role)
{
    const struct ar_graph_request *request = moments->request;
    size_t first = (size_t)role * request->ranks_count;
    return (struct moment){.base_s = request->start_s != NULL ? request->start_s + first : NULL};
}

double moment_at(const struct moments *moments, uint32_t role, const struct moment *moment,
                 uint32_t rank)
{
    const double *factor = factor_of(moments, role);
    double base_s = moment->base_s != NULL ? moment->base_s[rank] : 0;
    return base_s + (factor != NULL ? factor[rank] : 1) * moment->elapsed_s;
}

double moment_last_of(const struct moments *moments, uint32_t role, const struct moment *moment)
{
    double last_s = 0;
    for (uint32_t rank = 0; rank < moments->request->ranks_count; rank++) {
        last_s = fmax(last_s, moment_at(moments, role, moment, rank));
    }
    return last_s;
}

static double *make_base(struct moments *moments)
{
    return ar_arena_alloc(moments->memory, moments->request->ranks_count, sizeof(double));
}

/* Gives a moment a base of its own. */
static void stand(const struct moments *moments, uint32_t role, const double *base_s,
                  struct moment *moment)
{
    *moment = (struct moment){.base_s = base_s};
    moment->offset_s = moment_last(moments, role, moment);
}

void moment_meet(struct moments *moments, uint32_t role, struct moment *moment, uint32_t from,
                 const struct moment *other)
{
    struct moment begin = moment_begin(moments, role);
    bool is_comparable =
        moment->base_s == other->base_s && (role == from || moments->request->factor == NULL);
    if (is_comparable) {
        moment->elapsed_s = fmax(moment->elapsed_s, other->elapsed_s);
        return;
    }
    if (role == from && moment->base_s == begin.base_s && moment->elapsed_s == 0) {
        *moment = *other; /* nobody ends before the role begins */
        return;
    }
    double *base_s = make_base(moments);
    for (uint32_t rank = 0; base_s != NULL && rank < moments->request->ranks_count; rank++) {
        base_s[rank] =
            fmax(moment_at(moments, role, moment, rank), moment_at(moments, from, other, rank));
    }
    stand(moments, role, base_s, moment);
}

/* The first rank of the group of a rank along axes: of all its places but those the same. */
static uint32_t group_of(const uint32_t *sizes, uint32_t axes, uint32_t rank)
{
    uint32_t group = 0;
    uint32_t stride = 1;
    for (int axis = AR_AXES_COUNT - 1; axis > AR_AXIS_PP; axis--) {
        uint32_t place = rank / stride % sizes[axis];
        group += (axes >> axis & 1) != 0 ? 0 : place * stride;
        stride *= sizes[axis];
    }
    return group;
}

void moment_add(struct moments *moments, uint32_t role, struct moment *moment, uint32_t axes,
                double time_s)
{
    uint32_t count = moments->request->ranks_count;
    if (moment_is_even(moments, moment)) {
        moment->elapsed_s += time_s;
        return;
    }
    double *base_s = make_base(moments);
    moments->last_s = moments->last_s != NULL ? moments->last_s : make_base(moments);
    double *last_s = moments->last_s;
    bool is_broken = moments->memory->is_broken;
    for (uint32_t rank = 0; !is_broken && rank < count; rank++) {
        last_s[rank] = 0;
    }
    for (uint32_t rank = 0; !is_broken && rank < count; rank++) {
        double *last = &last_s[group_of(moments->request->sizes, axes, rank)];
        *last = fmax(*last, moment_at(moments, role, moment, rank));
    }
    for (uint32_t rank = 0; !is_broken && rank < count; rank++) {
        base_s[rank] = last_s[group_of(moments->request->sizes, axes, rank)] + time_s;
    }
    stand(moments, role, is_broken ? NULL : base_s, moment);
}
