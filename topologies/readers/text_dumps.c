/* Output of programs, line by line; a file may be that of several, one after the other.
 *
 * - `nvidia-smi topo -m`: a matrix of what joins each two of GPUs and NICs. Columns are GPU0 ...,
 * then mlx5_0 ... by older drivers, NIC0 ... with a legend by newer ones; what follows them
 *   (affinities) is not read.
 * - `ibstat`: ports of HCAs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ar_text.h"
#include "machine.h"

enum { WORDS_MAX = 400, DEVICES_MAX = AR_TOPO_GPUS_MAX + 64, DEVICE_NAME_SIZE = 32 };

/* The words of a line, cut at blanks in place. */
struct words {
    char *list[WORDS_MAX];
    size_t count;
};

/* --- the matrix ------------------------------------------------------------------------------- */

struct device {
    char name[DEVICE_NAME_SIZE]; /* of its column, or as the legend has it */
    bool is_gpu;
    uint64_t line; /* of its row; 0: there was none */
    size_t above;  /* another device below the same PCIe switch, or itself: union-find */
};

struct matrix {
    struct device devices[DEVICES_MAX];
    size_t count, gpus_count;
    struct links links;
    uint64_t line;        /* of the header; 0: none yet */
    bool has_near;        /* some devices are below one switch */
    bool has_other_pairs; /* some pair of GPUs is joined by PCIe */
};

/* `GPU12` or `NIC3`; others are names of devices. */
static bool word_is_numbered(const char *word, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(word, prefix, length) == 0 && word[length] != '\0' &&
           word[length + strspn(word + length, "0123456789")] == '\0';
}

static enum ar_status matrix_read_header(struct matrix *matrix, const struct source *source,
                                         const struct words *words, struct ar_error *err)
{
    matrix->line = source->line;
    /* Columns behind those of devices: `CPU Affinity`, `NUMA Affinity`. */
    for (size_t i = 0; i < words->count &&
                       !(strcmp(words->list[i], "CPU") == 0 || strcmp(words->list[i], "NUMA") == 0);
         i++) {
        bool is_gpu = word_is_numbered(words->list[i], "GPU");
        bool is_order = !is_gpu || matrix->gpus_count == matrix->count;
        SOURCE_REFUSE(
            matrix->count == DEVICES_MAX || (is_gpu && matrix->gpus_count == AR_TOPO_GPUS_MAX) ||
                !is_order,
            source, err,
            "found column %zu, \"%.20s\"; expected at most %d GPUs, then at most %d devices in all",
            i + 1, words->list[i], AR_TOPO_GPUS_MAX, DEVICES_MAX);
        struct device *device = &matrix->devices[matrix->count];
        ar_copy_text(device->name, sizeof device->name, words->list[i]);
        device->is_gpu = is_gpu;
        device->above = matrix->count++;
        matrix->gpus_count += is_gpu;
    }
    return AR_OK;
}

static size_t group_of_device(const struct matrix *matrix, size_t device)
{
    while (matrix->devices[device].above != device) {
        device = matrix->devices[device].above;
    }
    return device;
}

