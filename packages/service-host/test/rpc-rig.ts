import { create, createFileRegistry, type DescService } from "@bufbuild/protobuf";
import { EmptySchema, FileDescriptorSetSchema, file_google_protobuf_empty } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { serviceToken } from "@toolgate/testbed/service-identity";
import { testAuthentication, testRemote } from "@toolgate/testbed/transports";
import { createLogger, type Logger } from "../src/process/logger.ts";
import { createReadiness } from "../src/process/readiness.ts";
import { startRpcServer } from "../src/rpc/rpc-server.ts";

/** The service whose RPCs the tests call. */
export const CALLED = "key-auth";
/** A call of the gateway. */
export const TOKEN = serviceToken("gateway", CALLED);
/** Calls a server of `rpcRig`, each RPC as a service that may. */
export const transportTo = (urls: string) => testRemote(urls, CALLED);

/** A logger whose entries the test can read. */
export function recordedLog(): { log: Logger; entries: Record<string, unknown>[] } {
  const entries: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void entries.push(JSON.parse(line)) };
  return { log: createLogger({ service: "test", level: "info", destination }), entries };
}

/** A real RPC server, and a gRPC transport to it without a credential. */
export async function rpcRig(routes: (router: ConnectRouter) => void, ready = async () => {}) {
  const { log, entries } = recordedLog();
  const readiness = createReadiness(ready);
  const server = await startRpcServer({
    routes,
    host: "127.0.0.1",
    port: 0,
    authentication: testAuthentication(CALLED),
    readiness,
    log,
  });
  const baseUrl = `http://127.0.0.1:${server.port}`;
  return {
    server,
    readiness,
    entries,
    baseUrl,
    bare: createGrpcTransport({ baseUrl }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A service whose only RPC declares no access. */
export function undeclaredService(): DescService {
  const file = {
    name: "test/open.proto",
    package: "test.v1",
    syntax: "proto3",
    dependency: [file_google_protobuf_empty.proto.name],
    service: [
      {
        name: "OpenService",
        method: [{ name: "Anything", inputType: `.${EmptySchema.typeName}`, outputType: `.${EmptySchema.typeName}` }],
      },
    ],
  };
  const set = create(FileDescriptorSetSchema, { file: [file_google_protobuf_empty.proto, file] });
  const service = createFileRegistry(set).getService("test.v1.OpenService");
  if (!service) throw new Error("the service is not in its own file");
  return service;
}
