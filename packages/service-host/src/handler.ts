import type {
  DescMethodClientStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";

/**
 * A unary RPC of a service: its dependencies and the generated request in, the generated response out. Throw a
 * `ConnectError` for failures that the caller may see; anything else reaches the caller as an opaque internal error.
 */
export type Handler<Context, Method extends DescMethodUnary> = (
  context: Context,
  request: MessageShape<Method["input"]>,
  call: HandlerContext,
) => Promise<MessageInitShape<Method["output"]>>;

/** Some of the unary RPCs of a service, by their names. */
export type Handlers<Context, Service extends DescService> = {
  [Name in keyof Service["method"]]?: Service["method"][Name] extends DescMethodUnary
    ? Handler<Context, Service["method"][Name]>
    : never;
};

/** An RPC whose request is a stream. */
export type UploadHandler<Context, Method extends DescMethodClientStreaming> = (
  context: Context,
  requests: AsyncIterable<MessageShape<Method["input"]>>,
  call: HandlerContext,
) => Promise<MessageInitShape<Method["output"]>>;

// biome-ignore lint/suspicious/noExplicitAny: each handler has its own request and response types.
type AnyHandler<Context> = (context: Context, request: any, call: HandlerContext) => any;

type Bound<Handlers> = {
  [Name in keyof Handlers]: Handlers[Name] extends (context: never, ...call: infer Call) => infer Response
    ? (...call: Call) => Response
    : never;
};

/** Gives each handler its context, so that `router.service(ToolService, bind(context, { getTool }))` registers them. */
export function bind<Context, Handlers extends Record<string, AnyHandler<Context>>>(
  context: Context,
  handlers: Handlers,
): Bound<Handlers> {
  const bound = Object.entries(handlers).map(([name, handler]) => [
    name,
    (request: unknown, call: HandlerContext) => handler(context, request, call),
  ]);
  return Object.fromEntries(bound) as Bound<Handlers>;
}