/* A word of a row: what joins two devices. */
static enum ar_status matrix_read_cell(struct matrix *matrix, const struct source *source,
                                       size_t row, size_t column, const char *word,
                                       struct ar_error *err)
{
    const char *const names[] = {matrix->devices[row].name, matrix->devices[column].name};
    bool are_gpus = row < matrix->gpus_count && column < matrix->gpus_count;
    SOURCE_REFUSE((strcmp(word, "X") == 0) != (row == column), source, err,
                  "found \"%.20s\" between %.20s and %.20s; expected X", word, names[0], names[1]);
    if (strncmp(word, "NV", 2) == 0 && are_gpus) {
        unsigned long count = strtoul(word + 2, NULL, 10);
        SOURCE_REFUSE(count < 1 || count > 64 || !word_is_numbered(word, "NV"), source, err,
                      "found \"%.20s\"; expected NV1 to NV64", word);
        matrix->links.between[row][column] = (uint16_t)count;
        return AR_OK;
    }
    bool is_near = strcmp(word, "PIX") == 0 || strcmp(word, "PXB") == 0;
    bool is_far = strcmp(word, "PHB") == 0 || strcmp(word, "NODE") == 0 || strcmp(word, "SYS") == 0;
    SOURCE_REFUSE(
        !is_near && !is_far && row != column, source, err,
        "found \"%.20s\" between %.20s and %.20s; expected X, NV#, PIX, PXB, PHB, NODE or SYS",
        word, names[0], names[1]);
    if (is_near) {
        size_t a = group_of_device(matrix, row), b = group_of_device(matrix, column);
        matrix->devices[a > b ? a : b].above = a < b ? a : b;
    }
    matrix->has_near = matrix->has_near || is_near;
    matrix->has_other_pairs = matrix->has_other_pairs || (are_gpus && row != column);
    return AR_OK;
}

