/* Steps of workloads on a mesh, as a user asks for them. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "test_cli.h"

#define GPT3                                                                                       \
    "--cluster dgx-a100 --workload gpt --layers 96 --hidden 12288 --heads 96 --seq 2048 --vocab "  \
    "51200 "

TestSuite(cli_layout, .init = cli_enter, .fini = cli_leave);

static struct cli_table *predict_row(const char *options)
{
    return cli_rows("predict %s --quiet", options);
}

Test(cli_layout, the_parts_of_a_step_add_up_and_rates_follow_from_its_time)
{
    struct cli_table *row = predict_row(GPT3 "--mesh pp=12,dp=16,tp=8 --global-batch 1536 "
                                             "--micro-batch 1 --schedule 1f1b --recompute full");
    double step_s = cli_number(row, 1, "iteration_s");
    double parts_s = cli_number(row, 1, "compute_s") + cli_number(row, 1, "bubble_s") +
                     cli_number(row, 1, "exposed_s");
    double axes_s = cli_number(row, 1, "exposed_pp_s") + cli_number(row, 1, "exposed_dp_s") +
                    cli_number(row, 1, "exposed_ep_s") + cli_number(row, 1, "exposed_tp_s");
    cr_expect_float_eq(parts_s, step_s, 1e-7 * step_s);
    cr_expect_float_eq(axes_s, cli_number(row, 1, "exposed_s"), 1e-7 * step_s);
    CLI_NEAR(row, 1, "tokens_per_s", 1536 * 2048 / step_s, 1e-5 * 1536 * 2048);
    CLI_NEAR(row, 1, "bubble_frac",
             (cli_number(row, 1, "bubble_s") - cli_number(row, 1, "slowest_s")) /
                 cli_number(row, 1, "compute_s"),
             1e-7);
    double operations = 96.0 * 1536 * 2048 * 96 * 12288.0 * 12288 *
                        (1 + 2048 / (6.0 * 12288) + 51200 / (16.0 * 96 * 12288));
    CLI_NEAR(row, 1, "tflops_per_gpu", operations / step_s / 1536 / 1e12, 0.01);
    cr_expect_eq(cli_number(row, 1, "gpus"), 1536);
    CLI_CELL(row, 1, "fits", "yes", "status", "ok");
}

Test(cli_layout, a_named_workload_is_its_shape_or_its_config_json)
{
#define ON_64 "--mesh pp=4,dp=2,tp=8 --global-batch 16"
#define ON_16 "--cluster dgx-h100 --mesh pp=2,dp=2,tp=4 --global-batch 16 --workload "
    static const char *const alike[][2] = {
        {"--cluster dgx-a100 --workload gpt3-175b " ON_64, GPT3 "--gpus 64 " ON_64},
        {ON_16 "llama3-8b", ON_16 "config.json"}};
    cli_write("config.json",
              "{\"model_type\": \"llama\", \"num_hidden_layers\": 32, \"hidden_size\": 4096, "
              "\"intermediate_size\": 14336, \"num_attention_heads\": 32, \"num_key_value_heads\": "
              "8, \"vocab_size\": 128256, \"max_position_embeddings\": 131072, \"new_key\": 3, "
              "\"rope_scaling\": {\"factor\": 16, \"original_max_position_embeddings\": 8192}}");
    for (size_t i = 0; i < 2; i++) {
        CLI_SAME(predict_row(alike[i][0]), 1, predict_row(alike[i][1]), 1, "iteration_s",
                 "memory_bytes");
    }
    CLI_NOTES("predict " ON_16 "config.json",
              "sequences of 8192 tokens, the longest of config.json",
              "config.json: left out, since its cost is not known here: new_key");
    struct cli_run run = cli_good("$AR advise --cluster dgx-h100 --gpus 8 --global-batch 8 "
                                  "--workload config.json"); /* said before the search */
    cr_expect_lt(strstr(run.err, "sequences of 8192"), strstr(run.err, "divide the model"));
    cli_fails(66, "none.json", "$AR predict " ON_16 "./none.json");
}

#define DEEPSEEK                                                                                   \
    "--cluster dgx-h100 --workload " AR_TEST_SOURCE_DIR                                            \
    "/traces/workloads/deepseek-v3.json --seq 4096 --mesh pp=16,ep=64 --global-batch 1024 "

/* Experts of which each token takes some, beside shared ones, and latent attention. */
Test(cli_layout, deepseek_is_laid_out_with_what_is_sent_to_its_experts)
{
    struct cli_run run = cli_good("$AR explain " DEEPSEEK);
    CLI_LINES(run.err, "671 billion parameters", 1);
    /* Products of three networks, one and two; products and activations of the dense layers. */
    CLI_COUNTS(run.out, {"  ffn in  ", 9}, {", in 3 of 61 layers", 8}, {"all-to-all", 1});
    struct cli_table *row = predict_row(DEEPSEEK "--precision bf16 --recompute full");
    /* 37 billion parameters of a token, and attention of heads of 192 and 128 */
    double token = 6 * 37e9 + 3 * 2 * 61 * 128 * (192.0 + 128) * 4096;
    double model = token * 4096 / cli_number(row, 1, "iteration_s") / 1e12;
    CLI_NEAR(row, 1, "tflops_per_gpu", model * 4 / 3, 0.03 * model);
    cli_fails(64, "latent attention or unlike layers; expected another one",
              "$AR predict " DEEPSEEK "--strategy zero3-lists");
}

