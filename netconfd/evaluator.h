/* The process that evaluates one XPath expression: srv6-netconfd --evaluate, started by evaluate.c.
 *
 * It reads a struct evaluator_request from its standard input, and what follows that, and writes a
 * letter and what belongs to it to its standard output. It has no connection to sysrepo, so that it
 * can be killed at any time.
 */
#ifndef EVALUATOR_H
#define EVALUATOR_H

#include <stdint.h>

#define EVALUATOR_OPTION "evaluate"
#define EVALUATOR_DATA 'D'  /* LYB: what the expression selects, maybe nothing */
#define EVALUATOR_ERROR 'E' /* what libyang reports of the expression */

/* Followed by four texts of these lengths: the folder of the modules; a line for each of them, with
 * name, revision and features; the expression; the data as LYB. */
struct evaluator_request {
    uint64_t folder, modules, xpath, data;
    uint32_t depth;   /* levels of what is selected; 0: all */
    uint32_t options; /* of the context */
};

/* Its exit status. */
int evaluator_run(void);

#endif
