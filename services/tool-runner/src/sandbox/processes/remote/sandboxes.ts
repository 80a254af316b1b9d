import { type IncomingMessage, request } from "node:http";
import { request as secureRequest } from "node:https";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { ProcessTls } from "@toolgate/service-host/tls/process-tls";
import { Counts } from "../../../domain/counts.ts";
import type { SandboxLog } from "../../request.ts";
import type { SpawnProcess } from "../engine-process.ts";
import { type Connection, openConnection } from "./connection.ts";
import { PROTOCOL } from "./messages.ts";
import { type Connect, RemoteProcess } from "./remote-process.ts";

type SandboxesOptions = {
  /** The base URLs of the sandbox processes at the moment. */
  addresses: () => Promise<readonly string[]>;
  token: string;
  log: SandboxLog;
  /** Absent: without encryption. */
  tls?: ProcessTls | undefined;
};

const CONNECT_MS = 5_000;
const RETRY_MS = 500;
/** An address that failed is the last choice for this long. */
const AVOID_MS = 10_000;

/** Starts children in sandbox processes: each in the one that has fewest of them, or in another one when that fails. */
export function spawnInSandboxes(options: SandboxesOptions): SpawnProcess {
  const { addresses, token, log, tls } = options;
  const children = new Counts();
  const failedAt = new Map<string, number>();
  let reported = "";

  const hasFailed = (address: string) =>
    performance.now() - (failedAt.get(address) ?? Number.NEGATIVE_INFINITY) < AVOID_MS;
  const rank = (address: string) => (hasFailed(address) ? 1_000_000 : 0) + children.of(address);
  const report = (error: unknown, address?: string) => {
    const message = (error as Error).message;
    // The same again every half second would fill the log.
    if (message !== reported) log.warn({ err: error, address }, "a sandbox process cannot be used");
    reported = message;
  };

  const connect: Connect = async (events, signal) => {
    while (!signal.aborted) {
      let address: string | undefined;
      try {
        address = (await addresses()).toSorted((a, b) => rank(a) - rank(b))[0];
        if (address === undefined) throw new Error("SANDBOX_URL names no address");
        const chosen = address;
        children.add(chosen, 1);
        const { socket, head } = await upgrade(chosen, token, tls).catch((error: unknown) => {
          children.add(chosen, -1);
          throw error;
        });
        failedAt.delete(chosen);
        reported = "";
        const onClose = () => {
          children.add(chosen, -1);
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
    const options = { headers, agent: false, timeout: CONNECT_MS };
    const asked = tls ? secureRequest({ ...options, ...tls.clientOptions(address) }) : request(address, options);
    asked.on("upgrade", (_response: IncomingMessage, socket: Socket, head: Buffer) => resolve({ socket, head }));
    asked.on("response", (response) => {
      response.destroy();
      reject(new Error(`the sandbox process answered ${response.statusCode}`));
    });
    asked.on("timeout", () => asked.destroy(new Error("the sandbox process does not answer")));
    asked.on("error", reject);
    asked.end();
  });
}
