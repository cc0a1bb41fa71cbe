#include "xml.h"

#include <expat.h>
#include <string.h>

#include "ar_text.h"
#include "ar_units.h"

static const struct xml_kind *const kinds[] = {&nccl_topology_kind};

struct document {
    XML_Parser parser;
    struct source *source;
    const struct xml_kind *kind;
    void *state;
    unsigned depth;
    enum ar_status status; /* other than AR_OK: stopped, `err` says why */
    struct ar_error err;
};

const char *xml_attribute(const char *const *attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) {
            return attributes[1];
        }
    }
    return NULL;
}

enum ar_status xml_count(const struct source *source, const char *const *attributes,
                         const char *name, uint64_t missing, uint64_t max, uint64_t *count,
                         struct ar_error *err)
{
    char place[300];
    const char *text = xml_attribute(attributes, name);
    if (text == NULL || *text == '\0') {
        *count = missing;
        return AR_OK;
    }
    snprintf(place, sizeof place, "%.200s:%llu: attribute \"%s\"", source->path,
             (unsigned long long)source->line, name);
    return ar_parse_count(place, text, 0, max, count, err);
}

static enum ar_status find_kind(struct document *document, const char *root, struct ar_error *err)
{
    const char *names[sizeof kinds / sizeof kinds[0]];
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        names[i] = kinds[i]->root;
        if (strcmp(root, names[i]) == 0) {
            document->kind = kinds[i];
            document->state =
                ar_arena_alloc(document->source->machine->arena, 1, kinds[i]->state_bytes);
            return document->state != NULL ? AR_OK : ar_error_no_memory(err, "a document");
        }
    }
    return source_refuse(document->source, err,
                         "found XML of <%.40s>; expected <system>, a topology file of NCCL", root);
}

static enum ar_status begin_element(struct document *document, const char *name,
                                    const char *const *attributes, struct ar_error *err)
{
    if (document->kind == NULL) {
        AR_TRY(find_kind(document, name, err));
    }
    return document->depth < XML_DEPTH_MAX
               ? document->kind->begin(document->state, document->source, document->depth, name,
                                       attributes, err)
               : source_refuse(document->source, err,
                               "found elements nested deeper than %d; expected a machine",
                               XML_DEPTH_MAX);
}

static void stop(struct document *document, enum ar_status status)
{
    document->status = status;
    XML_StopParser(document->parser, XML_FALSE);
}

static void on_begin(void *user, const XML_Char *name, const XML_Char **attributes)
{
    struct document *document = user;
    document->source->line = XML_GetCurrentLineNumber(document->parser);
    enum ar_status status =
        document->status != AR_OK
            ? document->status
            : begin_element(document, name, (const char *const *)attributes, &document->err);
    document->depth++;
    if (status != AR_OK) {
        stop(document, status);
    }
}

static void on_end(void *user, const XML_Char *name)
{
    struct document *document = user;
    document->depth--;
    if (document->status == AR_OK && document->kind->end != NULL) {
        document->kind->end(document->state, document->depth, name);
    }
}

static void on_entity(void *user, const XML_Char *name, int is_parameter, const XML_Char *value,
                      int length, const XML_Char *base, const XML_Char *system,
                      const XML_Char *public_id, const XML_Char *notation)
{
    struct document *document = user;
    (void)is_parameter, (void)value, (void)length, (void)base, (void)system, (void)public_id;
    (void)notation;
    document->source->line = XML_GetCurrentLineNumber(document->parser);
    stop(document,
         source_refuse(document->source, &document->err,
                       "found the declaration of an entity, \"%.40s\"; expected none", name));
}

static enum ar_status parse(struct document *document, const char *text, size_t bytes,
                            struct ar_error *err)
{
    XML_SetUserData(document->parser, document);
    XML_SetElementHandler(document->parser, on_begin, on_end);
    XML_SetEntityDeclHandler(document->parser, on_entity);
    enum XML_Status parsed = XML_Parse(document->parser, text, (int)bytes, 1);
    if (document->status != AR_OK) {
        *err = document->err;
        return document->status;
    }
    document->source->line = XML_GetCurrentLineNumber(document->parser);
    if (parsed != XML_STATUS_OK) {
        enum XML_Error code = XML_GetErrorCode(document->parser);
        return code == XML_ERROR_NO_MEMORY
                   ? ar_error_no_memory(err, document->source->path)
                   : source_refuse(document->source, err, "broken XML: %s; expected a whole %s",
                                   XML_ErrorString(code),
                                   document->kind != NULL ? document->kind->title : "document");
    }
    return document->kind->finish(document->state, document->source, err);
}

enum ar_status xml_read(struct source *source, const char *text, size_t bytes, struct ar_error *err)
{
    struct document document = {.source = source, .parser = XML_ParserCreate(NULL)};
    AR_NEED(document.parser, err, source->path);
    enum ar_status status = parse(&document, text, bytes, err);
    XML_ParserFree(document.parser);
    return status;
}
