import type { Interceptor, Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { READ_MAX_BYTES } from "./call.ts";
import { type ConnectSocket, Http2Connections } from "./http2-connections.ts";

/**
 * A gRPC transport to one server, such as for a call stream. `address` is a base URL such as `http://10.0.0.7:8080`. It has
 * an HTTP/2 connection of its own, which `connectSocket` opens if it is encrypted, and disposing it cuts. A silent connection
 * is probed, so that a dead peer is noticed within 5 s. Nothing is compressed: on a network inside a cluster, compressing
 * batches costs far more than sending them.
 */
export function streamTransport(
  address: string,
  interceptors: Interceptor[] = [],
  connectSocket?: ConnectSocket,
): Transport & Disposable {
  const connections = new Http2Connections(address, connectSocket);
  const { unary, stream } = createGrpcTransport({
    baseUrl: connections.authority,
    sessionManager: connections,
    interceptors,
    acceptCompression: [],
    readMaxBytes: READ_MAX_BYTES,
  });
  return { unary, stream, [Symbol.dispose]: () => connections.abort() };
}
