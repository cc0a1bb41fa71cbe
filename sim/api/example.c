/* Up to how many GPUs does training ResNet-50 on ABCI scale to 90 %, with a ring?
 *     cc example.c $(pkg-config --cflags --libs allreckon) -o example && ./example */
#include <allreckon.h>
#include <stdio.h>

/* Sets a key, and says why if it cannot. */
static int set_key(struct allreckon *prediction, const char *key, const char *value)
{
    int code = allreckon_set(prediction, key, value);
    if (code != 0) {
        fprintf(stderr, "%s\n", allreckon_error(prediction));
    }
    return code;
}

int main(void)
{
    struct allreckon *prediction = allreckon_create();
    int code = prediction == NULL || set_key(prediction, "cluster", "abci-v100") != 0 ||
               set_key(prediction, "trace", "resnet50-v1.5") != 0 ||
               set_key(prediction, "algorithm", "ring") != 0;
    double efficiency_frac = 1;
    for (int gpus = 4; code == 0 && gpus <= 4096 && efficiency_frac >= 0.9; gpus *= 2) {
        char text[16];
        snprintf(text, sizeof text, "%d", gpus);
        code = set_key(prediction, "gpus", text);
        if (code == 0 && (code = allreckon_run(prediction)) != 0) {
            fprintf(stderr, "%s\n", allreckon_error(prediction));
        }
        if (code == 0) {
            efficiency_frac = allreckon_number(prediction, "efficiency_frac");
            printf("%4d GPUs %5.1f ms, %5.1f %%\n", gpus,
                   1e3 * allreckon_number(prediction, "iteration_s"), 100 * efficiency_frac);
        }
    }
    allreckon_destroy(prediction);
    return code;
}
