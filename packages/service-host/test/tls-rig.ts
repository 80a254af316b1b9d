import { create } from "@bufbuild/protobuf";
import { type ConnectRouter, createClient } from "@connectrpc/connect";
import { AuthorizeResponseSchema, SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { VerifyRequestSchema, VerifyResponseSchema, VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { ListLockedWorkspacesResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import { type CertificateFiles, certificateFiles, type Issued } from "@toolgate/testbed/certificates";
import { testTokens } from "@toolgate/testbed/service-identity";
import { testAuthentication } from "@toolgate/testbed/transports";
import { readConfig } from "../src/env.ts";
import { createReadiness } from "../src/process/readiness.ts";
import { hotCallStreams } from "../src/rpc/hot-calls.ts";
import { remotePeers } from "../src/rpc/peers.ts";
import { startRpcServer } from "../src/rpc/rpc-server.ts";
import type { Service } from "../src/service.ts";
import { openProcessTls } from "../src/tls/process-tls.ts";
import { readTlsFiles, type TlsFiles } from "../src/tls/settings.ts";
import { recordedLog } from "./rpc-rig.ts";

/** Short, so that tests need not wait. */
const LOOK_EVERY_MS = 20;

export function filesOf({ env }: CertificateFiles): TlsFiles {
  const files = readConfig(env, readTlsFiles);
  if (!files) throw new Error("the files are not set");
  return files;
}

/** The certificates of a process, read from files that the test can replace. */
export async function tlsOf(content: Issued & { ca: string }) {
  const files = await certificateFiles(content);
  const { log, entries } = recordedLog();
  const tls = await openProcessTls(filesOf(files), { log, everyMs: LOOK_EVERY_MS });
  return Object.assign(tls, { files, entries });
}

export type TestTls = Awaited<ReturnType<typeof tlsOf>>;

/** key-auth's RPC server: unary calls and call streams. */
export async function secureServer(tls: TestTls) {
  await using resources = new AsyncDisposableStack();
  const { log, entries } = recordedLog();
  const service: Service = {
    routes: (router) => router.service(SessionService, { login: () => ({ token: "t" }) }),
    hotCalls: {
      verify: async () => create(VerifyResponseSchema),
      authorize: async () => create(AuthorizeResponseSchema),
      listLockedWorkspaces: async () => create(ListLockedWorkspacesResponseSchema),
    },
    ready: async () => {},
    drain: async () => {},
    async [Symbol.asyncDispose]() {},
  };
  const draining = new AbortController();
  const streams = hotCallStreams("key-auth", service, { log, drainSignal: draining.signal });
  const routes = (router: ConnectRouter) => {
    service.routes(router);
    streams.routes(router);
  };
  const authentication = testAuthentication("key-auth");
  const readiness = createReadiness(async () => {});
  const options = { routes, host: "127.0.0.1", port: 0, authentication, readiness, log, tls };
  const server = resources.use(await startRpcServer(options));
  const owned = resources.move();
  return {
    port: server.port,
    url: `https://127.0.0.1:${server.port}`,
    entries,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The gateway as a client of key-auth, in its two ways. */
export function clientOf(url: string, tls?: TestTls) {
  const { log, entries } = recordedLog();
  const peers = remotePeers({ "key-auth": url }, { log, tokens: testTokens("gateway"), tls });
  const sessions = createClient(SessionService, peers.transport("key-auth"));
  const verify = peers.call(VerifyService.method.verify);
  return {
    entries,
    unary: (timeoutMs = 20_000) => sessions.login({}, { timeoutMs }),
    hot: (timeoutMs = 5_000) => verify(create(VerifyRequestSchema), { timeoutMs }),
    [Symbol.asyncDispose]: () => peers[Symbol.asyncDispose](),
  };
}
