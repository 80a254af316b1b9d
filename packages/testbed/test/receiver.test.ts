import { once } from "node:events";
import { Agent, request as secureRequest } from "node:https";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { eventually } from "../src/eventually.ts";
import { startReceiver } from "../src/receiver.ts";

const post = (url: string, body = "x", init: RequestInit = {}) => fetch(url, { method: "POST", body, ...init });

describe("a receiver", () => {
  test("records method, path, headers, raw body bytes and time", async () => {
    await using receiver = await startReceiver();
    const before = Date.now();
    const body = Buffer.from([0, 255, 13, 10]);
    const response = await fetch(`${receiver.url}/a?b=c`, { method: "PUT", body, headers: { "X-Test": "1" } });
    expect(response.status).toBe(200);
    const [received] = await receiver.waitFor(1);
    expect(received).toMatchObject({ method: "PUT", path: "/a?b=c", body });
    expect(received?.headers["x-test"]).toBe("1");
    expect(received?.rawHeaders).toContain("X-Test");
    expect(received?.receivedAtMs).toBeGreaterThanOrEqual(before);
    expect(receiver.connections).toBe(1);
  });

  test("responds as its behaviour says, request by request", async () => {
    await using receiver = await startReceiver({
      behave: ({ path }, index) => ({ status: 500 + index, body: `got ${path}`, headers: { "retry-after": "7" } }),
    });
    await post(receiver.url);
    const second = await post(`${receiver.url}/p`);
    expect([second.status, await second.text(), second.headers.get("retry-after")]).toEqual([501, "got /p", "7"]);
    receiver.behave(() => ({ status: 204 }));
    expect((await post(receiver.url)).status).toBe(204);
  });

  test("can wait, and drip a body in pieces", async () => {
    const drip = { bytes: 2, everyMs: 1 };
    await using receiver = await startReceiver({ behave: () => ({ delayMs: 30, body: "12345", drip }) });
    const started = performance.now();
    const response = await post(receiver.url);
    expect(performance.now() - started).toBeGreaterThanOrEqual(29);
    const pieces: string[] = [];
    for await (const piece of response.body ?? []) pieces.push(Buffer.from(piece).toString());
    expect(pieces.join("")).toBe("12345");
    expect(pieces.length).toBeGreaterThan(1);
  });

  test.each(["before-status", "after-headers"] as const)("can hang %s, and can still be closed", async (hang) => {
    const receiver = await startReceiver({ behave: () => ({ hang }) });
    const outcome = post(receiver.url).then(
      async (response) => [response.status, await response.text().catch(() => "cut")],
      () => "cut",
    );
    await receiver.waitFor(1);
    await receiver[Symbol.asyncDispose]();
    expect(["cut", 200]).toContain([await outcome].flat()[0]);
    expect([await outcome].flat().at(-1)).toBe("cut");
  });

  test("can send an endless body until the client leaves", async () => {
    await using receiver = await startReceiver({ behave: () => ({ drip: { bytes: 10, everyMs: 1 } }) });
    const leave = new AbortController();
    const response = await post(receiver.url, "x", { signal: leave.signal });
    const reader = response.body?.getReader();
    for (let bytes = 0; bytes < 100; ) bytes += (await reader?.read())?.value?.length ?? 0;
    leave.abort();
    expect((await post(receiver.url)).status).toBe(200);
  });

  test("can cut the connection before the status and in the body", async () => {
    await using receiver = await startReceiver({ behave: () => ({ close: "before-status" }) });
    await expect(post(receiver.url)).rejects.toThrow("fetch failed");
    receiver.behave(() => ({ close: "after-headers", body: "never whole" }));
    const response = await post(receiver.url);
    await expect(response.text()).rejects.toThrow("terminated");
    expect(receiver.requests).toHaveLength(2);
  });

  test("says how many requests are missing", async () => {
    await using receiver = await startReceiver();
    await post(receiver.url);
    await expect(receiver.waitFor(2, 5)).rejects.toThrow("1 of 2 requests arrived within 5 ms");
  });

  test("does not record a request whose body was cut off", async () => {
    await using receiver = await startReceiver();
    const socket = connect(receiver.port, "127.0.0.1");
    await once(socket, "connect");
    socket.end("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf");
    await once(socket.resume(), "close");
    await post(receiver.url);
    expect(receiver.requests.map(({ body }) => body.toString())).toEqual(["x"]);
  });

  test("serves HTTPS with a certificate from its own authority", async () => {
    await using receiver = await startReceiver({ tls: true });
    await expect(fetch(receiver.url)).rejects.toThrow("fetch failed");
    const { ca } = receiver;
    if (!ca) throw new Error("no authority");
    for (const host of ["127.0.0.1", "localhost"]) {
      const request = secureRequest({ host, port: receiver.port, family: 4, agent: new Agent({ ca }) }).end();
      const [response] = await once(request, "response");
      expect(response.statusCode).toBe(200);
      response.resume();
    }
    await eventually(() => expect(receiver.requests).toHaveLength(2));
  });
});
