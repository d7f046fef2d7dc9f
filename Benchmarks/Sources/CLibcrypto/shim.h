#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// Macros that Swift does not see.
static inline void tumbler_push(STACK_OF(X509) *stack, X509 *certificate) { sk_X509_push(stack, certificate); }
static inline STACK_OF(X509) *tumbler_stack(void) { return sk_X509_new_null(); }
static inline void tumbler_free_stack(STACK_OF(X509) *stack) { sk_X509_free(stack); }
