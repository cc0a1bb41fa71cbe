#include <criterion/criterion.h>

#include "test_golden_cases.h"
#include "test_golden_file.h"

Test(golden, predictions_are_those_that_were_frozen)
{
    golden_file_expect(AR_TEST_SOURCE_DIR "/sim/engine/golden_allreduce.csv",
                       AR_TEST_SOURCE_DIR "/topologies/machines", golden_write, 50);
}
