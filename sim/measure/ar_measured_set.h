/** \file ar_measured_set.h
 * The measured sets that are shipped: their index (validate/data/index.csv), the names that
 * libraries have for our algorithms (validate/data/called.csv), and the rows of a set.
 */
#pragma once

#include "ar_measured.h"

/** Measured rows of one machine. */
struct ar_measured_set {
    const char *name;
    const char *files;       /**< whose rows they are, of the folder of the index; blanks between */
    const char *system;      /**< in these files; empty: all rows are of the machine */
    uint32_t ranks_per_node; /**< that these rows have; 0: any */
    const char *cluster;     /**< shipped, that is compared with it */
    const char *settings;    /**< of the cluster, as `--set` takes them; blanks between */
    const char *engine;      /**< that predicts the rows */
    const char *algorithm;   /**< of its rows, by our name; `auto`: the library's choice,
                                `named`: each row names its own */
    uint32_t fitted_nodes_max; /**< the largest node count that is fitted where more are held out;
                                  0: all but the largest */
    const char *seen;          /**< choices of the model that were made after looking at rows which
                                  test it; empty: none */
    const char *source;
    const char *machine; /**< the physical machine; empty: tells nothing of other machines */
};

/** A library's name for an algorithm. */
struct ar_called {
    const char *operation; /**< command: `allreduce` */
    const char *called;    /**< by the library; `*` at its end stands for anything */
    const char *algorithm; /**< here */
    const char *shape;     /**< empty: by default */
    uint32_t channels;
};

struct ar_called_list {
    struct ar_called *list;
    size_t count;
};

/** The first line of a name; NULL: there is none. */
const struct ar_called *ar_called_find(const struct ar_called_list *called, const char *operation,
                                       const char *name);

/** The index, and the files beside it. */
struct ar_measured_index {
    const char *folder; /**< that it is in; empty, or with the slash */
    struct ar_measured_set *sets;
    size_t sets_count;
    struct ar_called_list called;
};

/** Reads an index, and called.csv beside it; all of it is the arena's. */
enum ar_status ar_measured_index_read(const char *path, struct ar_arena *arena,
                                      struct ar_measured_index *index, struct ar_error *err);

/** Whether a measured file belongs to a set: its stem is that of a file of the set, or its name. */
bool ar_measured_set_has(const struct ar_measured_set *set, const char *path);

/** The set that a measured file belongs to, if it is the only one, and how many there are. */
const struct ar_measured_set *ar_measured_index_find(const struct ar_measured_index *index,
                                                     const char *path, size_t *count);

/** The name that tables have for the machine of a cluster; NULL: none. */
const char *ar_measured_index_system(const struct ar_measured_index *index, const char *cluster);

/** The shipped files of a set, and behind them `more`: an array of the arena. */
const char *const *ar_measured_set_paths(const struct ar_measured_index *index,
                                         const struct ar_measured_set *set, const char *const *more,
                                         size_t more_count, struct ar_arena *arena,
                                         size_t *paths_count);

/** The rows of a set. */
struct ar_set_rows {
    const struct ar_measured_set *set;
    struct ar_scenario scenario;
    struct ar_measured_request request;
    struct ar_measured *measured;
};

/** Gives a scenario the cluster, the engine and those settings of a set that it does not have. */
enum ar_status ar_set_scenario(const struct ar_measured_set *set, struct ar_arena *arena,
                               struct ar_scenario *scenario, struct ar_error *err);

/** Asks for the rows of a set alone, and by default those on more nodes than it fits held out. */
void ar_set_ask_rows(const struct ar_measured_set *set, struct ar_measured_request *request);

/** Asks for messages of the algorithm of a set, or calls; the request has the set's scenario. */
void ar_set_ask_algorithm(const struct ar_measured_set *set, struct ar_measured_request *request);

/** Takes the rows of a set, and behind them those of `more` files; `scenario` has what the command
 * line asks of all sets. */
enum ar_status ar_set_load(const struct ar_measured_index *index, const struct ar_measured_set *set,
                           const struct ar_scenario *scenario, const char *const *more,
                           size_t more_count, FILE *notes, struct ar_arena *arena,
                           struct ar_set_rows **rows, struct ar_error *err);
