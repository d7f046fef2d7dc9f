/* This source file is part of the Tumbler open source project
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What is needed of PKCS #11 (OASIS PKCS #11 Cryptographic Token Interface Base Specification 2.40): sign with a key
 * that is on a token, and read its public half. Written from the standard. Names are ours; numbers and layouts are the
 * standard's. Structures have the natural alignment of the platform, as they have everywhere but on Windows. */

#ifndef TUMBLER_CPKCS11_H
#define TUMBLER_CPKCS11_H

#include <stddef.h>

/* Section 3.1: an unsigned number of at least 32 bits, and flags, handles and codes of that size. */
typedef unsigned long p11_number;

/* Section 3.2: what a slot's token is. Texts are padded with blanks and have no end mark. */
typedef struct {
    unsigned char label[32];
    unsigned char manufacturer[32];
    unsigned char model[16];
    unsigned char serial[16];
    p11_number flags;
    p11_number counts[10]; /* sessions, lengths of a PIN, memory */
    unsigned char hardware_version[2];
    unsigned char firmware_version[2];
    unsigned char time[16];
} p11_token_info;

/* Section 3.4: an attribute; `length` is in bytes, and all ones where it cannot be had. */
typedef struct {
    p11_number type;
    void *value;
    p11_number length;
} p11_attribute;

/* Section 3.6: a mechanism with its parameter. */
typedef struct {
    p11_number mechanism;
    void *parameter;
    p11_number parameter_length;
} p11_mechanism;

/* Section 3.7: how the library may lock. The four functions are left out: with flags alone it uses the system's. */
typedef struct {
    void *create_mutex;
    void *destroy_mutex;
    void *lock_mutex;
    void *unlock_mutex;
    p11_number flags;
    void *reserved;
} p11_initialize_arguments;

/* Section 3.6: the functions of a module, in the order of the standard, as far as the last one that is called. What is
 * not called is only a place in that order. */
typedef struct {
    unsigned char version[2];
    p11_number (*initialize)(p11_initialize_arguments *arguments);
    p11_number (*finalize)(void *reserved);
    void *get_info;
    void *get_function_list;
    p11_number (*get_slot_list)(unsigned char token_present, p11_number *slots, p11_number *count);
    void *get_slot_info;
    p11_number (*get_token_info)(p11_number slot, p11_token_info *info);
    void *get_mechanism_list;
    void *get_mechanism_info;
    void *init_token;
    void *init_pin;
    void *set_pin;
    p11_number (*open_session)(p11_number slot, p11_number flags, void *context, void *notify, p11_number *session);
    p11_number (*close_session)(p11_number session);
    void *close_all_sessions;
    void *get_session_info;
    void *get_operation_state;
    void *set_operation_state;
    p11_number (*login)(p11_number session, p11_number user, const unsigned char *pin, p11_number length);
    p11_number (*logout)(p11_number session);
    void *create_object;
    void *copy_object;
    void *destroy_object;
    void *get_object_size;
    p11_number (*get_attribute_value)(
        p11_number session, p11_number object, p11_attribute *attributes, p11_number count);
    void *set_attribute_value;
    p11_number (*find_objects_init)(p11_number session, p11_attribute *attributes, p11_number count);
    p11_number (*find_objects)(p11_number session, p11_number *objects, p11_number most, p11_number *count);
    p11_number (*find_objects_final)(p11_number session);
    void *encrypt_init;
    void *encrypt;
    void *encrypt_update;
    void *encrypt_final;
    void *decrypt_init;
    void *decrypt;
    void *decrypt_update;
    void *decrypt_final;
    void *digest_init;
    void *digest;
    void *digest_update;
    void *digest_key;
    void *digest_final;
    p11_number (*sign_init)(p11_number session, p11_mechanism *mechanism, p11_number key);
    p11_number (*sign)(
        p11_number session, const unsigned char *data, p11_number length, unsigned char *signature,
        p11_number *signature_length);
} p11_functions;

/* A module in this process. */
typedef struct {
    void *library;
    p11_functions *functions;
} p11_module;

/* Loads a module and asks it for its functions.
 *
 * Returns NULL, or a text that says why it cannot be used, which stays valid until the next call. */
const char *p11_load(const char *path, p11_module *module);

#endif
