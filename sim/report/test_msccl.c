/* Files of MSCCL, run: thread blocks work on buffers of contributions, with room for two chunks in
 * each connection, in several orders. In the end every rank has what NCCL promises, in its place.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "msccl.h"
#include "msccl_gpu.h"
#include "test_support.h"

TestSuite(msccl);

enum { GPUS_MAX = 36, CHUNKS_MAX = 300, BLOCKS_MAX = 216, STEPS_MAX = 256, ROOM = 2, SEEDS = 5 };

/* What a chunk is a part of, and the ranks whose contribution it has. */
struct value {
    int chunk;
    uint64_t ranks;
};

struct step {
    char type[8], from, to;
    int from_chunk, to_chunk, count, wait_block, wait_step;
    bool is_waited_for, is_there;
};

struct block {
    int send, receive, channel, steps_count;
    int step, part; /* that is next, of which chunk */
    struct step *steps;
};

struct gpu {
    int in_chunks, out_chunks, scratch_chunks, blocks_count;
    struct value buffers[3][CHUNKS_MAX]; /* in, out, scratch */
    struct block blocks[BLOCKS_MAX];
};

struct connection {
    int from, to, channel, count;
    struct value values[ROOM];
    struct connection *next;
};

struct file {
    char coll[24];
    int gpus_count, chunks, channels, is_in_place;
    struct gpu gpus[GPUS_MAX];
    struct step *steps;
    size_t steps_count;
    struct connection *connections;
};

/* --- reading, by the rules of MSCCL's parser
 * -------------------------------------------------------- */

static void read_algo(struct file *file, const char *line)
{
    char name[64], protocol[16];
    int is_out_of_place;
    cr_assert_eq(
        sscanf(line,
               "<algo name=\"%63[^\"]\" proto=\"%15[^\"]\" nchannels=\"%d\" nchunksperloop=\"%d\" "
               "ngpus=\"%d\" coll=\"%23[^\"]\" inplace=\"%d\" outofplace=\"%d\"",
               name, protocol, &file->channels, &file->chunks, &file->gpus_count, file->coll,
               &file->is_in_place, &is_out_of_place),
        8, "%s", line);
    cr_assert_str_eq(protocol, "Simple");
    cr_assert(file->channels <= 32 && file->gpus_count <= GPUS_MAX && file->chunks <= CHUNKS_MAX);
}

static void read_gpu(const struct file *file, struct gpu *gpu, int expected, const char *line)
{
    int id;
    cr_assert_eq(sscanf(line, " <gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"%d\" s_chunks=\"%d\"",
                        &id, &gpu->in_chunks, &gpu->out_chunks, &gpu->scratch_chunks),
                 4, "%s", line);
    int in_parts = strcmp(file->coll, "allgather") == 0 ? file->gpus_count : 1;
    int out_parts = strcmp(file->coll, "reduce_scatter") == 0 ? file->gpus_count : 1;
    cr_assert_eq(id, expected);
    cr_assert(gpu->in_chunks == 0 || gpu->in_chunks * in_parts == file->chunks);
    cr_assert(gpu->out_chunks == 0 || gpu->out_chunks * out_parts == file->chunks);
}

static void read_block(const struct file *file, struct gpu *gpu, int rank, const char *line)
{
    int id;
    struct block *block = &gpu->blocks[gpu->blocks_count];
    block->steps = &file->steps[file->steps_count];
    cr_assert_eq(sscanf(line, " <tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"%d\"", &id,
                        &block->send, &block->receive, &block->channel),
                 4, "%s", line);
    cr_assert(id == gpu->blocks_count && ++gpu->blocks_count <= BLOCKS_MAX);
    cr_assert(block->send != rank && block->receive != rank && block->channel < file->channels);
    int senders = block->send >= 0, receivers = block->receive >= 0; /* of the channel */
    for (int i = 0; i < id; i++) {
        const struct block *other = &gpu->blocks[i];
        bool is_beside = other->channel == block->channel;
        cr_assert(!is_beside || block->send < 0 || other->send != block->send, "%s", line);
        cr_assert(!is_beside || block->receive < 0 || other->receive != block->receive, "%s", line);
        senders += is_beside && other->send >= 0;
        receivers += is_beside && other->receive >= 0;
    }
    cr_assert(senders <= 32 && receivers <= 32);
}

static int size_of(const struct gpu *gpu, char buffer)
{
    return buffer == 'i' ? gpu->in_chunks : buffer == 'o' ? gpu->out_chunks : gpu->scratch_chunks;
}

