/** \file ar_measured_set.h
 * The index of measured sets (validate/data/index.csv), and what libraries call our algorithms
 * (validate/data/called.csv).
 */
#ifndef AR_MEASURED_SET_H
#define AR_MEASURED_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ar_arena.h"
#include "ar_error.h"

/** Measured rows of one machine. */
struct ar_measured_set {
    const char *name;
    const char *files;       /**< whose rows they are, of the folder of the index; blanks between */
    const char *system;      /**< in these files; empty: all rows are of the machine */
    uint32_t ranks_per_node; /**< that these rows have; 0: any */
    const char *cluster;     /**< shipped, that is compared with it */
    const char *settings;    /**< of the cluster, as `--set` takes them; blanks between */
    const char *engine;      /**< whose subject the rows are */
    const char *algorithm;   /**< what its rows are called here; `auto`: the library's choice,
                                `named`: rows say it */
    uint32_t fitted_nodes_max; /**< the largest node count that is fitted where more are held out;
                                  0: all but the largest */
    const char *seen; /**< what of the model was chosen when rows were seen that it holds out, or
                         that nothing was fitted to; empty: nothing */
    const char *source;
};

/** What a library calls an algorithm. */
struct ar_called {
    const char *operation; /**< command: `allreduce` */
    const char *called;    /**< by the library; `*` at its end stands for anything */
    const char *algorithm; /**< here */
    const char *shape;     /**< empty: by default */
    uint32_t channels;
    const char *note; /**< in what messages may differ */
};

struct ar_called_list {
    struct ar_called *list;
    size_t count;
};

/** The first line of a name; NULL: there is none. */
const struct ar_called *ar_called_find(const struct ar_called_list *called, const char *operation,
                                       const char *name);

/** The index, and what lies beside it. */
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

/** What tables call the machine of a cluster; NULL: they do not. */
const char *ar_measured_index_system(const struct ar_measured_index *index, const char *cluster);

/** The shipped files of a set, and behind them `more`. All is the arena's. */
enum ar_status ar_measured_set_paths(const struct ar_measured_index *index,
                                     const struct ar_measured_set *set, const char *const *more,
                                     size_t more_count, struct ar_arena *arena, const char ***paths,
                                     size_t *paths_count, struct ar_error *err);

#endif
