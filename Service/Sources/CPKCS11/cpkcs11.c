/* This source file is part of the Tumbler open source project
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "CPKCS11.h"

#include <dlfcn.h>

const char *p11_load(const char *path, p11_module *module) {
    /* Locally: two modules may have functions of the same names. */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        return reason == NULL ? "it cannot be loaded" : reason;
    }
    p11_number (*get_function_list)(p11_functions **) =
        (p11_number(*)(p11_functions **))dlsym(library, "C_GetFunctionList");
    if (get_function_list == NULL) {
        dlclose(library);
        return "it is no PKCS #11 module: C_GetFunctionList is missing";
    }
    p11_functions *functions = NULL;
    if (get_function_list(&functions) != 0 || functions == NULL || functions->version[0] < 2) {
        dlclose(library);
        return "it gives no functions of PKCS #11 version 2";
    }
    module->library = library;
    module->functions = functions;
    return NULL;
}