static void read_step(struct file *file, struct gpu *gpu, const char *line)
{
    int number, is_waited_for;
    struct block *block = &gpu->blocks[gpu->blocks_count - 1];
    struct step *step = &block->steps[block->steps_count];
    file->steps_count++;
    cr_assert_eq(
        sscanf(line,
               " <step s=\"%d\" type=\"%7[^\"]\" srcbuf=\"%c\" srcoff=\"%d\" dstbuf=\"%c\" "
               "dstoff=\"%d\" cnt=\"%d\" depid=\"%d\" deps=\"%d\" hasdep=\"%d\"",
               &number, step->type, &step->from, &step->from_chunk, &step->to, &step->to_chunk,
               &step->count, &step->wait_block, &step->wait_step, &is_waited_for),
        10, "%s", line);
    cr_assert(number == block->steps_count && ++block->steps_count <= STEPS_MAX, "%s", line);
    step->is_waited_for = is_waited_for != 0;
    bool is_nop = strcmp(step->type, "nop") == 0;
    const struct step *before = number > 0 ? step - 1 : NULL;
    cr_assert(before == NULL || strcmp(before->type, "nop") != 0 || step->wait_block >= 0,
              "the last of several waits is one of the operation");
    cr_assert(is_nop || (step->count > 0 && step->count < 72 && step->from_chunk >= 0 &&
                         step->to_chunk >= 0 &&
                         step->from_chunk + step->count <= size_of(gpu, step->from) &&
                         step->to_chunk + step->count <= size_of(gpu, step->to)),
              "%s", line);
    bool sends = strchr(step->type + (step->type[0] == 's' ? 0 : 1), 's') != NULL;
    cr_assert(!sends || block->send >= 0);
    cr_assert(step->type[0] != 'r' || block->receive >= 0);
}

static struct file *read_msccl(const char *text)
{
    struct file *file = calloc(1, sizeof *file);
    cr_assert_not_null(file);
    size_t steps = 0;
    for (const char *line = text; (line = strstr(line, "<step ")) != NULL; line++) {
        steps++;
    }
    file->steps = calloc(steps + 1, sizeof *file->steps);
    cr_assert_not_null(file->steps);
    int gpus = 0;
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *word = line + strspn(line, " ");
        if (strncmp(word, "<algo ", 6) == 0) {
            read_algo(file, word);
        } else if (strncmp(word, "<gpu ", 5) == 0) {
            read_gpu(file, &file->gpus[gpus], gpus, word);
            gpus++;
        } else if (strncmp(word, "<tb ", 4) == 0) {
            read_block(file, &file->gpus[gpus - 1], gpus - 1, word);
        } else if (strncmp(word, "<step ", 6) == 0) {
            read_step(file, &file->gpus[gpus - 1], word);
        } else {
            cr_assert(word[1] == '/' || word[1] == '!', "%.60s", word);
        }
    }
    cr_assert_eq(gpus, file->gpus_count);
    return file;
}

/* --- running ----------------------------------------------------------------------------------
 */

static struct connection *connect(struct file *file, int from, int to, int channel)
{
    struct connection *connection = file->connections;
    while (connection != NULL &&
           (connection->from != from || connection->to != to || connection->channel != channel)) {
        connection = connection->next;
    }
    if (connection == NULL) {
        connection = calloc(1, sizeof *connection);
        *connection = (struct connection){
            .from = from, .to = to, .channel = channel, .next = file->connections};
        file->connections = connection;
    }
    return connection;
}

/* In place input and output are one buffer; the smaller one is the part of the rank. */
static struct value *find_value(struct file *file, int rank, char buffer, int chunk)
{
    struct gpu *gpu = &file->gpus[rank];
    if (buffer == 's') {
        return &gpu->buffers[2][chunk];
    }
    if (file->is_in_place) {
        bool is_part =
            size_of(gpu, buffer) * file->gpus_count == file->chunks && file->gpus_count > 1;
        return &gpu->buffers[0][chunk + (is_part ? rank * size_of(gpu, buffer) : 0)];
    }
    return &gpu->buffers[buffer == 'o'][chunk];
}

static struct value sum(struct value a, struct value b)
{
    cr_assert_eq(a.chunk, b.chunk, "sums different chunks");
    cr_assert_eq(a.ranks & b.ranks, 0, "adds a contribution twice");
    return (struct value){a.chunk, a.ranks | b.ranks};
}

