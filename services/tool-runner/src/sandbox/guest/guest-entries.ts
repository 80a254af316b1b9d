/** What the child may ask of an isolate; every value that crosses is a string, a number or a boolean. */
export type GuestEntries = {
  install: (factory: unknown) => void;
  start: (
    ticket: number,
    argsJson: string,
    readOnly: boolean,
    testMode: boolean,
    resultChars: number,
    maxCalls: number,
    maxCallsAtOnce: number,
    callChars: number,
    maxLogLines: number,
  ) => void;
  resolve: (ticket: number, callId: number, json: string) => void;
  reject: (ticket: number, callId: number, message: string, name: string, code: string) => void;
  abandon: (ticket: number) => void;
  drain: () => string;
};

/**
 * Runs inside an isolate after `hardenRealm` and keeps the books of its runs. Handed over as text, so it may use
 * nothing from outside its own braces. What it reports is an array of
 * `["ok", ticket, json] | ["fail", ticket, kind, message, stack] | ["call", ticket, callId, name, argsJson] |
 * ["log", ticket, line]`. The caps here only spare the channel; the host checks all of them again.
 */
export function guestEntries(hostFunctions: readonly string[]): GuestEntries {
  type Waiter = { resolve: (value: unknown) => void; reject: (error: Error) => void };
  type GuestRun = {
    ticket: number;
    calls: number;
    callsUnderWay: number;
    waitingCalls: unknown[];
    lines: number;
    maxCalls: number;
    maxCallsAtOnce: number;
    callChars: number;
    resultChars: number;
    maxLogLines: number;
    waiters: Map<number, Waiter>;
  };
  const { parse, stringify } = JSON;
  const { defineProperty } = Object;
  const messageChars = 2_000;
  const stackChars = 4_000;
  const lineChars = 1_000;
  const runs = new Map<number, GuestRun>();
  let outbox: unknown[] = [];
  let makeHandler: ((console: object) => unknown) | undefined;

  const text = (value: unknown, chars: number) => (typeof value === "string" ? value.slice(0, chars) : "");

  const describe = (error: unknown): [string, string] => {
    try {
      if (typeof error !== "object" || error === null) return [text(String(error), messageChars), ""];
      const { name, message, stack } = error as Record<string, unknown>;
      const title = typeof name === "string" && name !== "" && name !== "Error" ? `${text(name, 100)}: ` : "";
      return [text(title + text(message, messageChars), messageChars), text(stack, stackChars)];
    } catch {
      return ["The tool threw a value that cannot be read", ""];
    }
  };

  const settle = (run: GuestRun, report: unknown[]) => {
    if (runs.delete(run.ticket)) outbox.push(report);
  };

  /** What a run asks beyond its bound waits here, where its arguments count as the tool's own memory. */
  const sendCalls = (run: GuestRun) => {
    while (run.callsUnderWay < run.maxCallsAtOnce && run.waitingCalls.length > 0) {
      run.callsUnderWay += 1;
      outbox.push(run.waitingCalls.shift());
    }
  };

  const callHost = (run: GuestRun, name: string, args: unknown[]) =>
    new Promise((resolve, reject) => {
      const argsJson = stringify(args);
      if (!runs.has(run.ticket)) return;
      if (run.calls >= run.maxCalls) {
        settle(run, ["fail", run.ticket, "too-many-host-calls", `More than ${run.maxCalls} host calls`, ""]);
        return;
      }
      if (argsJson.length > run.callChars) throw new RangeError(`The arguments of ${name} are too large`);
      run.calls += 1;
      run.waiters.set(run.calls, { resolve, reject });
      run.waitingCalls.push(["call", run.ticket, run.calls, name, argsJson]);
      sendCalls(run);
    });

  const logLine = (run: GuestRun, parts: unknown[]) => {
    if (run.lines >= run.maxLogLines || !runs.has(run.ticket)) return;
    const words: string[] = [];
    for (const part of parts) words.push(typeof part === "string" ? part : String(stringify(part)));
    run.lines += 1;
    outbox.push(["log", run.ticket, text(words.join(" "), lineChars)]);
  };

  const makeContext = (run: GuestRun, readOnly: boolean, testMode: boolean) => {
    const log = (...parts: unknown[]) => logLine(run, parts);
    const context: Record<string, unknown> = { log, read_only: readOnly, test_mode: testMode };
    for (const name of hostFunctions) context[name] = (...args: unknown[]) => callHost(run, name, args);
    return { context, console: { log, debug: log, info: log, warn: log, error: log } };
  };

  const answer = (run: GuestRun, value: unknown) => {
    let json = "";
    try {
      json = stringify(value) ?? "null";
    } catch (error) {
      settle(run, ["fail", run.ticket, "unserializable", ...describe(error)]);
      return;
    }
    if (json.length <= run.resultChars) settle(run, ["ok", run.ticket, json]);
    else settle(run, ["fail", run.ticket, "result-too-large", "The result is too large", ""]);
  };

  const execute = async (run: GuestRun, argsJson: string, readOnly: boolean, testMode: boolean) => {
    try {
      const { context, console } = makeContext(run, readOnly, testMode);
      const handler = makeHandler?.(console);
      if (typeof handler !== "function") throw new TypeError("The default export is not a function");
      answer(run, await handler(parse(argsJson), context));
    } catch (error) {
      settle(run, ["fail", run.ticket, "threw", ...describe(error)]);
    }
  };

  const takeWaiter = (ticket: number, callId: number) => {
    const run = runs.get(ticket);
    const waiter = run?.waiters.get(callId);
    if (run === undefined || waiter === undefined) return undefined;
    run.waiters.delete(callId);
    run.callsUnderWay -= 1;
    sendCalls(run);
    return waiter;
  };

  return {
    install: (factory) => {
      makeHandler = factory as typeof makeHandler;
    },
    start: (ticket, argsJson, readOnly, testMode, resultChars, maxCalls, maxCallsAtOnce, callChars, maxLogLines) => {
      const bounds = { resultChars, maxCalls, maxCallsAtOnce, callChars, maxLogLines };
      const run = { ticket, ...bounds, calls: 0, callsUnderWay: 0, waitingCalls: [], lines: 0, waiters: new Map() };
      runs.set(ticket, run);
      void execute(run, argsJson, readOnly, testMode);
    },
    resolve: (ticket, callId, json) => takeWaiter(ticket, callId)?.resolve(parse(json)),
    reject: (ticket, callId, message, name, code) => {
      const error = new Error(message);
      if (name !== "") defineProperty(error, "name", { value: name, configurable: true, writable: true });
      if (code !== "") defineProperty(error, "code", { value: code, configurable: true, writable: true });
      takeWaiter(ticket, callId)?.reject(error);
    },
    abandon: (ticket) => {
      runs.delete(ticket);
    },
    drain: () => {
      const reports = stringify(outbox);
      outbox = [];
      return reports;
    },
  };
}
