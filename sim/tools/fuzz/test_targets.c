/* The table of targets, and those of them that are no command: what is read and what holds. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ar_device_cost.h"
#include "ar_inputs.h"
#include "ar_kind.h"
#include "ar_kineto.h"
#include "ar_log.h"
#include "ar_page.h"
#include "ar_recorded.h"
#include "journal.h"
#include "test_fuzz.h"

/* --- logs ---------------------------------------------------------------------------------- */

static void check_runs(const struct ar_logs *logs)
{
    AR_EACH(const struct ar_log, run, logs->runs, logs->runs_count) {
        assert(run->first_line <= run->last_line);
        ar_log_check(run, AR_IGNORED);
        for (size_t k = 0; k < run->rows_count; k++) {
            double out_s = run->rows[k].out_of_place.time_s, in_s = run->rows[k].in_place.time_s;
            assert(isnan(out_s) || out_s > 0);
            assert(isnan(in_s) || in_s > 0);
            assert(!isnan(out_s) || !isnan(in_s));
        }
    }
}

static enum ar_status read_logs(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_logs *logs = NULL;
    enum ar_status status =
        ar_logs_parse("fuzz", input->bytes, input->size, input->arena, &logs, err);
    assert(status == AR_OK || strchr(err->text, '\n') == NULL);
    if (status == AR_OK) {
        check_runs(logs);
    }
    return status;
}

/* --- profiles ------------------------------------------------------------------------------ */

static void check_trace(const struct ar_trace *trace)
{
    uint32_t tensors = 0;
    assert(trace->layers_count > 0 && trace->tensors_count > 0 && trace->batch > 0);
    AR_EACH(const struct ar_layer, layer, trace->layers, trace->layers_count) {
        assert(layer->forward_s >= 0 && layer->backward_s >= 0 && layer->name[0] != '\0');
        assert(layer->tensors_first == tensors);
        tensors += layer->tensors_count;
    }
    assert(tensors == trace->tensors_count);
    assert(ar_trace_gradient_elements(trace) <= AR_TRACE_ELEMENTS_MAX);
    assert(trace->optimizer_s >= 0 && trace->step_overhead_s >= 0);
    assert(isfinite(ar_trace_compute_s(trace)));
}

static enum ar_status read_kineto(const struct fuzz_input *input, struct ar_error *err)
{
    for (int i = 0; i < 4; i++) {
        struct ar_kineto_step *step = NULL;
        const struct ar_kineto_request request = {
            .times = i / 2 == 0 ? AR_KINETO_RECORDED : AR_KINETO_KERNELS, .is_rank = i % 2 == 1};
        char *text = ar_arena_alloc(input->arena, input->size + 1, 1);
        memcpy(text, input->bytes, input->size);
        AR_TRY(ar_kineto_parse("fuzz", text, input->size, &request, input->arena, &step, err));
        if (step->recorded == NULL) {
            check_trace(&step->trace);
        }
    }
    return AR_OK;
}

/* --- steps of other programs --------------------------------------------------------------- */

static enum ar_status read_recorded(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_recorded *recorded = NULL;
    uint32_t needs = 0;
    AR_TRY(ar_recorded_parse("fuzz", input->bytes, input->size, input->arena, &recorded, err));
    assert(recorded->tasks_count > 0 && recorded->form != NULL);
    for (uint32_t i = 0; i < recorded->tasks_count; i++) {
        const struct ar_recorded_task *task = &recorded->tasks[i];
        assert(isfinite(task->time_s) && task->time_s >= 0 && task->needs_first == needs);
        needs += task->needs_count;
        for (uint32_t k = 0; k < task->needs_count; k++) {
            assert(recorded->needs[task->needs_first + k] < i);
        }
    }
    assert(needs == recorded->needs_count);
    return AR_OK;
}

/* --- tables -------------------------------------------------------------------------------- */

static enum ar_status read_cost(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_device_cost *cost = NULL;
    const struct ar_gemm gemm = {.count = 3, .m = 1000, .n = 300, .k = 100000};
    AR_TRY(ar_device_cost_load(input->path, input->arena, &cost, err));
    AR_TRY(cost->base != NULL ? ar_device_cost_complete(input->path, cost, cost, err) : AR_OK);
    for (int i = 0; i < AR_PRECISIONS_COUNT; i++) {
        enum ar_precision precision = (enum ar_precision)i;
        if (ar_device_cost_has_group(cost, precision, AR_COST_OF_KERNELS)) {
            assert(ar_device_cost_optimizer_s(cost, precision, 1000000) >= 0);
        }
        if (ar_device_cost_has_group(cost, precision, AR_COST_OF_PRODUCTS)) {
            assert(ar_device_gemm_s(cost, precision, &gemm) >= 0);
        }
    }
    return AR_OK;
}

