#include "nccl_text.h"

#include <stdio.h>
#include <string.h>

#include "words.h"

enum { PREFIX_BYTES_MAX = 120 };

/* Behind `[1,0]<stdout>:` of Open MPI, with or without a time stamp before it. */
static char *behind_tag(char *line)
{
    char *rest = ar_behind(line, "]<stdout>:");
    rest = rest != NULL ? rest : ar_behind(line, "]<stderr>:");
    return rest != NULL && rest - line <= PREFIX_BYTES_MAX ? rest : NULL;
}

/* Behind `0: ` of srun --label, `[0] ` of Hydra. */
static char *behind_label(char *line)
{
    bool is_bracket = line[0] == '[';
    size_t digits = strspn(line + is_bracket, AR_DIGITS);
    char *end = line + is_bracket + digits;
    if (digits == 0 || *end != (is_bracket ? ']' : ':') || strchr(" #", end[1]) == NULL) {
        return NULL;
    }
    end++;
    return strncmp(end + strspn(end, " "), "NCCL ", 5) != 0 ? end : NULL;
}

/* Behind `2024-05-01T10:00:00.1Z ` of containers, `(head, rank=0, pid=3808) ` of Ray. */
static char *behind_note(char *line)
{
    size_t word = strcspn(line, " ");
    if (word > 19 && strspn(line, AR_DIGITS) == 4 && line[4] == '-' && line[10] == 'T') {
        return line + word;
    }
    char *end = line[0] == '(' ? strchr(line, ')') : NULL;
    char *pid = end != NULL ? strstr(line, "pid=") : NULL;
    return pid != NULL && pid < end && end - line < PREFIX_BYTES_MAX ? end + 1 : NULL;
}

char *ar_strip_prefix(char *line)
{
    line = ar_trim(line);
    for (int i = 0; i < 4; i++) {
        char *rest = behind_tag(line);
        rest = rest != NULL ? rest : behind_label(line);
        rest = rest != NULL ? rest : behind_note(line);
        if (rest == NULL) {
            break;
        }
        line = rest + strspn(rest, " ");
    }
    return line;
}

/* Place of `:pid:tid [`, with which every message of NCCL begins after its host; NULL if there is
 * none before `end`. */
static char *find_process(char *line, const char *end)
{
    char *colon = strchr(line, ':');
    for (; colon != NULL && colon < end; colon = strchr(colon + 1, ':')) {
        size_t pid = strspn(colon + 1, AR_DIGITS);
        const char *second = colon + 1 + pid;
        size_t tid = *second == ':' ? strspn(second + 1, AR_DIGITS) : 0;
        if (pid > 0 && tid > 0 && strncmp(second + 1 + tid, " [", 2) == 0) {
            return colon;
        }
    }
    return NULL;
}

char *ar_cut_message(char **line, char **glued)
{
    static const char *const kinds[] = {"NCCL INFO ", "NCCL WARN ", "NCCL TRACE ", "NCCL ERROR "};
    char *start = *line, *message = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && message == NULL; i++) {
        message = strstr(start, kinds[i]);
    }
    *glued = start + strlen(start);
    if (message == NULL) {
        return NULL;
    }
    char *host_end = find_process(start, message);
    *line = host_end != NULL ? host_end : *glued;
    if (host_end != NULL) {
        *host_end = '\0';
        *glued = host_end;
        while (*glued > start && (*glued)[-1] != ' ') {
            (*glued)--;
        }
    }
    if (host_end != NULL && *glued > start) {
        (*glued)[-1] = '\0';
        *line = ar_trim(start);
    }
    return message;
}

bool ar_parse_rank(char *line, uint64_t *number, struct ar_nccl_rank *rank, const char **gpu)
{
    const char *rest = ar_unmarked(line);
    struct ar_nccl_rank found = {.line = 0};
    uint64_t device;
    int behind = 0;
    if (!ar_take_count(&rest, "Rank", number)) {
        return false;
    }
    ar_take_count(&rest, "Group", &found.group);
    ar_take_count(&rest, "Pid", &found.pid);
    sscanf(rest, " on %63s%n", found.host, &behind);
    rest += behind;
    if (behind == 0 || !ar_take_count(&rest, "device", &device)) {
        return false;
    }
    const char *bus = strchr(rest, ']');
    *gpu = bus != NULL ? bus + 1 + strspn(bus + 1, " ") : "";
    *rank = found;
    return true;
}

bool ar_parse_sweep(char *line, struct ar_nccl_sweep *sweep)
{
    const char *rest = ar_unmarked(line);
    struct ar_nccl_sweep found = {.line = 0};
    uint64_t min_bytes;
    if (!ar_take_count(&rest, "nThread", &found.threads) ||
        !ar_take_count(&rest, "nGpus", &found.gpus) ||
        !ar_take_count(&rest, "minBytes", &min_bytes) ||
        !ar_take_count(&rest, "maxBytes", &found.max_bytes)) {
        return false;
    }
    if (ar_take_count(&rest, "step:", &found.step)) {
        found.is_factor = strncmp(rest, "(factor)", 8) == 0;
    }
    *sweep = found;
    return true;
}
