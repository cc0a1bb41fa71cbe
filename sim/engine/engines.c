#include <string.h>

#include "ar_engine.h"
#include "ar_text.h"

#define ADDRESS(name) &ar_engine_##name,
const struct ar_engine *const ar_engines[] = {AR_ENGINE_LIST(ADDRESS)};
const size_t ar_engines_count = sizeof ar_engines / sizeof ar_engines[0];

enum ar_status ar_engine_find(const char *where, const char *name, const struct ar_engine **engine,
                              struct ar_error *err)
{
    const char *names[sizeof ar_engines / sizeof ar_engines[0]];
    for (size_t i = 0; i < ar_engines_count; i++) {
        if (strcmp(name, ar_engines[i]->name) == 0) {
            *engine = ar_engines[i];
            return AR_OK;
        }
        names[i] = ar_engines[i]->name;
    }
    return ar_error_unknown(err, AR_USAGE, where, "engine", name, names, ar_engines_count);
}

bool ar_engine_times_calls(const struct ar_engine *engine)
{
    return engine->predict_call != NULL;
}

bool ar_engine_is_fitted(const struct ar_engine *engine)
{
    return engine->has_band;
}

const struct ar_library *ar_engine_pick_library(const struct ar_engine *engine,
                                                const struct ar_library *fitted,
                                                const struct ar_library *constants)
{
    return engine->predict_call == NULL ? NULL : engine->has_band ? fitted : constants;
}

const struct ar_algorithm *ar_engine_algorithm(const struct ar_engine *engine,
                                               const struct ar_operation *operation)
{
    size_t i = 0;
    while (ar_algorithms[i]->operation != operation) {
        i++;
    }
    return engine->predict_call != NULL ? NULL : ar_algorithms[i];
}