Test(cli_layout, unequal_stages_and_parts_of_sequences_are_noted)
{
    struct cli_run run =
        cli_good("$AR predict --cluster dgx-h100 --workload llama3-405b --precision bf16 --mesh "
                 "pp=16,dp=1,cp=2,tp=8 --global-batch 16 --format csv");
    CLI_HAS(run.err,
            "126 layers on 16 places of the pipeline: 7 on the first, 7 on the last, "
            "since embedding and loss count as a layer each",
            "keys and values are gathered before each attention");
    CLI_LACKS(run.err, "lie unevenly");
    CLI_NOTES("predict --cluster dgx-a100 --workload mpt-1b --mesh pp=2,dp=6 --global-batch 12",
              "stages of 6 GPUs lie unevenly on nodes of 8");
    CLI_CELL(cli_table(run.out), 1, "mesh", "pp=16,cp=2,tp=8");
    cr_expect_gt(cli_number(cli_table(run.out), 1, "exposed_cp_s"), 0);
    run = cli_good("$AR predict --cluster dgx-a100 --workload mpt-13b --mesh pp=12,dp=1 "
                   "--global-batch 12 --lora 4 --prefetch 2 --seed 3 --imbalance 2 --format csv");
    CLI_HAS(run.err, "4 on the first, 3 on the last, since the first ones have one more");
    CLI_HAS(run.err, "prefetch changes nothing: only zero3", "seed changes nothing", "no experts");
    CLI_CELL(cli_table(run.out), 1, "settings", "lora=4");
    cli_good("$AR sweep --cluster dgx-a100 --workload mpt-13b --gpus 12 --mesh all --strategy "
             "zero2,zero3 --global-batch 24 --format csv >all.csv && test $(wc -l <all.csv) -gt 5 "
             "&& ! grep -E 'pp=12|cp=|pp=.*,zero3,' all.csv"); /* 48 of 40 */
    run = cli_good("for m in dp=8 rep=2,dp=4; do $AR predict --cluster dgx-a100 --workload mpt-1b "
                   "--mesh $m --global-batch 8 --strategy zero3 --overlap no --algorithm tree "
                   "--term host.blocking=1; done");
    CLI_COUNTS(run.err, {"host.blocking changes nothing without host.kernel", 2}, {"by 2 %", 2},
               {"overlap changes nothing", 2}, {"algorithm changes nothing: no all-red", 1});
    struct cli_table *row = predict_row("--cluster dgx-a100 --workload mpt-1b --mesh dp=2,cp=2 "
                                        "--global-batch 2 --overlap no");
    cr_expect_gt(cli_number(row, 1, "exposed_dp_s"), 0, "gradients are put down to dp");
    cr_expect_gt(cli_number(row, 1, "exposed_s"), cli_number(row, 1, "exposed_dp_s"));
    run = cli_good("$AR sweep --cluster dgx-a100 --workload mpt-13b --gpus 16 --mesh all,cp=4 "
                   "--strategy zero3 --global-batch 24 --format csv");
    CLI_COUNTS(run.out, {"", 5}, {"cp=4", 4}, {"rep=2,dp=2,", 1}); /* dp=4, dp=2,tp=2, tp=4 */
}

/* GPT 52B by ZeRO-3 on 64 V100 of Jean Zay (bigscience, experiments/gpt2.md): the largest
 * micro-batch that ran was 10, with the optimizer on the host 12, where 14 ran out of memory. */
Test(cli_layout, an_optimizer_on_the_host_makes_room_for_a_larger_micro_batch)
{
    static const char line[] =
        "predict --cluster jean-zay-v100 --workload bigscience-52b --mesh dp=64 --strategy "
        "zero3-lists --recompute full --attention unfused --overlap no --set "
        "cpu.link_bandwidth=15.75GB/s --micro-batch %d --global-batch %d --offload %s";
    CLI_CELL(cli_rows(line, 10, 640, "none"), 1, "fits", "yes");
    CLI_CELL(cli_rows(line, 12, 768, "none"), 1, "fits", "no");
    CLI_CELL(cli_rows(line, 12, 768, "optimizer"), 1, "fits", "yes");
    CLI_NOTES("predict --cluster dgx-a100 --workload mpt-7b --mesh dp=16 --strategy zero1 "
              "--global-batch 16 --offload optimizer",
              "the optimizer lies on the hosts, which need 39.9", "not known of this machine");
}

Test(cli_layout, the_imbalance_of_experts_is_a_column_and_without_it_a_note_says_there_is_none)
{
#define MIXTRAL "--cluster dgx-h100 --workload mixtral-8x7b --mesh dp=1,ep=4 --global-batch 4 "
    CLI_CELL(cli_rows("predict " MIXTRAL "--imbalance 1.5"), 1, "imbalance", "1.5");
    CLI_NOTES("predict " MIXTRAL, "as many tokens (--imbalance 1)");
    cli_fails(64, "--imbalance: found \"3:1\"", "$AR predict " MIXTRAL "--imbalance 3:1");
}

Test(cli_layout, what_does_not_fit_says_so_and_without_a_mesh_all_gpus_are_replicas)
{
    struct cli_run run = cli_good("$AR predict " GPT3 "--gpus 8 --global-batch 8 --format csv");
    CLI_CELL(cli_table(run.out), 1, "fits", "no", "mesh", "dp=8");
    CLI_HAS(run.err, "does not fit: ");
}

