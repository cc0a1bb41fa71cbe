#include <stdlib.h>

#include "ar_csv.h"
#include "test_traces.h"

Test(resnet50, a_forward_pass_is_4089184256_multiply_accumulates)
{
    struct ar_csv *csv;
    TEST_OK(ar_csv_load(SHIPPED("resnet50-v1.5.csv"), &test_arena, &csv, &why));
    uint64_t sum = 0;
    for (size_t row = 0; row < csv->rows_count; row++) {
        sum += strtoull(ar_csv_text(csv, row, "macs"), NULL, 10);
    }
    cr_expect_eq(sum, 4089184256);
}

Test(resnet50, time_and_throughput_grow_with_the_batch_and_half_precision_is_faster)
{
    double last_s[2] = {0, 0}, last_rate[2] = {0, 0};
    for (uint32_t batch = 1; batch <= 512; batch += batch < 40 ? 1 : 8) {
        for (int precision = AR_FP16; precision <= AR_FP32; precision++) {
            struct ar_trace *trace = test_resnet50((struct ar_trace_request){
                .batch = batch, .precision = (enum ar_precision)precision});
            double time_s = ar_trace_compute_s(trace);
            cr_expect_gt(time_s, last_s[precision], "batch %u", batch);
            cr_expect_gt(batch / time_s, last_rate[precision], "batch %u", batch);
            cr_expect(batch < 8 || ar_trace_backward_s(trace) > ar_trace_forward_s(trace));
            last_s[precision] = time_s;
            last_rate[precision] = batch / time_s;
        }
        cr_expect(batch < 8 || last_s[AR_FP16] < last_s[AR_FP32], "batch %u", batch);
    }
}
