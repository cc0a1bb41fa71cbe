#include <string.h>

#include "ar_file.h"
#include "lines.h"
#include "xml.h"

/* Reads the values of settings, which no file is needed for; NVLinks of a node of any size. */
static enum ar_status check_settings(const struct ar_topo_entries *set, struct ar_arena *arena,
                                     struct ar_error *err)
{
    struct ar_topo_entries checked = *set;
    struct ar_topo_values *values = ar_arena_alloc(arena, 1, sizeof *values);
    AR_NEED(values, err, "settings");
    if (ar_topo_entries_find(set, TOPO_GPUS) == NULL) {
        ar_topo_entries_store((struct ar_topo_entry){.key = TOPO_GPUS, .text = "64"}, &checked);
    }
    return ar_topo_values_parse(&checked, values, err);
}

enum ar_status ar_discover_begin(struct ar_settings settings, struct ar_arena *arena,
                                 struct ar_discovery **discovery, struct ar_error *err)
{
    struct ar_discovery *made = ar_arena_alloc(arena, 1, sizeof *made);
    AR_NEED(made, err, "a discovery");
    made->arena = arena;
    made->settings = settings;
    made->set.path = "discover";
    AR_TRY(ar_topo_entries_apply(settings, arena, &made->set, err));
    AR_TRY(check_settings(&made->set, arena, err));
    *discovery = made;
    return AR_OK;
}

enum ar_status ar_discover_parse(struct ar_discovery *discovery, const char *path, char *text,
                                 size_t bytes, struct ar_error *err)
{
    enum { PATH_SHOWN = 200 };
    size_t length = strlen(path);
    size_t blank = strspn(text, " \t\r\n");
    struct source source = {.machine = discovery, .line = 1};
    source.path = length <= PATH_SHOWN /* the end of a long path tells more than its start */
                      ? ar_arena_text(discovery->arena, path)
                      : ar_arena_format(discovery->arena, "...%s", path + length - PATH_SHOWN + 3);
    AR_NEED(source.path, err, "a path");
    return blank < bytes && text[blank] == '<' ? xml_read(&source, text, bytes, err)
                                               : lines_read(&source, text, bytes, err);
}

enum ar_status ar_discover_read(struct ar_discovery *discovery, const char *path,
                                struct ar_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    AR_TRY(ar_file_read(path, AR_DISCOVER_BYTES_MAX, "what a machine says of itself",
                        discovery->arena, &text, &bytes, err));
    return ar_discover_parse(discovery, path, text, bytes, err);
}

const char *const *ar_discover_notes(const struct ar_discovery *discovery)
{
    return discovery->notes;
}