/* One GPU is slow: the further workers may be ahead of it, the less they wait. */
Test(cli_layout, a_sweep_times_each_staleness)
{
    static const char line[] =
        "%s --cluster dgx-a100 --workload mpt-13b --layers 2 --gpus 8 --global-batch 64 --strategy "
        "%s --straggler 0:2 --servers 2 --columns strategy,iteration_s";
    struct cli_table *rows = cli_rows(line, "sweep", "ssp:1,ssp:8");
    struct cli_table *one = cli_rows(line, "predict", "ssp:8");
    cr_assert_eq(rows->rows_count, 3);
    size_t stale = cli_row(rows, "strategy", "ssp:8");
    CLI_SAME(rows, stale, one, 1, "iteration_s");
    cr_expect(cli_number(rows, stale, "iteration_s") < cli_number(rows, 3 - stale, "iteration_s"));
}

#define SWEEP_ON(CLUSTER)                                                                          \
    "$AR sweep --cluster " CLUSTER                                                                 \
    " --workload mpt-13b --gpus 16 --mesh all --micro-batch 1,2 --strategy zero1,zero3 "           \
    "--global-batch 64 --format csv --columns strategy,iteration_s,memory_bytes "
#define SWEEP SWEEP_ON("dgx-a100")

Test(cli_layout, a_sweep_of_layouts_that_was_stopped_goes_on)
{
    cli_stops(74, "o/sweep.journal: cannot write: File too large; ",
              "trap '' XFSZ; (ulimit -f 8; " SWEEP "--out o --quiet 2>&1 | cat >&2; exit 74)");
    cli_fails(64, "of a sweep that did not finish; expected --resume", SWEEP "--out o --quiet");
    struct cli_run part = cli_good(SWEEP "--out o --resume");
    CLI_HAS(part.err, " rows are there, ");
    cli_expect_same_table(cli_table(part.out), cli_table(cli_good(SWEEP "--out whole").out));
    cr_expect_neq(access("o/sweep.journal", F_OK), 0, "the journal is of no more use");
    CLI_HAS(cli_good(SWEEP "--out o --resume").err, "o: complete, ");
    cli_fails(64, "found the output of another command", SWEEP "--out o --seq 1024");
    cli_good("sed /library.release/d " AR_TEST_SOURCE_DIR
             "/topologies/machines/dgx-a100.topo >own.topo");
    cli_stops(64, "layouts failed; the first, ", SWEEP_ON("own.topo") "--engine library");
    cli_good("$AR plot o --quiet");
    cr_expect_eq(access("o/layouts_memory.svg", F_OK), 0);
    cr_expect_eq(access("o/layouts_best.svg", F_OK), 0);
}

Test(cli_layout, sweeps_without_a_layout_say_why)
{
    static const char *const cases[][2] = {
        {"--gpus 8 --mesh all --global-batch 8", "--mesh: no layout fits: "},
        {"--gpus 38 --mesh all --global-batch 7",
         "--gpus 38: none of 48 layouts can be; 12 of them as this one: --mesh: found global-"},
        {"--gpus 8 --mesh pp=8 --global-batch 8", "try --mesh all with --best, more stages, or"},
        {"--gpus 8 --mesh all --global-batch 8 --payload 1MB", "--payload: found with --workload"},
        {"--gpus 8 --mesh all,cp=3 --global-batch 8", "found all,cp=3 with 8 GPUs; expected a"},
    };
    CLI_REFUSE(64, "sweep --cluster dgx-a100 --workload gpt3-175b", cases);
    cli_fails(64, "--cluster: found \"dgx-a100,dgx-h100\"; expected one name; a list is",
              "$AR predict --cluster dgx-a100,dgx-h100 --workload mpt-1b --gpus 8");
    cli_fails(64, "--set: found \"net.latency=1us,2us\"; expected one value; a list is for",
              "$AR predict --cluster dgx-a100 --workload mpt-1b --mesh dp=8 --set "
              "net.latency=1us,2us");
    struct cli_run run =
        cli_good("$AR sweep --cluster dgx-a100 --workload mpt-1b --mesh dp=8 --global-batch 64");
    CLI_LINES(run.err, "note: 1 layout divides the model, within the memory", 1);
    cli_stops(64,
              "of which the smallest (tp=8, zero3, recompute none) takes 110.4 GB on the fullest "
              "GPU; expected "
              "at most 84.94 GB, gpu.memory: try --recompute full, with which 20 of them fit",
              "$AR sweep --cluster dgx-h100 --workload mpt-7b --gpus 8 --mesh all --global-batch "
              "256 --micro-batch 32");
}

#define SMALL                                                                                      \
    "--cluster flat --set gpu.cost_table=h100-sxm --workload gpt --layers 8 --hidden 1024 "        \
    "--heads 16 --seq 512 --vocab 50000 --global-batch 64 "

Test(cli_layout, without_the_memory_of_a_gpu_nobody_knows_what_fits)
{
    struct cli_run run = cli_good("$AR predict " SMALL "--mesh dp=8");
    CLI_LINES(run.err, "of the fullest GPU fit: the cluster has no gpu.memory (--set", 1);
    run = cli_good("$AR sweep " SMALL "--gpus 8 --mesh all");
    CLI_LINES(run.err, "and nobody knows which of them fit: the cluster has no gpu.memory", 1);
    CLI_LINES(run.err, "do not fit into the memory of a GPU", 0);
}

#define STEP_ON(cluster)                                                                           \
    "$AR predict --cluster " cluster " --workload mpt-1b --mesh dp=8 --global-batch 64 --quiet"
#define STEP STEP_ON("dgx-h100")

