#include "test_logs.h"

/* A run of two ranks, for which busbw equals algbw: 1 MiB in 100 us is 10.48576 GB/s. */
#define SWEEP                                                                                      \
    "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 2097152 step: 2(factor) warmup iters: 5 "       \
    "iters: 20 agg iters: 1 validation: 1 graph: 0\n"
#define RANK0 "#  Rank  0 Group  0 Pid     10 on      alpha device  0 [0x1a] Tesla V100\n"
#define RANK1 "#  Rank  1 Group  0 Pid     11 on       beta device  0 [0x1a] Tesla V100\n"
#define NAMES                                                                                      \
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     "    \
    "time   algbw   busbw #wrong\n"
#define HEAD SWEEP RANK0 RANK1 NAMES
#define ROW1 "     1048576        262144     float     sum      -1    100.0   10.49   10.49      0"
#define SAME "    100.0   10.49   10.49      0\n"
#define ROW2                                                                                       \
    "     2097152        524288     float     sum      -1    200.0   10.49   10.49      0"         \
    "    200.0   10.49   10.49      0\n"
#define END "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 10.49\n"

#define OSU_HEAD "# OSU MPI Allreduce Latency Test v7.3\n# Size       Avg Latency(us)\n"

#define HARNESS                                                                                    \
    "backend,algorithm,shape,channels,ranks,nodes,datatype,element_bytes,payload_bytes,"           \
    "repetitions,time_median_s,time_min_s,time_p10_s,time_p90_s,wrong,tier\n"

#define RECORD(time) "{\"size\":8,\"count\":2,\"type\":\"float\",\"out_of_place\":{" time "}}"
#define DEVICE(rank, pid)                                                                          \
    "{\"rank\":" rank ",\"pid\":" pid ",\"hostname\":\"h\",\"device_info\":\"V100\"}"
#define JSON(devices, results)                                                                     \
    "{\"version\":3,\"config\":{\"nthreads\":1,\"ngpus\":1,\"devices\":[" devices                  \
    "]},\n\"results\":[" results "]}"