/* One chunk of the next step of a thread block; false: it has to wait, or has ended. */
static bool advance(struct file *file, int rank, struct block *block)
{
    if (block->step == block->steps_count) {
        return false;
    }
    struct step *step = &block->steps[block->step];
    bool is_nop = strcmp(step->type, "nop") == 0, is_copy = strcmp(step->type, "cpy") == 0;
    bool receives = step->type[0] == 'r', adds = receives && step->type[1] == 'r';
    bool sends = step->type[strlen(step->type) - 1] == 's';
    if (step->wait_block >= 0) {
        const struct block *other = &file->gpus[rank].blocks[step->wait_block];
        cr_assert(step->wait_block < file->gpus[rank].blocks_count &&
                  step->wait_step < other->steps_count && other != block);
        cr_assert(other->steps[step->wait_step].is_waited_for, "nobody says that it is done");
        if (other->step <= step->wait_step) {
            return false;
        }
    }
    struct connection *in = receives ? connect(file, block->receive, rank, block->channel) : NULL;
    struct connection *out = sends ? connect(file, rank, block->send, block->channel) : NULL;
    if ((receives && in->count == 0) || (sends && out->count == ROOM)) {
        return false;
    }
    if (!is_nop) {
        struct value *from = find_value(file, rank, step->from, step->from_chunk + block->part);
        struct value *to = find_value(file, rank, step->to, step->to_chunk + block->part);
        struct value value = receives ? in->values[0] : *from;
        value = adds ? sum(value, *from) : value;
        if (receives) {
            memmove(in->values, in->values + 1, (size_t)--in->count * sizeof in->values[0]);
        }
        if (sends) {
            out->values[out->count++] = value;
        }
        if (is_copy || (receives && strcmp(step->type, "rrs") != 0)) {
            *to = value;
        }
    }
    block->part++;
    if (block->part >= step->count) {
        block->part = 0;
        block->step++;
    }
    return true;
}

/* In orders that differ by the seed: a block that is favoured goes as far as it can. */
static void run(struct file *file, unsigned seed)
{
    bool has_advanced = true;
    while (has_advanced) {
        has_advanced = false;
        for (int i = 0; i < file->gpus_count; i++) {
            int rank = seed % 2 == 0 ? i : file->gpus_count - 1 - i;
            struct gpu *gpu = &file->gpus[rank];
            for (int k = 0; k < gpu->blocks_count; k++) {
                int number = seed / 2 % 2 == 0 ? k : gpu->blocks_count - 1 - k;
                while (advance(file, rank, &gpu->blocks[number])) {
                    has_advanced = true;
                    if (seed >= 4) {
                        break;
                    }
                }
            }
        }
    }
    for (int rank = 0; rank < file->gpus_count; rank++) {
        for (int i = 0; i < file->gpus[rank].blocks_count; i++) {
            const struct block *block = &file->gpus[rank].blocks[i];
            cr_assert_eq(block->step, block->steps_count,
                         "GPU %d, block %d waits for ever at step %d", rank, i, block->step);
        }
    }
    for (const struct connection *c = file->connections; c != NULL; c = c->next) {
        cr_assert_eq(c->count, 0, "something is sent that nobody takes");
    }
}

/* --- what NCCL promises -----------------------------------------------------------------------
 */

/* What is in a chunk of a rank before; with `after` what must be there. Nothing: no ranks. */
static struct value promised(const struct file *file, const char *command, int rank, int chunk,
                             bool after, int root)
{
    int ranks = file->gpus_count, part = file->chunks / ranks,
        owner = chunk / (part > 0 ? part : 1);
    uint64_t own = UINT64_C(1) << rank, all = (UINT64_C(1) << ranks) - 1;
    bool reduces = strstr(command, "reduce") != NULL;
    if (strcmp(command, "alltoall") == 0) { /* numbered by who gives it */
        int from = after ? owner : rank, to = after ? rank : owner;
        return (struct value){from * file->chunks + to * part + chunk % part, UINT64_C(1) << from};
    }
    uint64_t before = reduces                             ? own
                      : strstr(command, "gather") != NULL ? owner == rank ? own : 0
                      : rank == root                      ? own
                                                          : 0;
    uint64_t given = reduces                             ? all
                     : strstr(command, "gather") != NULL ? UINT64_C(1) << owner
                                                         : UINT64_C(1) << root;
    bool wants = strcmp(command, "reduce") == 0 || strcmp(command, "gather") == 0 ? rank == root
                 : strcmp(command, "reducescatter") == 0 || strcmp(command, "scatter") == 0
                     ? owner == rank
                 : strcmp(command, "send") == 0 ? rank == (root + ranks - 1) % ranks
                                                : true;
    return (struct value){chunk, !after ? before : wants ? given : 0};
}