Test(cli_layout, a_gpu_of_ones_own_has_a_base)
{
    static const char own[] = STEP " --set gpu.cost_table=./own.cost.csv";
    cli_write("own.cost.csv", "# base = h100-sxm\nquantity,precision,value,unit,source\n"
                              "memory_Bps,any,3.247e12,B/s,x\n");
    const char *same = cli_good(own).out;
    cr_expect_str_eq(same, cli_good(STEP).out);
    cli_good("mkdir d && mv own.cost.csv d/h.cost.csv && sed 's:= h100-sxm:= "
             "h.cost.csv:' " AR_TEST_SOURCE_DIR "/topologies/machines/dgx-h100.topo >d/my.topo");
    cr_expect_str_eq(same, cli_good(STEP_ON("d/my.topo")).out);
    cli_write("own.cost.csv", "# base = a100-80gb-sxm\nquantity,precision,value,unit,source\n"
                              "peak_rate,fp8,1e14,flop/s,x\n");
    cli_stops(65, "is missing for fp8, which its base does not have", own);
    cli_write("own.cost.csv", "# base = mi300x\nquantity,precision,value,unit,source\n");
    cli_stops(65, "./own.cost.csv: base: found mi300x; expected a table without a base", own);
    cli_write("own.cost.csv", "# base = mi30x\nquantity,precision,value,unit,source\n");
    cli_stops(66, "./own.cost.csv: base: unknown device cost table \"mi30x\"; did you mean", own);
}

#define CHOICES                                                                                    \
    "$AR sweep --cluster dgx-h100 --workload gpt3-175b --gpus 64 --mesh pp=4,dp=2,tp=8 "           \
    "--global-batch 64 --strategy zero1 --recompute none,selective,full --sequence-parallel "      \
    "yes,no --overlap-tensor yes,no "

Test(cli_layout, rows_of_a_table_differ_in_what_it_shows)
{
    const char *text = cli_good(CHOICES).out;
    CLI_HAS(text, "none, selective"); /* fused attention has no scores to recompute */
    CLI_LINES(text, "pp=4,dp=2,tp=8", 5);
    CLI_HAS(text, "parallel  tensor");
    struct cli_table *all = cli_table(cli_good(CHOICES "--format csv").out);
    cr_expect_gt(all->rows_count, 6, "files have every name");
    cli_good(CHOICES "--out o --quiet && $AR plot o"); /* a bar for each name of a layout */
    CLI_LINES(cli_read("o/layouts_best.csv"), "pp=4;dp=2;tp=8", 3);
    text = cli_good(CHOICES "--columns mesh,iteration_s --overlap no").out;
    CLI_LINES(text, "pp=4,dp=2,tp=8", 5);
}

/* All-reduces of tensors, 2 forward and 2 backward a layer and one of the loss, over NVLinks. */
Test(cli_layout, a_row_says_how_busy_the_busiest_link_is)
{
    struct cli_table *row = predict_row("--cluster dgx-a100 --workload megatron-1.7b --mesh tp=8 "
                                        "--global-batch 1");
    struct cli_table *slow = predict_row("--cluster dgx-a100 --workload megatron-1.7b --mesh dp=16 "
                                         "--global-batch 16 --set hca.bandwidth=1GB/s");
    double tp_s = cli_number(row, 1, "exposed_tp_s"), step_s = cli_number(row, 1, "iteration_s");
    double busy_s = cli_number(row, 1, "busiest_frac") * step_s;
    cr_expect(busy_s > 0.5 * tp_s && busy_s < tp_s, "%g of %g s", busy_s, tp_s);
    cr_expect_gt(cli_number(slow, 1, "busiest_frac"), 0.8, "the network decides");
    /* Stages whose gradients differ in size, each of which lie on links of their own. */
    row = predict_row("--cluster dgx-a100 --workload megatron-1.7b --mesh pp=4,dp=16 "
                      "--global-batch 16 --strategy zero1 --overlap no --set hca.bandwidth=1GB/s");
    busy_s = cli_number(row, 1, "busiest_frac") * cli_number(row, 1, "iteration_s");
    cr_expect(busy_s > 0.4 && busy_s < 0.6, "%g s", busy_s);
}

Test(cli_layout, layouts_on_more_gpus_have_an_efficiency)
{
    struct cli_table *best = cli_rows(
        "sweep --cluster dgx-a100 --workload mpt-1b,mpt-3b --gpus 8,16 --mesh all --strategy data "
        "--global-batch 64 --best --columns gpus,trace,tokens_per_s,efficiency_frac,baseline");
    cr_assert_eq(best->rows_count, 5, "a header, and each workload on each number of GPUs");
    for (size_t i = 1; i < 3; i++) {
        double few = cli_number(best, i, "tokens_per_s"),
               many = cli_number(best, i + 2, "tokens_per_s");
        CLI_CELL(best, i, "efficiency_frac", "1");
        CLI_CELL(best, i + 2, "baseline", "8 gpus");
        cr_expect_str_eq(cli_cell(best, i, "trace"), cli_cell(best, i + 2, "trace"));
        CLI_NEAR(best, i + 2, "efficiency_frac", many / 16 / (few / 8), 1e-6);
    }
}

#define MEGATRON                                                                                   \
    "--cluster dgx-a100 --workload megatron-1.7b --mesh pp=2,dp=2,tp=8 --global-batch 8 "

Test(cli_layout, what_a_step_sends_is_rows_of_axes)
{
    struct cli_table *sent = cli_rows("explain " MEGATRON);
    double tensor_s = 0, step_s = cli_value("exposed_tp_s", "predict " MEGATRON);
    for (size_t i = 1; i < sent->rows_count; i++) {
        bool is_tensor = strcmp(cli_cell(sent, i, "along"), "tp") == 0;
        tensor_s +=
            is_tensor ? cli_number(sent, i, "time_s") * cli_number(sent, i, "count_all") / 2 : 0;
    }
    cr_expect_float_eq(tensor_s, step_s, 1e-6 * step_s, "the mean of two stages: %g, not %g",
                       tensor_s, step_s);
    cli_good("$AR explain " MEGATRON "--out o && $AR report o");
    CLI_HAS(cli_read("o/report.html"), "What is sent, by operation and axis");
    cli_fails(64, "--format: found csv, for what a step sends; expected a step without servers",
              "$AR explain --cluster dgx-a100 --gpus 16 --payload 1MiB --format csv");
}

