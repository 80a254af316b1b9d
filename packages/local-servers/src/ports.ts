import { randomInt } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";

// Below every system's range for outgoing connections, so that no client's socket takes a server's port.
const FIRST_PORT = 20_000;
const LAST_PORT = 29_999;
const MAX_TRIES = 200;

/** Ports by server name, remembered in a file so that a server has the same port at its next start. */
export type Ports = {
  /** The remembered port when it is free, else a new one, which is then remembered. */
  take(name: string): Promise<number>;
  /** Forgets a port that turned out to be unusable. */
  forget(name: string): void;
};

/** The ports remembered in `file`. Ports in `reserved` are never taken, not even remembered ones. */
export function openPorts(file: string, reserved: readonly number[] = []): Ports {
  const ports = readPorts(file);
  const save = () => writeFileSync(file, `${JSON.stringify(ports, null, 2)}\n`);
  return {
    async take(name) {
      const known = ports[name] ?? 0;
      const isUsable = known >= FIRST_PORT && known <= LAST_PORT && !reserved.includes(known);
      if (isUsable && (await isPortFree(known))) return known;
      const port = await freePort([...Object.values(ports), ...reserved]);
      ports[name] = port;
      save();
      return port;
    },
    forget(name) {
      delete ports[name];
      save();
    },
  };
}

/** A port that nobody listens on now, from the range that outgoing connections do not use. */
export async function freePort(except: readonly number[] = []): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (!except.includes(port) && (await isPortFree(port))) return port;
  }
  throw new Error(`no free port between ${FIRST_PORT} and ${LAST_PORT} on 127.0.0.1`);
}

/** True when a server could listen on this port of `host` now. */
export function isPortFree(port: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

function readPorts(file: string): Record<string, number> {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

const RESPONSE_TIMEOUT_MS = 2_000;
const MAX_RESPONSE_BYTES = 64_000;

/** Connects to a loopback port, sends `request` and returns what comes back up to `end`, or "". */
export function firstResponse(port: number, request: string, end = "\n"): Promise<string> {
  return new Promise((resolve) => {
    let response = "";
    const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(request));
    const finish = () => {
      socket.destroy();
      resolve(response);
    };
    socket.setEncoding("utf8").setTimeout(RESPONSE_TIMEOUT_MS, finish);
    socket.on("error", finish).on("close", finish);
    socket.on("data", (text: string) => {
      response += text;
      if (response.includes(end) || response.length > MAX_RESPONSE_BYTES) finish();
    });
  });
}
