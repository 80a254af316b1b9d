import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { request as secureRequest } from "node:https";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { ProcessTls } from "@toolgate/service-host/tls/process-tls";
import { outsideRequest } from "@toolgate/telemetry/request";
import type { SandboxLog } from "../../request.ts";
import type { SpawnProcess } from "../engine-process.ts";
import { type Connection, openConnection } from "./connection.ts";
import { Load, type PlacedChild } from "./load.ts";
import { FROM_SANDBOX, PROTOCOL } from "./messages.ts";
import { type Connect, RemoteProcess } from "./remote-process.ts";

type SandboxesOptions = {
  /** The base URLs of the sandbox processes at the moment. */
  addresses: () => Promise<readonly string[]>;
  token: string;
  log: SandboxLog;
  /** Absent: without encryption. */
  tls?: ProcessTls | undefined;
  /** How often a child may move to a sandbox process that has fewer. Default 10 s. */
  moveEveryMs?: number;
};

const CONNECT_MS = 5_000;
const RETRY_MS = 500;
/** An address that failed is the last choice for this long. */
const AVOID_MS = 10_000;
const MOVE_EVERY_MS = 10_000;

/**
 * Starts children in sandbox processes: each in the one that has fewest of them, or in another one when that fails. When a
 * sandbox process comes back or is added, children move there one after another.
 */
export function spawnInSandboxes(options: SandboxesOptions): SpawnProcess {
  const { addresses, token, log, tls, moveEveryMs = MOVE_EVERY_MS } = options;
  const load = new Load();
  const failedAt = new Map<string, number>();
  let reported = "";
  let moves: NodeJS.Timeout | undefined;

  const hasFailed = (address: string) =>
    performance.now() - (failedAt.get(address) ?? Number.NEGATIVE_INFINITY) < AVOID_MS;
  const rank = (address: string) => (hasFailed(address) ? 1_000_000 : 0) + load.of(address);
  const report = (error: unknown, address?: string) => {
    const message = (error as Error).message;
    // The same again every half second would fill the log.
    if (message !== reported) log.warn({ err: error, address }, "a sandbox process cannot be used");
    reported = message;
  };

  const moveOne = async () => {
    const move = load.move(await addresses());
    if (move === undefined || hasFailed(move.to)) return;
    await mustAnswer(move.to, tls).then(move.leave, () => failedAt.set(move.to, performance.now()));
  };
  const add = (address: string, child: PlacedChild) => {
    load.add(address, child);
    // An address that cannot be resolved is reported when a child starts.
    moves ??= outsideRequest(() => setInterval(() => void moveOne().catch(() => {}), moveEveryMs)).unref();
  };
  const remove = (address: string, child: PlacedChild) => {
    load.remove(address, child);
    if (!load.isEmpty) return;
    clearInterval(moves);
    moves = undefined;
  };

  const connect: Connect = async (events, signal) => {
    while (!signal.aborted) {
      let address: string | undefined;
      try {
        address = (await addresses()).toSorted((a, b) => rank(a) - rank(b))[0];
        if (address === undefined) throw new Error("SANDBOX_URL names no address");
        const chosen = address;
        const child: PlacedChild = {};
        add(chosen, child);
        const { socket, head } = await upgrade(chosen, token, tls).catch((error: unknown) => {
          remove(chosen, child);
          throw error;
        });
        failedAt.delete(chosen);
        reported = "";
        child.leave = () => events.onMessage(FROM_SANDBOX.draining, Buffer.alloc(0));
        const onClose = () => {
          remove(chosen, child);
          events.onClose();
        };
        const connection: Connection = openConnection(socket, head, { ...events, onClose });
        if (signal.aborted) connection.destroy();
        return connection;
      } catch (error) {
        if (address !== undefined) failedAt.set(address, performance.now());
        report(error, address);
        await pause(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
    return undefined;
  };
  return (settings, events) => new RemoteProcess(settings, connect, events);
}

function upgrade(
  address: string,
  token: string,
  tls: ProcessTls | undefined,
): Promise<{ socket: Socket; head: Buffer }> {
  return new Promise((resolve, reject) => {
    const headers = { connection: "Upgrade", upgrade: PROTOCOL, authorization: `Bearer ${token}` };
    const asked = ask(address, headers, tls, reject);
    asked.on("upgrade", (_response: IncomingMessage, socket: Socket, head: Buffer) => resolve({ socket, head }));
    asked.on("response", (response) => {
      response.destroy();
      reject(new Error(`the sandbox process answered ${response.statusCode}`));
    });
  });
}

/** Resolves when a sandbox process answers anything. */
function mustAnswer(address: string, tls: ProcessTls | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    ask(address, {}, tls, reject).on("response", (response) => {
      response.destroy();
      resolve();
    });
  });
}

function ask(
  address: string,
  headers: Record<string, string>,
  tls: ProcessTls | undefined,
  onError: (error: Error) => void,
): ClientRequest {
  const options = { headers, agent: false, timeout: CONNECT_MS };
  const asked = tls ? secureRequest({ ...options, ...tls.clientOptions(address) }) : request(address, options);
  asked.on("timeout", () => asked.destroy(new Error("the sandbox process does not answer")));
  asked.on("error", onError);
  asked.end();
  return asked;
}
