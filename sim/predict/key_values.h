/** \file key_values.h
 * How the values of keys are read and written: ar_key_row's `parse` and `print`.
 */
#ifndef AR_KEY_VALUES_H
#define AR_KEY_VALUES_H

#include "ar_scenario.h"

/* Not every value needs the key, its origin or an error. */
#define KEY_UNUSED __attribute__((unused))
#define KEY_PARSE(value)                                                                           \
    enum ar_status key_parse_##value(struct ar_scenario *scenario, enum ar_key key KEY_UNUSED,     \
                                     const struct ar_origin *origin KEY_UNUSED, const char *text,  \
                                     struct ar_error *err KEY_UNUSED)
#define KEY_PRINT(value)                                                                           \
    void key_print_##value(const struct ar_scenario *scenario, enum ar_key key KEY_UNUSED,         \
                           FILE *file)

/** Values of any key, into and from its `field`. */
KEY_PARSE(text);
KEY_PARSE(count);
KEY_PARSE(number);
KEY_PARSE(choice);
KEY_PARSE(yes_or_no);
KEY_PARSE(setting);
KEY_PRINT(value);
KEY_PRINT(as_set);
KEY_PRINT(settings);

/** Values of one key, or of few. */
KEY_PARSE(algorithm);
KEY_PARSE(operation);
KEY_PARSE(mesh);
KEY_PARSE(along);
KEY_PARSE(shape);
KEY_PARSE(payload);
KEY_PARSE(bucket);
KEY_PARSE(setting_once);
KEY_PARSE(samples_per_s_at);
KEY_PARSE(engine);
KEY_PARSE(strategy);
KEY_PARSE(schedule);
KEY_PARSE(straggler);
KEY_PRINT(mesh);
KEY_PRINT(along);
KEY_PRINT(trace);
KEY_PRINT(precision);
KEY_PRINT(strategy);
KEY_PRINT(schedule);
KEY_PRINT(bucket);
KEY_PRINT(framework);

#endif
