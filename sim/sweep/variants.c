#include "variants.h"

#include <stdlib.h>
#include <string.h>

#include "fingerprint.h"

/* The cluster of a variant. Plans that hold what gives way are no longer valid. */
static enum ar_status load_cluster(struct variants *variants, const struct options *options,
                                   uint32_t number, struct loaded_cluster **loaded,
                                   struct ar_error *err)
{
    struct loaded_cluster *kept = &variants->clusters[number % VARIANTS_LOADED_MAX];
    if (kept->plan.cluster == NULL || kept->number != number) {
        variants->has_plan = false;
        plan_destroy(&kept->plan);
        enum ar_status status = plan_create(options, false, &kept->plan, err);
        if (status != AR_OK) {
            return status;
        }
        kept->number = number;
        kept->hash = fingerprint_start();
        fingerprint_add_cluster(&kept->hash, kept->plan.cluster);
        fingerprint_add_library(&kept->hash, plan_fitted(&kept->plan));
    }
    *loaded = kept;
    return AR_OK;
}

/* The trace of a variant, with the cost table that the cluster names. */
static enum ar_status load_trace(struct variants *variants, const struct options *options,
                                 uint32_t number, const struct plan *cluster,
                                 struct loaded_trace **loaded, struct ar_error *err)
{
    struct loaded_trace *kept = &variants->traces[number % VARIANTS_LOADED_MAX];
    const char *cost = ar_cluster_facts(cluster->cluster)->device_cost;
    uint64_t cost_hash = fingerprint_start();
    fingerprint_add(&cost_hash, cost, strlen(cost));
    if (kept->trace == NULL || kept->number != number || kept->cost_hash != cost_hash) {
        struct plan plan;
        variants->has_plan = false;
        ar_trace_destroy(kept->trace);
        kept->trace = NULL;
        enum ar_status status = plan_vary(options, cluster, &plan, err); /* its precision */
        if (status == AR_OK) {
            status = plan_load_trace(options, &plan, err);
        }
        if (status != AR_OK) {
            return status;
        }
        *kept = (struct loaded_trace){plan.trace, number, cost_hash, fingerprint_start()};
        fingerprint_add_trace(&kept->hash, plan.trace);
    }
    *loaded = kept;
    return AR_OK;
}

/* What is read again must not have changed: the sweep is of what was read first. */
static enum ar_status check_hash(struct variants *variants, uint32_t files, uint64_t hash,
                                 struct ar_error *err)
{
    if (variants->hashes[files] == 0) {
        variants->hashes[files] = hash;
    }
    if (variants->hashes[files] != hash) {
        return ar_error_set(err, AR_BAD_DATA,
                            "sweep: the cluster or the trace has changed since the sweep began");
    }
    return AR_OK;
}

static enum ar_status make_plan(struct variants *variants, uint32_t variant, struct ar_error *err)
{
    const struct axes *axes = &variants->axes;
    struct options options = *variants->options;
    struct loaded_cluster *cluster;
    struct loaded_trace *trace;
    uint32_t per_cluster = axes->per_cluster;
    axes_apply(axes, variant, &options);
    enum ar_status status = load_cluster(variants, &options, variant / per_cluster, &cluster, err);
    if (status == AR_OK) {
        status = load_trace(variants, &options, variant % per_cluster / axes->per_files,
                            &cluster->plan, &trace, err);
    }
    if (status == AR_OK) {
        uint64_t hash = cluster->hash;
        fingerprint_add(&hash, &trace->hash, sizeof trace->hash);
        status = check_hash(variants, variant / axes->per_files, hash, err);
    }
    if (status == AR_OK) {
        struct plan base = cluster->plan;
        base.trace = trace->trace;
        base.precision = trace->trace->precision;
        status = plan_vary(&options, &base, &variants->plan, err);
    }
    variants->variant = variant;
    variants->has_plan = status == AR_OK;
    return status;
}

enum ar_status variants_plan(struct variants *variants, uint32_t variant, const struct plan **plan,
                             struct ar_error *err)
{
    enum ar_status status = AR_OK;
    if (!variants->has_plan || variants->variant != variant) {
        status = make_plan(variants, variant, err);
    }
    *plan = &variants->plan;
    return status;
}

uint64_t variants_files_hash(const struct variants *variants, uint32_t variant)
{
    return variants->hashes[variant / variants->axes.per_files];
}

enum ar_status variants_create(const struct options *options, struct variants *variants,
                               struct ar_error *err)
{
    *variants = (struct variants){.options = options};
    enum ar_status status = axes_create(options, &variants->axes, err);
    if (status != AR_OK) {
        return status;
    }
    size_t count = variants->axes.variants_count / variants->axes.per_files;
    variants->hashes = calloc(count, sizeof *variants->hashes);
    return variants->hashes != NULL ? AR_OK : ar_error_no_memory(err, "the variants of a sweep");
}

void variants_destroy(struct variants *variants)
{
    for (size_t i = 0; i < VARIANTS_LOADED_MAX; i++) {
        plan_destroy(&variants->clusters[i].plan);
        ar_trace_destroy(variants->traces[i].trace);
    }
    axes_destroy(&variants->axes);
    free(variants->hashes);
    variants->hashes = NULL;
}
