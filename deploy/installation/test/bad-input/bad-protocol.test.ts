import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ECHO, expectUnauthenticated, type FrontDoor, openFrontDoor } from "./front-door.ts";
import { headerValues, openRaw, type RawResponse, requestBytes, sendRaw } from "./raw-http.ts";

const NOT_FOUND = { status: 404, text: '{"success":false,"error":"Nicht gefunden"}' };
const BAD_REQUEST = { status: 400, text: '{"success":false,"error":"Ungueltige Anfrage"}' };
const UNAVAILABLE = { status: 403, text: '{"success":false,"error":"Tool nicht verfuegbar"}' };
const WRONG_METHOD = { status: 405, text: '{"success":false,"error":"Methode nicht erlaubt"}' };

let door: FrontDoor;
beforeAll(async () => {
  door = await openFrontDoor();
});
afterAll(() => door[Symbol.asyncDispose]());

const echoed = (response: RawResponse | undefined) => JSON.parse(response?.text ?? "{}").args?.text;
const saying = (text: string) =>
  requestBytes({ target: ECHO, headers: [door.bearer], body: `{"args":{"text":"${text}"}}` });

describe("paths", () => {
  test.each(["/api/v1/tools/%65ch%6F", `${ECHO}?x=%zz&tool=other`, `HTTP://any.example:1${ECHO}?%ff`])(
    "[TOOL-6] %s names the tool echo",
    async (target) => {
      expect(echoed(await door.post({ target, body: '{"args":{"text":"x"}}' }))).toBe("x");
    },
  );

  test.each(["", "echo%00", "%zz", "%C0%AF", "a%2Fb", "Echo", "echo%2520", "__proto__", "x".repeat(15_000)])(
    "[ERR-11] [TOOL] the tool name '%.20s' is refused like that of a missing tool",
    expectNoSuchTool,
  );

  async function expectNoSuchTool(name: string) {
    expect(await door.post({ target: `/api/v1/tools/${name}`, body: "{}" })).toMatchObject(UNAVAILABLE);
    expectUnauthenticated(await sendRaw(door.toolgate.baseUrl, { target: `/api/v1/tools/${name}` }));
  }

  test.each([
    "/",
    "*",
    "/api/v1/tools",
    "/api/v1/tools/echo/",
    "/api/v1/tools/a/b",
    "/api/v1/tools/../tools/echo",
    "/API/v1/tools/echo",
    "//api/v1/tools/echo",
    "/api/v1\\tools\\echo",
    "/%",
    "/toolgate.key_auth.v1.VerifyService/Verify",
  ])("[ERR] %s is not found, with and without a key, whatever is sent to it", async (target) => {
    const headers = [["content-type", ";"] as const];
    for (const request of [{ target }, { target, headers, body: "{" }]) {
      expect(await door.post(request)).toMatchObject(NOT_FOUND);
      expect(await sendRaw(door.toolgate.baseUrl, request)).toMatchObject(NOT_FOUND);
    }
  });
});

test("[ERR] an unknown path gets its response before its body is sent", async () => {
  using connection = openRaw(door.toolgate.baseUrl);
  const headers = [["content-type", "application/json"] as const, ["content-length", "100"] as const];
  await connection.write(requestBytes({ target: "/api/v1/nothing", headers }));
  expect(await connection.nextResponse()).toMatchObject(NOT_FOUND);
});

