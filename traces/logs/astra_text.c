/* Workloads of ASTRA-sim 1.0 and SimAI: a line of the parallelism, the number of layers, a line of
 * twelve columns for each. astra-sim/workload/Workload.cc (aliyun/SimAI 0253299) has the order in
 * which a step goes through them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"
#include "recorded.h"

enum { COLUMNS = 12, WORDS_MAX = 40, PHASES = 3 };

/* The groups and the order of the collectives of a step. */
struct parallelism {
    const char *word;
    unsigned inner, outer;  /* groups of the collectives of activations and of weights */
    bool are_weights_first; /* the gradients of weights before those of inputs */
    bool holds_up;          /* collectives of the gradients of inputs hold the GPU up */
};

static const struct parallelism parallelisms[] = {
    {"MICRO", AR_RECORDED_DP, AR_RECORDED_DP, true, true},
    {"DATA", AR_RECORDED_DP, AR_RECORDED_DP, true, true},
    {"MODEL", AR_RECORDED_TP, AR_RECORDED_TP, false, false},
    {"HYBRID_DATA_MODEL", AR_RECORDED_TP, AR_RECORDED_DP, false, false},
    {"HYBRID_TRANSFORMER", AR_RECORDED_TP, AR_RECORDED_DP, false, true},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", AR_RECORDED_TP, AR_RECORDED_DP | AR_RECORDED_EP, false,
     true},
};

/* A column of times, one of types and one of bytes, for each of the phases. */
struct phase {
    double time_s;
    const char *operation; /* NULL: none */
    uint64_t bytes;
    unsigned groups;
};

struct layer {
    struct phase phases[PHASES]; /* forward, gradients of inputs, of weights */
    double update_s;
    uint64_t line;
};
enum { FORWARD, INPUTS, WEIGHTS };

struct astra_reader {
    struct ar_recorded *recorded;
    struct ar_arena *arena;
    struct ar_error *err;
    char *rest;
    uint64_t line;
    const struct parallelism *parallelism;
    bool is_simai;
    uint64_t pipeline_bytes;
    struct layer *layers;
    uint32_t layers_count;
};

static enum ar_status refuse_line(const struct astra_reader *reader, const char *found,
                                  const char *expected)
{
    return ar_error_in_line(reader->err, reader->recorded->path, reader->line,
                            "found %.60s; expected %s", found, expected);
}

/* The words of the next line that has some; none at the end of the text. */
static size_t read_next_words(struct astra_reader *reader, char *words[WORDS_MAX])
{
    size_t count = 0;
    while (count == 0 && *reader->rest != '\0') {
        char *line = reader->rest;
        char *newline = strchr(line, '\n');
        reader->rest = newline != NULL ? newline + 1 : line + strlen(line);
        if (newline != NULL) {
            *newline = '\0';
        }
        reader->line++;
        for (char *word; count < WORDS_MAX && (word = strtok_r(NULL, " \t\r", &line)) != NULL;) {
            words[count++] = word;
        }
    }
    return count;
}

static enum ar_status read_astra_count(const struct astra_reader *reader, const char *name,
                                       const char *text, uint64_t max, uint64_t *number)
{
    char where[300];
    snprintf(where, sizeof where, "%.200s:%" PRIu64 ": %s", reader->recorded->path, reader->line,
             name);
    return ar_parse_count(where, text, 0, max, number, reader->err);
}

/* --- the head ------------------------------------------------------------------------------ */

