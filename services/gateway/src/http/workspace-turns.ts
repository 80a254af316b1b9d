import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { refusals } from "@toolgate/telemetry/instruments";
import { createNeighbours, type Neighbours, PROCESS_NEIGHBOURS } from "@toolgate/workspace-share/neighbours";
import { BY_NUMBER, type Clock, REAL_CLOCK, ShareExceeded, type ShareLimits } from "@toolgate/workspace-share/turn";
import { createWorkspaceShares, type WorkspaceShares } from "@toolgate/workspace-share/workspace-shares";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type ApiResponse, limitReached } from "../domain/responses.ts";

/** The turns of a workspace's requests at this gateway. Requests wait in the order in which they came. */
export interface WorkspaceTurns {
  /** Requests with a key: calls of tools, over HTTP and MCP, and descriptions. */
  calls: WorkspaceShares;
  /** Management, of which one request may cost much more than the bytes that it returns. */
  management: WorkspaceShares;
  /** Forms with files, by user: the workspace of a form is not known before it has been read. */
  uploads: WorkspaceShares;
  /** Descriptions that are being made: what is read of tools, and what is written. */
  describing: WorkspaceShares;
  /** Large descriptions that are being sent. */
  largeDescriptions: WorkspaceShares;
  /** Refusals of requests that took no other turn: by workspace with a valid key, by network without one. */
  refusals: WorkspaceShares;
  /** Refusals of hook calls, whose bodies have been read, by network. */
  hookRefusals: WorkspaceShares;
}

const MIB = 1024 * 1024;
/** The limits of calls; `bytesPerSecond` is a setting. */
const CALLS: Omit<ShareLimits, "bytesPerSecond"> = {
  burstBytes: MIB,
  freeBytes: 16 * 1024,
  unknownBytes: 64 * 1024,
  bytesBesideOthers: 24 * 1024,
  // Without those whose clients have left; `RunPlaces` bounds what goes on then.
  maxRunning: 1_000,
  maxWaiting: 1_000,
  maxWaitMs: 20_000,
};
const MANAGEMENT: Omit<ShareLimits, "bytesPerSecond"> = {
  ...CALLS,
  bytesBesideOthers: 96 * 1024,
  maxRunning: 2,
  maxWaiting: 200,
};

const UPLOADS: Omit<ShareLimits, "bytesPerSecond"> = {
  ...CALLS,
  maxRunning: 2,
  maxWaiting: 20,
  // The body has to be complete within the timeout of a request.
  maxWaitMs: 10_000,
};

const DESCRIBING: Omit<ShareLimits, "bytesPerSecond"> = { ...CALLS, maxRunning: 2 };
/** Those that wait are in memory too. */
const LARGE_DESCRIPTIONS: ShareLimits = { ...BY_NUMBER, maxRunning: 2, maxWaiting: 8, maxWaitMs: CALLS.maxWaitMs };

/** 250 a second while other workspaces have calls; for a stranger, while any has. What has waited for 5 s is sent. */
const REFUSALS: ShareLimits = {
  bytesPerSecond: 250,
  burstBytes: 250,
  bytesBesideOthers: 1,
  // As many as there are connections, because a client that leaves waits no longer.
  maxWaiting: 20_000,
  maxWaitMs: 5_000,
};

/** Some senders give up after a few seconds. */
const HOOK_REFUSALS: ShareLimits = { ...REFUSALS, bytesPerSecond: 50, burstBytes: 50, maxWaitMs: 1_000 };

/** What a request counts in its workspace's share. */
export interface RequestCost {
  /** What a byte on the connection counts: how long it keeps the gateway and the services behind it busy. */
  weight: number;
  /** Replaces that of the share's limits. */
  bytesBesideOthers?: number;
}

/** Reading and writing JSON-RPC takes longer than a call. */
const MCP: RequestCost = { weight: 3, bytesBesideOthers: 32 * 1024 };
export const COSTS = { call: { weight: 1 }, description: { weight: 1 }, mcp: MCP, management: { weight: 6 } } as const;
export const UPLOAD_WEIGHT = 2;