/* As at the beginning. */
static void reset(struct file *file, const char *command, int root)
{
    for (int rank = 0; rank < file->gpus_count; rank++) {
        struct gpu *gpu = &file->gpus[rank];
        memset(gpu->buffers, 0, sizeof gpu->buffers);
        for (int chunk = 0; chunk < file->chunks; chunk++) {
            gpu->buffers[0][chunk] = promised(file, command, rank, chunk, false, root);
        }
        for (int i = 0; i < gpu->blocks_count; i++) {
            gpu->blocks[i].step = gpu->blocks[i].part = 0;
        }
    }
}

static void check(const struct file *file, const struct ar_algorithm *algorithm, int root)
{
    const char *command = algorithm->operation->command;
    for (int i = 0; i < file->gpus_count * file->chunks; i++) {
        int rank = i / file->chunks, chunk = i % file->chunks;
        struct value value = promised(file, command, rank, chunk, true, root);
        struct value found = file->gpus[rank].buffers[!file->is_in_place][chunk];
        cr_assert(value.ranks == 0 || (found.chunk == value.chunk && found.ranks == value.ranks),
                  "%s %s, %d GPUs: chunk %d of GPU %d is %d of %lx, not %d of %lx", command,
                  algorithm->name, file->gpus_count, chunk, rank, found.chunk,
                  (unsigned long)found.ranks, value.chunk, (unsigned long)value.ranks);
    }
}

static void prove(const char *text, const struct ar_algorithm *algorithm, int root)
{
    struct file *file = read_msccl(text);
    for (unsigned seed = 0; seed < SEEDS; seed += AR_TEST_STRIDE) {
        reset(file, algorithm->operation->command, root);
        run(file, seed);
        check(file, algorithm, root);
    }
    while (file->connections != NULL) {
        struct connection *connection = file->connections;
        file->connections = connection->next;
        free(connection);
    }
    free(file->steps);
    free(file);
}

static void prove_collective(const struct ar_collective *collective)
{
    struct ar_error err = {.text = ""};
    char *text = NULL, shape[AR_SHAPE_TEXT];
    size_t bytes = 0;
    struct msccl_use use;
    if (ar_collective_check(collective, &err) != AR_OK) {
        return;
    }
    FILE *file = open_memstream(&text, &bytes);
    cr_assert_not_null(file);
    enum ar_status status = msccl_write(file, collective, "a test", &use, &err);
    fclose(file);
    cr_assert_eq(status, AR_OK, "%s %s: %s", collective->algorithm->name,
                 ar_shape_format(&collective->shape, shape), err.text);
    prove(text, collective->algorithm, (int)collective->root);
    free(text);
}

/* All shapes of some numbers of GPUs; on a machine whose channels go through nodes in other orders,
 * with two channels and another root. */
Test(msccl, thread_blocks_achieve_every_operation_by_every_algorithm)
{
    static const uint32_t counts[] = {2, 3, 4, 6, 8, 11, 16};
    struct ar_cluster *clusters[] = {support_cluster("flat", NULL),
                                     support_cluster("abci-v100", NULL)};
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        const struct ar_algorithm *algorithm = ar_algorithms[i];
        for (size_t k = 0; k < sizeof counts / sizeof counts[0] && !algorithm->wants_sums;
             k += AR_TEST_STRIDE) {
            for (uint32_t x = 1; x <= counts[k]; x++) {
                if (counts[k] % x != 0) {
                    continue;
                }
                struct ar_collective collective =
                    support_collective_of(clusters[k % 2], algorithm, x, counts[k] / x);
                uint32_t lanes = k % 2 == 0 ? 1 : 2;
                collective.channels = lanes * ar_algorithm_channels(algorithm);
                collective.root = algorithm->operation->has_root ? counts[k] / 3 : 0;
                prove_collective(&collective);
            }
        }
    }
}

/* Of a channel at most 32 thread blocks send. */
Test(msccl, more_peers_take_more_channels)
{
    struct ar_cluster *cluster = support_cluster("flat", NULL);
    for (size_t i = 0; i < ar_algorithms_count; i++) {
        if (ar_algorithms[i]->operation == &ar_operation_all_gather &&
            !ar_algorithms[i]->wants_sums) {
            struct ar_collective collective =
                support_collective_of(cluster, ar_algorithms[i], GPUS_MAX, 1);
            prove_collective(&collective);
        }
    }
}

Test(msccl, buffers_have_so_many_chunks)
{
    struct ar_error err;
    struct msccl_use use;
    struct ar_cluster *cluster = support_cluster("flat", NULL);
    struct ar_collective collective =
        support_collective_of(cluster, &ar_algorithm_ring, MSCCL_CHUNKS_MAX + 1, 1);
    cr_expect_eq(msccl_write(stdout, &collective, "a test", &use, &err), AR_USAGE);
    cr_expect(strstr(err.text, "more than 32767 chunks") != NULL, "%s", err.text);
}