describe("malformed requests", () => {
  const bytes = (lines: string[]) => Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  const post = `POST ${ECHO} HTTP/1.1`;
  test.each<[name: string, bytes: Uint8Array, response: object]>([
    ["a target without a slash", bytes(["POST api/v1/tools/echo HTTP/1.1", "host: a"]), BAD_REQUEST],
    ["raw bytes above ASCII in the target", bytes(["POST /api/v1/tools/\xff HTTP/1.1", "host: a"]), BAD_REQUEST],
    ["a version that does not exist", bytes([`POST ${ECHO} HTTP/1.9`, "host: a"]), BAD_REQUEST],
    ["a control character in a header", bytes([post, "host: a", "x: a\u0001b"]), BAD_REQUEST],
    ["a blank before the colon", bytes([post, "host: a", "content-length : 2"]), BAD_REQUEST],
    ["no host", bytes([post, "content-length: 0"]), BAD_REQUEST],
    ["CONNECT to another host", bytes(["CONNECT elsewhere.example:443 HTTP/1.1", "host: a"]), NOT_FOUND],
    ["CONNECT to a tool", bytes([`CONNECT ${ECHO} HTTP/1.1`, "host: a"]), WRONG_METHOD],
    ["a length that is not a number", bytes([post, "host: a", "content-length: 2x"]), BAD_REQUEST],
    ["two lengths", bytes([post, "host: a", "content-length: 2", "content-length: 3"]), BAD_REQUEST],
    ["a length and chunks", bytes([post, "host: a", "content-length: 2", "transfer-encoding: chunked"]), BAD_REQUEST],
    ["HTTP/2 without upgrade", Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), { status: 505 }],
    ["an unknown method", bytes([`MAKEUP ${ECHO} HTTP/1.1`, "host: a"]), WRONG_METHOD],
    ["a method in lower case", bytes([`post ${ECHO} HTTP/1.1`, "host: a"]), WRONG_METHOD],
    ["TLS", Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]), BAD_REQUEST],
    ["an unknown method on a path that does not exist", bytes(["MAKEUP /api/v1/nothing HTTP/1.1"]), NOT_FOUND],
    ["one header of 100 kB", bytes([post, "host: a", `authorization: Bearer ${"x".repeat(100_000)}`]), { status: 431 }],
    [
      "3,000 headers",
      bytes([post, "host: a", ...Array.from({ length: 3_000 }, (_, at) => `x${at}: y`)]),
      { status: 431 },
    ],
    ["a target of 20 kB", bytes([`POST /${"x".repeat(20_000)} HTTP/1.1`, "host: a"]), { status: 431 }],
  ])("[ERR-13] [ERR-14] %s: refused, and the connection closed", async (_, request, response) => {
    using connection = openRaw(door.toolgate.baseUrl);
    void connection.write(request);
    const received = await connection.nextResponse();
    expect(received).toMatchObject(response);
    expect(headerValues(received as RawResponse, "x-error-code")).toEqual([expect.stringMatching(/^[A-Z_]+$/)]);
    expect(headerValues(received as RawResponse, "content-type")).toEqual(["application/json; charset=utf-8"]);
    expect(headerValues(received as RawResponse, "allow")).toEqual(response === WRONG_METHOD ? ["POST"] : []);
    await connection.closed;
    await door.expectUndisturbed();
  });

  test.each([
    [`http://gateway.test${ECHO}`, "POST"],
    ["/mcp", "POST"],
    ["/api/v1/openapi.json", "GET"],
    ["/api/v1/openapi.d.ts?x", "GET"],
    ["/webhooks/event-types", "GET"],
  ])(
    "[ERR-13] [ERR-14] %s: any method but %s gets 405, whether or not the parser knows the method",
    async (target, right) => {
      for (const method of ["PURGE", "BREW", "brew"]) {
        const response = await sendRaw(door.toolgate.baseUrl, { method, target });
        expect(response).toMatchObject(WRONG_METHOD);
        expect(headerValues(response as RawResponse, "allow")).toEqual([right]);
      }
    },
  );

  test("[ERR-14] an unknown method gets 405 as the second request of a connection; before its path is known it is malformed", async () => {
    using connection = openRaw(door.toolgate.baseUrl);
    const good = requestBytes({ method: "GET", target: "/api/v1/openapi.json", headers: [door.bearer] });
    void connection.write(good);
    expect(await connection.nextResponse()).toMatchObject({ status: 200 });
    void connection.write(bytes(["BREW /api/v1/openapi.d.ts HTTP/1.1", "host: a"]));
    const response = await connection.nextResponse();
    expect(response).toMatchObject(WRONG_METHOD);
    expect(headerValues(response as RawResponse, "allow")).toEqual(["GET"]);
    using slow = openRaw(door.toolgate.baseUrl);
    await slow.write("BREW /api/v1/open");
    expect(await slow.nextResponse()).toMatchObject(BAD_REQUEST);
  });
});

describe("connections", () => {
  test("[TOOL] HTTP/1.0 and an upgrade that is not offered get the response of any call", async () => {
    const body = '{"args":{"text":"x"}}';
    expect(echoed(await door.post({ version: "1.0", body }))).toBe("x");
    const upgrade = [["connection", "upgrade"] as const, ["upgrade", "websocket"] as const];
    expect(echoed(await door.post({ headers: upgrade, body }))).toBe("x");
  });

  test("pipelined requests, wrong ones included, get their responses in order", async () => {
    using connection = openRaw(door.toolgate.baseUrl);
    const anonymous = requestBytes({ target: ECHO, body: "{}" });
    await connection.write(
      Buffer.concat([saying("1"), anonymous, saying("2"), requestBytes({ target: "/" }), saying("3")]),
    );
    expect(echoed(await connection.nextResponse())).toBe("1");
    expectUnauthenticated(await connection.nextResponse());
    expect(echoed(await connection.nextResponse())).toBe("2");
    expect(await connection.nextResponse()).toMatchObject(NOT_FOUND);
    expect(echoed(await connection.nextResponse())).toBe("3");
  });

  test("the bytes after a body's declared length are a separate request, without the key of the first", async () => {
    using connection = openRaw(door.toolgate.baseUrl);
    const headers = [door.bearer, ["content-length", "2"] as const];
    const behind = requestBytes({ target: ECHO, body: "{}" }).toString();
    await connection.write(requestBytes({ target: ECHO, headers, body: `{}${behind}` }));
    expect(await connection.nextResponse()).toMatchObject({ status: 200 });
    expectUnauthenticated(await connection.nextResponse());
  });

  test("an unknown transfer encoding and malformed chunks are refused", async () => {
    for (const [encoding, body] of [
      ["gzip", "{}"],
      ["chunked, gzip", "{}"],
      ["chunked", "zz\r\n{}"],
    ] as const) {
      const headers = [["transfer-encoding", encoding] as const];
      expect(await door.post({ headers, withoutLength: true, body })).toMatchObject(BAD_REQUEST);
    }
  });

  test("Expect: 100-continue gets 100 Continue", async () => {
    using connection = openRaw(door.toolgate.baseUrl);
    const body = '{"args":{"text":"x"}}';
    const headers = [
      door.bearer,
      ["expect", "100-continue"] as const,
      ["content-length", String(body.length)] as const,
    ];
    await connection.write(requestBytes({ target: ECHO, headers }));
    expect(await connection.nextResponse()).toMatchObject({ status: 100 });
    await connection.write(body);
    expect(echoed(await connection.nextResponse())).toBe("x");
  });

  test("[TOOL] an expectation that nobody knows changes nothing: the call gets its response", async () => {
    const headers = [["expect", "foo"] as const];
    expect(echoed(await door.post({ headers, body: '{"args":{"text":"x"}}' }))).toBe("x");
    expectUnauthenticated(await sendRaw(door.toolgate.baseUrl, { target: ECHO, headers, body: "{}" }));
  });
});
