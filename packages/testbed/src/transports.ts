import type { ConnectRouter, Transport } from "@connectrpc/connect";
import type { Authentication } from "@toolgate/service-host/access";
import { createPrincipalReader } from "@toolgate/service-host/identity/principal-token";
import { createLogger, type Logger } from "@toolgate/service-host/logger";
import { localTransport } from "@toolgate/service-host/rpc/transport";
import { testKeySet } from "./principals.ts";

/** Shared by the servers and clients of tests. */
export const TEST_TOKEN = "the-internal-token-of-all-the-tests";

const SILENT = createLogger({ service: "test", level: "silent" });

/** Calls the RPCs of a service under test in this process, with the principals of `principalHeaders`. */
export function testTransport(routes: (router: ConnectRouter) => void, log: Logger = SILENT): Transport {
  return localTransport(routes, log, testAuthentication());
}

/** Admits what `testTransport` and `TEST_TOKEN` send. */
export function testAuthentication(): Authentication {
  const principals = createPrincipalReader({ keySet: testKeySet, now: Date.now, onError: () => {} });
  return { internalToken: TEST_TOKEN, principals };
}
