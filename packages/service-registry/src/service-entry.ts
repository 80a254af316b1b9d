import type { DescMethodBiDiStreaming, DescMethodUnary, DescService } from "@bufbuild/protobuf";
import type { CallBatchSchema, ReplyBatchSchema } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";

/** What a process must be given to work: a server, or the keys that seal secrets. */
export type Need = "postgres" | "redis" | "nats" | "sealing-keys";

/** An RPC on the path of a call, and the RPC that carries many of its calls over one stream. */
export interface HotCall {
  readonly method: DescMethodUnary;
  /** Longest time that a call may take. A process that stops waits this long for its calls. */
  readonly timeoutMs: number;
  readonly stream: DescMethodBiDiStreaming<typeof CallBatchSchema, typeof ReplyBatchSchema>;
}

/** The part of a service that one process may run alone (`ROLES`). */
interface ProcessRole {
  /** Serves the service's RPCs: peers are given the addresses of these processes. */
  readonly servesRpcs: boolean;
  readonly needs: readonly Need[];
  /** The services that it calls. */
  readonly peers: readonly string[];
}

/** An environment variable of one service, in addition to the common ones and those of its needs. */
export interface Variable {
  readonly name: string;
  readonly meaning: string;
  /** Must not be logged or shown. */
  readonly secret?: boolean;
  /** The process roles that read it. Absent: all. */
  readonly roles?: readonly string[];
}

/** Everything that other parts of Toolgate must know about a service without importing it. */
export interface ServiceEntry {
  readonly rpcs: readonly DescService[];
  readonly hotCalls: readonly HotCall[];
  /** Its schema in Postgres; undefined when it owns no tables. */
  readonly schema: string | undefined;
  readonly needs: readonly Need[];
  /** Connections of each Postgres pool: the default of DATABASE_CONNECTIONS, and its bounds. */
  readonly databaseConnections?: { readonly fallback: number; readonly min: number; readonly max: number };
  /** The services that it calls. Who serves management RPCs gets key-auth's public keys from it. */
  readonly peers: readonly string[];
  /** It holds no secrets and knows no other server: its processes get only their own variables. */
  readonly isBare?: boolean;
  /** Absent: every process of the service does all its work. */
  readonly roles?: Readonly<Record<string, ProcessRole>>;
  /** The ports in docs/operators.md; a process picks free ones when none are set. */
  readonly ports: { readonly http?: number; readonly rpc?: number; readonly ops: number };
  readonly variables: readonly Variable[];
}
