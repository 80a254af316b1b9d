import { createClient } from "@connectrpc/connect";
import { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { JSONWebKeySet } from "jose";
import type { Peers } from "../rpc/peers.ts";

const TIMEOUT_MS = 3_000;

/** Loads key-auth's public keys from key-auth. */
export function principalKeysOf(peers: Pick<Peers, "transport">): () => Promise<JSONWebKeySet> {
  const sessions = createClient(SessionService, peers.transport("key-auth"));
  return async () => {
    const { jwksJson } = await sessions.getKeySet({}, { timeoutMs: TIMEOUT_MS });
    return JSON.parse(jwksJson) as JSONWebKeySet;
  };
}
