import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { VerifyResponseSchema } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { ToolDescriptionSchema, ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { generateSecret } from "@toolgate/rules/api-key-secret";
import { eventually } from "@toolgate/testbed/eventually";
import { describe, expect, test } from "vitest";
import { testServer } from "./test-server.ts";

const UNKNOWN_EPOCH = 0n;
const MIB = 1024 * 1024;

/** A gateway with one key, whose tools and epoch the test changes; the test also decides when tool-runner responds. */
async function gateway() {
  const state = { epoch: 7n, tools: ["echo"], characters: 0, fetches: 0, verified: 0, response: Promise.resolve() };
  const toolRunner = createRouterTransport((router) => {
    router.rpc(ToolService.method.describeTools, async () => {
      state.fetches += 1;
      const tools = state.tools.map((name) =>
        create(ToolDescriptionSchema, { name, description: "x".repeat(state.characters) }),
      );
      await state.response;
      return { tools };
    });
  });
  const verify = async () => {
    state.verified += 1;
    const key = { keyId: "k", workspaceEpoch: state.epoch, tools: ["echo", "other"] };
    return create(VerifyResponseSchema, { key });
  };
  const app = await testServer({ calls: { verify }, transports: { "tool-runner": toolRunner } });
  const authorization = `Bearer ${generateSecret()}`;
  const get = (host = "a.example", url = "/api/v1/openapi.json") =>
    app.inject({ method: "GET", url, headers: { authorization, host } });
  const sendList = () =>
    app.inject({
      method: "POST",
      url: "/mcp",
      headers: { authorization, accept: "application/json, text/event-stream" },
      payload: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
    });
  const list = async () => /"name":"\w+"/g.exec((await sendList()).body)?.[0];
  return { state, get, list, sendList, [Symbol.asyncDispose]: () => app.close() };
}

/** Delays tool-runner's responses until the returned function is called. */
function delayResponses(state: { response: Promise<void> }): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  state.response = promise;
  return resolve;
}

const pathsIn = (response: { json(): { paths: object } }) => Object.keys(response.json().paths);

describe("descriptions", () => {
  test("[OAPI] simultaneous requests to different hosts load the tools once; each gets its own address", async () => {
    await using running = await gateway();
    const { state } = running;
    const release = delayResponses(state);
    const hosts = Array.from({ length: 50 }, (_, index) => `h${index}.example`);
    const responses = hosts.map((host) => running.get(host));
    await eventually(() => state.verified === hosts.length);
    release();
    const [first, ...others] = await Promise.all(responses);
    expect(state.fetches).toBe(1);
    expect(first?.json().servers).toEqual([{ url: "http://h0.example" }]);
    for (const [index, other] of others.entries()) {
      expect(other.json()).toEqual({ ...first?.json(), servers: [{ url: `http://h${index + 1}.example` }] });
      expect(other.headers.etag).not.toBe(first?.headers.etag);
    }
    expect((await running.get("h0.example")).headers.etag).toBe(first?.headers.etag);
    expect(state.fetches).toBe(1);
  });

  test("[OAPI-3] a new epoch loads the tools again, for the document and for MCP's list; until then each loads them once", async () => {
    await using running = await gateway();
    const { state } = running;
    for (const [epoch, name] of [
      [8n, "echo"],
      [9n, "other"],
    ] as const) {
      Object.assign(state, { epoch, tools: [name], fetches: 0 });
      for (let time = 0; time < 3; time += 1) {
        expect(pathsIn(await running.get())).toEqual([`/api/v1/tools/${name}`]);
        expect(await running.list()).toBe(`"name":"${name}"`);
      }
      expect(state.fetches).toBe(2);
    }
  });

  test("[OAPI-3] while the epoch is unknown nothing is cached: a removed tool is gone from the next response", async () => {
    await using running = await gateway();
    const { state } = running;
    state.epoch = UNKNOWN_EPOCH;
    expect(pathsIn(await running.get())).toEqual(["/api/v1/tools/echo"]);
    expect(await running.list()).toBe('"name":"echo"');
    state.tools = [];
    expect(pathsIn(await running.get())).toEqual([]);
    expect(await running.list()).toBeUndefined();
  });

  test("[OAPI-3] while the epoch is unknown, no request gets tools that were loaded before it arrived", async () => {
    await using running = await gateway();
    const { state } = running;
    state.epoch = UNKNOWN_EPOCH;
    const release = delayResponses(state);
    const early = running.get();
    await eventually(() => state.fetches === 1);
    state.tools = [];
    const late = Array.from({ length: 10 }, () => running.get());
    await eventually(() => state.verified === 11);
    release();
    expect(pathsIn(await early)).toEqual(["/api/v1/tools/echo"]);
    for (const response of await Promise.all(late)) expect(pathsIn(response)).toEqual([]);
  });

  test("[ERR-18] a load that fails is not cached", async () => {
    await using running = await gateway();
    const { state } = running;
    for (const epoch of [7n, UNKNOWN_EPOCH]) {
      state.epoch = epoch;
      state.response = Promise.reject(new ConnectError("down", Code.Unavailable));
      expect((await running.get()).statusCode).toBe(500);
      state.response = Promise.resolve();
      expect((await running.get()).statusCode).toBe(200);
    }
  });

  test("[OAPI] a document of more than 6 MiB gets an error of its own, and is not made again until something changes", async () => {
    await using running = await gateway();
    const { state, get, sendList } = running;
    const send = [() => get(), () => get("a.example", "/api/v1/openapi.d.ts"), sendList];
    state.characters = 7 * MIB;
    for (const one of [...send, ...send]) {
      const { statusCode, headers, body } = await one();
      expect([statusCode, headers["x-error-code"]]).toEqual([500, "DESCRIPTION_TOO_LARGE"]);
      expect(body).toBe('{"success":false,"error":"Beschreibung zu gross"}');
    }
    expect(state.fetches).toBe(send.length);
    Object.assign(state, { epoch: 8n, characters: 5 * MIB });
    for (const one of send) expect((await one()).statusCode).toBe(200);
  });
});