/* Each job on each cluster, as if it were asked alone. */
Test(cli_layout, lists_of_clusters_and_of_their_values_have_a_fastest_layout_each)
{
    static const char *const clusters[] = {"dgx-h100", "dgx-a100"}, *const rates[] = {"12GB/s",
                                                                                      "24GB/s"};
    static const char rest[] = "--workload mpt-1b --gpus 8,16 --mesh all --strategy data "
                               "--global-batch 64 --best --columns gpus,mesh,iteration_s";
    struct cli_table *all =
        cli_rows("sweep --cluster dgx-h100,dgx-a100 --set hca.bandwidth=12GB/s,24GB/s %s", rest);
    cr_assert_eq(all->rows_count, 1 + 2 * 2 * 2);
    for (size_t i = 0; i < 4; i++) {
        struct cli_table *own = cli_rows("sweep --cluster %s --set hca.bandwidth=%s %s",
                                         clusters[i % 2], rates[i / 2], rest);
        for (size_t gpus = 0; gpus < 2; gpus++) {
            CLI_SAME(all, 1 + 4 * gpus + i, own, 1 + gpus, "mesh", "iteration_s");
        }
    }
}

/* Exhaustive enumeration is the truth that the rounds of a plan are held against. */
Test(cli_layout, a_plan_finds_what_a_sweep_of_everything_finds)
{
    static const char *const models[] = {"mpt-13b --gpus 16", "mpt-1b --gpus 64"};
    static const char line[] =
        "sweep --cluster dgx-a100 --workload %s --mesh all --global-batch 64 --strategy zero1 "
        "--overlap-gather yes --columns iteration_s%s";
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        struct cli_table *all = cli_rows(
            line, models[m],
            " --schedule 1f1b,interleaved:2 --sequence-parallel yes,no --overlap-tensor yes,no "
            "--recompute none,full");
        struct cli_table *best = cli_rows(line, models[m], " --best --schedule 1f1b,interleaved:2");
        cr_assert_eq(best->rows_count, 2);
        double best_s = cli_number(best, 1, "iteration_s"), least_s = HUGE_VAL;
        for (size_t i = 1; i < all->rows_count; i++) {
            least_s = fmin(least_s, cli_number(all, i, "iteration_s"));
        }
        cr_expect_float_eq(best_s, least_s, 1e-9 * least_s, "%g and %g s", best_s, least_s);
    }
    CLI_NOTES(
        "sweep --cluster dgx-a100 --workload mpt-1b --gpus 64 "
        "--mesh all --global-batch 64 --schedule 1f1b --best",
        "; recompute none,selective,full: one layout of each mesh but 6, which compute longer",
        "another); micro-batch 1; attention flash2; overlap yes; offload none; schedule 1f1b");
}

Test(cli_layout, explain_splits_every_stage_and_lists_what_is_sent)
{
    const char *text = cli_good("$AR explain " MEGATRON "--attention unfused").out;
    CLI_HAS(text, "\n  0  ", "\n  1  ");
    CLI_LINES(text, "all-reduce  tp ", 2);   /* hidden states, and of the loss */
    CLI_LINES(text, "send        pp ", 2);   /* and of the tied embedding */
    CLI_LINES(text, "  softmax ", 2);        /* forward and backward */
    CLI_LINES(text, "2048 x 864 x 2304", 1); /* tokens, 3 h / 8, h */
}

Test(cli_layout, a_pipeline_is_drawn_of_its_tasks)
{
    cli_good("$AR explain " MEGATRON "--out o");
    struct cli_table *tasks = cli_table(cli_read("o/pipeline.csv"));
    double last_s = 0;
    for (size_t i = 1; i < tasks->rows_count; i++) {
        double end_s = cli_number(tasks, i, "end_s");
        cr_expect_leq(cli_number(tasks, i, "begin_s"), end_s);
        last_s = end_s > last_s ? end_s : last_s;
    }
    double step_s = cli_number(predict_row(MEGATRON "--jitter 0"), 1, "iteration_s");
    cr_expect_float_eq(last_s, step_s, 1e-6 * step_s);
    cr_expect_gt(strlen(cli_read("o/pipeline.svg")), 1000u);
    cli_fails(64, "expected at most 20000 for a picture",
              "$AR explain --cluster dgx-a100 --workload megatron-1.7b --mesh pp=2,dp=2,tp=8 "
              "--global-batch 65536 --out o2");
    cli_fails(64, "--out: found with --payload",
              "$AR explain --cluster flat --gpus 4 --payload 1MB --out o3");
}

Test(cli_layout, a_timeline_has_a_slice_for_every_pass_of_every_stage)
{
    CLI_COUNTS(cli_good("$AR export --format chrome-trace " MEGATRON "--overlap no --quiet").out,
               {"\"name\": \"forward ", 2 * 4}, {"\"name\": \"backward ", 2 * 4},
               {"\"name\": \"optimizer\"", 2}, {"\"name\": \"send to ", 2 * 4 + 2});
}

