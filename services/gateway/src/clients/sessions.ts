import { createClient, type Transport } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";

/** The sessions of users, as key-auth keeps them. */
export function createSessions(keyAuth: Transport) {
  return createClient(SessionService, keyAuth);
}

export type Sessions = ReturnType<typeof createSessions>;