static const char *const bad_files[][2] = {
    /* no log at all */
    {"", "x.log: no text; expected a log of nccl-tests (text or JSON), OSU, or"},
    {"hello\n", "x.log: unknown format, it begins with \"hello\"; expected a log of nccl-tests"},
    {"\n\x01\x02 \x7f", "it begins with \"?? ?\""},
    {"a,b,c\n1,2,3\n", "unknown format, it begins with \"a,b,c\""},
    /* nccl-tests: rows */
    {HEAD, "x.log: no measurement in 1 run; expected a table with rows"},
    {HEAD "8 2 float sum -1 0.00 0.00 0.00 0 5.00 0.00 0.00 0\n",
     "x.log:5: out-of-place time is 0 us; expected a time above zero"},
    {HEAD "8 2 float sum -1 5.00 0.00 0.00 0 -5.00 0.00 0.00 0\n",
     "x.log:5: in-place time is -5 us; expected a time above zero"},
    {HEAD "8 2 float sum -1 N/A N/A N/A N/A N/A N/A N/A N/A\n",
     "x.log:5: row without a time; expected an out-of-place or in-place time above zero"},
    {HEAD "8 2 float sum -1 5.0.0 0.00 0.00 0 5.00 0.00 0.00 0\n",
     "x.log:5: column \"time\" is \"5.0.0\"; expected a number or N/A"},
    {HEAD ROW1 "\n" ROW2 END, "x.log:5: 9 columns; expected 13 as in the header (line 4); cut off"},
    {HEAD "1048576 262144 float sum -1n0:3:4 [0] NCCL INFO 16384 Bytes -> Algo 1 proto 0 time 2\n",
     "x.log:5: column \"root\" is \"-1n0:3:4\"; expected a number or N/A"},
    {HEAD ROW1 SAME HEAD ROW1 SAME ROW2 END,
     "x.log:5: the table ends at 1048576 bytes without its closing lines; expected sizes up to "
     "2097152 (line 1): cut off, or several processes without MPI at once"},
    {SWEEP RANK0 RANK1 "# size count type redop root cputime algbw busbw #wrong\n" ROW1 "\n",
     "x.log:5: column \"cputime\" is \"100.0\"; expected column \"time\", not the time to launch"},
    /* nccl-tests: bandwidths that contradict the times */
    {HEAD "1048576 262144 float sum -1 100.0 12.50 10.49 0 100.0 10.49 10.49 0\n" ROW2 END,
     "x.log:5: out-of-place algbw is 12.5 GB/s; expected 10.4858 GB/s, since the all-reduce of "
     "1048576 bytes takes 100 us"},
    {HEAD "1048576 262144 float sum -1 100.0 10.49 10.49 0 100.0 10.49 18.35 0\n" ROW2 END,
     "x.log:5: in-place busbw is 18.35 GB/s; expected 10.4858 GB/s, since the all-reduce of "
     "1048576 bytes on 2 ranks takes 100 us"},
    {HEAD "1048576 262144 float sum -1 100.0 10.49 18.35 0 100.0 10.49 18.35 0\n"
          "2097152 524288 float sum -1 200.0 10.49 18.35 0 200.0 10.49 18.35 0\n" END,
     "x.log:5: out-of-place busbw is 18.35 GB/s; expected 10.4858 GB/s"},
    /* nccl-tests: ranks */
    {SWEEP RANK0 RANK0 NAMES ROW1 SAME ROW2 END,
     "x.log:3: rank 0 is listed a second time (first on line 2); expected every rank once"},
    {SWEEP SWEEP RANK0 "#  Rank  0 Group  0 Pid     12 on  beta device  0 [0x1a] V\n" NAMES NAMES,
     "x.log:4: process 12 on beta says it is rank 0, as process 10 on alpha did (line 3); expected "
     "one: each process ran alone, as nccl-tests does when built without MPI=1"},
    {SWEEP RANK1 NAMES ROW1 SAME ROW2 END,
     "x.log:2: rank 0 is missing among the 1 listed; expected the ranks from 0 on without a gap"},
    {"# nThread 1 nGpus 4 minBytes 8 maxBytes 8 step: 2(factor)\n" RANK0 RANK1 NAMES ROW1 SAME END,
     "x.log:2: 2 ranks are listed; expected a multiple of 4, nThread times nGpus"},
    {SWEEP RANK0 RANK1
     "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 8 cudaDev 0 busId 1000 - Init COMPLETE\n" NAMES
         ROW1 SAME ROW2 END,
     "x.log:4: NCCL says nranks 8; expected 2, the ranks that nccl-tests lists"},
    {SWEEP RANK0 "# Rank 99999999 Pid 1 on a device 0 [0x0] V\n",
     "x.log:3: rank 99999999; expected a rank below 1048576"},
    /* nccl-tests JSON */
    {"{", "x.log:1: "},
    {"{}", "x.log:1: JSON without a list \"results\"; expected the output of nccl-tests -J"},
    {"{\"version\":4,\"results\":[]}", "\"version\" above 3; expected schema 1 to 3"},
    {JSON(DEVICE("0", "1"), ""), "no measurement in 1 run"},
    {JSON(DEVICE("0", "1"), "17"), "record 1 of \"results\" has no usable \"size\""},
    {JSON(DEVICE("0", "1"), RECORD("\"time\":0.0")), "out-of-place time is 0 us"},
    {JSON(DEVICE("0", "1"), RECORD("\"time\":\"nan\"")), "row without a time"},
    {JSON(DEVICE("0", "1"), RECORD("\"cpu_time\":3.0")), "\"cpu_time\" (-C 1) is the time to"},
    {JSON(DEVICE("0", "1"), RECORD("\"time\":4.0,\"alg_bw\":0.03")),
     "out-of-place algbw is 0.03 GB/s; expected 0.002 GB/s"},
    {JSON(DEVICE("0", "1") "," DEVICE("0", "2"), RECORD("\"time\":1.0")),
     "process 2 on h says it is rank 0, as process 1 on h did"},
    {JSON(DEVICE("\"x\"", "1"), RECORD("\"time\":1.0")), "has no usable \"rank\""},
    {JSON(DEVICE("0", "1"), RECORD("\"time\":1.0")) "\n\n{\"version\":3,\n\"results\":[{]}",
     "x.log:5: "},
    /* OSU */
    {"# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n# Size MB/s Messages/s\n1 2.36 9\n",
     "no measurement in 1 run"},
    {OSU_HEAD "4 1.50\n8\n", "x.log:4: 1 columns; expected 2 as in the header (line 2); cut off"},
    {OSU_HEAD "4 0.00\n", "x.log:3: out-of-place time is 0 us"},
    {"# OSU MPI Bandwidth Test v5.8\n# Size      Bandwidth (MB/s)\n1 0.00\n",
     "x.log:3: out-of-place time is 0 us"},
    {OSU_HEAD "4 1.5.0\n8 1.x\n", "no measurement in 1 run"},
    /* CSV */
    {HARNESS, "x.log: no measurement in 0 runs"},
    {"ranks,payload_bytes\n2,8\n",
     "x.log:1: neither column \"time_median_s\" nor \"gpus\"; expected a table of the harness"},
    {"backend,time_median_s,payload_bytes\n", "x.log:1: column \"algorithm\" is missing"},
    {HARNESS "t,ring,,1,2,1,float32,4,8,5,-1,1,1,1,0,\n",
     "x.log:2: column \"time_median_s\" is \"-1\"; expected a time above zero"},
    {HARNESS "t,ring,,1,0,1,float32,4,8,5,1,1,1,1,0,\n",
     "x.log:2: column \"ranks\" is \"0\"; expected a whole number of at least 1"},
    {HARNESS "t,ring,,1,2,1,float32,3,8,5,1,1,1,1,0,\n",
     "x.log:2: column \"element_bytes\" is \"3\"; expected a divisor of payload_bytes, 8"},
    {HARNESS "t,ring,,1,\"2\n3\",1,float32,4,8,5,1,1,1,1,0,\n", "column \"ranks\" is \"2?3\""},
    {"nodes,gpus,payload_bytes,time_out_of_place_us,time_in_place_us\n1,4,8,N/A,\n",
     "x.log:2: row without a time"},
    {"nodes,gpus,payload_bytes,time_out_of_place_us,time_in_place_us\n1,4,8,0,1\n",
     "x.log:2: column \"time_out_of_place_us\" is \"0\"; expected a time above zero"},
};