Test(cli_layout, boxing_says_what_is_sent_and_with_a_cluster_how_long_it_takes)
{
    struct cli_table *plain = cli_rows("boxing P B --gpus 8 --payload 64MiB");
    CLI_CELL(plain, 1, "operation", "allreduce", "time_s", "");
    cr_expect_eq(cli_number(plain, 1, "sent_bytes"), 14 * 67108864.0);
    struct cli_run run = cli_good("$AR boxing B S0 --gpus 4 --payload 64MiB --format csv");
    CLI_CELL(cli_table(run.out), 1, "operation", "nothing to send");
    cr_expect_str_eq(run.err, "");
    struct cli_table *timed = cli_rows("boxing B,S0 B,B --mesh dp=2,tp=4 --payload 64MiB --cluster "
                                       "dgx-a100");
    struct cli_table *bare = cli_rows("allgather --mesh dp=2,tp=4 --along tp --payload 64MiB "
                                      "--cluster dgx-a100 --columns allreduce_s");
    CLI_CELL(timed, 2, "time_s", cli_cell(bare, 1, "allreduce_s"));
    cr_expect_eq(cli_number(timed, 2, "groups"), 2);
}

Test(cli_layout, a_measured_rate_of_one_replica_scales_its_kernels)
{
    static const char line[] = "$AR predict --cluster dgx-a100 --workload megatron-1.7b --mesh "
                               "pp=2,dp=%d,tp=4 --global-batch %d --micro-batch 2 --format csv "
                               "--columns iteration_s,settings --samples-per-s-at 16=%s";
    struct cli_run one = cli_good(line, 1, 16, "20");
    CLI_NEAR(cli_table(one.out), 1, "iteration_s", 16.0 / 20, 1e-8);
    CLI_HAS(one.err, "times as long, by the measured rate of one replica");
    struct cli_run all = cli_good(line, 8, 128, "20");
    CLI_CELL(cli_table(all.out), 1, "settings", "samples-per-s-at=16=20");
    cr_expect(cli_number(cli_table(all.out), 1, "iteration_s") > 16.0 / 20);
    cli_fails(64, "--samples-per-s-at: found 1e+07 samples/s at 16", line, 1, 16, "1e7");
}

Test(cli_layout, sparse_and_narrow_gradients_are_of_traces_and_workloads)
{
    static const char *const steps[] = {
        "--trace resnet50-v1.5 --algorithm ring --gpus 64",
        "--workload mpt-125m --global-batch 128 --precision fp16 --attention unfused --gpus 64"};
    for (size_t i = 0; i < 2; i++) {
        double time_s[4];
        const char *options[] = {"", "--gradients fp8", "--sparse 0.001", "--gradients int4"};
        for (size_t k = 0; k < 4; k++) {
            struct cli_table *table =
                cli_rows("predict --cluster abci-v100 %s %s --quiet", steps[i], options[k]);
            time_s[k] = cli_number(table, 1, "iteration_s");
            CLI_CELL(table, 1, "wire", k == 1 ? "fp8" : k == 3 ? "int4" : "fp16");
            CLI_CELL(table, 1, "settings", k == 2 ? "sparse=0.001" : "");
        }
        cr_expect_lt(time_s[2], time_s[0]);
        cr_expect_lt(time_s[1], time_s[0]);
        cr_expect_lt(time_s[3], time_s[1]);
    }
    static const char kept[] = "predict --cluster dgx-h100 --workload llama3-8b --gpus 64 "
                               "--strategy zero1 --global-batch 512 --precision bf16 --gradients";
    struct cli_table *wide = cli_rows("%s bf16", kept);
    CLI_SAME(wide, 1, cli_rows("%s fp8", kept), 1, "backward_s", "optimizer_s");
    CLI_HAS(cli_good("$AR explain --cluster abci-v100 %s --sparse 0.001", steps[0]).out,
            "all-gather  dp ");
}

/* An eighth of a ring's 126 GB and 56 of 63 GB of an all-to-all take 250 pJ a bit, the rest 20. */
Test(cli_layout, energy_is_that_of_bits_and_operations)
{
    static const char on[] = "--cluster dgx-h100 --gpus 64 --payload 1GB";
    struct cli_table *ring = cli_rows("allreduce --algorithm ring %s", on);
    struct cli_table *peers = cli_rows("alltoall --algorithm linear %s", on);
    struct cli_table *step = cli_rows("predict --cluster dgx-h100 --workload llama2-7b --mesh dp=1 "
                                      "--global-batch 4 --attention unfused");
    double power_W = cli_number(step, 1, "energy_j") / cli_number(step, 1, "iteration_s");
    double products_W = 0.52 * cli_number(step, 1, "tflops_per_gpu");
    CLI_NEAR(ring, 1, "energy_j", 126 * 8e-3 * (250 + 7 * 20) / 8, 1e-3);
    CLI_NEAR(peers, 1, "energy_j", 8e-3 * (56 * 250 + 7 * 20), 1e-3);
    cr_expect(power_W > products_W && power_W < products_W + 144 * 3.247, "%g W", power_W);
}

Test(cli_layout, boxing_to_other_gpus_is_timed_message_by_message)
{
    /* Two GPUs send a whole to each other two: 4 halves, two through each port. */
    struct cli_table *others =
        cli_rows("boxing S0 B --gpus 2 --to-gpus 2 --payload 64MiB --cluster flat");
    struct cli_table *send = cli_rows("send --cluster flat --gpus 2 --payload 64MiB");
    CLI_CELL(others, 1, "operation", "send");
    cr_expect_eq(cli_number(others, 1, "groups"), 4);
    cr_expect_eq(cli_number(others, 1, "sent_bytes"), 2 * 67108864.0);
    CLI_NEAR(others, 1, "time_s", cli_number(send, 1, "allreduce_s"), 1e-9);
}

