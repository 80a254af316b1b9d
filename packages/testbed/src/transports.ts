import type { DescMethod } from "@bufbuild/protobuf";
import type { ConnectRouter, Transport } from "@connectrpc/connect";
import { type Authentication, callersOf } from "@toolgate/service-host/access";
import { readIdentity } from "@toolgate/service-host/identity/service-keys";
import { createCallerReader } from "@toolgate/service-host/identity/service-token";
import { createTextReaders } from "@toolgate/service-host/identity/signed-text";
import { createLogger, type Logger } from "@toolgate/service-host/process/logger";
import { serverAddresses } from "@toolgate/service-host/rpc/addresses";
import { localServer, remoteTransport, TRUSTED_CALLERS } from "@toolgate/service-host/rpc/transport";
import type { ServiceName } from "@toolgate/service-registry/services";
import { testKeySet } from "./principals.ts";
import { identityEnv, serviceToken } from "./service-identity.ts";

const SILENT = createLogger({ service: "test", level: "silent" });

/**
 * Calls the RPCs of a service under test in this process, with the principals of `principalHeaders`: as `caller`, or each
 * as the first service that may call it.
 */
export function testTransport(
  routes: (router: ConnectRouter) => void,
  log: Logger = SILENT,
  caller?: ServiceName,
): Transport {
  const server = localServer(routes, log, { ...testAuthentication("key-auth"), callers: TRUSTED_CALLERS });
  const as = (method: DescMethod) => server(caller ?? firstCaller(method));
  return {
    unary: (method, ...call) => as(method).unary(method, ...call),
    stream: (method, ...call) => as(method).stream(method, ...call),
  };
}

/** Calls a server with `testAuthentication(called)`, each RPC as the first service that may call it. */
export function testRemote(urls: string, called: string): Transport {
  return remoteTransport(
    () => serverAddresses(urls),
    (method) => serviceToken(firstCaller(method), called),
  );
}

/** Verifies the test's service keys and principals, as a service of this name. */
export function testAuthentication(called: string): Authentication {
  const { principals } = createTextReaders({ keySet: testKeySet, now: Date.now, onError: () => {} });
  const { publicKeys } = readIdentity(identityEnv("key-auth"), "key-auth");
  return { callers: createCallerReader(called, publicKeys, Date.now), principals };
}

function firstCaller(method: DescMethod): ServiceName {
  return callersOf(method)[0] ?? "gateway";
}