static enum ar_status read_astra_head(struct astra_reader *reader)
{
    char *words[WORDS_MAX];
    const char *names[sizeof parallelisms / sizeof parallelisms[0]];
    size_t count = read_next_words(reader, words);
    uint64_t layers = 0;
    for (size_t i = 0; i < sizeof parallelisms / sizeof parallelisms[0]; i++) {
        names[i] = parallelisms[i].word;
        if (count > 0 && strcmp(words[0], names[i]) == 0) {
            reader->parallelism = &parallelisms[i];
        }
    }
    if (reader->parallelism == NULL) {
        char where[240];
        snprintf(where, sizeof where, "%.200s:%" PRIu64, reader->recorded->path, reader->line);
        return ar_error_unknown(reader->err, AR_BAD_DATA, where, "parallelism",
                                count > 0 ? words[0] : "", names, sizeof names / sizeof names[0]);
    }
    /* SimAI's `model_parallel_NPU_group: 2 ep: 16 pp: 12 ... pp_comm 50331648`. */
    struct ar_recorded *recorded = reader->recorded;
    const struct {
        const char *name;
        uint32_t *size;
    } rows[] = {{"model_parallel_NPU_group:", &recorded->tp},
                {"ep:", &recorded->ep},
                {"pp:", &recorded->pp},
                {"all_gpus:", &recorded->gpus}};
    for (size_t i = 1; i + 1 < count; i++) {
        uint64_t number = 0;
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            if (strcmp(words[i], rows[k].name) == 0) {
                AR_TRY(read_astra_count(reader, rows[k].name, words[i + 1], 1 << 24, &number));
                *rows[k].size = (uint32_t)number;
                reader->is_simai = reader->is_simai || k > 0; /* ASTRA-sim says the first alone */
            }
        }
        if (strncmp(words[i], "pp_comm", 7) == 0) {
            AR_TRY(read_astra_count(reader, "pp_comm", words[i + 1], UINT64_C(1) << 50,
                                    &reader->pipeline_bytes));
        }
        AR_REFUSE_BY(strcmp(words[i], "checkpoints:") == 0 && strcmp(words[i + 1], "0") != 0,
                     refuse_line(reader, "checkpoints", "checkpoints: 0, all passes as layers"));
    }
    reader->recorded->form = reader->is_simai ? "SimAI" : "ASTRA-sim";
    AR_REFUSE_BY(read_next_words(reader, words) != 1,
                 refuse_line(reader, "no number of layers", "one number"));
    AR_TRY(read_astra_count(reader, "layers", words[0], AR_RECORDED_TASKS_MAX / 8, &layers));
    reader->layers_count = (uint32_t)layers;
    reader->layers = ar_arena_alloc(reader->arena, layers + 1, sizeof *reader->layers);
    return AR_OK;
}

/* --- layers -------------------------------------------------------------------------------- */

/* `ALLREDUCE`, `ALLGATHER_DP_EP`, ... */
static enum ar_status read_collective_type(const struct astra_reader *reader, const char *text,
                                           unsigned groups, struct phase *phase)
{
    static const struct {
        const char *word, *operation;
    } types[] = {{"ALLREDUCE", "allreduce"},
                 {"ALLGATHER", "allgather"},
                 {"REDUCESCATTER", "reducescatter"},
                 {"ALLTOALL", "alltoall"}};
    phase->operation = NULL;
    phase->groups = groups;
    if (strcmp(text, "NONE") == 0) {
        return AR_OK;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t length = strlen(types[i].word);
        const char *more = text + length;
        if (strncmp(text, types[i].word, length) != 0) {
            continue;
        }
        phase->operation = types[i].operation;
        phase->groups = strcmp(more, "_EP") == 0      ? AR_RECORDED_EP
                        : strcmp(more, "_DP_EP") == 0 ? AR_RECORDED_DP
                                                      : groups;
        if (*more == '\0' || phase->groups != groups || strcmp(more, "_DP_EP") == 0) {
            return AR_OK;
        }
    }
    return refuse_line(reader, text,
                       "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, with _EP or _DP_EP");
}

static enum ar_status read_astra_layer(struct astra_reader *reader, char *const *words,
                                       struct layer *layer)
{
    uint64_t number = 0;
    const struct parallelism *parallelism = reader->parallelism;
    layer->line = reader->line;
    for (int p = 0; p < PHASES; p++) {
        struct phase *phase = &layer->phases[p];
        char *const *at = words + 2 + 3 * p;
        AR_TRY(read_astra_count(reader, "compute time", at[0], UINT64_C(1) << 50, &number));
        phase->time_s = (double)number * 1e-9;
        AR_TRY(read_collective_type(reader, at[1],
                                    p == WEIGHTS ? parallelism->outer : parallelism->inner, phase));
        AR_TRY(read_astra_count(reader, "bytes", at[2], UINT64_C(1) << 50, &phase->bytes));
        phase->operation = phase->bytes > 0 ? phase->operation : NULL;
    }
    AR_TRY(read_astra_count(reader, "update time", words[COLUMNS - 1], UINT64_C(1) << 50, &number));
    layer->update_s = (double)number * 1e-9;
    return AR_OK;
}

/* --- the step ------------------------------------------------------------------------------ */

#define NO_TASK UINT32_MAX

static uint32_t add_astra_compute(struct astra_reader *reader, const struct layer *layer,
                                  double time_s, enum ar_recorded_duty duty)
{
    return time_s > 0 ? ar_recorded_add(reader->recorded,
                                        &(struct ar_recorded_task){
                                            .time_s = time_s, .duty = duty, .line = layer->line})
                      : NO_TASK;
}