Test(cli_layout, boxing_refuses_what_is_no_placement)
{
    static const char *const cases[][2] = {
        {"P --gpus 8 --payload 1MB", "boxing: found 1 arguments; expected FROM TO"},
        {"P X --gpus 8 --payload 1MB", "X: found \"X\"; expected S0"},
        {"P B --mesh a=2,b=4 --payload 1MB", "P: found P for 2 axes"},
        {"P B --mesh a=2 --to-gpus 2 --payload 1MB", "--to-gpus: found with --mesh"},
        {"P B --gpus 8 --to-gpus 1000 --payload 1MB --cluster v100-8gpu-1edr", "--gpus: found"},
        {"P B --gpus 8 --payload 3B --cluster flat", "3 bytes"},
    };
    CLI_REFUSE(64, "boxing", cases);
}

/* Racks of 18 nodes of 4 GPUs: 32 nodes are 16 and 16, and no group of 16 GPUs is in two. */
Test(cli_layout, a_job_on_several_nvlink_domains_splits_no_group)
{
    static const char line[] =
        "predict --cluster gb200-nvl72 --workload llama3-70b --mesh dp=8,tp=16 --global-batch 64";
    struct cli_run spread = cli_good("$AR %s --format csv", line);
    CLI_HAS(spread.err, "takes 16 of the 18 nodes of each NVLink domain");
    CLI_NOTES("advise --cluster gb200-nvl72 --workload llama3-70b --mesh dp=8,tp=16 "
              "--global-batch 64",
              "takes 16 of the 18 nodes of each NVLink domain");
    struct cli_table *own = cli_table(spread.out);
    struct cli_table *sixteen = cli_rows("%s --set nvlink.domain_nodes=16", line);
    struct cli_run filled = cli_good("$AR %s --format csv --set nvlink.domain_nodes=18", line);
    CLI_LACKS(filled.err, "NVLink domain");
    CLI_SAME(own, 1, sixteen, 1, "iteration_s");
    cr_expect_gt(cli_number(cli_table(filled.out), 1, "iteration_s"),
                 1.5 * cli_number(own, 1, "iteration_s"));
}

/* Tasks of 64 all-to-alls each, hidden behind another micro-batch: all of them count. */
Test(cli_layout, a_straggler_of_factor_1_changes_nothing_of_what_experts_exchange)
{
    static const char line[] =
        "predict --cluster oci-a100 --workload mixtral-8x7b --overlap no --mesh ep=4,tp=8 "
        "--global-batch 32 --overlap-experts yes --jitter 0";
    struct cli_table *even = cli_rows("%s", line), *by_ranks = cli_rows("%s --straggler 1:1", line);
    CLI_NEAR(by_ranks, 1, "iteration_s", cli_number(even, 1, "iteration_s"), 1e-6);
}

/* Nothing is fitted to these rows. Predictions must not become worse unnoticed. */
Test(cli_layout, published_steps_of_transformers_stay_as_close_as_they_are)
{
    static const struct {
        const char *rows;
        size_t count;
        double median_frac, worst_frac;
    } sets[] = {{"megatron --rows 'megatron21-*'", 11, 0.04, 0.06},
                {"megatron --rows 'megatron21z-00?'", 9, 0.07, 0.34},
                {"sequence-parallel", 4, 0.09, 0.14},
                {"fsdp --rows 'llmfoundry-09?'", 10, 0.05, 0.14},
                {"mlperf-steps --rows '*[!6]?'", 15, 0.06, 0.13}, /* all but a slow one */
                {"llama3", 6, 0.11, 0.15}};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i += AR_TEST_STRIDE) {
        const char *out =
            cli_good("$AR reproduce %s --samples 1 --format json --quiet", sets[i].rows).out;
        size_t count = 0, far = 0;
        for (const char *at = out; (at = strstr(at, "\"error_frac\": ")) != NULL; count++) {
            double error_frac = fabs(atof(at += strlen("\"error_frac\": ")));
            far += error_frac > sets[i].median_frac;
            cr_expect_lt(error_frac, sets[i].worst_frac, "%s: %g", sets[i].rows, error_frac);
        }
        cr_expect_eq(count, sets[i].count, "%s: %zu", sets[i].rows, count);
        cr_expect(2 * far <= count, "%s: %zu of %zu are farther off", sets[i].rows, far, count);
    }
}

Test(cli_layout, published_rates_are_those_of_the_columns_of_a_row)
{
#define ON_8 "dgx-a100,gpt-22b,\"dp=1,tp=8\",4,4\n"
    cli_write("rows.csv", "row,quantity,measured,source,cluster,workload,mesh,global_batch,"
                          "micro_batch\na,tflops_per_gpu,100,x," ON_8 "b,mfu_frac,0.5,x," ON_8);
    struct cli_table *rows = cli_rows("reproduce ./rows.csv --samples 1 --quiet");
    struct cli_table *row = cli_rows("predict --cluster dgx-a100 --workload gpt-22b --mesh "
                                     "dp=1,tp=8 --global-batch 4 --micro-batch 4 --quiet");
    CLI_CELL(rows, 1, "predicted", cli_cell(row, 1, "tflops_per_gpu"));
    CLI_CELL(rows, 2, "predicted", cli_cell(row, 1, "mfu_frac"));
}

