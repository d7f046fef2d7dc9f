/* This source file is part of the Tumbler open source project
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "CPQ.h"

#include <dlfcn.h>
#include <stdio.h>

/* Each function: its result, name, parameters, and how they are passed on. The compiler holds them against the header. */
#define FUNCTIONS(F) \
    F(PQconninfoOption *, PQconninfoParse, (const char *info, char **message), (info, message)) \
    F(void, PQconninfoFree, (PQconninfoOption * options), (options)) \
    F(PGconn *, PQconnectdbParams, (const char *const *keywords, const char *const *values, int expand), \
      (keywords, values, expand)) \
    F(void, PQfinish, (PGconn * conn), (conn)) \
    F(ConnStatusType, PQstatus, (const PGconn *conn), (conn)) \
    F(PGTransactionStatusType, PQtransactionStatus, (const PGconn *conn), (conn)) \
    F(char *, PQerrorMessage, (const PGconn *conn), (conn)) \
    F(int, PQsocket, (const PGconn *conn), (conn)) \
    F(PQnoticeProcessor, PQsetNoticeProcessor, (PGconn * conn, PQnoticeProcessor processor, void *arg), \
      (conn, processor, arg)) \
    F(int, PQsetnonblocking, (PGconn * conn, int arg), (conn, arg)) \
    F(int, PQsendQuery, (PGconn * conn, const char *query), (conn, query)) \
    F(int, PQsendQueryParams, \
      (PGconn * conn, const char *command, int count, const Oid *types, const char *const *values, const int *lengths, \
       const int *formats, int result_format), \
      (conn, command, count, types, values, lengths, formats, result_format)) \
    F(int, PQsendPrepare, (PGconn * conn, const char *name, const char *query, int count, const Oid *types), \
      (conn, name, query, count, types)) \
    F(int, PQsendQueryPrepared, \
      (PGconn * conn, const char *name, int count, const char *const *values, const int *lengths, const int *formats, \
       int result_format), \
      (conn, name, count, values, lengths, formats, result_format)) \
    F(int, PQputCopyData, (PGconn * conn, const char *buffer, int length), (conn, buffer, length)) \
    F(int, PQputCopyEnd, (PGconn * conn, const char *error), (conn, error)) \
    F(int, PQflush, (PGconn * conn), (conn)) \
    F(int, PQconsumeInput, (PGconn * conn), (conn)) \
    F(int, PQisBusy, (PGconn * conn), (conn)) \
    F(PGresult *, PQgetResult, (PGconn * conn), (conn)) \
    F(void, PQclear, (PGresult * result), (result)) \
    F(ExecStatusType, PQresultStatus, (const PGresult *result), (result)) \
    F(char *, PQresultErrorMessage, (const PGresult *result), (result)) \
    F(char *, PQresultErrorField, (const PGresult *result, int field), (result, field)) \
    F(char *, PQcmdStatus, (PGresult * result), (result)) \
    F(char *, PQcmdTuples, (PGresult * result), (result)) \
    F(int, PQntuples, (const PGresult *result), (result)) \
    F(int, PQnfields, (const PGresult *result), (result)) \
    F(Oid, PQftype, (const PGresult *result, int column), (result, column)) \
    F(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column)) \
    F(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column)) \
    F(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column))

/* Those that a library may lack. */
#define PIPELINE_FUNCTIONS(F) \
    F(int, PQenterPipelineMode, (PGconn * conn), (conn)) \
    F(int, PQexitPipelineMode, (PGconn * conn), (conn)) \
    F(int, PQpipelineSync, (PGconn * conn), (conn))

#define POINTER(type, name, parameters, arguments) type(*name) parameters;
static struct {
    FUNCTIONS(POINTER)
    PIPELINE_FUNCTIONS(POINTER)
} libpq;

#define DEFINITION(type, name, parameters, arguments) \
    type name parameters { return libpq.name arguments; }
FUNCTIONS(DEFINITION)
PIPELINE_FUNCTIONS(DEFINITION)

const char *cpq_load(const char *file) {
    static char reason[512];
    /* Locally: its names are looked up here and are not seen by other libraries. */
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *said = dlerror();
        snprintf(reason, sizeof reason, "%s", said == NULL ? "it cannot be loaded" : said);
        return reason;
    }
#define CHECK(type, name, parameters, arguments) \
    if (dlsym(library, #name) == NULL) { \
        dlclose(library); \
        snprintf(reason, sizeof reason, "%s has no function " #name, file); \
        return reason; \
    }
    FUNCTIONS(CHECK)
#define FOUND(type, name, parameters, arguments) libpq.name = (type(*) parameters)dlsym(library, #name);
    FUNCTIONS(FOUND)
    PIPELINE_FUNCTIONS(FOUND)
    return NULL;
}

int cpq_has_pipeline(void) {
    return libpq.PQenterPipelineMode != NULL && libpq.PQexitPipelineMode != NULL && libpq.PQpipelineSync != NULL;
}
