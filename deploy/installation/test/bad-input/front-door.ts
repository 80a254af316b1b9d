import { eventually } from "@toolgate/testbed/eventually";
import { expect } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import { headerValues, type RawRequest, type RawResponse, sendRaw } from "./raw-http.ts";

export const ECHO = "/api/v1/tools/echo";

const DEFINITION = {
  external_api: true,
  parameters: { type: "object", properties: { text: { type: "string" }, any: {} } },
  // Returns its arguments, and whether a prototype was changed.
  handler: "export default async (args) => ({ args, polluted: ({}).polluted !== undefined });",
};

/** An installation with the tool `echo` and a key that may call it. */
export interface FrontDoor extends AsyncDisposable {
  toolgate: RunningToolgate;
  key: { id: string; secret: string };
  /** The header of the key. */
  bearer: readonly [string, string];
  /** A POST of `echo` by key, changed by `request`. */
  post(request: Partial<RawRequest>): Promise<RawResponse>;
  /** Checks that a correct call still works. */
  expectUndisturbed(): Promise<void>;
  /** Waits until the call that got a response is in the usage log and in the execution log. */
  expectInBothLogs(response: RawResponse): Promise<void>;
  /** Waits for `total` calls of a key in the usage log; returns their number by status. */
  logged(keyId: string, total: number): Promise<Record<number, number>>;
}

export async function openFrontDoor(): Promise<FrontDoor> {
  const toolgate = await runToolgate("single");
  await toolgate.saveTool("echo", DEFINITION);
  const newKey = () => toolgate.createKey({ name: "k", tools: ["echo"], limit: 10_000 });
  const [key, goodKey] = [await newKey(), await newKey()];
  const bearer = ["authorization", `Bearer ${key.secret}`] as const;
  return {
    toolgate,
    key,
    bearer,
    async post(request) {
      const headers = [bearer, ...(request.headers ?? [])];
      const response = await sendRaw(toolgate.baseUrl, { target: ECHO, ...request, headers });
      if (!response) throw new Error("the connection was closed without a response");
      return response;
    },
    async expectUndisturbed() {
      const { status, body } = await toolgate.call("echo", goodKey.secret, { text: "fine" });
      expect({ status, body }).toMatchObject({ status: 200, body: { args: { text: "fine" }, polluted: false } });
    },
    expectInBothLogs: (response) =>
      eventually(async () => {
        const { rows } = await toolgate.pool.query(
          `select (select count(*)::int from tool_runner.executions where request_id = $1) as runs,
             (select count(*)::int from key_auth.api_key_requests where request_id = $1) as calls`,
          headerValues(response, "x-request-id"),
        );
        expect(rows).toEqual([{ runs: 1, calls: 1 }]);
      }),
    logged: (keyId, total) =>
      eventually(async () => {
        const { rows } = await toolgate.pool.query<{ status: number; calls: number }>(
          "select status, count(*)::int as calls from key_auth.api_key_requests where key_id = $1 group by status",
          [keyId],
        );
        expect(rows.reduce((sum, { calls }) => sum + calls, 0)).toBe(total);
        return Object.fromEntries(rows.map(({ status, calls }) => [status, calls]));
      }),
    [Symbol.asyncDispose]: () => toolgate[Symbol.asyncDispose](),
  };
}

/** What a client could use to tell responses apart. */
export function shapeOf({ status, headers, text }: RawResponse) {
  return { status, text, headers: headers.map(([name]) => name.toLowerCase()) };
}

export function expectUnauthenticated(response: RawResponse | undefined): void {
  expect(response).toMatchObject({
    status: 401,
    text: '{"success":false,"error":"Ungueltiger oder fehlender API-Key"}',
  });
  const sent = response as RawResponse;
  expect(headerValues(sent, "www-authenticate")).toEqual(["Bearer"]);
  expect(headerValues(sent, "content-type")).toEqual(["application/json; charset=utf-8"]);
  expect(sent.headers.filter(([name]) => /ratelimit|retry-after/i.test(name))).toEqual([]);
}

export function expectInvalid(response: RawResponse, rule: string): void {
  expect(response.status).toBe(400);
  const { success, error, details } = JSON.parse(response.text);
  expect({ success, error }).toEqual({ success: false, error: "Ungueltige Parameter" });
  expect(details).toMatchObject([{ field: "", rule }]);
  expect(headerValues(response, "x-ratelimit-limit")).toEqual(["10000"]);
}
