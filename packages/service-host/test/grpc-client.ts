import { fileURLToPath } from "node:url";
import {
  type Client,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
} from "@grpc/grpc-js";
import { loadSync, type PackageDefinition } from "@grpc/proto-loader";
import { SERVICE_TOKEN_HEADER } from "../src/identity/service-token.ts";
import { TOKEN } from "./rpc-rig.ts";

const PROTO_DIR = fileURLToPath(new URL("../../../proto", import.meta.url));

// biome-ignore lint/suspicious/noExplicitAny: the methods of a client that is made from a proto file at run time.
type DynamicClient = Client & Record<string, any>;

/** gRPC's own client for Node, made from our proto files: what callers in other languages do. */
export function grpcClient(port: number, file: string, service: string): DynamicClient {
  return clientOf(
    loadSync(file, { includeDirs: [PROTO_DIR], enums: String, defaults: true, oneofs: true }),
    port,
    service,
  );
}

export function clientOf(definition: PackageDefinition, port: number, service: string): DynamicClient {
  const path = service.split(".");
  const found = path.reduce<unknown>(
    (at, name) => (at as Record<string, unknown>)[name],
    loadPackageDefinition(definition),
  );
  return new (found as ServiceClientConstructor)(`127.0.0.1:${port}`, credentials.createInsecure()) as DynamicClient;
}

/** One unary call; rejects with gRPC's status. */
export function unary<T>(
  client: DynamicClient,
  method: string,
  request: unknown,
  metadata = new Metadata(),
): Promise<T> {
  return new Promise((resolve, reject) => {
    client[method](request, metadata, (error: unknown, response: T) => (error ? reject(error) : resolve(response)));
  });
}

/** The internal credential, as services send it. */
export function credential(): Metadata {
  const metadata = new Metadata();
  metadata.set(SERVICE_TOKEN_HEADER, TOKEN);
  return metadata;
}
