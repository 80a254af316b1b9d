import { create, type DescMessage, type DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { SERVICE_NAMES, type ServiceName, serviceEntry } from "@toolgate/service-registry/services";

/** Every RPC of the registry with the service that serves it. */
export const EVERY_RPC: readonly (readonly [ServiceName, DescMethod])[] = SERVICE_NAMES.flatMap((service) =>
  serviceEntry(service).rpcs.flatMap((rpc) => rpc.methods.map((method) => [service, method] as const)),
);

/** Well beyond what an empty request takes, which is refused or does nothing. */
const TIMEOUT_MS = 60_000;

/** How a call with an empty request ends: "ok" or the name of the code. A stream that stays open is ok. */
export async function outcomeOf(
  transport: Transport,
  method: DescMethod,
  headers: Record<string, string>,
): Promise<string> {
  const ended = new AbortController();
  try {
    if (method.methodKind === "unary") {
      const unary = method as Parameters<Transport["unary"]>[0];
      await transport.unary(unary, ended.signal, TIMEOUT_MS, headers, create(method.input as DescMessage));
      return "ok";
    }
    const streaming = method as Parameters<Transport["stream"]>[0];
    const requests = method.methodKind === "server_streaming" ? [create(method.input as DescMessage)] : [];
    const response = await transport.stream(streaming, ended.signal, TIMEOUT_MS, headers, each(requests));
    for await (const _ of response.message) break;
    return "ok";
  } catch (error) {
    return Code[ConnectError.from(error).code] ?? "?";
  } finally {
    ended.abort();
  }
}

async function* each<T>(messages: readonly T[]): AsyncGenerator<T> {
  yield* messages;
}
