import { type ServerResponse, STATUS_CODES } from "node:http";
import { isJsonObject, type JsonObject } from "@toolgate/rules/json-object";
import { ERROR_CODE_HEADER } from "../domain/error-codes.ts";

const PROBLEM_TYPE = "application/problem+json";

type Headers = Record<string, number | string | string[]> | undefined;

/** Keeps the body of an error until it is complete, and sends it in the form of RFC 9457. */
export function replaceErrors(response: ServerResponse): void {
  const { writeHead, write, end } = response;
  let held: { status: number; chunks: Buffer[] } | undefined;
  const hold = (chunk: unknown) => {
    if (typeof chunk === "string") held?.chunks.push(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) held?.chunks.push(Buffer.from(chunk));
  };
  Object.assign(response, {
    writeHead(status: number, ...rest: unknown[]) {
      if (status < 400) return writeHead.call(response, status, rest.find(isJsonObject) as Headers);
      for (const [name, value] of Object.entries((rest.find(isJsonObject) as Headers) ?? {}))
        response.setHeader(name, value);
      // A library that looks at `headersSent` writes the head once more at the end.
      held ??= { status, chunks: [] };
      return response;
    },
    write(chunk: unknown, ...rest: unknown[]) {
      if (!held) return Reflect.apply(write, response, [chunk, ...rest]);
      hold(chunk);
      const done = rest.at(-1);
      if (typeof done === "function") process.nextTick(done as () => void);
      return true;
    },
    end(chunk: unknown, ...rest: unknown[]) {
      if (!held) return Reflect.apply(end, response, [chunk, ...rest]);
      hold(chunk);
      const { status, chunks } = held;
      held = undefined;
      const body = problemOf(status, String(response.getHeader(ERROR_CODE_HEADER) ?? ""), Buffer.concat(chunks));
      response.setHeader("content-type", PROBLEM_TYPE);
      response.setHeader("content-length", body.length);
      writeHead.call(response, status);
      return Reflect.apply(end, response, [body, ...rest.filter((part) => typeof part === "function")]);
    },
  });
}

/** What the specified body says is kept: its text as `detail`, and its other members. */
function problemOf(status: number, code: string, body: Buffer): Buffer {
  const sent = parsed(body);
  const { success: _, error, jsonrpc: __, id: ___, code: ____, message, ...members } = sent;
  const inner = isJsonObject(error) ? error : {};
  const detail = [error, inner.message, message].find((text) => typeof text === "string");
  const problem = { type: "about:blank", title: STATUS_CODES[status] ?? "Error", status, detail, code, ...members };
  return Buffer.from(JSON.stringify(problem));
}

function parsed(body: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
