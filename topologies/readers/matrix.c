/* `nvidia-smi topo -m`: what joins each two of GPUs and NICs. Columns are named GPU0..., and mlx5_0
 * ... by older drivers or NIC0 ... with a legend by newer ones; what follows the last of them
 * (affinities) is not read. */
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "lines.h"

enum { DEVICES_MAX = AR_TOPO_GPUS_MAX + 64, NAME_MAX_BYTES = 32 };

struct device {
    char name[NAME_MAX_BYTES]; /* of a column, then as its legend says */
    bool is_gpu;
    uint64_t line; /* of its row; 0: there was none */
};

struct matrix {
    struct device devices[DEVICES_MAX];
    size_t count, gpus_count;
    size_t group[DEVICES_MAX]; /* below which PCIe switch: union-find */
    struct links links;
    uint64_t line;        /* of the header; 0: none yet */
    bool has_near;        /* some devices are below one switch */
    bool has_other_pairs; /* some pair of GPUs is joined by PCIe */
};

enum ar_status matrix_begin(const struct source *source, struct matrix **matrix,
                            struct ar_error *err)
{
    *matrix = ar_arena_alloc(source->machine->arena, 1, sizeof **matrix);
    return *matrix != NULL ? AR_OK : ar_error_no_memory(err, source->path);
}

/* `GPU12` or `NIC3`; others are names of devices. */
static bool is_numbered(const char *word, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(word, prefix, length) == 0 && word[length] != '\0' &&
           word[length + strspn(word + length, "0123456789")] == '\0';
}