static enum ar_status read_conv_points(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_conv_points points;
    return ar_conv_points_load(input->path, input->arena, &points, err);
}

static enum ar_status read_library(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_library_table *table = ar_arena_alloc(input->arena, 1, sizeof *table);
    return ar_library_table_read(input->path, input->arena, table, err);
}

/* --- keys: lines of `name value` ----------------------------------------------------------- */

/* Whether what a value asks for is quick and stays in this process. */
static bool is_small_value(enum ar_key key, const char *value)
{
    static const char *const apart[] = {"simgrid", "best", "auto", "anneal"};
    size_t digits = strspn(value, "0123456789");
    bool is_small = digits < 4 && strchr(value, '/') == NULL;
    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++) {
        is_small = is_small && strcmp(value, apart[i]) != 0;
    }
    return is_small && (key != AR_KEY_MESH || strlen(value) < 16);
}

static enum ar_status set_keys(char *rest, struct ar_scenario *scenario, bool *is_small,
                               struct ar_error *err)
{
    *is_small = true;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        const char *name = strsep(&line, " ");
        enum ar_key key = ar_key_find(name);
        if (line != NULL && key != AR_KEYS_COUNT) {
            const struct ar_origin origin = {.where = ar_keys[key].option, .status = AR_USAGE};
            AR_TRY(ar_scenario_set(scenario, key, &origin, line, err));
            *is_small = *is_small && is_small_value(key, line);
        }
    }
    return AR_OK;
}

/* Loaded if they are small, and run if that is quick. */
static enum ar_status read_keys(const struct fuzz_input *input, struct ar_error *err)
{
    struct ar_scenario scenario = ar_scenario_begin(input->arena, ar_inputs_create(input->arena));
    struct ar_row *row = ar_arena_alloc(input->arena, 1, sizeof *row);
    bool is_small;
    AR_TRY(set_keys(ar_arena_text(input->arena, input->bytes), &scenario, &is_small, err));
    AR_TRY(ar_scenario_require(&scenario, AR_KEY_CLUSTER, err));
    if (!is_small) {
        return AR_OK;
    }
    AR_TRY(ar_scenario_load(&scenario, err));
    AR_TRY(scenario.gpus > 0 ? AR_OK : ar_scenario_require(&scenario, AR_KEY_GPUS, err));
    if (ar_scenario_kind(&scenario)->is_collective) {
        AR_TRY(ar_scenario_require(&scenario, AR_KEY_PAYLOAD, err));
        AR_TRY(ar_scenario_require(&scenario, AR_KEY_ALGORITHM, err));
    }
    return ar_run_cost_s(&scenario) < 0.01 ? ar_run(&scenario, row, err) : AR_OK;
}

/* --- journals ------------------------------------------------------------------------------ */

enum { POINTS = 16 };

static enum ar_status read_journal(const struct fuzz_input *input, struct ar_error *err)
{
    struct journal *journal = ar_arena_alloc(input->arena, 1, sizeof *journal);
    struct ar_row *row = ar_arena_alloc(input->arena, 1, sizeof *row);
    struct journal_request request = {
        .directory = input->directory, .mark = "fuzz", .points_count = POINTS, .forces = true};
    /* Its own first lines, or the input's. */
    FILE *file = fopen(input->path, "w");
    assert(file != NULL && fclose(file) == 0);
    if (input->bytes[0] != '#') {
        AR_TRY(journal_open(&request, input->arena, journal, err));
        fclose(journal->file);
    }
    file = fopen(input->path, "a");
    assert(file != NULL && fputs(input->bytes, file) >= 0 && fclose(file) == 0);
    request.resumes = true;
    enum ar_status status = journal_open(&request, input->arena, journal, err);
    for (uint32_t point = 0; status == AR_OK && point < POINTS; point++) {
        if (journal->rows[point] != NULL) {
            journal_read_row(journal, point, row);
        }
    }
    journal_close(journal, true);
    return status;
}

/* --- what commands left -------------------------------------------------------------------- */

/* The first line of the input names the file, such as `# sweep.csv`; beside it lies what others
 * need. */