Test(logs_bad, what_is_wrong_in_a_file_is_said_in_one_line)
{
    struct ar_logs *logs = NULL;
    TEST_PAIRS_FAIL(AR_BAD_DATA, bad_files,
                    ar_logs_parse("x.log", given, strlen(given), &test_arena, &logs, &why));
    cr_expect_null(logs);
}

Test(logs_bad, processes_that_each_are_rank_0_are_reported)
{
    static const char *const traps[] = {FIXTURE("trap-every-rank-0.txt"),
                                        FIXTURE("trap-every-rank-0-tagged.txt"),
                                        FIXTURE("trap-json-one-process.json")};
    struct ar_logs *logs;
    TEST_EACH_FAILS(AR_BAD_DATA,
                    "each process ran alone, as nccl-tests does when built without MPI=1", traps,
                    ar_logs_load(given, &test_arena, &logs, &why));
}

/* Files that can be read, whose run cannot be compared. */
static const char *const unfit_runs[][2] = {
    {HEAD "0 0 float sum -1 1.00 0.00 0.00 0 1.00 0.00 0.00 0\n" END,
     "x.log:1: 0 different sizes above zero in 1 rows; expected at least 1"},
    {HEAD "1048576 262144 float sum -1 100.0 10.49 10.49 7 100.0 10.49 10.49 0\n" ROW2 END,
     "x.log:5: 7 elements came out wrong; expected a run with right results"},
    {HEAD ROW1 SAME "2097152 1048576 half sum -1 200.0 10.49 10.49 0 200.0 10.49 10.49 0\n" END,
     "x.log:6: half sum in a table that begins with float sum (line 5); expected one datatype"},
    {HEAD ROW1 SAME ROW2 "# Out of bounds values : 5 FAILED\n# Avg bus bandwidth    : 10.49\n",
     "x.log:8: 5 values out of bounds; expected a run with right results"},
    {NAMES ROW1 SAME ROW2 END, "x.log:1: the log does not say how many ranks took part"},
    {SWEEP RANK0 NAMES "1048576 262144 float sum -1 100.0 10.49 0.00 0 100.0 10.49 0.00 0\n"
                       "2097152 524288 float sum -1 200.0 10.49 0.00 0 200.0 10.49 0.00 0\n" END,
     "x.log:1: a run of 1 rank communicates nothing; expected 2 or more (if several processes were "
     "started, nccl-tests was built without MPI=1)"},
    {OSU_HEAD "8 1.0\n", "the log does not say how many ranks took part"},
    {SWEEP RANK0 RANK1 "a: Test NCCL failure x.cu:1 'e'\n" HEAD ROW1 SAME ROW2 END,
     "x.log:1: a run without rows; expected a table of another collective"},
};

Test(logs_bad, a_run_that_cannot_be_compared_is_refused_with_the_reason_and_a_good_one_passes)
{
    TEST_PAIRS_FAIL(AR_BAD_DATA, unfit_runs,
                    ar_log_check(&test_parse(given, strlen(given))->runs[0], &why));
    const char *text = HEAD ROW1 SAME ROW2 END;
    struct ar_logs *logs = test_parse(text, strlen(text));
    TEST_OK(ar_log_check(&logs->runs[0], &why));
    cr_expect(logs->runs[0].is_complete);
}
