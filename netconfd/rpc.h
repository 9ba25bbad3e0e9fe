/* One message from a client: understood, carried out, answered. */
#ifndef RPC_H
#define RPC_H

#include "session.h"
#include "text.h"

/* Handle the message and send the answer; 0, or -1 when the session must end. */
int rpc_handle(struct session *session, const struct text *message);

/* Answer what is no message at all, before the session ends. */
void rpc_reject_frame(struct session *session, enum frame_status status);

#endif