static enum ar_status read_report(const struct fuzz_input *input, struct ar_error *err)
{
    static const char step[] = "gpus\n4\n";
    struct ar_page page;
    char name[32];
    const char *directory = ar_arena_format(input->arena, "%s/page", input->directory);
    const struct ar_page_request request = {
        .directory = directory,
        .out = ar_arena_format(input->arena, "%s/report.html", input->directory),
        .page_dir = FUZZ_SOURCE "/plots/report",
        .template_dir = FUZZ_SOURCE "/plots/templates",
        .made_by = "fuzz",
        .columns = &ar_row_columns,
        .columns_count = 1};
    fuzz_make_directory(directory);
    fuzz_write(ar_arena_format(input->arena, "%s/step.csv", directory), FUZZ_TEXT(step));
    fuzz_write(ar_arena_format(input->arena, "%s/accuracy.csv", directory), FUZZ_TEXT(step));
    if (sscanf(input->bytes, "# %31[a-z_.]", name) == 1 && name[0] != '.') {
        fuzz_write(ar_arena_format(input->arena, "%s/%s", directory, name), input->bytes,
                   input->size);
    }
    return ar_page_write(&request, input->arena, &page, err);
}

/* --- the table: commands are chosen to do little but read ---------------------------------- */

#define STEP " --gpus 4 --algorithm ring --engine closed"
#define ON   " --cluster dgx-a100"

const struct fuzz_target fuzz_targets[] = {
    /* clusters */
    {"cluster", "my.topo", NULL, "allreduce --cluster @ --payload 64MB" STEP,
     "topologies/machines/*.topo"},
    {"fabric", "my.topo", NULL, "links --cluster @ --gpus 24 --algorithm ring --payload 1MB",
     "topologies/machines/*.topo"},
    {"library", "my.library.csv", read_library, NULL,
     "topologies/machines/abci-v100-nccl2.8.library.csv"},
    {"discover", "node", NULL,
     "discover @ --set nodes=2 --set rack.nodes=0 --set hca.bandwidth=1GB/s --set "
     "nvlink.bandwidth=1GB/s --set pcie.bandwidth=1GB/s",
     "topologies/readers/fixtures/*"},
    /* work */
    {"trace", "my.csv", NULL, "predict --trace @" ON STEP, "sim/tools/fuzz/seeds/trace/*"},
    {"layers", "my.csv", NULL, "compare @",
     "traces/resnet50-v1.5-recorded.csv sim/tools/fuzz/seeds/trace/*"},
    {"kernels", "my.csv", NULL, "compare @",
     "traces/device/products.csv traces/device/attention.csv"},
    {"framework", "my.csv", NULL,
     "predict --trace example-timed --term memory.rate=780GB/s --term kernel.floor=5us "
     "--framework @" ON STEP,
     "traces/frameworks/*.framework.csv"},
    {"cost", "my.cost.csv", read_cost, NULL, "traces/device/*.cost.csv"},
    {"convolutions", "my.csv", read_conv_points, NULL, "sim/tools/fuzz/seeds/convolutions/*"},
    {"kineto", NULL, read_kineto, NULL, "traces/profiles/fixtures/*"},
    {"recorded", NULL, read_recorded, NULL, "traces/logs/steps/*"},
    {"workload", "my.et", NULL, "predict --workload @ --gpus 4 --engine closed" ON,
     "traces/logs/steps/*"},
    {"config", "config.json", NULL,
     "predict --workload @ --mesh dp=4 --global-batch 4 --engine closed" ON,
     "sim/tools/fuzz/seeds/config/*"},
    {"operators", "my.csv", NULL, "predict --gpus 2 --operators @ --placement greedy" ON,
     "traces/operators/googlenet.operators.csv sim/tools/fuzz/seeds/operators/*"},
    {"placement", "my.csv", NULL, "predict --gpus 2 --operators googlenet --placement @" ON,
     "sim/tools/fuzz/seeds/placement/*"},
    {"run", "my.run.csv", NULL, "train @ --engine closed --gpus 4 --iterations 1",
     "traces/runs/*.run.csv"},
    {"keys", NULL, read_keys, NULL, "sim/tools/fuzz/seeds/keys/*"},
    /* measurements */
    {"logs", NULL, read_logs, NULL, "traces/logs/fixtures/*"},
    {"calibrate", "my.log", NULL, "calibrate @ --force --out % --cluster abci-v100",
     "traces/logs/fixtures/nccl-13-reduce.txt traces/logs/fixtures/harness.csv "
     "sim/tools/fuzz/seeds/calibrate/*"},
    {"compare", "my.log", NULL, "compare @ --cluster abci-v100 --engine closed",
     "traces/logs/fixtures/nccl-1*.txt traces/logs/fixtures/harness.csv "
     "sim/tools/fuzz/seeds/calibrate/*"},
    {"published", "my.csv", NULL, "reproduce @ --rows none",
     "validate/data/published/sony.csv validate/data/published/mlperf.csv "
     "validate/data/published/context.csv"},
    /* what commands left */
    {"journal", "sweep.journal", read_journal, NULL, "sim/tools/fuzz/seeds/journal/*"},
    {"report", "input", read_report, NULL, "sim/tools/fuzz/seeds/report/*"},
    {NULL}};
