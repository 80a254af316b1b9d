import type { Interceptor, Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { READ_MAX_BYTES } from "./call.ts";
import { type ConnectSocket, Http2Connections } from "./http2-connections.ts";

/** A transport with its own connection; disposing it closes the connection. */
type StreamTransport = Transport & Disposable;

/**
 * A gRPC transport for one call stream to `address` (a base URL such as `http://10.0.0.7:8080`), over one HTTP/2
 * connection, which `connectSocket` opens if it is encrypted. A silent connection is probed, so that a dead peer is
 * noticed within 5 s. Nothing is compressed: on a network inside a cluster, compressing batches costs far more than
 * sending them.
 */
export function streamTransport(
  address: string,
  interceptors: Interceptor[] = [],
  connectSocket?: ConnectSocket,
): StreamTransport {
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