static bool is_device(const char *word)
{
    static const char *const names[] = {"mlx", "bnxt", "irdma", "efa",   "rdma", "roce",
                                        "hfi", "ibp",  "qedr",  "mthca", "cxgb", "ionic"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strncmp(word, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return is_numbered(word, "GPU") || is_numbered(word, "NIC");
}

/* The line that begins the matrix: GPU0 and others, no row of which is known yet. */
static enum ar_status take_header(struct matrix *matrix, const struct source *source,
                                  const struct words *words, struct ar_error *err)
{
    matrix->line = source->line;
    for (size_t i = 0; i < words->count && is_device(words->list[i]); i++) {
        bool is_gpu = is_numbered(words->list[i], "GPU");
        bool is_order = !is_gpu || matrix->gpus_count == matrix->count;
        if (matrix->count == DEVICES_MAX || (is_gpu && matrix->gpus_count == AR_TOPO_GPUS_MAX) ||
            !is_order) {
            return source_refuse(source, err,
                                 "found column %zu, \"%.20s\"; expected at most %d GPUs, then at "
                                 "most %d devices in all",
                                 i + 1, words->list[i], AR_TOPO_GPUS_MAX, DEVICES_MAX);
        }
        struct device *device = &matrix->devices[matrix->count];
        ar_copy_text(device->name, sizeof device->name, words->list[i]);
        device->is_gpu = is_gpu;
        matrix->group[matrix->count] = matrix->count;
        matrix->gpus_count += is_gpu;
        matrix->count++;
    }
    return AR_OK;
}

static size_t group_of(const struct matrix *matrix, size_t device)
{
    while (matrix->group[device] != device) {
        device = matrix->group[device];
    }
    return device;
}

/* A word of a row: what joins two devices. */
static enum ar_status take_cell(struct matrix *matrix, const struct source *source, size_t row,
                                size_t column, const char *word, struct ar_error *err)
{
    bool are_gpus = row < matrix->gpus_count && column < matrix->gpus_count;
    if ((strcmp(word, "X") == 0) != (row == column)) {
        return source_refuse(source, err, "found \"%.20s\" between %.20s and %.20s; expected X",
                             word, matrix->devices[row].name, matrix->devices[column].name);
    }
    if (strncmp(word, "NV", 2) == 0 && are_gpus) {
        unsigned long count = strtoul(word + 2, NULL, 10);
        if (count < 1 || count > 64 || !is_numbered(word, "NV")) {
            return source_refuse(source, err, "found \"%.20s\"; expected NV1 to NV64", word);
        }
        matrix->links.between[row][column] = (uint16_t)count;
        return AR_OK;
    }
    bool is_near = strcmp(word, "PIX") == 0 || strcmp(word, "PXB") == 0;
    bool is_far = strcmp(word, "PHB") == 0 || strcmp(word, "NODE") == 0 || strcmp(word, "SYS") == 0;
    if (!is_near && !is_far && row != column) {
        return source_refuse(source, err,
                             "found \"%.20s\" between %.20s and %.20s; expected X, NV#, PIX, PXB, "
                             "PHB, NODE or SYS",
                             word, matrix->devices[row].name, matrix->devices[column].name);
    }
    if (is_near) {
        size_t a = group_of(matrix, row), b = group_of(matrix, column);
        matrix->group[a > b ? a : b] = a < b ? a : b;
    }
    matrix->has_near = matrix->has_near || is_near;
    matrix->has_other_pairs = matrix->has_other_pairs || (are_gpus && row != column);
    return AR_OK;
}

static enum ar_status take_row(struct matrix *matrix, const struct source *source, size_t row,
                               const struct words *words, struct ar_error *err)
{
    if (words->count < matrix->count + 1) {
        return source_refuse(source, err, "found %zu words in the row of %.20s; expected %zu",
                             words->count, matrix->devices[row].name, matrix->count + 1);
    }
    if (matrix->devices[row].line != 0) {
        return source_refuse(source, err, "found %.20s a second time; expected it once (line %llu)",
                             matrix->devices[row].name,
                             (unsigned long long)matrix->devices[row].line);
    }
    matrix->devices[row].line = source->line;
    for (size_t i = 0; i < matrix->count; i++) {
        AR_TRY(take_cell(matrix, source, row, i, words->list[i + 1], err));
    }
    return AR_OK;
}

enum ar_status matrix_line(struct matrix *matrix, const struct source *source,
                           const struct words *words, struct ar_error *err)
{
    const char *first = words->list[0];
    if (matrix->line == 0) {
        return strcmp(first, "GPU0") == 0 && (words->count < 2 || strcmp(words->list[1], "X") != 0)
                   ? take_header(matrix, source, words, err)
                   : AR_OK;
    }
    size_t length = strlen(first);
    for (size_t i = 0; i < matrix->count; i++) {
        struct device *device = &matrix->devices[i];
        if (strcmp(first, device->name) == 0 && words->count > 1) {
            return take_row(matrix, source, i, words, err);
        }
        bool is_legend = words->count == 2 && first[length - 1] == ':' &&
                         strlen(device->name) == length - 1 &&
                         strncmp(first, device->name, length - 1) == 0;
        if (is_legend && !device->is_gpu) {
            ar_copy_text(device->name, sizeof device->name, words->list[1]);
            return AR_OK;
        }
    }
    return AR_OK;
}

/* All pairs have the same number of NVLinks, and that is more than a GPU has: each has so many to
 * switches. */
static void find_switch(struct matrix *matrix)
{
    enum { LINKS_MAX = 18 };
    struct links *links = &matrix->links;
    uint16_t first = links->between[0][1];
    bool are_same = matrix->gpus_count > 1 && first > 0;
    for (size_t a = 0; a < matrix->gpus_count; a++) {
        for (size_t b = 0; b < matrix->gpus_count; b++) {
            are_same = are_same && (a == b || links->between[a][b] == first);
        }
    }
    for (size_t g = 0;
         are_same && first * (matrix->gpus_count - 1) > LINKS_MAX && g < matrix->gpus_count; g++) {
        links->to_switch[g] = first;
    }
}

static enum ar_status say_nics(const struct matrix *matrix, struct source *source,
                               struct ar_error *err)
{
    for (size_t i = matrix->gpus_count; i < matrix->count; i++) {
        struct nic *nic = NULL;
        int32_t near = NIC_ON_HOST;
        for (size_t g = matrix->gpus_count; g > 0; g--) {
            near = group_of(matrix, g - 1) == group_of(matrix, i) ? (int32_t)g - 1 : near;
        }
        source->line = matrix->devices[i].line != 0 ? matrix->devices[i].line : matrix->line;
        AR_TRY(machine_nic(source, matrix->devices[i].name, 0, &nic, err));
        AR_TRY(nic_say_near(source, nic, near, err));
    }
    return AR_OK;
}

enum ar_status matrix_finish(struct matrix *matrix, struct source *source, bool *is_there,
                             struct ar_error *err)
{
    char text[24], what[MACHINE_TEXT_MAX];
    uint32_t groups[AR_TOPO_GPUS_MAX];
    *is_there = matrix->line != 0;
    if (!*is_there) {
        return AR_OK;
    }
    source->line = matrix->line;
    for (size_t g = 0; g < matrix->gpus_count; g++) {
        if (matrix->devices[g].line == 0) {
            return source_refuse(source, err, "found no row of %.20s; expected one of each GPU",
                                 matrix->devices[g].name);
        }
        groups[g] = (uint32_t)group_of(matrix, g);
    }
    find_switch(matrix);
    snprintf(text, sizeof text, "%zu", matrix->gpus_count);
    AR_TRY(machine_say(source, TOPO_GPUS, text, "columns GPU0 and on", err));
    snprintf(what, sizeof what, "NV%u between GPU0 and GPU1 and so on",
             matrix->links.between[0][1]);
    AR_TRY(machine_say_links(source, (uint32_t)matrix->gpus_count, &matrix->links,
                             matrix->links.between[0][1] > 0 ? what : "the pairs of GPUs", err));
    if (matrix->has_near || matrix->has_other_pairs) {
        AR_TRY(machine_say_switches(source, (uint32_t)matrix->gpus_count, groups, err));
    }
    return say_nics(matrix, source, err);
}