Test(cli_layout, wrong_lines_are_one_line)
{
    static const char *const cases[][2] = {
        {GPT3 "--mesh dp=1,tp=8 --global-batch 16777217",
         "expected a whole number from 1 to 16777216"},
        {GPT3 "--mesh dp=1,tp=8,x=2 --global-batch 8", "expected axes among pp, rep, dp, ep"},
        {GPT3 "--mesh dp=1,tp=8 --global-batch 8 --micro-batch 1,2",
         "found \"1,2\"; expected a whole number from 1 to 4294967295; a list is for 'allreckon "},
        {"--cluster flat --gpus 8 --trace resnet50-v1.5 --algorithm ring,tree",
         "direct; a list is for 'allreckon sweep'"},
        {GPT3 "--tp 8", "unknown option \"--tp\"; expected --mesh pp=N,dp=N,ep=N,cp=N,tp=N"},
        {GPT3 "--global-batch-size=8",
         "option \"--global-batch-size=8\"; expected --global-batch B"},
        {GPT3 "--use_distributed-optimizer", "optimizer\"; expected --strategy zero1"},
        {GPT3 "--sequence-parallel --global-batch 8", "\"--sequence-parallel\" needs a value"},
        {"-n 64", "unknown option \"-n\"; expected --gpus N"},
        {GPT3 "--mesh tp=8 --gpus 16 --global-batch 8",
         "--mesh: tp=8 has 8 places; expected 16, the number of --gpus; dp=2 is missing"},
        {GPT3 "--mesh dp=1,tp=8", "option --global-batch is missing"},
        {GPT3 "--mesh dp=1,tp=8 --global-batch 8 --batch 8",
         "--batch: found with a workload; expected --global-batch"},
        {"--cluster dgx-a100 --workload gpt --gpus 8 --global-batch 8",
         "--workload: found 0 layers"},
        {"--cluster dgx-a100 --workload mpt-1b --gpus 8 --global-batch 8 --precision fp8",
         "--precision: found fp8, for which cost table"},
        {"--cluster gb200-nvl72 --gpus 8 --algorithm ring --trace resnet50-v1.5 --precision nvfp4",
         "--precision: found nvfp4 with a trace; expected it with --workload alone"},
        {GPT3 "--mesh pp=8,dp=1,tp=8 --global-batch 8 --recompute selective:mlp,moe",
         "--recompute: found \"selective:mlp,moe\"; expected none, selective, full, full:K"},
        {GPT3 "--mesh dp=8 --global-batch 8 --strategy ps-sync --offload optimizer",
         "--offload: found optimizer with strategy ps-sync; expected none with servers"},
        {"--cluster gb200-nvl72 --workload mpt-1b --mesh dp=8 --global-batch 8 --offload optimizer",
         "--offload: found optimizer on cluster gb200-nvl72, which does not say how fast"},
    };
    cli_fails(66, "unknown cluster \"h100\"; did you mean \"dgx-h100\"?; a file",
              "$AR predict --cluster h100 --gpus 8 --algorithm ring --trace resnet50-v1.5");
    CLI_REFUSE(64, "predict", cases);
    cli_fails(66, "\"llama3\"; expected one of llama3-8b llama3-70b llama3-405b; a file needs",
              "$AR predict --cluster dgx-a100 --workload llama3 --gpus 8");
}

#define STEPS AR_TEST_SOURCE_DIR "/traces/logs/steps/"

Test(cli_layout, a_step_of_another_program_runs_on_a_mesh)
{
    struct cli_table *table = cli_rows("predict --cluster dgx-a100 --workload " STEPS "simai.txt");
    CLI_CELL(table, 1, "gpus", "8");
    CLI_NEAR(table, 1, "compute_s", 3.100304e-3, 1e-9);
    cli_good("$AR explain --cluster dgx-a100 --gpus 16 --workload " STEPS "step.et --out o");
    CLI_HAS(cli_read("o/pipeline.gp"), "step.et', 'dp=16', 'dgx-a100']"); /* and no micro-batch */
    CLI_NOTES("sweep --cluster dgx-a100 --gpus 8,16 --workload " STEPS "data.txt",
              "by number of GPUs, the fastest first");
    CLI_NOTES("predict --cluster dgx-a100 --mesh tp=4 --workload " STEPS "simai.txt",
              "computations are those of tp=2");
    cli_good("sed 's/pp: 1/pp: 4/;s/all_gpus: 8/all_gpus: 32/' " STEPS "simai.txt > stage.txt");
    struct cli_run run =
        cli_good("$AR sweep --cluster dgx-a100 --gpus 32 --workload ./stage.txt --format csv "
                 "--columns bubble_s,bubble_frac,exposed_pp_s,exposed_dp_s");
    CLI_HAS(run.err, "between stages are not counted");
    CLI_HAS(run.out, "\n,,,0");
}

Test(cli_layout, a_step_of_another_program_on_one_gpu_only_computes)
{
    const struct cli_table *table =
        cli_rows("predict --cluster dgx-a100 --gpus 1 --workload " STEPS "data.txt --quiet");
    CLI_NEAR(table, 1, "iteration_s", 1060.3e-6, 1e-9);
}

Test(cli_layout, a_step_of_another_program_takes_no_options_of_models)
{
    static const char *const rows[][2] = {
        {STEPS "data.txt --gpus 8 --layers 2", "--layers: found with the workload of a file"},
        {STEPS "data.txt --gpus 8 --sparse 0.1", "--sparse: found with the workload of a file"},
        {STEPS "data.txt", "option --gpus is missing"},
        {STEPS "simai.txt --gpus 6", "found pp=1, ep=2, tp=2 in"},
        {STEPS "hybrid.txt --gpus 4", "hybrid.txt:3: found allgather along tp, which has one GPU"},
        {STEPS "data.txt --mesh pp=2,dp=2", "--mesh: found pp=2 for"},
    };
    CLI_REFUSE(64, "predict --cluster dgx-a100 --workload", rows);
}
