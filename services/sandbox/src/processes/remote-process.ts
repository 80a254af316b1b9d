import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { keepAlive } from "@toolgate/call-stream/keep-alive";
import type { ProcessTls } from "@toolgate/service-host/tls/process-tls";
import type { EngineProcess, ProcessEnd, ProcessEvents, SpawnProcess } from "./engine-process.ts";

/** The trailer with which the sandbox service says how a process has ended. */
export const END_TRAILER = "toolgate-process-end";
/** What one side may send before the other one has read it. */
export const WINDOW_BYTES = 256 * 1024;

const CONNECT_MS = 5_000;
/** An address that failed is the last choice for this long. */
const AVOID_MS = 10_000;

type RemoteOptions = {
  /** The base URLs of the sandbox processes at the moment. */
  addresses: () => Promise<readonly string[]>;
  token: string;
  /** Absent: without encryption. */
  tls?: ProcessTls | undefined;
};

type Address = { processes: number; failedAt: number };
type Opened = { session: ClientHttp2Session; stream: ClientHttp2Stream };

/** Asks the sandbox service at an address for a process: 200, 401 when it does not know the token, 503 when it is full. */
function requestProcess(address: string, token: string, tls: ProcessTls | undefined): Opened {
  const session = connect(new URL(address).origin, {
    settings: { initialWindowSize: WINDOW_BYTES, enablePush: false },
    ...(tls && { createConnection: () => tls.connectHttp2(address) }),
  });
  const late = setTimeout(() => session.destroy(new Error("the sandbox process does not answer")), CONNECT_MS);
  for (const event of ["connect", "close"]) session.once(event, () => clearTimeout(late));
  return { session, stream: session.request({ ":method": "POST", authorization: `Bearer ${token}` }) };
}

/**
 * The status with which the sandbox service answers such a request; a process that it has started ends at once. Rejects when
 * it does not answer before the signal fires.
 */
export async function sandboxStatus(
  address: string,
  { token, tls, signal }: { token: string; tls?: ProcessTls | undefined; signal: AbortSignal },
): Promise<number> {
  const { session, stream } = requestProcess(address, token, tls);
  for (const each of [session, stream]) each.on("error", () => {});
  try {
    const [headers] = await Promise.race([once(stream, "response", { signal }), once(session, "close")]);
    if (headers === undefined) throw new Error("it closes connections without an answer");
    return headers[":status"];
  } finally {
    session.destroy();
  }
}

/** Starts processes in the sandbox service: each at the address that has fewest of them and did not fail just now. */
export function spawnRemotely({ addresses, token, tls }: RemoteOptions): SpawnProcess {
  const known = new Map<string, Address>();
  const stateOf = (address: string) => {
    const state = known.get(address) ?? { processes: 0, failedAt: Number.NEGATIVE_INFINITY };
    known.set(address, state);
    return state;
  };
  const rank = (address: string) => {
    const { processes, failedAt } = stateOf(address);
    return (performance.now() - failedAt < AVOID_MS ? 1_000_000 : 0) + processes;
  };
  const open = async (): Promise<Opened> => {
    const [address] = (await addresses()).toSorted((a, b) => rank(a) - rank(b));
    if (address === undefined) throw new Error("SANDBOX_URL names no address");
    const state = stateOf(address);
    state.processes += 1;
    const { session, stream } = requestProcess(address, token, tls);
    // A sandbox process with too many connections closes further ones without a word.
    let hasFailed = true;
    stream.once("response", ({ ":status": status }) => {
      hasFailed = status !== 200;
    });
    session.once("error", () => {
      hasFailed = true;
    });
    session.once("close", () => {
      state.processes -= 1;
      if (hasFailed) state.failedAt = performance.now();
    });
    return { session, stream };
  };
  return (events) => new RemoteProcess(open, events);
}

/** A process of the sandbox service: the body of a request is its input, and that of the response its output. */
class RemoteProcess implements EngineProcess {
  readonly pid = undefined;
  #session: ClientHttp2Session | undefined;
  #stream: ClientHttp2Stream | undefined;
  /** What was written before there was a connection. */
  #early: Parameters<EngineProcess["write"]>[] = [];
  #isKilled = false;
  #end: ProcessEnd = { signal: null, code: null, stderr: "the sandbox process is gone" };

  constructor(open: () => Promise<Opened>, events: ProcessEvents) {
    open().then(
      (opened) => this.#use(opened, events),
      (error: unknown) => this.#close(String(error), events),
    );
  }

  write(bytes: Buffer, onWritten: (error?: Error | null) => void): void {
    if (this.#stream === undefined) this.#early.push([bytes, onWritten]);
    else this.#stream.write(bytes, onWritten);
  }

  kill(): void {
    this.#isKilled = true;
    this.#session?.destroy();
  }

  #use({ session, stream }: Opened, events: ProcessEvents): void {
    this.#session = session;
    let failure: string | undefined;
    keepAlive(session, () => true);
    session.on("error", (error: Error) => {
      failure = String(error);
    });
    stream.on("response", ({ ":status": status }) => {
      if (status === 200) session.on("goaway", () => events.onDraining?.());
      else session.destroy(new Error(`the sandbox process answered ${status}`));
      if (status === 503) this.#end = { ...this.#end, isFull: true };
    });
    stream.on("data", events.onData);
    stream.on("trailers", (trailers) => {
      this.#end = readEnd(trailers[END_TRAILER]) ?? this.#end;
    });
    // `close` follows.
    stream.on("error", () => {});
    stream.on("close", () => session.destroy());
    session.on("close", () => this.#close(failure, events));
    this.#stream = stream;
    for (const [bytes, onWritten] of this.#early.splice(0)) stream.write(bytes, onWritten);
    if (this.#isKilled) session.destroy();
  }

  #close(failure: string | undefined, events: ProcessEvents): void {
    events.onEnd(failure === undefined ? this.#end : { ...this.#end, stderr: failure });
  }
}

/** Undefined when it is malformed, as someone who has taken over the sandbox service could send it. */
function readEnd(sent: unknown): ProcessEnd | undefined {
  try {
    const { signal, code, stderr } = JSON.parse(decodeURIComponent(String(sent)));
    return { signal, code, stderr: String(stderr) };
  } catch {
    return undefined;
  }
}