export function createWorkspaceTurns(
  bytesPerSecond: number,
  clock: Clock = REAL_CLOCK,
  others: Neighbours = PROCESS_NEIGHBOURS,
): WorkspaceTurns {
  // Refused requests do not bound those of others.
  const besideOthers: Neighbours = { note() {}, has: others.has };
  // Management makes room for calls, but a page that is open somewhere does not bound the calls of others.
  const managers = createNeighbours(clock, others);
  return {
    calls: createWorkspaceShares({ ...CALLS, bytesPerSecond }, clock, others),
    management: createWorkspaceShares({ ...MANAGEMENT, bytesPerSecond }, clock, managers),
    uploads: createWorkspaceShares({ ...UPLOADS, bytesPerSecond }, clock),
    describing: createWorkspaceShares({ ...DESCRIBING, bytesPerSecond }, clock),
    largeDescriptions: createWorkspaceShares(LARGE_DESCRIPTIONS, clock),
    refusals: createWorkspaceShares(REFUSALS, clock, besideOthers),
    hookRefusals: createWorkspaceShares(HOOK_REFUSALS, clock, besideOthers),
  };
}

/** The turn of a request. It ends when the response has been sent or the client has left, but not before its work. */
export interface RequestTurn {
  /** Does work of another service, which goes on when the client leaves. Rejects if the client has left already. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Waits for the turn of a workspace's request. What the request and the response took on the connection is charged when the
 * response has been sent; at least `bodyBytes` for the request, which may have been compressed. Rejects with
 * `ShareExceeded`, also when the client has left.
 */
export async function takeTurn(
  shares: WorkspaceShares,
  workspaceId: string,
  request: IncomingMessage,
  response: ServerResponse,
  { weight, bytesBesideOthers }: RequestCost,
  bodyBytes = 0,
): Promise<RequestTurn> {
  const { socket } = request;
  const [readBefore, writtenBefore] = bytesOn(socket);
  const turn = await shares.begin(workspaceId, 0, () => whenClosed(response), bytesBesideOthers);
  let isClosed = false;
  let works = 0;
  const endWhenDone = () => {
    if (isClosed && works === 0) turn[Symbol.dispose]();
  };
  const close = () => {
    const [read, written] = bytesOn(socket);
    // Part of the body came before the turn, so its length counts, but never more than the connection has received.
    const claimed = Number(request.headers["content-length"] ?? 0);
    const sent = Math.max(bodyBytes, Math.min(claimed, read), read - readBefore);
    turn.charge((sent + written - writtenBefore) * weight);
    isClosed = true;
    endWhenDone();
  };
  if (response.closed) close();
  else response.once("close", close);
  return {
    async during(work) {
      if (isClosed) throw new ConnectError("the client has left", Code.Canceled);
      works += 1;
      try {
        return await work();
      } finally {
        works -= 1;
        endWhenDone();
      }
    },
  };
}

/** What has been read from and written to a connection. Requests that are injected in tests have none. */
function bytesOn({ bytesRead, bytesWritten }: Partial<Socket>): [number, number] {
  return [bytesRead ?? 0, bytesWritten ?? 0];
}

/** Aborted with `ShareExceeded` when the client has left. */
export function whenClosed(response: ServerResponse): AbortSignal {
  const closed = new AbortController();
  const abort = () => closed.abort(new ShareExceeded(1));
  if (response.closed) abort();
  else response.once("close", abort);
  return closed.signal;
}

/** As `takeTurn`. Returns the response to a request of a workspace that has used up its share, or whose client has left. */
export async function refusalOfTurn(
  shares: WorkspaceShares,
  workspaceId: string,
  request: FastifyRequest,
  reply: FastifyReply,
  cost: RequestCost,
): Promise<ApiResponse | undefined> {
  try {
    await takeTurn(shares, workspaceId, request.raw, reply.raw, cost);
    return undefined;
  } catch (error) {
    if (!(error instanceof ShareExceeded)) throw error;
    return refusalOfShare(error, reply.raw);
  }
}

export function refusalOfShare({ retryAfterSeconds }: ShareExceeded, response: ServerResponse): ApiResponse {
  if (!response.closed) refusals.add(1, { limiter: "workspace share" });
  return limitReached(retryAfterSeconds);
}
