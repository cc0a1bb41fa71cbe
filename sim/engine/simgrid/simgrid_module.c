#include "simgrid_fork.h"

#include <dlfcn.h>
#include <unistd.h>

#include "ar_file.h"

/* There if the objects of the module are part of this program. */
extern const struct simgrid_module ar_simgrid_module __attribute__((weak));

enum { PATH_SIZE = 4096 };

static const char file_name[] = "liballreckon-simgrid.so";

/* Writes the path of the module: beside the program, as in the build tree, or where it is
 * installed, which is also what is said if it is nowhere. */
static void find_file(char path[PATH_SIZE])
{
    char folder[AR_OWN_FOLDER];
    ar_own_folder(folder);
    snprintf(path, PATH_SIZE, "%s/%s", folder, file_name);
    if (access(path, R_OK) != 0) {
        snprintf(path, PATH_SIZE, "%s/%s/%s", folder, AR_MODULE_FOLDER, file_name);
    }
}

enum ar_status simgrid_module_get(const struct simgrid_module **module, struct ar_error *err)
{
    static const struct simgrid_module *loaded;
    if (&ar_simgrid_module != NULL) {
        loaded = &ar_simgrid_module;
    }
    if (loaded == NULL) {
        char path[PATH_SIZE];
        find_file(path);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        loaded = library != NULL ? dlsym(library, "ar_simgrid_module") : NULL;
        if (loaded == NULL) {
            const char *cause = dlerror();
            return ar_error_set(err, AR_UNAVAILABLE,
                                "engine simgrid: %.300s; expected %s beside the program or in "
                                "%s of it",
                                cause != NULL ? cause : path, file_name, AR_MODULE_FOLDER);
        }
    }
    *module = loaded;
    return AR_OK;
}