/* The header, a row, a line of the legend (`NIC0: mlx5_0`), or something else. */
static enum ar_status matrix_read_line(struct matrix *matrix, const struct source *source,
                                       const struct words *words, struct ar_error *err)
{
    const char *first = words->list[0];
    size_t length = strlen(first);
    if (matrix->line == 0) {
        return strcmp(first, "GPU0") == 0 && (words->count < 2 || strcmp(words->list[1], "X") != 0)
                   ? matrix_read_header(matrix, source, words, err)
                   : AR_OK;
    }
    for (size_t i = 0; i < matrix->count; i++) {
        struct device *device = &matrix->devices[i];
        if (strcmp(first, device->name) == 0 && words->count > 1) {
            SOURCE_REFUSE(words->count < matrix->count + 1, source, err,
                          "found %zu words in the row of %.20s; expected %zu", words->count,
                          device->name, matrix->count + 1);
            SOURCE_REFUSE(device->line != 0, source, err,
                          "found %.20s a second time; expected it once (line %" PRIu64 ")",
                          device->name, device->line);
            device->line = source->line;
            for (size_t k = 0; k < matrix->count; k++) {
                AR_TRY(matrix_read_cell(matrix, source, i, k, words->list[k + 1], err));
            }
            return AR_OK;
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

static enum ar_status matrix_add_facts(struct matrix *matrix, struct source *source,
                                       struct ar_error *err)
{
    char what[MACHINE_TEXT_MAX];
    uint32_t groups[AR_TOPO_GPUS_MAX];
    uint32_t gpus = (uint32_t)matrix->gpus_count;
    source->line = matrix->line;
    for (size_t g = 0; g < gpus; g++) {
        SOURCE_REFUSE(matrix->devices[g].line == 0, source, err,
                      "found no row of %.20s; expected one of each GPU", matrix->devices[g].name);
        groups[g] = (uint32_t)group_of_device(matrix, g);
    }
    /* All pairs have the same number of NVLinks, and together more than a GPU has: each GPU has so
     * many to switches. */
    enum { LINKS_MAX = 18 };
    struct links *links = &matrix->links;
    uint16_t first = links->between[0][1];
    bool are_same = first > 0 && first * (matrix->gpus_count - 1) > LINKS_MAX;
    for (size_t a = 0; a < matrix->gpus_count; a++) {
        for (size_t b = 0; b < matrix->gpus_count; b++) {
            are_same = are_same && (a == b || links->between[a][b] == first);
        }
    }
    for (size_t g = 0; are_same && g < matrix->gpus_count; g++) {
        links->to_switch[g] = first;
    }
    AR_TRY(fact_add_count(source, TOPO_GPUS, gpus, "columns GPU0 and on", err));
    snprintf(what, sizeof what, "NV%u between GPU0 and GPU1 and so on",
             matrix->links.between[0][1]);
    AR_TRY(facts_add_links(source, gpus, &matrix->links,
                           matrix->links.between[0][1] > 0 ? what : "the pairs of GPUs", err));
    if (matrix->has_near || matrix->has_other_pairs) {
        AR_TRY(facts_add_switches(source, gpus, groups, err));
    }
    for (size_t i = gpus; i < matrix->count; i++) {
        const struct device *device = &matrix->devices[i];
        struct nic *nic;
        source->line = device->line != 0 ? device->line : matrix->line;
        AR_TRY(nic_add(source, device->name, 0, (uint32_t)group_of_device(matrix, i), groups, gpus,
                       &nic, err));
    }
    return AR_OK;
}

/* --- HCAs ------------------------------------------------------------------------------------- */

/* The HCA and port that the lines of ibstat are about. */
struct hca {
    char name[64];
    uint64_t ports_count;
    struct nic *nic;
};

/* The word after a label; NULL: the line has another label. */
static const char *word_after(const struct words *words, const char *label)
{
    return words->count > 1 && strcmp(words->list[0], label) == 0 ? words->list[1] : NULL;
}

static enum ar_status hca_read_line(struct hca *hca, const struct source *source,
                                    const struct words *words, struct ar_error *err)
{
    const char *word;
    if (words->count == 2 && (word = word_after(words, "CA")) != NULL && word[0] == '\'') {
        hca->nic = NULL;
        ar_copy_text(hca->name, sizeof hca->name, word + 1);
        hca->name[strcspn(hca->name, "'")] = '\0';
    } else if (words->count == 2 && (word = word_after(words, "Port")) != NULL &&
               word[strspn(word, "0123456789")] == ':' && hca->name[0] != '\0') {
        hca->ports_count++;
        return nic_find(source, hca->name, strtoul(word, NULL, 10) & 0xff, &hca->nic, err);
    } else if (hca->nic != NULL && (word = word_after(words, "State:")) != NULL) {
        hca->nic->is_down = strcmp(word, "Active") != 0;
    } else if (hca->nic != NULL && (word = word_after(words, "Rate:")) != NULL &&
               !hca->nic->is_down) {
        return nic_set_rate(source, hca->nic, strtod(word, NULL) * 1e9, err);
    }
    return AR_OK;
}

/* --- lines ------------------------------------------------------------------------------------ */

enum ar_status text_dumps_read(struct source *source, char *text, size_t bytes,
                               struct ar_error *err)
{
    struct words words;
    struct matrix *matrix = ar_arena_alloc(source->machine->arena, 1, sizeof *matrix);
    struct hca hca = {.ports_count = 0};
    char *end = text + bytes;
    source->line = 0;
    for (char *line = text, *next; line < end; line = next) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        next = newline != NULL ? newline + 1 : end;
        if (newline != NULL) {
            *newline = '\0';
        }
        source->line++;
        char *rest = line;
        words.count = 0;
        /* Drops colours and underlines (ESC [ ... m) and control characters, in place. */
        char *to = line;
        for (const char *from = line; *from != '\0';) {
            if (from[0] == '\033' && from[1] == '[') {
                from += 2 + strcspn(from + 2, "ABCDEFGHJKSTfmnsulh");
                from += *from != '\0';
            } else {
                *to++ = (unsigned char)*from < ' ' ? ' ' : *from;
                from++;
            }
        }
        *to = '\0';
        for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;) {
            SOURCE_REFUSE(words.count == WORDS_MAX, source, err,
                          "found more than %d words in a line; expected fewer", WORDS_MAX);
            words.list[words.count++] = word;
        }
        if (words.count > 0) {
            AR_TRY(matrix_read_line(matrix, source, &words, err));
            AR_TRY(hca_read_line(&hca, source, &words, err));
        }
    }
    if (matrix->line != 0) {
        return matrix_add_facts(matrix, source, err);
    }
    AR_REFUSE(hca.ports_count == 0, err, AR_BAD_DATA,
              "%.200s: found nothing that is known; expected a topology file of NCCL, output of "
              "nvidia-smi topo -m or ibstat",
              source->path);
    return AR_OK;
}
