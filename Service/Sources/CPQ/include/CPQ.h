/* This source file is part of the Tumbler open source project
 *
 * SPDX-License-Identifier: Apache-2.0
 */

/* What the store needs of libpq, PostgreSQL's client library, opened when it is asked for: a machine that keeps its state
 * in SQLite has no need of it. Names, types and numbers are those of PostgreSQL's documentation ("libpq - C Library"),
 * which keeps them from one version to the next under the name libpq.so.5. Until `cpq_load` has returned NULL no other
 * function may be called. */

#ifndef TUMBLER_CPQ_H
#define TUMBLER_CPQ_H

typedef unsigned int Oid;
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef void (*PQnoticeProcessor)(void *arg, const char *message);

typedef enum { CONNECTION_OK = 0, CONNECTION_BAD = 1 } ConnStatusType;
typedef enum { PQTRANS_IDLE = 0, PQTRANS_ACTIVE = 1 } PGTransactionStatusType;
typedef enum {
    PGRES_EMPTY_QUERY = 0,
    PGRES_COMMAND_OK = 1,
    PGRES_TUPLES_OK = 2,
    PGRES_COPY_IN = 4,
    PGRES_PIPELINE_SYNC = 10
} ExecStatusType;

/* One setting of an address; an array of them ends with a NULL keyword. */
typedef struct {
    char *keyword;
    char *envvar;
    char *compiled;
    char *val;
    char *label;
    char *dispchar;
    int dispsize;
} PQconninfoOption;

/* Opens a library, by its name or path, and looks up every function below in it; it needs all but those of the pipeline mode.
 *
 * Returns NULL, or a text that says why it cannot be used, which stays valid until the next call. After a failure the
 * functions are what they were before. Not to be called by two threads at once. */
const char *cpq_load(const char *file);

/* Whether the library that was opened has the pipeline mode: that of PostgreSQL 14 and later has. Returns 0 or 1. Without it
 * the three functions of the mode may not be called. */
int cpq_has_pipeline(void);

/* Hidden, so that libpq itself never finds these in place of its own. */
#pragma GCC visibility push(hidden)

PQconninfoOption *PQconninfoParse(const char *conninfo, char **errmsg);
void PQconninfoFree(PQconninfoOption *options);
PGconn *PQconnectdbParams(const char *const *keywords, const char *const *values, int expand_dbname);
void PQfinish(PGconn *conn);
ConnStatusType PQstatus(const PGconn *conn);
PGTransactionStatusType PQtransactionStatus(const PGconn *conn);
char *PQerrorMessage(const PGconn *conn);
int PQsocket(const PGconn *conn);
PQnoticeProcessor PQsetNoticeProcessor(PGconn *conn, PQnoticeProcessor processor, void *arg);
int PQsetnonblocking(PGconn *conn, int arg);

int PQsendQuery(PGconn *conn, const char *query);
int PQsendQueryParams(
    PGconn *conn, const char *command, int count, const Oid *types, const char *const *values, const int *lengths,
    const int *formats, int result_format);
int PQsendPrepare(PGconn *conn, const char *name, const char *query, int count, const Oid *types);
int PQsendQueryPrepared(
    PGconn *conn, const char *name, int count, const char *const *values, const int *lengths, const int *formats,
    int result_format);
int PQputCopyData(PGconn *conn, const char *buffer, int length);
int PQputCopyEnd(PGconn *conn, const char *error);
int PQflush(PGconn *conn);
int PQconsumeInput(PGconn *conn);
int PQisBusy(PGconn *conn);
PGresult *PQgetResult(PGconn *conn);

int PQenterPipelineMode(PGconn *conn);
int PQexitPipelineMode(PGconn *conn);
int PQpipelineSync(PGconn *conn);

void PQclear(PGresult *result);
ExecStatusType PQresultStatus(const PGresult *result);
char *PQresultErrorMessage(const PGresult *result);
char *PQresultErrorField(const PGresult *result, int field);
char *PQcmdStatus(PGresult *result);
char *PQcmdTuples(PGresult *result);
int PQntuples(const PGresult *result);
int PQnfields(const PGresult *result);
Oid PQftype(const PGresult *result, int column);
int PQgetisnull(const PGresult *result, int row, int column);
char *PQgetvalue(const PGresult *result, int row, int column);
int PQgetlength(const PGresult *result, int row, int column);

#pragma GCC visibility pop

#endif
