#include <criterion/criterion.h>

#include "test_golden_file.h"
#include "test_golden_steps_cases.h"

Test(golden_steps, predictions_are_those_that_were_frozen)
{
    golden_file_expect(AR_TEST_SOURCE_DIR "/sim/predict/golden_steps.csv", AR_TEST_SOURCE_DIR,
                       golden_steps_write, 16);
}
