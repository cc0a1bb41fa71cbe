#include "test_support.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ar_device_cost.h"
#include "ar_units.h"
#include "test_cluster_file.h"
#include "test_outcome.h"

enum { SETTING_SIZE = 96 };

static struct ar_arena arena; /* of a test, which is a process */

struct ar_cluster *support_cluster(const char *name, const char *settings)
{
    /* No test needs the 65,536 nodes of flat. */
    const char *list[TEST_SETTINGS_MAX + 1] = {strcmp(name, "flat") == 0 ? "nodes=4096" : NULL};
    char path[1024], *setting, *rest = settings != NULL ? ar_arena_text(&arena, settings) : NULL;
    for (size_t count = list[0] != NULL; (setting = strsep(&rest, " ")) != NULL; count++) {
        cr_assert_lt(count, TEST_SETTINGS_MAX);
        list[count] = setting;
    }
    snprintf(path, sizeof path, "%s/topologies/machines/%s.topo", AR_TEST_SOURCE_DIR, name);
    return test_cluster_of_file(path, list, &arena);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* Writes `key=value` with the value scaled; false for values that are neither time nor rate. */
static bool scale(const struct ar_cluster_parameter *parameter, double factor,
                  char setting[SETTING_SIZE])
{
    const char *key = parameter->key;
    double value = 0;
    if (ends_with(key, "bandwidth")) {
        TEST_OK(ar_parse_quantity(key, parameter->text, AR_QUANTITY_RATE, &value, &why));
        snprintf(setting, SETTING_SIZE, "%s=%.17gB/s", key, value / factor);
    } else if (ends_with(key, "latency") || ends_with(key, "setup")) {
        TEST_OK(ar_parse_quantity(key, parameter->text, AR_QUANTITY_TIME, &value, &why));
        snprintf(setting, SETTING_SIZE, "%s=%.17gs", key, value * factor);
    } else if (ends_with(key, "reduce_cost")) {
        TEST_OK(ar_parse_quantity(key, parameter->text, AR_QUANTITY_COST, &value, &why));
        snprintf(setting, SETTING_SIZE, "%s=%.17gs/B", key, value * factor);
    } else {
        return false;
    }
    return true;
}

struct ar_cluster *support_slower(const struct ar_cluster *cluster, double factor)
{
    char settings[TEST_SETTINGS_MAX * SETTING_SIZE] = "", setting[SETTING_SIZE];
    size_t count = 0;
    for (size_t i = 0; i < ar_cluster_parameters_count(cluster); i++) {
        struct ar_cluster_parameter parameter = ar_cluster_parameter(cluster, i);
        cr_assert_lt(count, TEST_SETTINGS_MAX);
        if (scale(&parameter, factor, setting)) {
            strcat(strcat(settings, count > 0 ? " " : ""), setting);
            count++;
        }
    }
    cr_assert_geq(count, 4);
    return support_cluster(ar_cluster_facts(cluster)->name, settings);
}

const struct ar_algorithm *support_algorithm(const char *name)
{
    const struct ar_algorithm *algorithm = NULL;
    TEST_OK(ar_algorithm_find("test", &ar_operation_all_reduce, name, &algorithm, &why));
    return algorithm;
}

struct ar_collective support_collective(const struct ar_cluster *cluster, const char *algorithm,
                                        uint32_t x, uint32_t y)
{
    return support_collective_of(cluster, support_algorithm(algorithm), x, y);
}

struct ar_collective support_collective_of(const struct ar_cluster *cluster,
                                           const struct ar_algorithm *algorithm, uint32_t x,
                                           uint32_t y)
{
    return (struct ar_collective){.cluster = cluster,
                                  .operation = algorithm->operation,
                                  .algorithm = algorithm,
                                  .shape = {.x = x, .y = y},
                                  .channels = 1,
                                  .window = 8,
                                  .element_bytes = 4};
}

struct ar_collective support_on(const char *cluster, const char *algorithm, uint32_t x, uint32_t y)
{
    return support_collective(support_cluster(cluster, NULL), algorithm, x, y);
}

struct ar_cluster *support_textbook(void)
{
    return support_cluster("flat", "net.latency=5us hca.bandwidth=25GB/s gpu.reduce_cost=4ps/B "
                                   "collective.setup=7us fabric.sums=yes");
}

struct ar_link_load *support_loads(const struct ar_collective *collective, const uint64_t *elements,
                                   size_t count)
{
    struct ar_link_load *loads = calloc(ar_cluster_links_count(collective->cluster), sizeof *loads);
    cr_assert_not_null(loads);
    struct ar_flows *flows;
    TEST_OK(ar_flows_create(collective, &flows, &why));
    for (size_t i = 0; i < count; i++) {
        ar_link_load_add_flows(flows, elements[i], loads);
    }
    ar_flows_destroy(flows);
    return loads;
}

struct ar_closed_time support_closed(const struct ar_collective *collective, uint64_t elements)
{
    struct ar_flows *plan = NULL;
    struct ar_closed_time time;
    TEST_OK(ar_flows_create(collective, &plan, &why));
    ar_closed_evaluate(plan, elements, &time);
    ar_flows_destroy(plan);
    return time;
}

struct ar_trace *support_resnet50(uint32_t batch, enum ar_precision precision)
{
    const struct ar_trace_request request = {.batch = batch, .precision = precision};
    struct ar_trace_file *file = NULL;
    struct ar_device_cost *cost = NULL;
    struct ar_trace *trace = NULL;
    TEST_OK(
        ar_trace_file_load(AR_TEST_SOURCE_DIR "/traces/resnet50-v1.5.csv", &arena, &file, &why));
    TEST_OK(ar_device_cost_load(AR_TEST_SOURCE_DIR "/traces/device/v100-sxm2.cost.csv", &arena,
                                &cost, &why));
    TEST_OK(ar_trace_create(file, cost, &request, &arena, &trace, &why));
    return trace;
}

bool support_near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

const char *support_text(const char *format, ...)
{
    static char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

const char *support_name(const struct ar_collective *collective)
{
    static char name[256];
    snprintf(name, sizeof name, "%s by %s on %s, %ux%u, %u channels, window %u",
             collective->operation->name, collective->algorithm->name,
             ar_cluster_facts(collective->cluster)->name, collective->shape.x, collective->shape.y,
             collective->channels, collective->window);
    return name;
}

bool support_default(const struct ar_cluster *cluster, const struct ar_algorithm *algorithm,
                     uint32_t ranks, uint32_t node_ranks, struct ar_collective *collective)
{
    struct ar_shape shape = ar_algorithm_default_shape(algorithm, ranks, node_ranks);
    *collective = support_collective_of(cluster, algorithm, shape.x, shape.y);
    collective->shape = shape;
    return ar_collective_check(collective, AR_IGNORED) == AR_OK;
}