static uint32_t add_astra_collective(struct astra_reader *reader, const struct layer *layer,
                                     const struct phase *phase, enum ar_recorded_duty duty,
                                     bool is_beside)
{
    struct ar_recorded *recorded = reader->recorded;
    uint32_t before = recorded->tasks_count > 0 ? recorded->tasks_count - 1 : NO_TASK;
    if (phase->operation == NULL) {
        return NO_TASK;
    }
    uint32_t task = ar_recorded_add(
        recorded, &(struct ar_recorded_task){.operation = phase->operation,
                                             .bytes = phase->bytes,
                                             .is_part = !reader->is_simai &&
                                                        strcmp(phase->operation, "allgather") == 0,
                                             .groups = phase->groups,
                                             .is_beside = is_beside,
                                             .duty = duty,
                                             .line = layer->line});
    if (is_beside && before != NO_TASK) {
        ar_recorded_need(recorded, before);
    }
    return task;
}

/* Gradients of the weights of a layer: their collective runs beside what comes after. */
static void add_astra_weights(struct astra_reader *reader, const struct layer *layer)
{
    const struct phase *phase = &layer->phases[WEIGHTS];
    add_astra_compute(reader, layer, phase->time_s, AR_RECORDED_BACKWARD);
    add_astra_collective(reader, layer, phase, AR_RECORDED_BACKWARD, true);
}

enum ar_status astra_text_read(struct ar_recorded *recorded, char *text, size_t bytes,
                               struct ar_arena *arena, struct ar_error *err)
{
    struct astra_reader reader = {.recorded = recorded, .arena = arena, .err = err, .rest = text};
    AR_REFUSE(strlen(text) != bytes, err, AR_BAD_DATA,
              "%.200s: found the byte 0x00; expected a text", recorded->path);
    AR_TRY(read_astra_head(&reader));
    char *words[WORDS_MAX], found[60];
    for (uint32_t i = 0; i < reader.layers_count; i++) {
        size_t count = read_next_words(&reader, words);
        if (count != COLUMNS) {
            snprintf(found, sizeof found, "%zu words for layer %u of %u", count, i + 1,
                     reader.layers_count);
            return refuse_line(&reader, found,
                               "12: name, -1, three times time, type and bytes, update");
        }
        AR_TRY(read_astra_layer(&reader, words, &reader.layers[i]));
    }
    AR_REFUSE_BY(read_next_words(&reader, words) > 0,
                 refuse_line(&reader, "more layers", "as many as line 2 says"));
    double update_s = 0;
    size_t layers = reader.layers_count;
    AR_TRY(recorded_room(recorded, 8 * layers + 1, 4 * layers + 1, reader.arena, reader.err));
    AR_EACH(const struct layer, layer, reader.layers, layers) {
        add_astra_compute(&reader, layer, layer->phases[FORWARD].time_s, AR_RECORDED_FORWARD);
        add_astra_collective(&reader, layer, &layer->phases[FORWARD], AR_RECORDED_FORWARD, false);
        update_s += layer->phases[WEIGHTS].operation != NULL ? layer->update_s : 0;
    }
    for (size_t i = layers; i > 0; i--) {
        const struct layer *layer = &reader.layers[i - 1];
        const struct phase *phase = &layer->phases[INPUTS];
        bool holds_up = reader.parallelism->holds_up;
        if (reader.parallelism->are_weights_first) {
            add_astra_weights(&reader, layer);
        }
        add_astra_compute(&reader, layer, phase->time_s, AR_RECORDED_BACKWARD);
        uint32_t sent =
            add_astra_collective(&reader, layer, phase, AR_RECORDED_BACKWARD, !holds_up);
        if (!reader.parallelism->are_weights_first) {
            add_astra_weights(&reader, layer);
        }
        if (!holds_up && sent != NO_TASK) { /* the layer ends when it has ended */
            ar_recorded_add(
                reader.recorded,
                &(struct ar_recorded_task){.duty = AR_RECORDED_BACKWARD, .line = layer->line});
            ar_recorded_need(reader.recorded, sent);
        }
    }
    uint32_t last = NO_TASK; /* collectives beside the GPU run one after the other */
    for (uint32_t i = 0; i < recorded->tasks_count; i++) {
        last = recorded->tasks[i].is_beside ? i : last;
    }
    if (layers > 0) {
        ar_recorded_add(recorded, &(struct ar_recorded_task){.time_s = update_s,
                                                             .duty = AR_RECORDED_UPDATE,
                                                             .line = reader.line});
        if (last != NO_TASK) {
            ar_recorded_need(recorded, last);
        }
    }
    if (recorded->pp > 1) {
        recorded->notes[recorded->notes_count++] =
            ar_arena_format(arena,
                            "%.200s: the layers of one of %u stages of a pipeline, all micro-"
                            "batches forward, then all backward, as the file has them; the bubble "
                            "and %" PRIu64 " bytes between stages are not counted",
                            recorded->path, recorded->pp, reader.pipeline_bytes);
    }
    return AR_OK;
}
