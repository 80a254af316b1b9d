import { randomInt } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";

// Below every system's range for outgoing connections, so that a client's socket never sits on a server's port.
const FIRST_PORT = 20_000;
const LAST_PORT = 29_999;
const MAX_TRIES = 200;

/** Ports by server name, remembered in a file so that a server has the same port at its next start. */
export type PortBook = {
  /** The remembered port when it is free, else a new one, which is then remembered. */
  take(name: string): Promise<number>;
  /** Forgets a port that turned out to be unusable. */
  forget(name: string): void;
};

/** The book kept in `file`; it never gives out a port of `reserved`, not even a remembered one. */
export function openPortBook(file: string, reserved: readonly number[] = []): PortBook {
  const ports = readPorts(file);
  const save = () => {
    writeFileSync(`${file}.new`, `${JSON.stringify(ports, null, 2)}\n`);
    renameSync(`${file}.new`, file);
  };
  return {
    async take(name) {
      const known = ports[name];
      if (known !== undefined && !reserved.includes(known) && (await isPortFree(known))) return known;
      const others = [...Object.values(ports), ...reserved];
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const port = randomInt(FIRST_PORT, LAST_PORT + 1);
        if (others.includes(port) || !(await isPortFree(port))) continue;
        ports[name] = port;
        save();
        return port;
      }
      throw new Error(`no free port between ${FIRST_PORT} and ${LAST_PORT} on 127.0.0.1`);
    },
    forget(name) {
      delete ports[name];
      save();
    },
  };
}

/** A port that nobody listens on now, from the range that outgoing connections do not use. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (await isPortFree(port)) return port;
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
    const ports: Record<string, unknown> = JSON.parse(readFileSync(file, "utf8"));
    return Object.fromEntries(Object.entries(ports).filter((entry): entry is [string, number] => isPort(entry[1])));
  } catch {
    return {};
  }
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= FIRST_PORT && Number(value) <= LAST_PORT;
}
