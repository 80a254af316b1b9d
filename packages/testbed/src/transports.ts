import { type DescMethod, equals, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ConnectRouter, Transport } from "@connectrpc/connect";
import { type Authentication, callersOf } from "@toolgate/service-host/access";
import { createPrincipalReader } from "@toolgate/service-host/identity/principal-token";
import { readIdentity } from "@toolgate/service-host/identity/service-keys";
import { createCallerReader } from "@toolgate/service-host/identity/service-token";
import { createLogger, type Logger } from "@toolgate/service-host/logger";
import { BINARY_OPTIONS, localServer, remoteTransport, TRUSTED_CALLERS } from "@toolgate/service-host/rpc/transport";
import type { ServiceName } from "@toolgate/service-registry/services";
import { testKeySet } from "./principals.ts";
import { identityEnv, serviceToken } from "./service-identity.ts";

const SILENT = createLogger({ service: "test", level: "silent" });

/**
 * Calls the RPCs of a service under test in this process, with the principals of `principalHeaders`: as `caller`, or each
 * as the first service that may call it. A response that encoding would change is an error, and so is changing one.
 */
export function testTransport(
  routes: (router: ConnectRouter) => void,
  log: Logger = SILENT,
  caller?: ServiceName,
): Transport {
  const server = localServer(routes, log, { ...testAuthentication("key-auth"), callers: TRUSTED_CALLERS });
  const as = (method: DescMethod) => server(caller ?? firstCaller(method));
  return {
    async unary(method, ...call) {
      const response = await as(method).unary(method, ...call);
      const { output } = method;
      const decoded = fromBinary(output, toBinary(output, response.message), BINARY_OPTIONS);
      if (!equals(output, response.message, decoded))
        throw new Error(`${method.name}: another process gets other values`);
      freeze(response.message);
      return response;
    },
    stream: (method, ...call) => as(method).stream(method, ...call),
  };
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

/** Calls a server with `testAuthentication(called)`, each RPC as the first service that may call it. */
export function testRemote(urls: string, called: string): Transport {
  return remoteTransport(urls, (method) => serviceToken(firstCaller(method), called));
}

/** Verifies the test's service keys and principals, as a service of this name. */
export function testAuthentication(called: string): Authentication {
  const principals = createPrincipalReader({ keySet: testKeySet, now: Date.now, onError: () => {} });
  const { publicKeys } = readIdentity(identityEnv("key-auth"), "key-auth");
  return { callers: createCallerReader(called, publicKeys, Date.now), principals };
}

function firstCaller(method: DescMethod): ServiceName {
  return callersOf(method)[0] ?? "gateway";
}
