import type { GuestSettings } from "../protocol/messages.ts";

/** How the child enters an isolate. Only strings, numbers and booleans pass in and out. */
export type EntryPoints = {
  install: (factory: unknown) => void;
  start: (ticket: number, argsJson: string, readOnly: boolean, testMode: boolean, resultChars: number) => void;
  resolve: (ticket: number, callId: number, json: string) => void;
  reject: (ticket: number, callId: number, message: string, name: string, code: string) => void;
  cancel: (ticket: number) => void;
  drain: () => string;
};

/**
 * The part of the child program that runs inside an isolate, after `hardenRealm`, and starts the tool's runs. It is passed
 * in as text, so it can use nothing from outside its braces. What happened since the last `drain` is returned as JSON:
 * `["ok", ticket, json] | ["fail", ticket, kind, message, stack] | ["call", ticket, callId, name, argsJson] |
 * ["log", ticket, line]`; a line with objects is what `shownLine` reads. The bounds here only save traffic; the host
 * checks all of them again.
 */
export function entryPoints(settings: GuestSettings): EntryPoints {
  type PendingCall = { resolve: (value: unknown) => void; reject: (error: Error) => void };
  type GuestRun = {
    ticket: number;
    calls: number;
    callsUnderWay: number;
    waitingCalls: unknown[];
    lines: number;
    resultChars: number;
    pendingCalls: Map<number, PendingCall>;
  };
  const { functions, hostCallsPerRun, concurrentHostCallsPerRun, hostCallBytes, logLinesPerRun } = settings;
  const { parse, stringify } = JSON;
  // The engine's own words; anything else that ends serialisation was thrown by the tool's code, or went too deep.
  const circular = "TypeError: Converting circular structure to JSON";
  const bigInt = "TypeError: Do not know how to serialize a BigInt";
  const { defineProperty } = Object;
  const messageChars = 2_000;
  const stackChars = 4_000;
  const lineChars = 1_000;
  const loggedObjectChars = 4_000;
  const structuredLineChars = 12_000;
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

  const refusal = (message: string, name: string, code: string) => {
    const error = new Error(message);
    if (name !== "") defineProperty(error, "name", { value: name, configurable: true, writable: true });
    if (code !== "") defineProperty(error, "code", { value: code, configurable: true, writable: true });
    return error;
  };

  const settle = (run: GuestRun, report: unknown[]) => {
    if (runs.delete(run.ticket)) outbox.push(report);
  };

  /** Calls above the bound wait here, where their arguments count towards the tool's own memory. */
  const sendCalls = (run: GuestRun) => {
    while (run.callsUnderWay < concurrentHostCallsPerRun && run.waitingCalls.length > 0) {
      run.callsUnderWay += 1;
      outbox.push(run.waitingCalls.shift());
    }
  };

  const callHost = (run: GuestRun, name: string, args: unknown[]) =>
    new Promise((resolve, reject) => {
      const argsJson = stringify(args);
      if (!runs.has(run.ticket)) return;
      if (run.calls >= hostCallsPerRun) {
        throw refusal(`More than ${hostCallsPerRun} host calls`, "ToolError", "TOO_MANY_HOST_CALLS");
      }
      if (argsJson.length > hostCallBytes) throw new RangeError(`The arguments of ${name} are too large`);
      run.calls += 1;
      run.pendingCalls.set(run.calls, { resolve, reject });
      run.waitingCalls.push(["call", run.ticket, run.calls, name, argsJson]);
      sendCalls(run);
    });

  const logLine = (run: GuestRun, parts: unknown[]) => {
    if (run.lines >= logLinesPerRun || !runs.has(run.ticket)) return;
    // A list with one text stands for an object, which the host redacts.
    const words: unknown[] = [];
    let hasObjects = false;
    for (const part of parts) {
      const json = typeof part === "string" ? part : stringify(part);
      if (typeof part !== "object" || part === null || json === undefined) words.push(text(String(json), lineChars));
      else {
        hasObjects = true;
        words.push([json.length <= loggedObjectChars ? json : `{"truncated":true,"characters":${json.length}}`]);
      }
    }
    run.lines += 1;
    const line = hasObjects ? `\0${stringify(words)}` : words.join(" ");
    outbox.push(["log", run.ticket, text(line, hasObjects ? structuredLineChars : lineChars)]);
  };

  const makeContext = (run: GuestRun, readOnly: boolean, testMode: boolean) => {
    const log = (...parts: unknown[]) => logLine(run, parts);
    const context: Record<string, unknown> = { log, read_only: readOnly, test_mode: testMode };
    for (const name of functions) context[name] = (...args: unknown[]) => callHost(run, name, args);
    return { context, console: { log, debug: log, info: log, warn: log, error: log } };
  };

  const finish = (run: GuestRun, value: unknown) => {
    let json = "";
    try {
      json = stringify(value) ?? "null";
    } catch (error) {
      const [title, stack] = describe(error);
      const isNotJson = title.startsWith(circular) || title.startsWith(bigInt);
      settle(run, ["fail", run.ticket, isNotJson ? "unserializable" : "threw", title, stack]);
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
      finish(run, await handler(parse(argsJson), context));
    } catch (error) {
      settle(run, ["fail", run.ticket, "threw", ...describe(error)]);
    }
  };

  const takeCall = (ticket: number, callId: number) => {
    const run = runs.get(ticket);
    const call = run?.pendingCalls.get(callId);
    if (run === undefined || call === undefined) return undefined;
    run.pendingCalls.delete(callId);
    run.callsUnderWay -= 1;
    sendCalls(run);
    return call;
  };

  return {
    install: (factory) => {
      makeHandler = factory as typeof makeHandler;
    },
    start: (ticket, argsJson, readOnly, testMode, resultChars) => {
      const counts = { calls: 0, callsUnderWay: 0, lines: 0 };
      const run = { ticket, resultChars, ...counts, waitingCalls: [], pendingCalls: new Map() };
      runs.set(ticket, run);
      void execute(run, argsJson, readOnly, testMode);
    },
    resolve: (ticket, callId, json) => takeCall(ticket, callId)?.resolve(parse(json)),
    reject: (ticket, callId, message, name, code) => {
      takeCall(ticket, callId)?.reject(refusal(message, name, code));
    },
    cancel: (ticket) => {
      runs.delete(ticket);
    },
    drain: () => {
      const reports = stringify(outbox);
      outbox = [];
      return reports;
    },
  };
}
